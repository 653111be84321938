// A memory of keys and values with bytes of its file altered, under a hash that fits them, is opened or refused with an
// Error; one that is opened finds slots that it has. The input is (place, byte) pairs, three bytes each.
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "attune/base/error.h"
#include "attune/checkpoint/safetensors.h"
#include "attune/nn/memory/content_hash.h"
#include "attune/nn/memory/key_memory.h"

namespace {

using attune::KeyMemory;
using attune::Tensor;

attune::Path path_of(const char* name) {
  static const attune::Path directory = [] {
    const attune::Path made =
        std::filesystem::temp_directory_path() / ("attune-key-memory-fuzz-" + std::to_string(getpid()));
    std::filesystem::create_directories(made);
    return made;
  }();
  return directory / name;
}

/// The file of a small memory with a graph.
std::string written() {
  KeyMemory memory({.kv_heads = 2, .head_dim = 3}, {.exact_up_to = 2});
  std::array<float, 36> values;
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i * 7 % 11) - 5;
  const Tensor keys = Tensor::from<float>({6, 2, 3}, std::span<const float>(values));
  memory.add(keys, keys, 4);
  memory.names[4] = "a text";
  memory.save(path_of("whole"));
  std::ifstream file(path_of("whole"), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_with_fitting_hash(const std::string& bytes) {
  std::ofstream(path_of("altered"), std::ios::binary) << bytes;
  const attune::SafetensorsFile file = attune::SafetensorsFile::open(path_of("altered"));
  std::vector<attune::NamedTensor> tensors;
  for (const attune::TensorInfo& one : file.tensors()) tensors.push_back({one.name, file.tensor(one.name).clone()});
  attune::Metadata metadata = file.metadata();
  metadata[attune::content_hash_key] = attune::content_hash(tensors, metadata);
  attune::write_safetensors(path_of("hashed"), std::move(tensors), metadata);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const std::string whole = written();
  std::string bytes = whole;
  for (std::size_t i = 0; i + 3 <= size; i += 3)
    bytes[(data[i] * 256u + data[i + 1]) % bytes.size()] = static_cast<char>(data[i + 2]);
  try {
    write_with_fitting_hash(bytes);
    const KeyMemory memory = KeyMemory::open(path_of("hashed"));
    const std::vector<float> query(static_cast<std::size_t>(memory.sizes().head_dim), 1);
    std::array<std::int64_t, 3> best;
    const attune::kernels::Matrix<float> queries(query.data(), 1, memory.sizes().head_dim, memory.sizes().head_dim, 1);
    memory.nearest(queries, 0, 3, best.data());
    for (std::int64_t slot : best)
      if (slot < -1 || slot >= memory.slots()) std::abort();
  } catch (const attune::Error&) {
  }
  return 0;
}
