#include "attune/kernels/reference/dequantise.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <vector>
#include "attune/base/json_values.h"

#include "attune/base/json.h"
#include "attune/kernels/quantised_blocks.h"
#include "attune/kernels/random_blocks.h"

namespace attune::kernels {
namespace {

std::vector<std::byte> from_hex(const std::string& text) {
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i + 1 < text.size(); i += 2)
    bytes.push_back(static_cast<std::byte>(std::stoi(text.substr(i, 2), nullptr, 16)));
  return bytes;
}

TEST(Dequantise, GivesTheBitsThatTheReferenceGives) {
  const Json golden = read_json(Path(ATTUNE_GOLDEN_DIR) / "quantised/blocks.json");
  for (QuantisedFormat format : all_quantised_formats) {
    const Json& one = golden["formats"][std::string(name_of(format))];
    const std::vector<std::byte> bytes = from_hex(one["bytes"].get<std::string>());
    const std::vector<std::byte> expected = from_hex(one["bits"].get<std::string>());
    ASSERT_EQ(bytes.size() % static_cast<std::size_t>(block_of(format).bytes), 0u);
    std::vector<float> values(expected.size() / 4);
    ASSERT_GT(values.size(), 0u);
    dequantise(format, bytes.data(), values);
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::uint32_t bits = 0;
      std::memcpy(&bits, expected.data() + 4 * i, 4);
      ASSERT_EQ(std::bit_cast<std::uint32_t>(values[i]), bits) << name_of(format) << " value " << i;
    }
  }
}

TEST(Dequantise, LooksUpRowsInAnyOrder) {
  const QuantisedTensor table = random_blocks({5, 256}, QuantisedFormat::Q5_K);
  const std::vector<std::int64_t> ids = {4, 0, 4, 2};
  std::vector<float> rows(4 * 256), expected(256);
  gather_rows(table, ids, Rows<float>{rows.data(), 4, 256, 256});
  for (std::size_t i = 0; i < ids.size(); ++i) {
    dequantise(table.format(), table.rows(ids[i], ids[i] + 1).data(), expected);
    EXPECT_TRUE(std::equal(expected.begin(), expected.end(), rows.begin() + static_cast<std::ptrdiff_t>(i * 256)));
  }
}

TEST(Dequantise, SixBitPartsAreReadAsTheyWereWritten) {
  blocks::SixBits parts;
  for (int i = 0; i < 8; ++i) {
    parts.scale[i] = static_cast<std::uint8_t>((i * 23 + 5) % 64);
    parts.minimum[i] = static_cast<std::uint8_t>((i * 41 + 17) % 64);
  }
  std::uint8_t bytes[12];
  parts.write(bytes);
  const blocks::SixBits read(bytes);
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(read.scale[i], parts.scale[i]);
    EXPECT_EQ(read.minimum[i], parts.minimum[i]);
  }
}

}  // namespace
}  // namespace attune::kernels
