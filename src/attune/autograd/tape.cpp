#include "attune/autograd/tape.h"

#include <algorithm>
#include <atomic>

#include "attune/base/error.h"
#include "attune/kernels/cpu/arithmetic.h"
#include "attune/kernels/reference/arithmetic.h"

namespace attune {

namespace {

thread_local bool recording = true;
std::atomic<std::uint64_t> next_sequence{1};

}  // namespace

/// An operation that was recorded. Its number grows with time, so the reverse of the making is the order of the
/// numbers.
struct Node {
  std::string operation;
  std::uint64_t sequence = 0;
  std::vector<std::shared_ptr<GradLink>> inputs;  // null where no gradient is wanted
  Backward backward;
};

/// A tensor's place in the graph: who made it (nobody, for a leaf) and the gradient that has reached it so far.
struct GradLink {
  std::shared_ptr<Node> producer;
  bool leaf = false;
  bool queued = false;
  Tensor gradient;
  Shape shape;
  DType type = DType::F32;
};

namespace {

void add_into(const Tensor& from, const Tensor& into) {
  if (into.dtype() == DType::F64)
    kernels::add_into(from.values<double>(), into.mutable_values<double>());
  else
    kernels::add_into(from.values<float>(), into.mutable_values<float>());
}

/// The sum so far, made safe to write to: nobody else holds its storage.
Tensor own(GradLink& link) {
  if (!link.gradient.sole_owner() || !link.gradient.is_contiguous()) link.gradient = link.gradient.clone();
  return link.gradient;
}

}  // namespace

bool Gradients::wanted(int i) const { return inputs_[static_cast<std::size_t>(i)] != nullptr; }

void Gradients::add(int i, Tensor gradient) {
  if (!wanted(i)) return;
  GradLink& link = *inputs_[static_cast<std::size_t>(i)];
  check(gradient.shape() == link.shape && gradient.dtype() == link.type, "gradient {} {} does not fit its input {} {}",
        name_of(gradient.dtype()), gradient.shape(), name_of(link.type), link.shape);
  if (link.gradient.defined())
    add_into(gradient.contiguous(), own(link));
  else
    link.gradient = gradient.detached().contiguous();
}

Gradients::Target Gradients::target(int i) {
  GradLink& link = *inputs_[static_cast<std::size_t>(i)];
  if (link.gradient.defined()) return {own(link), false};
  link.gradient = Tensor::empty(link.shape, link.type);
  return {link.gradient, true};
}

Tensor Gradients::accumulator(int i) {
  GradLink& link = *inputs_[static_cast<std::size_t>(i)];
  if (link.gradient.defined()) return own(link);
  return link.gradient = Tensor::zeros(link.shape, link.type);
}

bool needs_gradient(const Tensor& x) { return recording && x.grad_link() != nullptr; }

bool needs_gradient(std::initializer_list<Tensor> inputs) {
  return std::any_of(inputs.begin(), inputs.end(), [](const Tensor& x) { return needs_gradient(x); });
}

Tensor record(std::string_view operation, Tensor y, std::initializer_list<Tensor> inputs, Backward backward) {
  if (!needs_gradient(inputs)) return y;
  return record(operation, std::move(y), std::vector<Tensor>(inputs), std::move(backward));
}

Tensor record(std::string_view operation, Tensor y, const std::vector<Tensor>& inputs, Backward backward) {
  if (std::none_of(inputs.begin(), inputs.end(), [](const Tensor& x) { return needs_gradient(x); })) return y;
  auto node = std::make_shared<Node>();
  node->operation = operation;
  node->sequence = next_sequence.fetch_add(1, std::memory_order_relaxed);
  for (const Tensor& x : inputs) node->inputs.push_back(x.grad_link());
  node->backward = std::move(backward);
  auto link = std::make_shared<GradLink>();
  link->producer = std::move(node);
  link->shape = y.shape();
  link->type = y.dtype();
  y.set_grad_link(std::move(link));
  return y;
}

void forbid_gradient(std::string_view operation, std::initializer_list<Tensor> inputs) {
  check(!needs_gradient(inputs), "{} has no gradient: compute it under NoGradient or on detached tensors", operation);
}

Tensor require_gradient(const Tensor& x) {
  check(is_float(x.dtype()), "a tensor of {} cannot have a gradient", name_of(x.dtype()));
  Tensor leaf = x.detached();
  auto link = std::make_shared<GradLink>();
  link->leaf = true;
  link->shape = x.shape();
  link->type = x.dtype();
  leaf.set_grad_link(std::move(link));
  return leaf;
}

Tensor gradient_of(const Tensor& leaf) {
  check(leaf.grad_link() && leaf.grad_link()->leaf, "gradients are kept for leaves only: see require_gradient");
  return leaf.grad_link()->gradient;
}

void set_gradient(const Tensor& leaf, Tensor gradient) {
  check(leaf.grad_link() && leaf.grad_link()->leaf, "gradients are kept for leaves only: see require_gradient");
  check(!gradient.defined() || gradient.shape() == leaf.shape(), "gradient {} does not fit its leaf {}",
        gradient.shape(), leaf.shape());
  leaf.grad_link()->gradient = std::move(gradient);
}

void backward(const Tensor& loss) {
  check(loss.numel() == 1, "backward() starts at one number, not at a tensor {}", loss.shape());
  backward(loss, Tensor::full(loss.shape(), 1.0, loss.dtype()));
}

void backward(const Tensor& y, const Tensor& gradient) {
  check(y.grad_link() != nullptr, "backward(): nothing that needs a gradient led to this tensor");
  NoGradient none;
  std::vector<std::shared_ptr<GradLink>> start = {y.grad_link()};
  Gradients(start).add(0, gradient);

  // A heap of links whose gradient is complete once every later operation has been passed.
  auto earlier = [](const auto& a, const auto& b) { return a->producer->sequence < b->producer->sequence; };
  std::vector<std::shared_ptr<GradLink>> heap;
  auto push = [&](const std::shared_ptr<GradLink>& link) {
    if (!link || link->leaf) return;
    check(link->producer != nullptr, "backward(): this graph was used already and is released");
    if (link->queued) return;
    link->queued = true;
    heap.push_back(link);
    std::push_heap(heap.begin(), heap.end(), earlier);
  };
  push(y.grad_link());
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), earlier);
    std::shared_ptr<GradLink> link = std::move(heap.back());
    heap.pop_back();
    std::shared_ptr<Node> node = std::move(link->producer);
    Tensor dy = std::move(link->gradient);
    link->gradient = Tensor();
    if (dy.defined()) {
      Gradients gradients(node->inputs);
      node->backward(dy, gradients);
    }
    node->backward = nullptr;
    for (const auto& input : node->inputs) push(input);
  }
}

NoGradient::NoGradient() : before_(recording) { recording = false; }
NoGradient::~NoGradient() { recording = before_; }

Tensor checkpointed(const std::function<Tensor(const Tensor&)>& work, const Tensor& x) {
  if (!recording) return work(x);
  Tensor y;
  {
    NoGradient none;
    y = work(x.detached());
  }
  Tensor input =
      x.grad_link() ? x : require_gradient(x);  // parameters inside `work` need the pass even where x does not
  return record("checkpointed", y, {input}, [work, kept = x.detached()](const Tensor& dy, Gradients& gradients) {
    Tensor leaf = require_gradient(kept), again;
    recording = true;  // the second run, inside the backward pass, is put on a tape of its own
    try {
      again = work(leaf);
    } catch (...) {
      recording = false;
      throw;
    }
    recording = false;
    if (again.grad_link()) backward(again, dy);
    if (gradients.wanted(0) && gradient_of(leaf).defined()) gradients.add(0, gradient_of(leaf));
  });
}

}  // namespace attune
