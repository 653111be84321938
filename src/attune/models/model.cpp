#include "attune/models/model.h"

#include "attune/autograd/tape.h"
#include "attune/base/error.h"

namespace attune {

Tensor Model::forward(const Batch&, const Memory&, Observer*) const {
  fail("a {} model has no encoder whose output it could read", facts().model_type);
}

Memory Model::encode(const Batch&, Observer*) const { fail("a {} model has no separate encoder", facts().model_type); }

const std::vector<Block>& Model::decoding_blocks() const {
  static const std::vector<Block> none;
  return none;
}

const Head& Model::head() const {
  check(head_ != nullptr, "this {} model has no head: its config names none in \"architectures\"", facts().model_type);
  return *head_;
}

Tensor Model::run(const std::vector<Block>& blocks, Tensor x, const Batch& batch, Observer* observer,
                  const Memory* memory, bool final_norm_follows) const {
  const bool replayed = checkpoint_blocks_ && batch.dropout && !memory && !batch.routing;
  // The second run comes with the backward pass, when the caller's batch (a copy with rotary angles) may be gone.
  const auto kept = replayed ? std::make_shared<const Batch>(batch) : nullptr;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const Block& block = blocks[i];
    if (replayed)
      x = checkpointed([&block, kept](const Tensor& in) { return block(in, *kept, nullptr); }, x);
    else
      x = block(x, batch, observer, memory);
    bool last = i + 1 == blocks.size();
    if (observer && !(last && final_norm_follows)) observer->hidden_state(block.place.stack, block.place.layer + 1, x);
  }
  return x;
}

}  // namespace attune
