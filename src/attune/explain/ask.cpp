#include "attune/explain/ask.h"

#include <algorithm>
#include <cmath>

#include "attune/autograd/tape.h"
#include "attune/base/error.h"
#include "attune/base/stop.h"
#include "attune/data/batches.h"
#include "attune/models/forward.h"
#include "attune/models/outputs.h"

namespace attune::explain {

namespace {

constexpr std::int64_t rows_at_once = 512;  // of logits, each as wide as the vocabulary

bool masks(const Model& model) { return model.facts().head == HeadKind::masked_lm; }

void check_asked(const Model& model, const Asked& asked, std::size_t number) {
  check_example(model.facts(), Example::of(asked.ids));
  const std::int64_t first = masks(model) ? 0 : 1, end = static_cast<std::int64_t>(asked.ids.size());
  for (std::int64_t place : asked.places)
    check(place >= first && place < end, "sequence {}: place {} is asked for, and those that can be are {} to {}",
          number + 1, place, first, end - 1);
}

/// logits: [vocabulary] of the row that says what `token` is.
TokenAnswer answer_of(std::span<const float> logits, std::int64_t token) {
  const float highest = *std::max_element(logits.begin(), logits.end());
  double sum = 0;
  for (float logit : logits) sum += std::exp(static_cast<double>(logit) - highest);
  const float own = logits[static_cast<std::size_t>(token)];
  return {std::log(sum) + highest - own, own >= highest};
}

Tensor states_over_cache(const Model& model, CacheFormat format, Batch& batch) {
  Decoder decoder(model, {.format = format});
  std::vector<Decoder::Sequence> sequences;
  for (std::int64_t i = 0; i < batch.offsets.count(); ++i) sequences.push_back(decoder.begin());
  return decoder.read(batch, sequences);
}

void ask_batch(const Model& model, const std::vector<Asked>& sequences, const std::vector<std::int64_t>& numbers,
               const Asking& asking, std::vector<std::vector<TokenAnswer>>& answers) {
  std::vector<std::vector<std::int64_t>> ids;
  std::vector<std::int64_t> rows, tokens;
  std::vector<std::vector<TokenAnswer>*> owners;
  std::int64_t begin = 0;
  for (std::int64_t number : numbers) {
    const Asked& asked = sequences[static_cast<std::size_t>(number)];
    ids.push_back(asked.ids);
    for (std::int64_t place : asked.places) {
      rows.push_back(begin + place - (masks(model) ? 0 : 1));
      tokens.push_back(asked.ids[static_cast<std::size_t>(place)]);
      owners.push_back(&answers[static_cast<std::size_t>(number)]);
      if (masks(model)) ids.back()[static_cast<std::size_t>(place)] = *asking.mask_id;
    }
    begin += static_cast<std::int64_t>(asked.ids.size());
  }
  Batch batch = Batch::of(ids, numbers);
  const Tensor states = asking.cache ? states_over_cache(model, *asking.cache, batch) : model.forward(batch);
  for (std::size_t from = 0; from < rows.size(); from += rows_at_once) {
    const std::size_t to = std::min(rows.size(), from + rows_at_once);
    const std::vector<std::int64_t> part(rows.begin() + static_cast<std::ptrdiff_t>(from),
                                         rows.begin() + static_cast<std::ptrdiff_t>(to));
    const Tensor logits = model.head().logits(states, batch, &part);  // [part, vocabulary]
    const std::vector<float> values = output_values(logits);
    const auto width = static_cast<std::size_t>(logits.dim(1));
    for (std::size_t i = from; i < to; ++i)
      owners[i]->push_back(answer_of(std::span(values).subspan((i - from) * width, width), tokens[i]));
  }
}

}  // namespace

std::vector<std::vector<TokenAnswer>> ask(const Model& model, const std::vector<Asked>& sequences, const Asking& asking,
                                          const Run& run) {
  const HeadKind head = model.facts().head;
  check(head == HeadKind::causal_lm || head == HeadKind::masked_lm,
        "a probe asks for tokens: this {} model has no head that predicts them", model.facts().model_type);
  check(!masks(model) || asking.mask_id, "a probe of a model of masked tokens needs the mask token");
  NoGradient none;
  std::vector<std::int64_t> lengths;
  for (std::size_t i = 0; i < sequences.size(); ++i) {
    check_asked(model, sequences[i], i);
    lengths.push_back(static_cast<std::int64_t>(sequences[i].ids.size()));
  }
  std::vector<std::vector<TokenAnswer>> answers(sequences.size());
  std::int64_t done = 0;
  auto report = [&] {
    run.report({.doing = "asking",
                .done = done,
                .total = static_cast<std::int64_t>(sequences.size()),
                .unit = "sequences",
                .detail = ""});
  };
  for (const auto& numbers : make_batches(lengths, {.batch_tokens = 4096, .order = BatchOrder::sequential}, 0)) {
    if (run.cancelled()) throw Cancelled("stopped during a probe: no result was written");
    report();
    const StopWithin stop(run);
    ask_batch(model, sequences, numbers, asking, answers);
    done += static_cast<std::int64_t>(numbers.size());
  }
  report();
  return answers;
}

}  // namespace attune::explain
