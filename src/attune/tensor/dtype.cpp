#include "attune/tensor/dtype.h"

#include "attune/tensor/convert.h"

namespace attune {

std::size_t size_of(DType type) {
  return with_type(type, []<class T>() { return sizeof(T); });
}

std::string_view name_of(DType type) {
  switch (type) {
    case DType::F64:
      return "f64";
    case DType::F32:
      return "f32";
    case DType::F16:
      return "f16";
    case DType::BF16:
      return "bf16";
    case DType::I64:
      return "i64";
    case DType::I32:
      return "i32";
    case DType::I8:
      return "i8";
    case DType::U8:
      return "u8";
  }
  return "unknown";
}

bool is_float(DType type) {
  return type == DType::F64 || type == DType::F32 || type == DType::F16 || type == DType::BF16;
}

}  // namespace attune
