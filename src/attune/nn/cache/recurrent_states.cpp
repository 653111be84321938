#include "attune/nn/cache/recurrent_states.h"

#include <set>

#include "attune/base/error.h"

namespace attune {

RecurrentStates::Sequence& RecurrentStates::at(Handle handle) {
  check(handle >= 0, "no recurrent state of a sequence {}", handle);
  const auto i = static_cast<std::size_t>(handle);
  if (i >= all_.size()) all_.resize(i + 1);
  return all_[i];
}

void RecurrentStates::begin(Handle handle) { at(handle) = {}; }

void RecurrentStates::fork(Handle parent, Handle child) {
  Sequence shared = at(parent);
  at(child) = std::move(shared);
}

void RecurrentStates::drop(Handle handle) { at(handle) = {}; }

Tensor RecurrentStates::take(std::int64_t layer, Handle handle, const std::function<Tensor()>& first) {
  std::vector<Tensor>& layers = at(handle).layers;
  const auto i = static_cast<std::size_t>(layer);
  if (i >= layers.size()) layers.resize(i + 1);
  Tensor& state = layers[i];
  if (!state.defined())
    state = first();
  else if (!state.sole_owner())
    state = state.clone();
  return state;
}

std::int64_t RecurrentStates::bytes() const {
  std::set<const void*> seen;
  std::int64_t sum = 0;
  for (const Sequence& sequence : all_)
    for (const Tensor& state : sequence.layers) {
      if (!state.defined()) continue;
      const void* data =
          state.dtype() == DType::F64 ? static_cast<const void*>(state.data<double>()) : state.data<float>();
      if (seen.insert(data).second) sum += state.numel() * static_cast<std::int64_t>(size_of(state.dtype()));
    }
  return sum;
}

}  // namespace attune
