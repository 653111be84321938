#include "attune/tensor/tensor.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "attune/base/error.h"
#include "attune/base/threads.h"
#include "attune/tensor/convert.h"
#include "attune/tensor/storage.h"

namespace attune {

namespace {

using Strides = std::array<std::int64_t, Shape::max_rank>;

constexpr std::int64_t copy_grain = 1 << 16;  // elements: about what a core moves while a thread wakes up

Strides contiguous_strides(const Shape& shape) {
  Strides strides{};
  std::int64_t step = 1;
  for (int i = shape.rank() - 1; i >= 0; --i) {
    strides[static_cast<std::size_t>(i)] = step;
    step *= std::max<std::int64_t>(shape[i], 1);
  }
  return strides;
}

/// Where a view of other sizes over the same elements in the same order would step; false if it would need a copy.
/// Works from the innermost dimension outwards: sizes of both shapes are matched within runs that are evenly spaced.
bool strides_for(const Shape& from, const Strides& strides, const Shape& to, Strides& found) {
  int next = to.rank() - 1;
  std::int64_t run = 1;   // elements of `from` in the current evenly spaced run
  std::int64_t base = 1;  // the stride of the run's innermost element
  bool begun = false;
  for (int i = from.rank() - 1; i >= 0; --i) {
    if (from[i] == 1) continue;
    std::int64_t stride = strides[static_cast<std::size_t>(i)];
    if (!begun) base = stride, begun = true;
    run *= from[i];
    int outer = i - 1;
    while (outer >= 0 && from[outer] == 1) --outer;
    if (outer >= 0 && strides[static_cast<std::size_t>(outer)] == run * base) continue;
    std::int64_t covered = 1;
    while (next >= 0 && (covered < run || to[next] == 1)) {
      found[static_cast<std::size_t>(next)] = covered * base;
      covered *= to[next--];
    }
    if (covered != run) return false;
    run = 1;
    begun = false;
  }
  for (; next >= 0; --next) {
    if (to[next] != 1) return false;
    found[static_cast<std::size_t>(next)] = 1;
  }
  return true;
}

/// Calls body(from offset, to offset) for rows [begin, end) of the outer dimensions, without a division a row.
template <class Body>
void for_rows(std::span<const std::int64_t> sizes, const Strides& from, const Strides& to, std::int64_t begin,
              std::int64_t end, const Body& body) {
  std::array<std::int64_t, Shape::max_rank> index{};
  std::int64_t rest = begin, a = 0, b = 0;
  for (std::size_t d = sizes.size(); d-- > 0;) {
    index[d] = rest % sizes[d];
    rest /= sizes[d];
    a += index[d] * from[d];
    b += index[d] * to[d];
  }
  for (std::int64_t row = begin; row < end; ++row) {
    body(a, b);
    for (std::size_t d = sizes.size(); d-- > 0;) {
      a += from[d];
      b += to[d];
      if (++index[d] < sizes[d]) break;
      a -= from[d] * sizes[d];
      b -= to[d] * sizes[d];
      index[d] = 0;
    }
  }
}

struct Side {
  std::byte* data;
  Strides strides;
};

template <class T>
void copy_strided(const Shape& shape, const Side& from, const Side& to) {
  const T* source = reinterpret_cast<const T*>(from.data);
  T* target = reinterpret_cast<T*>(to.data);
  std::int64_t width = shape.rank() == 0 ? 1 : shape[-1];
  std::size_t last = static_cast<std::size_t>(std::max(shape.rank() - 1, 0));
  std::int64_t step_from = shape.rank() == 0 ? 1 : from.strides[last],
               step_to = shape.rank() == 0 ? 1 : to.strides[last];
  std::span<const std::int64_t> outer = shape.sizes().first(last);
  std::int64_t rows = std::accumulate(outer.begin(), outer.end(), std::int64_t{1}, std::multiplies<>());
  parallel(rows, std::max<std::int64_t>(1, copy_grain / width), [&](std::int64_t begin, std::int64_t end) {
    for_rows(outer, from.strides, to.strides, begin, end, [&](std::int64_t a, std::int64_t b) {
      if (step_from == 1 && step_to == 1) {
        std::memcpy(target + b, source + a, static_cast<std::size_t>(width) * sizeof(T));
      } else {
        for (std::int64_t i = 0; i < width; ++i) target[b + i * step_to] = source[a + i * step_from];
      }
    });
  });
}

template <class T>
void fill(T* data, std::int64_t count, T value) {
  const T zero{};
  const bool cleared = std::memcmp(&value, &zero, sizeof(T)) == 0;  // what most fills are, and much faster
  parallel(count, copy_grain, [&](std::int64_t begin, std::int64_t end) {
    if (cleared)
      std::memset(data + begin, 0, static_cast<std::size_t>(end - begin) * sizeof(T));
    else
      std::fill(data + begin, data + end, value);
  });
}

int checked_dimension(const Shape& shape, int dim) {
  int index = dim < 0 ? dim + shape.rank() : dim;
  check(index >= 0 && index < shape.rank(), "shape {} has no dimension {}", shape, dim);
  return index;
}

}  // namespace

Tensor Tensor::empty(const Shape& shape, DType type) {
  return over(allocate(static_cast<std::size_t>(shape.numel()) * size_of(type)), 0, shape, type);
}

Tensor Tensor::zeros(const Shape& shape, DType type) { return full(shape, 0, type); }

Tensor Tensor::full(const Shape& shape, double value, DType type) {
  Tensor made = empty(shape, type);
  with_type(type, [&]<class T>() { fill(reinterpret_cast<T*>(made.bytes()), shape.numel(), convert<T>(value)); });
  return made;
}

template <class T>
Tensor Tensor::from(const Shape& shape, std::span<const T> values) {
  check(static_cast<std::int64_t>(values.size()) == shape.numel(), "{} values do not fill a tensor {}", values.size(),
        shape);
  Tensor made = empty(shape, dtype_of<T>);
  std::copy(values.begin(), values.end(), made.mutable_data<T>());
  return made;
}

Tensor Tensor::over(std::shared_ptr<Storage> storage, std::int64_t byte_offset, const Shape& shape, DType type) {
  auto element = static_cast<std::int64_t>(size_of(type)), size = static_cast<std::int64_t>(storage->size);
  check(byte_offset >= 0 && byte_offset <= size && shape.numel() <= (size - byte_offset) / element,
        "a tensor {} {} at byte {} does not lie within {} bytes", name_of(type), shape, byte_offset, size);
  check(reinterpret_cast<std::uintptr_t>(storage->data + byte_offset) % static_cast<std::uintptr_t>(element) == 0 ||
            shape.numel() == 0,
        "a tensor {} {} at byte {} is not aligned to its element size", name_of(type), shape, byte_offset);
  check(byte_offset % element == 0, "byte {} is not a multiple of {}'s size", byte_offset, name_of(type));
  Tensor made;
  made.storage_ = std::move(storage);
  made.offset_ = byte_offset / element;
  made.shape_ = shape;
  made.strides_ = contiguous_strides(shape);
  made.type_ = type;
  return made;
}

std::byte* Tensor::bytes() const {
  check(defined(), "a tensor without contents was used");
  return storage_->data + offset_ * static_cast<std::int64_t>(size_of(type_));
}

std::int64_t Tensor::row_count() const {
  std::int64_t count = 1;
  for (int i = 0; i + 1 < rank(); ++i) count *= dim(i);
  return count;
}

std::int64_t Tensor::stride(int i) const { return strides_[static_cast<std::size_t>(checked_dimension(shape_, i))]; }

bool Tensor::is_contiguous() const {
  if (numel() == 0) return true;
  std::int64_t step = 1;
  for (int i = rank() - 1; i >= 0; --i) {
    if (dim(i) == 1) continue;
    if (stride(i) != step) return false;
    step *= dim(i);
  }
  return true;
}

template <class T>
const T* Tensor::data() const {
  check(type_ == dtype_of<T>, "a tensor {} {} was read as {}", name_of(type_), shape_, name_of(dtype_of<T>));
  return reinterpret_cast<const T*>(bytes());
}

template <class T>
T* Tensor::mutable_data() const {
  check(type_ == dtype_of<T>, "a tensor {} {} was written as {}", name_of(type_), shape_, name_of(dtype_of<T>));
  check(defined() && storage_->writable, "a tensor {} of a mapped file was written: clone() it first", shape_);
  return reinterpret_cast<T*>(bytes());
}

template <class T>
std::span<const T> Tensor::values() const {
  check(is_contiguous(), "the values of a strided view {} are not side by side: use contiguous()", shape_);
  return {data<T>(), static_cast<std::size_t>(numel())};
}

template <class T>
std::span<T> Tensor::mutable_values() const {
  check(is_contiguous(), "the values of a strided view {} are not side by side", shape_);
  return {mutable_data<T>(), static_cast<std::size_t>(numel())};
}

template <class T>
std::vector<T> Tensor::to_vector() const {
  Tensor packed = contiguous();
  std::span<const T> all = packed.values<T>();
  return {all.begin(), all.end()};
}

double Tensor::item() const {
  check(numel() == 1, "item() wants one element, the tensor is {}", shape_);
  check(is_float(type_), "item() wants a float type, the tensor is {}", name_of(type_));
  return with_type(type_, [&]<class T>() { return convert<double>(*data<T>()); });
}

Tensor Tensor::as_shape(const Shape& shape) const {
  check(shape.numel() == numel(), "a tensor {} cannot be seen as {}: {} and {} elements", shape_, shape, numel(),
        shape.numel());
  Tensor view = detached();
  view.shape_ = shape;
  if (is_contiguous()) {
    view.strides_ = contiguous_strides(shape);
  } else {
    check(strides_for(shape_, strides_, shape, view.strides_),
          "a strided view {} cannot be seen as {} without a copy: use contiguous()", shape_, shape);
  }
  return view;
}

Tensor Tensor::rows(std::int64_t begin, std::int64_t end) const { return slice(0, begin, end); }

Tensor Tensor::slice(int dim, std::int64_t begin, std::int64_t end) const {
  int d = checked_dimension(shape_, dim);
  check(0 <= begin && begin <= end && end <= shape_[d], "[{}, {}) does not lie within dimension {} of {}", begin, end,
        d, shape_);
  Tensor view = detached();
  std::array<std::int64_t, Shape::max_rank> sizes{};
  std::ranges::copy(shape_.sizes(), sizes.begin());
  sizes[static_cast<std::size_t>(d)] = end - begin;
  view.shape_ = Shape(std::span<const std::int64_t>(sizes).first(static_cast<std::size_t>(rank())));
  // An empty slice points at its beginning's base, so that no address beyond the storage is formed.
  if (begin < end) view.offset_ += begin * strides_[static_cast<std::size_t>(d)];
  return view;
}

Tensor Tensor::transposed(int a, int b) const {
  auto first = static_cast<std::size_t>(checked_dimension(shape_, a)),
       second = static_cast<std::size_t>(checked_dimension(shape_, b));
  Tensor view = detached();
  std::array<std::int64_t, Shape::max_rank> sizes{};
  std::ranges::copy(shape_.sizes(), sizes.begin());
  std::swap(sizes[first], sizes[second]);
  std::swap(view.strides_[first], view.strides_[second]);
  view.shape_ = Shape(std::span<const std::int64_t>(sizes).first(static_cast<std::size_t>(rank())));
  return view;
}

Tensor Tensor::contiguous() const { return is_contiguous() ? detached() : clone(); }

Tensor Tensor::clone() const {
  Tensor copy = like(*this);
  copy_into(*this, copy);
  return copy;
}

Tensor Tensor::to(DType type) const {
  if (type == type_) return detached();
  Tensor from = contiguous(), made = empty(shape_, type);
  with_type(type_, [&]<class From>() {
    with_type(type, [&]<class To>() {
      const From* source = from.data<From>();
      To* target = made.mutable_data<To>();
      parallel(numel(), copy_grain, [&](std::int64_t begin, std::int64_t end) {
        for (std::int64_t i = begin; i < end; ++i) target[i] = convert<To>(source[i]);
      });
    });
  });
  return made;
}

Tensor Tensor::detached() const {
  Tensor same = *this;
  same.grad_ = nullptr;
  return same;
}

bool Tensor::sole_owner() const { return storage_.use_count() == 1 && storage_->writable; }

std::int64_t Tensor::version() const { return defined() ? storage_->version : 0; }

void Tensor::mark_changed() const {
  check(defined(), "a tensor without contents was used");
  storage_->version += 1;
}

void copy_into(const Tensor& from, const Tensor& to) {
  check(from.shape() == to.shape() && from.dtype() == to.dtype(), "copying {} {} into {} {}: they differ",
        name_of(from.dtype()), from.shape(), name_of(to.dtype()), to.shape());
  if (from.numel() == 0) return;
  with_type(from.dtype(), [&]<class T>() {
    // The reader's pointer is const; one Side serves both.
    auto side = [](const T* data, const Tensor& x) {
      Side made{reinterpret_cast<std::byte*>(const_cast<T*>(data)), {}};
      for (int i = 0; i < x.rank(); ++i) made.strides[static_cast<std::size_t>(i)] = x.stride(i);
      return made;
    };
    if (from.is_contiguous() && to.is_contiguous()) {
      Shape flat{from.numel()};
      Side a{side(from.data<T>(), from).data, {1}}, b{side(to.mutable_data<T>(), to).data, {1}};
      std::int64_t piece = copy_grain;
      parallel(from.numel(), piece, [&](std::int64_t begin, std::int64_t end) {
        std::memcpy(b.data + begin * static_cast<std::int64_t>(sizeof(T)),
                    a.data + begin * static_cast<std::int64_t>(sizeof(T)),
                    static_cast<std::size_t>(end - begin) * sizeof(T));
      });
    } else {
      copy_strided<T>(from.shape(), side(from.data<T>(), from), side(to.mutable_data<T>(), to));
    }
  });
}

#define ATTUNE_ELEMENT_TYPE(T)                                       \
  template Tensor Tensor::from<T>(const Shape&, std::span<const T>); \
  template const T* Tensor::data<T>() const;                         \
  template T* Tensor::mutable_data<T>() const;                       \
  template std::span<const T> Tensor::values<T>() const;             \
  template std::span<T> Tensor::mutable_values<T>() const;           \
  template std::vector<T> Tensor::to_vector<T>() const;
ATTUNE_ELEMENT_TYPE(double)
ATTUNE_ELEMENT_TYPE(float)
ATTUNE_ELEMENT_TYPE(Half)
ATTUNE_ELEMENT_TYPE(BFloat16)
ATTUNE_ELEMENT_TYPE(std::int64_t)
ATTUNE_ELEMENT_TYPE(std::int32_t)
ATTUNE_ELEMENT_TYPE(std::int8_t)
ATTUNE_ELEMENT_TYPE(std::uint8_t)
#undef ATTUNE_ELEMENT_TYPE

}  // namespace attune
