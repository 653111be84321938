#pragma once

#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "attune/tensor/tensor.h"

namespace attune {

/// What an operation's backward function fills. Input i is the i-th of those given to record().
class Gradients {
 public:
  struct Target {
    Tensor tensor;  // input's shape, contiguous
    bool fresh;     // contents undefined: write; otherwise there is a sum already: add
  };

  /// Whether input i needs a gradient; skip its work otherwise.
  bool wanted(int i) const;
  /// Adds `gradient` (input's shape and type) to input i's. The tensor is taken over if it is the first: do not write
  /// to it after.
  void add(int i, Tensor gradient);
  /// Where to write or add input i's gradient directly, which saves a buffer for weights.
  Target target(int i);
  /// The same, zeroed where it was fresh: for operations that touch a part of it.
  Tensor accumulator(int i);

 private:
  friend void backward(const Tensor& loss, const Tensor& gradient);
  explicit Gradients(std::vector<std::shared_ptr<GradLink>>& inputs) : inputs_(inputs) {}
  std::vector<std::shared_ptr<GradLink>>& inputs_;
};

using Backward = std::function<void(const Tensor& dy, Gradients& gradients)>;

/// Puts `y`, computed from `inputs`, on the tape and returns it. `backward` gets dL/dy and gives dL/dinput for those
/// wanted; it and all it holds are released as soon as it has run. Does nothing where no input needs a gradient or
/// under NoGradient.
Tensor record(std::string_view operation, Tensor y, std::initializer_list<Tensor> inputs, Backward backward);
Tensor record(std::string_view operation, Tensor y, const std::vector<Tensor>& inputs, Backward backward);

/// For an operation that has no gradient: throws Error "OPERATION has no gradient" if an input would need one.
void forbid_gradient(std::string_view operation, std::initializer_list<Tensor> inputs);

/// Whether operations on this tensor are recorded now.
bool needs_gradient(const Tensor& x);
bool needs_gradient(std::initializer_list<Tensor> inputs);

/// Makes a leaf: a tensor whose gradient is kept for gradient_of().
Tensor require_gradient(const Tensor& x);
/// The gradient that backward passes have summed for a leaf; not defined() if none reached it.
Tensor gradient_of(const Tensor& leaf);
void set_gradient(const Tensor& leaf, Tensor gradient);  // an undefined tensor clears it

/// Runs the tape from `loss` (one element) or from `y` with dL/dy = `gradient`. Gradients add up in leaves. Nodes are
/// run in the reverse order of their making and released as they are passed; a graph is used once.
void backward(const Tensor& loss);
void backward(const Tensor& y, const Tensor& gradient);

/// While one lives, this thread records nothing.
class NoGradient {
 public:
  NoGradient();
  ~NoGradient();
  NoGradient(const NoGradient&) = delete;
  NoGradient& operator=(const NoGradient&) = delete;

 private:
  bool before_;
};

/// Gradient checkpointing: computes work(x) keeping nothing but x, and computes it again when the backward pass comes
/// by (Chen et al. 2016, "Training deep nets with sublinear memory cost"). `work` may use parameters (leaves); it must
/// depend on x and keyed random numbers alone, so that the second time gives the same bits.
Tensor checkpointed(const std::function<Tensor(const Tensor&)>& work, const Tensor& x);

}  // namespace attune
