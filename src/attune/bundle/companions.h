#pragma once

#include <map>
#include <string>

#include "attune/base/json.h"
#include "attune/checkpoint/gguf_metadata.h"
#include "attune/text/chat_template.h"
#include "attune/text/tokenizer.h"

namespace attune {

/// Files of a model directory by name ("additional_chat_templates/tool_use.jinja"), as they stood: what a model needs
/// beside its weights to be used as its publisher meant it, and keeps when it is tuned.
using Companions = std::map<std::string, std::string>;

/// tokenizer_config.json, special_tokens_map.json, chat templates and generation_config.json, where they are.
Companions read_companions(const Path& directory);
void write_companions(const Companions& companions, const Path& directory);

/// What transformers does not read from tokenizer.json, of a GGUF file's metadata: the content of
/// tokenizer_config.json.
Json gguf_tokenizer_config(const GgufMetadata& metadata, const Tokenizer& tokenizer);

/// The same for a tokenizer that has nothing but its tokenizer.json: without it transformers would take the class that
/// the architecture had, whose defaults (lower case, for BERT's) count more than the file.
Json own_tokenizer_config(const Tokenizer& tokenizer);

/// A GGUF file's chat templates: "tokenizer.chat_template", and those that "tokenizer.chat_templates" names.
ChatTexts gguf_chat_texts(const GgufMetadata& metadata, const Path& file, const Json& tokenizer_config);
void set_gguf_chat_texts(GgufMetadata& metadata, const ChatTexts& texts);

}  // namespace attune
