#include "attune/models/forward.h"

#include <fmt/format.h>

#include <map>
#include <numeric>

#include "attune/autograd/tape.h"
#include "attune/base/error.h"

namespace attune {

namespace {

/// Keeps what passes by, cut into the examples' rows.
class Collector : public Observer {
 public:
  Collector(const LabelledBatch& batch, bool two_stacks, const ForwardOptions& options, std::vector<NamedTensor>& out)
      : batch_(batch), two_stacks_(two_stacks), options_(options), out_(out) {}

  void hidden_state(Stack stack, int layer, const Tensor& x) override {
    if (options_.hidden_states) add(prefix(stack) + "hidden_states/" + std::to_string(layer), x, offsets(stack));
  }
  bool wants_attention(Stack, int) const override { return options_.attentions; }
  void attention(Stack stack, int layer, std::int64_t sequence, const Tensor& weights) override {
    out_.push_back({fmt::format("{}/{}attentions/{}", sequence, prefix(stack), layer), weights});
  }
  void add(const std::string& name, const Tensor& x, const Offsets& offsets) {
    for (std::int64_t i = 0; i < offsets.count(); ++i)
      out_.push_back(
          {fmt::format("{}/{}", i, name), x.detached().rows(offsets.begin(i), offsets.end(i)).to(DType::F32).clone()});
  }

 private:
  std::string prefix(Stack stack) const {
    if (!two_stacks_) return "";
    return stack == Stack::encoder ? "encoder_" : "decoder_";
  }
  const Offsets& offsets(Stack stack) const {
    return batch_.decoder && stack == Stack::decoder ? batch_.decoder->offsets : batch_.batch.offsets;
  }

  const LabelledBatch& batch_;
  bool two_stacks_;
  const ForwardOptions& options_;
  std::vector<NamedTensor>& out_;
};

}  // namespace

void check_example(const ModelFacts& facts, const Example& example) {
  auto check_ids = [&](const char* key, const std::vector<std::int64_t>& ids) {
    check(!facts.longest || static_cast<std::int64_t>(ids.size()) <= *facts.longest,
          "\"{}\" holds {} tokens, and the model takes {}: shorten it", key, ids.size(), facts.longest.value_or(0));
    for (std::size_t i = 0; i < ids.size(); ++i)
      check(ids[i] < facts.vocab_size,
            "\"{}\" holds {} at place {}, and the model's vocabulary ends at {}: was another tokenizer used?", key,
            ids[i], i + 1, facts.vocab_size - 1);
  };
  for (const auto& chunk : example.chunks) check_ids("ids", chunk);
  check(example.decoder_ids.empty() || facts.head == HeadKind::sequence_to_sequence,
        "\"decoder_ids\" is for an encoder-decoder, and this {} model is none: leave it out", facts.model_type);
  check_ids("decoder_ids", example.decoder_ids);
}

namespace {

/// Puts a parameter's gradient where it stands in the file's tensor, whose other parts may have none: they stay 0.
void add_part(const FilePart& place, const Tensor& gradient, Tensor& whole) {
  if (!whole.defined()) whole = Tensor::zeros(place.whole);
  const std::int64_t within_one = place.whole[1] * place.whole[2];
  const auto values = contiguous(gradient).to_vector<float>();
  const std::int64_t begin = place.index * within_one + place.part * static_cast<std::int64_t>(values.size());
  std::copy(values.begin(), values.end(), whole.mutable_values<float>().begin() + begin);
}

}  // namespace

std::vector<NamedTensor> forward_examples(const Model& model, std::span<const Example> examples,
                                          const ForwardOptions& options) {
  std::vector<std::int64_t> numbers(examples.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  LabelledBatch batch = collate(model, examples, numbers);
  std::vector<NamedTensor> out;
  Collector collector(batch, model.facts().two_stacks, options, out);
  Tensor states = final_states(model, batch, &collector);
  const Batch& last = batch.decoder ? *batch.decoder : batch.batch;
  collector.add("last_hidden_state", states, last.offsets);
  if (model.facts().head != HeadKind::none) {
    NoGradient none;
    Tensor logits = model.head().logits(states, last);
    if (!model.head().over_sequences()) {
      collector.add("logits", logits, last.offsets);
    } else {
      for (std::int64_t i = 0; i < logits.dim(0); ++i)
        out.push_back(
            {fmt::format("{}/logits", i), logits.rows(i, i + 1).as_shape({logits.dim(1)}).to(DType::F32).clone()});
    }
  }
  if (batch.labelled > 0) {
    Tensor loss = loss_of_states(model, states, batch);
    out.push_back({"loss", loss.detached().to(DType::F32)});
    if (options.gradients) backward(loss);
  }
  if (!options.gradients) return out;
  check(batch.labelled > 0, "gradients are of a loss: give \"labels\" in the input's lines");
  std::map<std::string, Tensor> stacked;
  for (const Parameter& p : model.parameters().all()) {
    if (!p.trained || !gradient_of(p.value).defined()) continue;
    const Tensor gradient = gradient_of(p.value).to(DType::F32);
    if (!p.part)
      out.push_back({"gradient/" + p.file_name, gradient});
    else
      add_part(*p.part, gradient, stacked[p.file_name]);
  }
  for (auto& [name, gradient] : stacked) out.push_back({"gradient/" + name, gradient});
  return out;
}

}  // namespace attune
