#include "attune/text/tokenizer_settings.h"

#include <map>

namespace attune {

TokenizerSettings::TokenizerSettings(const Path& directory) : file_(directory / "tokenizer_config.json") {
  if (std::filesystem::exists(file_)) json_ = JsonView::parse(read_file(file_), file_.string());
  const Path tokens = directory / "special_tokens_map.json";
  if (std::filesystem::exists(tokens)) tokens_ = JsonView::parse(read_file(tokens), tokens.string());
}

std::optional<JsonView> TokenizerSettings::find(std::string_view key) const {
  for (const auto* file : {&json_, &tokens_})
    if (*file && (*file)->has(key)) return (*file)->at(key);
  return std::nullopt;
}

std::string TokenizerSettings::token(std::string_view key, std::string otherwise) const {
  const std::optional<JsonView> value = find(key);
  if (!value) return otherwise;
  return std::string(value->is_object() ? value->at("content").string() : value->string());
}

bool TokenizerSettings::takes_space_before(std::string_view key, bool otherwise) const {
  const std::optional<JsonView> value = find(key);
  return value && value->is_object() ? value->flag_or("lstrip", otherwise) : otherwise;
}

std::string TokenizerSettings::tokenizer_class() const {
  std::string name = text("tokenizer_class");
  if (name.ends_with("Fast")) name.resize(name.size() - 4);
  if (!name.empty() && name != "PreTrainedTokenizer" && name != "TokenizersBackend") return name;
  const Path config = file_.parent_path() / "config.json";
  if (!std::filesystem::exists(config)) return "";
  const std::string type = JsonView::parse(read_file(config), config.string()).string_or("model_type", "");
  // For types that are not here transformers 5 takes a SentencePiece file as it is, too.
  static const std::map<std::string, std::string> classes = {{"t5", "T5Tokenizer"},
                                                             {"mt5", "T5Tokenizer"},
                                                             {"umt5", "T5Tokenizer"},
                                                             {"longt5", "T5Tokenizer"},
                                                             {"marian", "MarianTokenizer"},
                                                             {"xlm-roberta", "XLMRobertaTokenizer"},
                                                             {"camembert", "CamembertTokenizer"},
                                                             {"mbart", "MBartTokenizer"},
                                                             {"pegasus", "PegasusTokenizer"},
                                                             {"albert", "AlbertTokenizer"},
                                                             {"nystromformer", "AlbertTokenizer"},
                                                             {"big_bird", "BigBirdTokenizer"},
                                                             {"deberta-v2", "DebertaV2Tokenizer"},
                                                             {"m2m_100", "M2M100Tokenizer"},
                                                             {"mpnet", "MPNetTokenizer"},
                                                             {"esm", "EsmTokenizer"},
                                                             {"roformer", "RoFormerTokenizer"},
                                                             {"roberta", "RobertaTokenizer"},
                                                             {"longformer", "RobertaTokenizer"},
                                                             {"bart", "RobertaTokenizer"}};
  const auto found = classes.find(type);
  return found == classes.end() ? "" : found->second;
}

}  // namespace attune
