#include <string>

#include "attune/base/json.h"
#include "attune/text/json_view.h"
#include "attune/text/tokenizer_parts.h"

namespace attune {

namespace {

/// "truncation" and "padding" are kept as they are; their keys are still checked, so that nothing unknown passes
/// unseen.
void check_truncation(const JsonView& json) {
  if (json.is_null()) return;
  json.only({"direction", "max_length", "strategy", "stride"});
  json.at("max_length").integer(0, 0x7FFFFFFFFFFFFFFF);
  json.at("stride").integer(0, 0x7FFFFFFFFFFFFFFF);
}

void check_padding(const JsonView& json) {
  if (json.is_null()) return;
  json.only({"strategy", "direction", "pad_to_multiple_of", "pad_id", "pad_type_id", "pad_token"});
  json.at("pad_token").string();
}

const char* yes(bool flag) { return flag ? "true" : "false"; }

}  // namespace

Tokenizer Tokenizer::parse(std::string_view json, const std::string& source) {
  const JsonView root = JsonView::parse(json, source);
  root.only({"version", "truncation", "padding", "added_tokens", "normalizer", "pre_tokenizer", "post_processor",
             "decoder", "model"});
  if (root.has_key("version") && root.string("version") != "1.0")
    root.at("version").reject("is \"{}\": expected \"1.0\"", root.string("version"));
  auto parts = std::make_shared<Parts>();
  const auto section = [&](const char* key, std::string& text, auto&& read) {
    if (!root.has(key)) return;
    const JsonView value = root.at(key);
    read(value);
    text = value.text();
  };
  section("truncation", parts->truncation, check_truncation);
  section("padding", parts->padding, check_padding);
  section("normalizer", parts->normalizer_json,
          [&](const JsonView& value) { parts->normalizer = Normalizer::read(value); });
  section("post_processor", parts->post_processor_json,
          [&](const JsonView& value) { parts->post_processor = PostProcessor::read(value); });
  section("decoder", parts->decoder_json, [&](const JsonView& value) { parts->decoder = TokenDecoder::read(value); });
  const std::shared_ptr<TokenizerModel> model = TokenizerModel::read(root.at("model"));
  section("pre_tokenizer", parts->pre_tokenizer_json, [&](const JsonView& value) {
    const auto pre_tokenizer = PreTokenizer::read(value);
    if (pre_tokenizer->ends_in_byte_level() && model->take_raw_bytes()) {
      pre_tokenizer->leave_bytes();
      parts->raw_bytes = true;
    }
    parts->pre_tokenizer = pre_tokenizer;
  });
  parts->model = model;
  if (root.has("added_tokens")) parts->added.read(root.at("added_tokens"), *model, parts->normalizer.get());
  if (parts->post_processor && parts->post_processor->trims_offsets()) {
    const Vocabulary& vocabulary = model->vocabulary();
    parts->margins.resize(static_cast<std::size_t>(vocabulary.limit()));
    for (std::int32_t id = 0; id < vocabulary.limit(); ++id)
      if (vocabulary.has(id)) parts->margins[static_cast<std::size_t>(id)] = margins_of(vocabulary.token(id));
  }
  return Tokenizer(std::move(parts));
}

std::string Tokenizer::json() const {
  const Parts& p = *parts_;
  std::string json = "{\"version\":\"1.0\",\"truncation\":" + p.truncation + ",\"padding\":" + p.padding;
  json += ",\"added_tokens\":[";
  for (std::size_t i = 0; i < p.added.list().size(); ++i) {
    const AddedToken& token = p.added.list()[i];
    json += fmt::format(
        R"({}{{"id":{},"content":{},"single_word":{},"lstrip":{},"rstrip":{},"normalized":{},"special":{}}})",
        i > 0 ? "," : "", token.id, json_quoted(token.content), yes(token.single_word), yes(token.lstrip),
        yes(token.rstrip), yes(token.normalized), yes(token.special));
  }
  json += "],\"normalizer\":" + p.normalizer_json + ",\"pre_tokenizer\":" + p.pre_tokenizer_json;
  json += ",\"post_processor\":" + p.post_processor_json + ",\"decoder\":" + p.decoder_json + ",\"model\":";
  p.model->write(json);
  json += '}';
  return json;
}

void Tokenizer::save(const Path& file) const { write_file_atomically(file, json() + "\n"); }

void Tokenizer::save_in(const Path& directory) const {
  if (parts_->files.empty()) return save(directory / "tokenizer.json");
  for (const auto& [name, bytes] : parts_->files) write_file_atomically(directory / name, bytes);
}

}  // namespace attune
