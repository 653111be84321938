#pragma once

#include "attune/kernels/attention.h"

namespace attune::kernels {

/// Streaming softmax (Milakov & Gimelshein 2018; Dao et al. 2022, "FlashAttention"): key blocks of 64 from the
/// sequence's first key on, merged in order, so that memory is linear in length. Each query row's arithmetic depends on
/// its own values and on the keys it sees alone: other rows, the batch, threads, pages and later keys change no bit. y:
/// [q_tokens, heads, value width]; sums: [heads, q_tokens, 2], for attention_backward.
void attention(const AttentionProblem<float>& problem, const HeadRows<float>& y, float* sums);

/// Recomputes the scores block by block. Sums over queries run through the group's query heads and each one's queries
/// in order. Threads take (sequence, key head) pairs. Not for paged keys.
void attention_backward(const AttentionProblem<float>& problem, const AttentionForward<float>& forward,
                        const AttentionGradients<float>& gradients);

/// The softmax's rows, without dropout: [heads, queries, keys of the sequence] of those wanted.
void attention_weights(const AttentionProblem<float>& problem, const WeightRows& wanted, float* weights);

}  // namespace attune::kernels
