#include "attune/bundle/companions.h"

#include <fmt/format.h>

#include "attune/base/json_values.h"

namespace attune {

Companions read_companions(const Path& directory) {
  Companions found;
  const auto add = [&](const std::string& name) {
    if (std::filesystem::is_regular_file(directory / name)) found[name] = read_file(directory / name);
  };
  for (const char* name :
       {"tokenizer_config.json", "special_tokens_map.json", "chat_template.jinja", "generation_config.json"})
    add(name);
  if (const Path others = directory / "additional_chat_templates"; std::filesystem::is_directory(others))
    for (const auto& entry : std::filesystem::directory_iterator(others))
      if (entry.path().extension() == ".jinja") add("additional_chat_templates/" + entry.path().filename().string());
  return found;
}

void write_companions(const Companions& companions, const Path& directory) {
  for (const auto& [name, content] : companions) {
    make_directories((directory / name).parent_path());
    write_file_atomically(directory / name, content);
  }
}

Json gguf_tokenizer_config(const GgufMetadata& metadata, const Tokenizer& tokenizer) {
  Json config = {{"tokenizer_class", "PreTrainedTokenizerFast"}, {"clean_up_tokenization_spaces", false}};
  for (const auto& [key, name] :
       {std::pair("bos", "bos_token"), std::pair("eos", "eos_token"), std::pair("unknown", "unk_token"),
        std::pair("padding", "pad_token"), std::pair("cls", "cls_token"), std::pair("seperator", "sep_token"),
        std::pair("mask", "mask_token")})
    if (auto id = metadata.integer(fmt::format("tokenizer.ggml.{}_token_id", key)))
      if (auto token = tokenizer.token_of(static_cast<std::int32_t>(*id))) config[name] = *token;
  const std::vector<std::string> names = metadata.texts("tokenizer.chat_templates");
  const std::optional<std::string> own = metadata.text("tokenizer.chat_template");
  if (names.empty()) {
    if (own) config["chat_template"] = *own;
    return config;
  }
  config["chat_template"] = Json::array();
  const auto add = [&](const std::string& name, const std::string& text) {
    config["chat_template"].push_back({{"name", name}, {"template", text}});
  };
  if (own) add("default", *own);
  for (const std::string& name : names)
    if (auto text = metadata.text("tokenizer.chat_template." + name); text && name != "default") add(name, *text);
  return config;
}

Json own_tokenizer_config(const Tokenizer& tokenizer) {
  Json config = {{"tokenizer_class", "PreTrainedTokenizerFast"}, {"clean_up_tokenization_spaces", false}};
  for (const auto& [name, token] :
       {std::pair("unk_token", "[UNK]"), std::pair("cls_token", "[CLS]"), std::pair("sep_token", "[SEP]"),
        std::pair("pad_token", "[PAD]"), std::pair("mask_token", "[MASK]"), std::pair("unk_token", "<unk>"),
        std::pair("bos_token", "<s>"), std::pair("eos_token", "</s>"), std::pair("pad_token", "<pad>"),
        std::pair("mask_token", "<mask>"), std::pair("eos_token", "<|endoftext|>")})
    if (!config.contains(name) && tokenizer.id_of(token)) config[name] = token;
  return config;
}

ChatTexts gguf_chat_texts(const GgufMetadata& metadata, const Path& file, const Json& tokenizer_config) {
  ChatTexts texts{.model = file.string()};
  const auto add = [&](const std::string& name, const std::string& key) {
    if (auto text = metadata.text(key)) texts.named.push_back({name, file.string() + ", " + key, *text});
  };
  add("default", "tokenizer.chat_template");
  for (const std::string& name : metadata.texts("tokenizer.chat_templates"))
    if (name != "default") add(name, "tokenizer.chat_template." + name);
  Json tokens = Json::object();
  for (const auto& [name, token] : tokenizer_config.items())
    if (name.ends_with("_token")) tokens[name] = token;
  texts.special_tokens = tokens;
  return texts;
}

void set_gguf_chat_texts(GgufMetadata& metadata, const ChatTexts& texts) {
  std::vector<std::string> names;
  for (const ChatTexts::Named& one : texts.named) {
    if (one.name == "default") {
      metadata.set("tokenizer.chat_template", GgufValue::text(one.text));
      continue;
    }
    metadata.set("tokenizer.chat_template." + one.name, GgufValue::text(one.text));
    names.push_back(one.name);
  }
  if (!names.empty()) metadata.set("tokenizer.chat_templates", GgufValue::texts(names));
}

}  // namespace attune
