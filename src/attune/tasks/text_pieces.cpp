#include "attune/tasks/text_pieces.h"

#include <algorithm>

#include "attune/autograd/tape.h"
#include "attune/base/error.h"
#include "attune/data/batches.h"

namespace attune {

void for_each_batch(std::span<const TextPiece> pieces, const PieceBatches& options, const Run& run,
                    const std::function<void(std::span<const std::int64_t> numbers, const Batch& batch)>& work) {
  std::vector<std::int64_t> lengths;
  std::int64_t total = 0, done = 0;
  bool typed = false;
  for (const TextPiece& piece : pieces) {
    lengths.push_back(static_cast<std::int64_t>(piece.ids.size()));
    total += lengths.back();
    typed = typed || !piece.type_ids.empty();
  }
  NoGradient none;
  const BatchOptions batches{.batch_tokens = options.batch_tokens, .order = BatchOrder::sequential};
  for (const std::vector<std::int64_t>& numbers : make_batches(lengths, batches, 0)) {
    if (run.cancelled()) throw Cancelled("stopped: no result was written");
    std::vector<std::vector<std::int64_t>> ids;
    std::vector<std::int64_t> types;
    for (std::int64_t number : numbers) {
      const TextPiece& piece = pieces[static_cast<std::size_t>(number)];
      ids.push_back(piece.ids);
      if (piece.type_ids.empty()) types.resize(types.size() + piece.ids.size());
      types.insert(types.end(), piece.type_ids.begin(), piece.type_ids.end());
    }
    Batch batch = Batch::of(ids);
    if (typed) batch.type_ids = Tensor::from<std::int64_t>({batch.tokens()}, types);
    done += batch.tokens();
    work(numbers, batch);
    run.report({.doing = options.doing, .done = done, .total = total, .unit = "tokens", .detail = ""});
  }
}

}  // namespace attune
