#include "attune/nn/memory/content_hash.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "attune/base/file.h"
#include "attune/tensor/convert.h"

namespace attune {

std::string content_hash(const std::vector<NamedTensor>& tensors, const Metadata& metadata) {
  std::vector<std::string> parts;
  for (const auto& [name, tensor] : tensors) {
    const Tensor whole = tensor.contiguous();
    const auto bytes = with_type(whole.dtype(), [&]<class T>() { return std::as_bytes(whole.values<T>()); });
    std::string part = fmt::format("tensor {} {}", name, name_of(whole.dtype()));
    for (std::int64_t size : whole.shape().sizes()) part += fmt::format(" {}", size);
    parts.push_back(part + " " + sha256({reinterpret_cast<const char*>(bytes.data()), bytes.size()}));
  }
  for (const auto& [key, value] : metadata)
    if (key != content_hash_key) parts.push_back(fmt::format("metadata {} {}", sha256(key), sha256(value)));
  std::ranges::sort(parts);
  return sha256(fmt::format("{}", fmt::join(parts, "\n")));
}

}  // namespace attune
