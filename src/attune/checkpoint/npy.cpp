#include "attune/checkpoint/npy.h"

#include <bit>
#include <span>

#include "attune/base/error.h"

namespace attune {

void write_npy(const Path& path, const Tensor& tensor) {
  static_assert(std::endian::native == std::endian::little, "values are written as they lie in memory");
  check(tensor.dtype() == DType::F32, "{}: only f32 is written as .npy, not {}", path.string(),
        name_of(tensor.dtype()));
  std::string shape;
  for (int i = 0; i < tensor.shape().rank(); ++i) shape += std::to_string(tensor.dim(i)) + ", ";
  if (tensor.shape().rank() > 1) shape.resize(shape.size() - 2);
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" + shape + "), }";
  constexpr std::size_t before = 10;  // magic, version, and the header's length
  header.append(63 - (before + header.size()) % 64, ' ');
  header += '\n';
  AtomicFile file(path);
  file.write(std::string("\x93NUMPY\x01\x00", 8));
  file.write(std::string{static_cast<char>(header.size() & 255), static_cast<char>(header.size() >> 8)});
  file.write(header);
  const Tensor rows = tensor.contiguous();
  const std::span<const std::byte> bytes = std::as_bytes(rows.values<float>());
  file.write(std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
  file.commit();
}

}  // namespace attune
