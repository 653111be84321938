#include "attune/tensor/tensor.h"

#include <gtest/gtest.h>

#include <numeric>

#include "attune/base/error.h"
#include "attune/tensor/storage.h"

namespace attune {
namespace {

Tensor counting(const Shape& shape) {
  std::vector<float> values(static_cast<std::size_t>(shape.numel()));
  std::iota(values.begin(), values.end(), 0.f);
  return Tensor::from<float>(shape, values);
}

TEST(Shape, TellsItsSizesFromBothEnds) {
  Shape shape{2, 3, 5};
  EXPECT_EQ(shape[0], 2);
  EXPECT_EQ(shape[-1], 5);
  EXPECT_EQ(shape.numel(), 30);
  EXPECT_EQ(shape.text(), "[2, 3, 5]");
  EXPECT_THROW(shape[3], Error);
  EXPECT_THROW(shape[-4], Error);
  EXPECT_EQ(Shape{}.numel(), 1);
}

TEST(Shape, RefusesNegativeTooManyAndOverflowingSizes) {
  EXPECT_THROW((Shape{2, -1}), Error);
  EXPECT_THROW((Shape{1, 1, 1, 1, 1, 1, 1}), Error);
  EXPECT_THROW((Shape{std::int64_t{1} << 40, std::int64_t{1} << 40}), Error);
  EXPECT_EQ((Shape{0, std::int64_t{1} << 40}).numel(), 0);
}

TEST(Tensor, ReadAsAnotherTypeIsAnError) {
  Tensor x = Tensor::zeros({2});
  EXPECT_THROW(x.data<double>(), Error);
  EXPECT_THROW(Tensor().data<float>(), Error);
  EXPECT_THROW(Tensor::from<float>({3}, std::vector<float>{1, 2}), Error);
}

TEST(Tensor, FullFillsEveryType) {
  for (DType type : {DType::F64, DType::F32, DType::F16, DType::BF16, DType::I64, DType::I32, DType::I8, DType::U8})
    EXPECT_EQ(Tensor::full({2, 2}, 3, type).to(DType::F64).to_vector<double>(), (std::vector<double>{3, 3, 3, 3}))
        << name_of(type);
}

TEST(Tensor, ViewsShareStorage) {
  Tensor x = counting({4, 6});
  Tensor part = x.slice(1, 2, 4).rows(1, 3);  // [2, 2]
  EXPECT_EQ(part.to_vector<float>(), (std::vector<float>{8, 9, 14, 15}));
  EXPECT_FALSE(part.is_contiguous());
  part.mutable_data<float>()[1] = -1;
  EXPECT_EQ(x.values<float>()[9], -1);
  EXPECT_THROW(part.values<float>(), Error);
  EXPECT_THROW(x.rows(3, 5), Error);
  EXPECT_THROW(x.slice(2, 0, 1), Error);
  EXPECT_FALSE(x.sole_owner());
}

TEST(Tensor, TransposedAndCopiedIsTheTranspose) {
  Tensor x = counting({2, 3}), y = x.transposed(0, 1).contiguous();
  EXPECT_EQ(y.to_vector<float>(), (std::vector<float>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(y.shape(), (Shape{3, 2}));
}

TEST(Tensor, StridedViewTakesShapesThatNeedNoCopy) {
  Tensor x = counting({3, 12}).slice(1, 4, 8);  // [3, 4], rows 12 apart
  Tensor heads = x.as_shape({3, 2, 2});
  EXPECT_EQ(heads.to_vector<float>(), (std::vector<float>{4, 5, 6, 7, 16, 17, 18, 19, 28, 29, 30, 31}));
  EXPECT_EQ(heads.as_shape({3, 1, 4}).stride(0), 12);
  EXPECT_EQ(heads.as_shape({1, 3, 4, 1}).to_vector<float>(), x.to_vector<float>());
  EXPECT_THROW(x.as_shape({12}), Error);
  EXPECT_THROW(x.as_shape({2, 6}), Error);
  EXPECT_THROW(x.as_shape({5}), Error);
  EXPECT_EQ(counting({2, 3}).transposed(0, 1).as_shape({3, 1, 2}).to_vector<float>(),
            (std::vector<float>{0, 3, 1, 4, 2, 5}));
}

TEST(Tensor, CopiesBetweenAnyStrides) {
  Tensor x = counting({5, 4, 3}), target = Tensor::zeros({3, 5, 8});
  copy_into(x.transposed(0, 2).transposed(1, 2), target.slice(2, 2, 6));
  for (std::int64_t a = 0; a < 3; ++a)
    for (std::int64_t b = 0; b < 5; ++b)
      for (std::int64_t c = 0; c < 8; ++c)
        EXPECT_EQ(target.values<float>()[static_cast<std::size_t>((a * 5 + b) * 8 + c)],
                  c >= 2 && c < 6 ? static_cast<float>((b * 4 + c - 2) * 3 + a) : 0.f);
  EXPECT_THROW(copy_into(x, target), Error);
}

TEST(Tensor, NoRowsIsATensorLikeAnyOther) {
  Tensor x = Tensor::empty({0, 7});
  EXPECT_TRUE(x.is_contiguous());
  EXPECT_EQ(x.row_count(), 0);
  EXPECT_EQ(x.clone().numel(), 0);
  EXPECT_EQ(x.as_shape({7, 0}).shape(), (Shape{7, 0}));
  EXPECT_EQ(counting({3, 2}).rows(3, 3).numel(), 0);
  EXPECT_EQ(x.to(DType::F16).dtype(), DType::F16);
  EXPECT_EQ(counting({2, 0}).transposed(0, 1).contiguous().shape(), (Shape{0, 2}));
}

TEST(Tensor, ItemIsTheOneNumber) {
  EXPECT_EQ(Tensor::scalar(2.5).item(), 2.5);
  EXPECT_EQ(Tensor::scalar(2.5, DType::BF16).item(), 2.5);
  EXPECT_THROW(counting({2}).item(), Error);
}

TEST(Tensor, OverBytesThatAreNotThereIsAnError) {
  auto storage = allocate(64);
  EXPECT_NO_THROW(Tensor::over(storage, 32, {8}, DType::F32));
  EXPECT_THROW(Tensor::over(storage, 32, {9}, DType::F32), Error);
  EXPECT_THROW(Tensor::over(storage, 30, {2}, DType::F32), Error);
  EXPECT_THROW(Tensor::over(storage, -4, {1}, DType::F32), Error);
  EXPECT_THROW(Tensor::over(storage, 0, {std::int64_t{1} << 58}, DType::F32), Error);
}

TEST(Tensor, ReadOnlyStorageIsNotWritten) {
  auto storage = allocate(64);
  storage->writable = false;
  Tensor x = Tensor::over(storage, 0, {16}, DType::F32);
  EXPECT_THROW(x.mutable_data<float>(), Error);
  EXPECT_NO_THROW(x.clone().mutable_data<float>());
}

TEST(Tensor, VersionRisesWithEachChange) {
  Tensor x = counting({2}), view = x.rows(0, 1);
  auto before = view.version();
  x.mark_changed();
  EXPECT_EQ(view.version(), before + 1);
}

}  // namespace
}  // namespace attune
