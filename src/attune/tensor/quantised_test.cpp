#include "attune/tensor/quantised.h"

#include <gtest/gtest.h>

#include "attune/base/error.h"

namespace attune {
namespace {

TEST(QuantisedTensor, NamesAndFormatsAreOneToOne) {
  for (QuantisedFormat format : all_quantised_formats) EXPECT_EQ(quantised_format_named(name_of(format)), format);
  EXPECT_EQ(quantised_format_named("Q4_K"), QuantisedFormat::Q4_K);
  EXPECT_EQ(quantised_format_named("q4"), std::nullopt);
  EXPECT_EQ(quantised_format_named(""), std::nullopt);
}

TEST(QuantisedTensor, RowsAreViewsAtTheirBytes) {
  auto t = QuantisedTensor::empty({4, 3, 64}, QuantisedFormat::Q4_1);
  EXPECT_EQ(t.row_bytes(), 40);
  EXPECT_EQ(t.row_count(), 12);
  EXPECT_EQ(t.byte_count(), 480);
  auto part = t.rows(1, 3);
  EXPECT_EQ(part.shape(), (Shape{2, 3, 64}));
  EXPECT_EQ(part.data(), t.data() + 120);
  EXPECT_EQ(t.as_shape({12, 64}).rows(3, 4).data(), part.data());
  EXPECT_THROW(t.rows(2, 5), Error);
  EXPECT_THROW(t.as_shape({6, 128}), Error);
}

TEST(QuantisedTensor, WhatDoesNotFitIsAnError) {
  EXPECT_THROW(QuantisedTensor::empty({2, 48}, QuantisedFormat::Q8_0), Error);
  EXPECT_THROW(QuantisedTensor::empty({2, 288}, QuantisedFormat::Q6_K), Error);
  EXPECT_THROW(QuantisedTensor::empty({}, QuantisedFormat::Q8_0), Error);
  auto storage = allocate(100);
  EXPECT_NO_THROW(QuantisedTensor::over(storage, 32, {2, 32}, QuantisedFormat::Q8_0));
  EXPECT_THROW(QuantisedTensor::over(storage, 33, {2, 32}, QuantisedFormat::Q8_0), Error);
  EXPECT_THROW(QuantisedTensor::over(storage, -1, {1, 32}, QuantisedFormat::Q8_0), Error);
}

TEST(QuantisedTensor, RowsInAnotherOrderAreNoCopy) {
  const QuantisedTensor t = QuantisedTensor::empty({3, 64}, QuantisedFormat::Q8_0);
  const QuantisedTensor turned = t.in_order({2, 0, 1});
  EXPECT_EQ(turned.data(), t.data());
  EXPECT_EQ(turned.row_order()->stored, (std::vector<std::int64_t>{2, 0, 1}));
  EXPECT_EQ(turned.row_order()->place, (std::vector<std::int64_t>{1, 2, 0}));
  EXPECT_EQ(t.row_order(), nullptr);
  EXPECT_THROW(turned.rows(0, 1), Error);
  EXPECT_THROW(turned.bytes(), Error);
  EXPECT_THROW(turned.as_shape({3, 1, 64}), Error);
  EXPECT_THROW(t.in_order({0, 1}), Error);
  EXPECT_THROW(t.in_order({0, 1, 1}), Error);
  EXPECT_THROW(t.in_order({0, 1, 3}), Error);
}

TEST(QuantisedTensor, MappedBytesCannotBeWritten) {
  auto storage = allocate(34);
  storage->writable = false;
  auto t = QuantisedTensor::over(storage, 0, {1, 32}, QuantisedFormat::Q8_0);
  EXPECT_THROW(t.mutable_bytes(), Error);
  EXPECT_EQ(t.bytes().size(), 34u);
}

}  // namespace
}  // namespace attune
