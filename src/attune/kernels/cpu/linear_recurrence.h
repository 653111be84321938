#pragma once

#include "attune/kernels/linear_recurrence.h"

namespace attune::kernels {

/// The chunked form: products of matrices within chunks of some tokens, a state from chunk to chunk. Time and memory
/// grow linearly with length. A sequence has the same bits alone, in a batch and on any number of threads.
void linear_recurrence(const LinearRecurrence<float>& problem, const RecurrenceResult<float>& result);
void linear_recurrence_backward(const LinearRecurrence<float>& problem, const RecurrenceForward<float>& forward,
                                const RecurrenceGradients<float>& gradients);
/// How many values the backward pass wants of the forward one: a state every few hundred tokens.
std::int64_t kept_states(const LinearRecurrence<float>& problem);

/// Going on from states[s] [kv_heads, width, columns]: token by token for a few tokens, by chunks for more.
void linear_recurrence_continue(const LinearRecurrence<float>& problem, const HeadRows<float>& y,
                                std::span<float* const> states);

}  // namespace attune::kernels
