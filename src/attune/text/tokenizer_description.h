#pragma once

#include <string>
#include <string_view>

#include "attune/text/string_table.h"
#include "attune/text/tokenizer_trainer.h"

namespace attune {

/// The tokenizer.json of a tokenizer that is trained: all parts around the model of its kind, and `model`, that part of
/// the file. `tokens` gives the ids of special tokens.
std::string describe_tokenizer(const TokenizerTraining& training, const StringTable& tokens, std::string_view model);

/// The special token that stands for what the vocabulary lacks: <unk> or [UNK]; "" where neither is there.
std::string unknown_token(const TokenizerTraining& training);

}  // namespace attune
