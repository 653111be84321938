#pragma once

#include <array>
#include <string_view>

#include "attune/nn/attention/family.h"
#include "attune/ops/linear_recurrence.h"

namespace attune {

/// A family whose mix() is recur(): decoded in constant memory.
class RecurrentFamily : public AttentionFamily {
 public:
  bool keeps_states() const override { return true; }
};

/// What these families share: the sum over the batch's sequences, for q, k and v as the family made them; in decoding,
/// going on from the batch's states. There are no weights of tokens to drop: throws Error, in the family's name, where
/// the rule asks for it.
Tensor recur(std::string_view family, const AttentionFamily::Input& in, const std::array<Tensor, 3>& qkv,
             const RecurrenceRule& rule);

/// The rule's scale, or 1 / sqrt(head_dim).
double scale_of(const AttentionFamily::Input& in);

/// heads [tokens, heads, head_dim], each normalised without weights over head_dim to mean 0 and variance 1.
Tensor head_norm(const Tensor& heads);

}  // namespace attune
