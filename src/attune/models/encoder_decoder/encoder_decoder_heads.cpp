#include "attune/models/encoder_decoder/encoder_decoder_heads.h"

#include "attune/base/error.h"
#include "attune/ops/activation.h"
#include "attune/ops/arithmetic.h"
#include "attune/ops/pooling.h"

namespace attune {

Tensor SequenceToSequenceHead::features(const Tensor& hidden, const Batch&,
                                        const std::vector<std::int64_t>* rows) const {
  const Tensor picked = pick(hidden, rows);
  return scale_ == 1 ? picked : scale(picked, scale_);
}

EndTokenHead::EndTokenHead(const Weights& w, const Values& values)
    : values_(values),
      dense_(w / "dense", values.hidden, values.hidden, {.deviation = values.deviation}),
      output_(w / "out_proj", values.hidden, values.labels, {.deviation = values.deviation}) {}

Tensor EndTokenHead::features(const Tensor& hidden, const Batch& batch, const std::vector<std::int64_t>*) const {
  const std::span<const std::int64_t> ids = batch.ids.values<std::int64_t>();
  std::vector<std::int64_t> last;
  for (std::int64_t s = 0; s < batch.offsets.count(); ++s) {
    std::int64_t at = batch.offsets.end(s) - 1;
    while (at >= batch.offsets.begin(s) && ids[static_cast<std::size_t>(at)] != values_.end_token_id) --at;
    check(at >= batch.offsets.begin(s),
          "sequence {} has no end token ({}), by which this model classifies: does its tokenizer put it behind a text?",
          s, values_.end_token_id);
    last.push_back(at);
  }
  auto dropped = [&](const Tensor& x, std::string_view site) {
    return batch.dropout && values_.dropout > 0 ? dropout(x, values_.dropout, batch.site(site), first_places(batch))
                                                : x;
  };
  const Tensor summary = dropped(pick(hidden, &last), "end token");  // [sequences, hidden]
  const Tensor pooled = dropped(activation(dense_(summary), Activation::tanh), "classifier");
  return batch.documents ? segment_mean(pooled, *batch.documents) : pooled;  // [documents, hidden]
}

}  // namespace attune
