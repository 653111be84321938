#include "attune/ops/activation.h"

#include <array>
#include <string>

#include "attune/autograd/tape.h"
#include "attune/kernels/cpu/activation.h"
#include "attune/kernels/reference/activation.h"
#include "attune/ops/dispatch.h"

namespace attune {

namespace {

struct Name {
  std::string_view name;
  Activation kind;
};

/// The first name of each kind is the one that is written.
constexpr std::array names{
    Name{"relu", Activation::relu},
    Name{"gelu", Activation::gelu},
    Name{"gelu_new", Activation::gelu_tanh},
    Name{"gelu_pytorch_tanh", Activation::gelu_tanh},
    Name{"gelu_fast", Activation::gelu_tanh},
    Name{"silu", Activation::silu},
    Name{"swish", Activation::silu},
    Name{"tanh", Activation::tanh},
    Name{"sigmoid", Activation::sigmoid},
    Name{"log_sigmoid", Activation::log_sigmoid},
    Name{"elu_plus_one", Activation::elu_plus_one},
};

}  // namespace

Activation parse_activation(std::string_view name) {
  std::string known;
  for (const Name& one : names) {
    if (one.name == name) return one.kind;
    known += known.empty() ? "" : ", ";
    known += one.name;
  }
  fail("unknown activation \"{}\": expected one of {}", name, known);
}

std::string_view name_of(Activation kind) {
  for (const Name& one : names)
    if (one.kind == kind) return one.name;
  fail("unknown activation {}", static_cast<int>(kind));
}

Tensor activation(const Tensor& x, Activation kind) {
  Tensor y = Tensor::like(x);
  dispatch(name_of(kind), x.dtype(),
           [&]<class T>() { kernels::activation(rows_of<T>(x), kind, mutable_rows_of<T>(y)); });
  return record(name_of(kind), y, {x}, [x = x.detached(), kind](const Tensor& dy, Gradients& gradients) {
    Tensor dx = reusable_or_like(x);
    dispatch(name_of(kind), x.dtype(), [&]<class T>() {
      kernels::activation_backward(rows_of<T>(x), rows_of<T>(dy), kind, mutable_rows_of<T>(dx));
    });
    gradients.add(0, dx);
  });
}

Tensor gated(const Tensor& gate, const Tensor& up, Activation kind) {
  check_same("gated", gate, up);
  Tensor y = Tensor::like(gate);
  dispatch("gated", gate.dtype(),
           [&]<class T>() { kernels::gated(rows_of<T>(gate), rows_of<T>(up), kind, mutable_rows_of<T>(y)); });
  return record("gated", y, {gate, up},
                [gate = gate.detached(), up = up.detached(), kind](const Tensor& dy, Gradients& gradients) {
                  Tensor dgate = reusable_or_like(gate), dup = reusable_or_like(up);
                  dispatch("gated", gate.dtype(), [&]<class T>() {
                    kernels::gated_backward(rows_of<T>(gate), rows_of<T>(up), rows_of<T>(dy), kind,
                                            {mutable_rows_of<T>(dgate), mutable_rows_of<T>(dup)});
                  });
                  gradients.add(0, dgate);
                  gradients.add(1, dup);
                });
}

}  // namespace attune
