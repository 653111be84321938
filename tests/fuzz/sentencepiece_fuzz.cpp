// Whatever the bytes, a SentencePiece model is read or refused with an Error. One that was read is written and reads
// again as the same file, and its tokenizer encodes and decodes or says why not.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "attune/base/error.h"
#include "attune/text/sentencepiece_directory.h"
#include "attune/text/sentencepiece_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace attune;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  try {
    const std::string written = SentencePieceFile::read(bytes, "fuzz").write();
    if (SentencePieceFile::read(written, "again").write() != written) std::abort();
    const Tokenizer tokenizer = parse_sentencepiece(std::string(bytes), "fuzz");
    for (const char* text : {"Low  lower é e\xCC\x81 \xE4\xB8\xAD\xF0\x9F\x98\x80 it's 12 ", " ", "<s>a</s> \t\n"}) {
      const Encoding encoding = tokenizer.encode(TextPair{text, text}, {true, true});
      for (const TextRange& offsets : encoding.offsets)
        if (offsets.begin < 0 || offsets.begin > offsets.end || offsets.end > 64) std::abort();
      tokenizer.decode(encoding.ids);
    }
  } catch (const Error&) {
  }
  return 0;
}
