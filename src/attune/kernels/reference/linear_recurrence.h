#pragma once

#include "attune/kernels/linear_recurrence.h"

namespace attune::kernels {

/// The parallel form: y_i = sum over j <= i of w_ij v_j with w_ij = scale sum over c of q_ic k_jc a_(j+1)c ... a_ic.
void linear_recurrence(const LinearRecurrence<double>& problem, const RecurrenceResult<double>& result);
void linear_recurrence_backward(const LinearRecurrence<double>& problem, const RecurrenceForward<double>& forward,
                                const RecurrenceGradients<double>& gradients);
inline std::int64_t kept_states(const LinearRecurrence<double>&) { return 0; }

/// The recurrent form, going on from states[s] [kv_heads, width, columns] and leaving them as they are after the
/// tokens.
void linear_recurrence_continue(const LinearRecurrence<double>& problem, const HeadRows<double>& y,
                                std::span<double* const> states);

}  // namespace attune::kernels
