#include "attune/explain/parity.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "attune/autograd/tape.h"
#include "attune/base/error.h"
#include "attune/models/forward.h"
#include "attune/models/outputs.h"

namespace attune::explain {

namespace {

/// [tokens, vocabulary] logits where the model has a head over tokens, else [tokens, hidden].
Tensor outputs_of(const Bundle& bundle, const std::vector<std::int64_t>& ids, bool logits) {
  NoGradient none;
  if (const auto start = bundle.model->facts().decoder_start_token_id; start && logits) {
    Example example = Example::of(ids);
    example.decoder_ids = {*start};
    example.decoder_ids.insert(example.decoder_ids.end(), ids.begin(), ids.end() - 1);
    for (NamedTensor& one : forward_examples(*bundle.model, std::array{example}, {}))
      if (one.name == "0/logits") return one.tensor;
  }
  const Batch batch = Batch::of({ids});
  const Tensor states = bundle.model->forward(batch);
  return logits ? bundle.model->head().logits(states, batch) : states;
}

bool gives_logits(const Bundle& bundle) {
  const HeadKind head = bundle.model->facts().head;
  return head == HeadKind::causal_lm || head == HeadKind::masked_lm || head == HeadKind::sequence_to_sequence;
}

/// log of the sum of exp(x), x: [count]
double log_sum(const float* x, std::size_t count) {
  const double most = *std::max_element(x, x + count);
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += std::exp(x[i] - most);
  return most + std::log(sum);
}

void compare_rows(const Tensor& a, const Tensor& b, Parity& parity) {
  check(a.shape() == b.shape(), "the models give {} and {}: they are not two forms of one", a.shape(), b.shape());
  const auto width = static_cast<std::size_t>(a.width());
  const std::vector<float> of_a = output_values(a), of_b = output_values(b);
  for (std::int64_t row = 0; row < a.row_count(); ++row) {
    const float *x = of_a.data() + row * a.width(), *y = of_b.data() + row * b.width();
    double product = 0, x_square = 0, y_square = 0;
    for (std::size_t i = 0; i < width; ++i) {
      parity.worst_difference = std::max(parity.worst_difference, std::abs(double{x[i]} - y[i]));
      product += double{x[i]} * y[i], x_square += double{x[i]} * x[i], y_square += double{y[i]} * y[i];
    }
    const double lengths = std::sqrt(x_square * y_square), cosine = lengths > 0 ? product / lengths : 1;
    parity.mean_cosine += cosine;  // the sum as yet
    parity.least_cosine = std::min(parity.least_cosine, cosine);
    if (!parity.has_logits) continue;
    const double x_sum = log_sum(x, width), y_sum = log_sum(y, width);
    double kl = 0;
    for (std::size_t i = 0; i < width; ++i) kl += std::exp(x[i] - x_sum) * ((x[i] - x_sum) - (y[i] - y_sum));
    parity.worst_kl = std::max(parity.worst_kl, kl);
    parity.mean_kl += kl;  // the sum as yet
    parity.same_best += std::max_element(x, x + width) - x == std::max_element(y, y + width) - y;
  }
  parity.compared += a.row_count();
}

}  // namespace

Parity compare(const Bundle& first, const Bundle& second, std::span<const std::string> texts,
               const ParityOptions& options, const Run& run) {
  Parity parity;
  parity.templates = compare_templates(first, second);
  parity.has_logits = gives_logits(first) && gives_logits(second);
  std::int64_t longest = options.piece;
  for (const Bundle* bundle : {&first, &second})
    if (bundle->model->facts().longest) longest = std::min(longest, *bundle->model->facts().longest);
  for (const std::string& text : texts) {
    const std::vector<std::int32_t> ids = first.text().encode(text).ids;
    ++parity.texts;
    parity.tokens += static_cast<std::int64_t>(ids.size());
    if (ids != second.text().encode(text).ids) {
      if (parity.other_ids++ == 0) parity.first_other = text;
      continue;
    }
    for (std::size_t at = 0; at < ids.size() && parity.compared < options.most_tokens;
         at += static_cast<std::size_t>(longest)) {
      if (run.cancelled()) throw Cancelled("comparing was stopped");
      run.report({"comparing", parity.compared, options.most_tokens, "tokens", ""});
      const std::size_t end = std::min(ids.size(), at + static_cast<std::size_t>(longest));
      const std::vector<std::int64_t> piece(ids.begin() + static_cast<std::ptrdiff_t>(at),
                                            ids.begin() + static_cast<std::ptrdiff_t>(end));
      compare_rows(outputs_of(first, piece, parity.has_logits), outputs_of(second, piece, parity.has_logits), parity);
    }
  }
  if (parity.compared > 0) {
    parity.mean_kl /= static_cast<double>(parity.compared);
    parity.mean_cosine /= static_cast<double>(parity.compared);
  }
  return parity;
}

}  // namespace attune::explain
