#pragma once

#include "attune/cli/arguments.h"
#include "attune/tasks/generation_settings.h"

namespace attune {

/// The options of every command that writes text; what is not given is as the model's files say.
void declare_sampling(Arguments& arguments, SamplingChoice& sampling);
void declare_rules(Arguments& arguments, RulesChoice& rules);
void declare_beam_search(Arguments& arguments, BeamChoice& beams);
/// Throws UsageError where one of --stop's texts is empty: nothing would stop there.
void check_stops(const std::vector<std::string>& stops);

}  // namespace attune
