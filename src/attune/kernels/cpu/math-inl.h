// Per-target include guard, as Highway wants it: this file is compiled once for each instruction set.
#if defined(ATTUNE_KERNELS_CPU_MATH_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef ATTUNE_KERNELS_CPU_MATH_INL_H
#undef ATTUNE_KERNELS_CPU_MATH_INL_H
#else
#define ATTUNE_KERNELS_CPU_MATH_INL_H
#endif

#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace attune::kernels::HWY_NAMESPACE {

// Functions of a vector of f32. NaN in, NaN out (Min and Max do not promise that, comparisons do). Polynomials were
// fitted for the least largest relative error (Lawson's iteration); errors below are those measured over the range by
// math_test.cpp, with fused multiply-adds. Sets without them (SSE4) lose up to ten times as much in the normal
// distribution's tail.

namespace math {

namespace hn = hwy::HWY_NAMESPACE;

/// 2^n exp(r) = exp(x): gives exp(r) and leaves n. |r| <= ln(2)/2.
template <class D, class V = hn::Vec<D>, class I = hn::Vec<hn::RebindToSigned<D>>>
HWY_INLINE V exp_reduced(D d, V x, I& n) {
  n = hn::NearestInt(hn::Mul(x, hn::Set(d, 1.44269504f)));  // log2(e)
  const V whole = hn::ConvertTo(d, n);
  V r = hn::NegMulAdd(whole, hn::Set(d, 0.693359375f),
                      x);  // ln(2) in two parts, the first short enough to multiply exactly
  r = hn::NegMulAdd(whole, hn::Set(d, -2.12194440e-4f), r);
  V p = hn::MulAdd(hn::Set(d, 0.0013814467f), r, hn::Set(d, 0.0083687808f));
  p = hn::MulAdd(p, r, hn::Set(d, 0.0416683927f));
  p = hn::MulAdd(p, r, hn::Set(d, 0.1666651964f));
  p = hn::MulAdd(p, r, hn::Set(d, 0.4999999404f));
  return hn::Add(hn::Set(d, 1.0f), hn::MulAdd(hn::Mul(r, r), p, r));
}

/// 2^n for -126 <= n <= 127.
template <class D, class I = hn::Vec<hn::RebindToSigned<D>>>
HWY_INLINE hn::Vec<D> power_of_two(D d, I n) {
  const hn::RebindToSigned<D> di;
  return hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(n, hn::Set(di, 127))));
}

/// exp(x) for any x, within 1.2e-7 of it, infinity and subnormal results included.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp(D d, V x) {
  const hn::RebindToSigned<D> di;
  hn::Vec<decltype(di)> n;
  const V least = hn::Set(d, -104.0f), most = hn::Set(d, 89.0f);
  x = hn::IfThenElse(hn::Lt(x, least), least, x);
  const V p = exp_reduced(d, hn::IfThenElse(hn::Gt(x, most), most, x), n);
  const auto half = hn::ShiftRight<1>(n);  // in two steps, since 2^128 and 2^-150 are no floats of full precision
  return hn::Mul(hn::Mul(p, power_of_two(d, half)), power_of_two(d, hn::Sub(n, half)));
}

/// exp(x) for x <= 0, within 1.2e-7; results below 2^-126 are 0. The softmax's and the sigmoid's.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp_nonpositive(D d, V x) {
  const V lowest = hn::Set(d, -87.33654f);
  hn::Vec<hn::RebindToSigned<D>> n;
  const auto below = hn::Lt(x, lowest);
  const V p = exp_reduced(d, hn::IfThenElse(below, lowest, x), n);
  return hn::IfThenZeroElse(below, hn::Mul(p, power_of_two(d, n)));
}

/// 1 / (1 + exp(-x)), within 2.5e-7 of it; 0 below -87.3.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V sigmoid(D d, V x) {
  const V one = hn::Set(d, 1.0f);
  const V e = exp_nonpositive(d, hn::Neg(hn::Abs(x)));
  const V numerator = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), e, one);
  return hn::Div(numerator, hn::Add(one, e));
}

/// log(1 + x) for 0 <= x <= 1, within 2e-7 of it: 2 atanh(s) with s = x / (2 + x) <= 1/3, by its series.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V log_one_plus(D d, V x) {
  const V s = hn::Div(x, hn::Add(x, hn::Set(d, 2.0f))), z = hn::Mul(s, s);
  V p = hn::MulAdd(hn::Set(d, 1.0f / 13), z, hn::Set(d, 1.0f / 11));
  p = hn::MulAdd(p, z, hn::Set(d, 1.0f / 9));
  p = hn::MulAdd(p, z, hn::Set(d, 1.0f / 7));
  p = hn::MulAdd(p, z, hn::Set(d, 1.0f / 5));
  p = hn::MulAdd(p, z, hn::Set(d, 1.0f / 3));
  p = hn::MulAdd(hn::Mul(p, z), s, s);
  return hn::Add(p, p);
}

/// tanh(x), within 2e-7 of it.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V tanh(D d, V x) {
  const V one = hn::Set(d, 1.0f);
  const V z = hn::Mul(x, x);
  V p = hn::MulAdd(hn::Set(d, -0.0057170447f), z, hn::Set(d, 0.0206505861f));
  p = hn::MulAdd(p, z, hn::Set(d, -0.0537434965f));
  p = hn::MulAdd(p, z, hn::Set(d, 0.1333149076f));
  p = hn::MulAdd(p, z, hn::Set(d, -0.3333328366f));
  const V small = hn::MulAdd(hn::Mul(p, z), x, x);
  const V size = hn::Abs(x);
  const V e = exp_nonpositive(d, hn::Mul(hn::Set(d, -2.0f), size));
  const V large = hn::CopySign(hn::Div(hn::Sub(one, e), hn::Add(one, e)), x);
  return hn::IfThenElse(hn::Lt(size, hn::Set(d, 0.625f)), small, large);
}

/// The normal distribution's Phi(x) and density phi(x), each within 5e-7 of it. With t = |x|, exp(t^2/2)
/// erfc(t/sqrt(2)) is smooth in k = 1/(1 + t/4): a polynomial of k, so that the far tail keeps its relative precision.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V normal_cdf(D d, V x, V& density) {
  const V one = hn::Set(d, 1.0f), half = hn::Set(d, 0.5f);
  const V k = hn::Div(one, hn::MulAdd(hn::Set(d, 0.25f), hn::Abs(x), one));
  const V square = hn::Mul(x, x);
  const V e = exp_nonpositive(d, hn::Mul(hn::Set(d, -0.5f), square));
  V p = hn::MulAdd(hn::Set(d, 0.0324711129f), k, hn::Set(d, -0.1217267513f));
  p = hn::MulAdd(p, k, hn::Set(d, 0.0939111561f));
  p = hn::MulAdd(p, k, hn::Set(d, 0.0698924661f));
  p = hn::MulAdd(p, k, hn::Set(d, 0.0141205965f));
  p = hn::MulAdd(p, k, hn::Set(d, 0.1796752959f));
  p = hn::MulAdd(p, k, hn::Set(d, 0.1416813880f));
  p = hn::MulAdd(p, k, hn::Set(d, 0.1915575713f));
  p = hn::MulAdd(p, k, hn::Set(d, 0.1989176571f));
  p = hn::MulAdd(p, k, hn::Set(d, 0.1994995326f));
  // What rounding x^2 lost matters once it is an exponent; where there is no fused multiply-add this is 0.
  const V lost = hn::MulSub(x, x, square);
  const V exact = hn::NegMulAdd(hn::Mul(half, lost), e, e);
  density = hn::Mul(exact, hn::Set(d, 0.3989422804f));  // 1/sqrt(2 pi)
  const V tail = hn::Mul(hn::Mul(half, exact), hn::Mul(k, p));
  return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), tail, hn::Sub(one, tail));
}

}  // namespace math

}  // namespace attune::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
