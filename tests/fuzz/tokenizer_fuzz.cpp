// Whatever the bytes, a tokenizer file is read or refused with an Error. One that was read encodes and decodes or says
// why not, is written, and reads again as the same file.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "attune/base/error.h"
#include "attune/text/tokenizer.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace attune;
  std::string written;
  try {
    const Tokenizer tokenizer = Tokenizer::parse({reinterpret_cast<const char*>(data), size}, "fuzz");
    written = tokenizer.json();
    for (const char* text :
         {"Low  lower é e\xCC\x81 \xE4\xB8\xAD\xF0\x9F\x98\x80 it's 12", " ", "<s>a</s> <mask> [UNK]"}) {
      const Encoding encoding = tokenizer.encode(TextPair{text, text}, {true, true});
      for (const TextRange& offsets : encoding.offsets)
        if (offsets.begin < 0 || offsets.begin > offsets.end || offsets.end > 64) std::abort();
      tokenizer.decode(encoding.ids);
    }
  } catch (const Error&) {
  }
  if (!written.empty()) {
    try {
      if (Tokenizer::parse(written, "again").json() != written) std::abort();
    } catch (const Error&) {
      std::abort();  // what was accepted once is accepted
    }
  }
  return 0;
}
