#pragma once

#include "attune/cli/arguments.h"
#include "attune/tasks/generation_settings.h"

namespace attune {

/// The options of every command that writes text; what is not given is as the model's files say.
void declare_sampling(Arguments& arguments, SamplingChoice& sampling);
void declare_rules(Arguments& arguments, RulesChoice& rules);
void declare_beam_search(Arguments& arguments, BeamChoice& beams);

}  // namespace attune
