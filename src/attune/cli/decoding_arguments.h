#pragma once

#include "attune/cli/command.h"
#include "attune/data/documents.h"
#include "attune/tasks/generate.h"

namespace attune {

/// The options of every command that writes text; what is not given is as the model's files say.
void declare_sampling(Arguments& arguments, SamplingChoice& sampling);
void declare_rules(Arguments& arguments, RulesChoice& rules);
void declare_beam_search(Arguments& arguments, BeamChoice& beams);
/// Throws UsageError where the options contradict one another, whatever the model's files say; before these are read.
void check_decoding(const TextGeneration& options, const Session& session);
/// Warns of a --seed by which nothing is drawn, as neither the options nor the model's files ask for sampling.
void tell_idle_seed(const Bundle& bundle, const TextGeneration& options, const Session& session);
/// One warning where --max-tokens or the model's longest sequence ended some of the texts; `items` are their inputs.
void tell_unfinished(const Bundle& bundle, const std::vector<Document>& items, const std::vector<GeneratedText>& texts);
/// Throws UsageError where one of --stop's texts is empty: nothing would stop there.
void check_stops(const std::vector<std::string>& stops);

}  // namespace attune
