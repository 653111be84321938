#include "attune/kernels/cpu/activation.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "attune/kernels/cpu/activation.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "attune/kernels/cpu/elementwise-inl.h"
#include "attune/kernels/cpu/math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace attune::kernels::HWY_NAMESPACE {

using V = hn::Vec<F32>;

/// f(x), and f'(x) in `slope`: where only one is used the compiler drops the other's work.
struct Relu {
  static HWY_INLINE V value(V x, V& slope) {
    const F32 d;
    const auto negative = hn::Lt(x, hn::Zero(d));  // NaN is not: it goes on
    slope = hn::IfThenElseZero(hn::Gt(x, hn::Zero(d)), hn::Set(d, 1.0f));
    return hn::IfThenZeroElse(negative, x);
  }
};

struct Gelu {
  static HWY_INLINE V value(V x, V& slope) {
    V density;
    const V cdf = math::normal_cdf(F32(), x, density);
    slope = hn::MulAdd(x, density, cdf);
    return hn::Mul(x, cdf);
  }
};

/// 1/2 (1 + tanh(u)) = sigmoid(2 u), which keeps its relative precision where x is far below 0.
struct GeluTanh {
  static HWY_INLINE V value(V x, V& slope) {
    const F32 d;
    const V twice_root = hn::Set(d, 1.5957691216f);  // 2 sqrt(2/pi)
    const V cubic = hn::Mul(hn::Set(d, 0.044715f), hn::Mul(x, x));
    const V s = math::sigmoid(d, hn::Mul(twice_root, hn::MulAdd(cubic, x, x)));
    const V inner = hn::Mul(twice_root, hn::MulAdd(hn::Set(d, 3.0f), cubic, hn::Set(d, 1.0f)));
    const V y = hn::Mul(x, s);
    slope = hn::MulAdd(hn::Mul(y, hn::Sub(hn::Set(d, 1.0f), s)), inner, s);
    return y;
  }
};

struct Silu {
  static HWY_INLINE V value(V x, V& slope) {
    const F32 d;
    const V s = math::sigmoid(d, x);
    const V y = hn::Mul(x, s);
    slope = hn::MulAdd(y, hn::Sub(hn::Set(d, 1.0f), s), s);
    return y;
  }
};

struct Tanh {
  static HWY_INLINE V value(V x, V& slope) {
    const F32 d;
    const V y = math::tanh(d, x);
    slope = hn::NegMulAdd(y, y, hn::Set(d, 1.0f));
    return y;
  }
};

struct Sigmoid {
  static HWY_INLINE V value(V x, V& slope) {
    const F32 d;
    const V y = math::sigmoid(d, x);
    slope = hn::Mul(y, hn::Sub(hn::Set(d, 1.0f), y));
    return y;
  }
};

/// min(x, 0) - log(1 + exp(-|x|)): no large number is left over from a difference.
struct LogSigmoid {
  static HWY_INLINE V value(V x, V& slope) {
    const F32 d;
    const V one = hn::Set(d, 1.0f), e = math::exp_nonpositive(d, hn::Neg(hn::Abs(x)));
    const auto negative = hn::Lt(x, hn::Zero(d));
    slope = hn::Div(hn::IfThenElse(negative, one, e), hn::Add(one, e));  // sigmoid(-x)
    return hn::Sub(hn::IfThenElseZero(negative, x), math::log_one_plus(d, e));
  }
};

struct EluPlusOne {
  static HWY_INLINE V value(V x, V& slope) {
    const F32 d;
    const V one = hn::Set(d, 1.0f);
    const auto positive = hn::Gt(x, hn::Zero(d));
    const V e = math::exp_nonpositive(d, hn::IfThenZeroElse(positive, x));
    slope = hn::IfThenElse(positive, one, e);
    return hn::IfThenElse(positive, hn::Add(x, one), e);
  }
};

/// Calls work(f) with the struct of `kind`.
template <class Work>
HWY_INLINE void with_function(Activation kind, const Work& work) {
  switch (kind) {
    case Activation::relu:
      return work(Relu());
    case Activation::gelu:
      return work(Gelu());
    case Activation::gelu_tanh:
      return work(GeluTanh());
    case Activation::silu:
      return work(Silu());
    case Activation::tanh:
      return work(Tanh());
    case Activation::sigmoid:
      return work(Sigmoid());
    case Activation::log_sigmoid:
      return work(LogSigmoid());
    case Activation::elu_plus_one:
      return work(EluPlusOne());
  }
}

void activation(Rows<const float> x, Activation kind, Rows<float> y) {
  with_function(kind, [&](auto f) HWY_ATTR {
    map_rows(
        y,
        [&](V v) HWY_ATTR {
          V slope;
          return f.value(v, slope);
        },
        x);
  });
}

void activation_backward(Rows<const float> x, Rows<const float> dy, Activation kind, Rows<float> dx) {
  with_function(kind, [&](auto f) HWY_ATTR {
    map_rows(
        dx,
        [&](V v, V g) HWY_ATTR {
          V slope;
          f.value(v, slope);
          return hn::Mul(g, slope);
        },
        x, dy);
  });
}

void gated(Rows<const float> gate, Rows<const float> up, Activation kind, Rows<float> y) {
  with_function(kind, [&](auto f) HWY_ATTR {
    map_rows(
        y,
        [&](V v, V u) HWY_ATTR {
          V slope;
          return hn::Mul(f.value(v, slope), u);
        },
        gate, up);
  });
}

void gated_backward(Rows<const float> gate, Rows<const float> up, Rows<const float> dy, Activation kind,
                    GatedGradient<float> d) {
  with_function(kind, [&](auto f) HWY_ATTR {
    map_rows_to_two(
        d.gate, d.up,
        [&](V v, V u, V g, V& dgate, V& dup) HWY_ATTR {
          V slope;
          dup = hn::Mul(g, f.value(v, slope));
          dgate = hn::Mul(hn::Mul(g, u), slope);
        },
        gate, up, dy);
  });
}

}  // namespace attune::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace attune::kernels {

HWY_EXPORT(activation);
HWY_EXPORT(activation_backward);
HWY_EXPORT(gated);
HWY_EXPORT(gated_backward);

void activation(Rows<const float> x, Activation kind, Rows<float> y) { HWY_DYNAMIC_DISPATCH(activation)(x, kind, y); }
void activation_backward(Rows<const float> x, Rows<const float> dy, Activation kind, Rows<float> dx) {
  HWY_DYNAMIC_DISPATCH(activation_backward)(x, dy, kind, dx);
}
void gated(Rows<const float> gate, Rows<const float> up, Activation kind, Rows<float> y) {
  HWY_DYNAMIC_DISPATCH(gated)(gate, up, kind, y);
}
void gated_backward(Rows<const float> gate, Rows<const float> up, Rows<const float> dy, Activation kind,
                    GatedGradient<float> d) {
  HWY_DYNAMIC_DISPATCH(gated_backward)(gate, up, dy, kind, d);
}

}  // namespace attune::kernels
#endif
