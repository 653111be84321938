#include "attune/checkpoint/gguf_type.h"

#include <algorithm>
#include <array>

namespace attune {

namespace {

using Q = QuantisedFormat;

/// Numbers 4, 5, 31 to 33 and 36 to 38 were withdrawn.
constexpr std::array<GgufType, 33> types = {{
    {0, "F32", 1, 4, DType::F32},
    {1, "F16", 1, 2, DType::F16},
    {2, "Q4_0", 32, 18, Q::Q4_0},
    {3, "Q4_1", 32, 20, Q::Q4_1},
    {6, "Q5_0", 32, 22, Q::Q5_0},
    {7, "Q5_1", 32, 24, Q::Q5_1},
    {8, "Q8_0", 32, 34, Q::Q8_0},
    {9, "Q8_1", 32, 36},
    {10, "Q2_K", 256, 84, Q::Q2_K},
    {11, "Q3_K", 256, 110, Q::Q3_K},
    {12, "Q4_K", 256, 144, Q::Q4_K},
    {13, "Q5_K", 256, 176, Q::Q5_K},
    {14, "Q6_K", 256, 210, Q::Q6_K},
    {15, "Q8_K", 256, 292},
    {16, "IQ2_XXS", 256, 66},
    {17, "IQ2_XS", 256, 74},
    {18, "IQ3_XXS", 256, 98},
    {19, "IQ1_S", 256, 50},
    {20, "IQ4_NL", 32, 18, Q::IQ4_NL},
    {21, "IQ3_S", 256, 110},
    {22, "IQ2_S", 256, 82},
    {23, "IQ4_XS", 256, 136, Q::IQ4_XS},
    {24, "I8", 1, 1, DType::I8},
    {25, "I16", 1, 2},
    {26, "I32", 1, 4, DType::I32},
    {27, "I64", 1, 8, DType::I64},
    {28, "F64", 1, 8, DType::F64},
    {29, "IQ1_M", 256, 56},
    {30, "BF16", 1, 2, DType::BF16},
    {34, "TQ1_0", 256, 54},
    {35, "TQ2_0", 256, 66},
    {39, "MXFP4", 32, 17},
    {40, "NVFP4", 64, 36},
}};

}  // namespace

const GgufType* gguf_type(std::uint32_t number) {
  auto found = std::ranges::find(types, number, &GgufType::number);
  return found == types.end() ? nullptr : &*found;
}

const GgufType* gguf_type_of(const GgufFormat& format) {
  auto found = std::ranges::find(types, std::optional(format), &GgufType::format);
  return found == types.end() ? nullptr : &*found;
}

}  // namespace attune
