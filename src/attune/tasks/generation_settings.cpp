#include "attune/tasks/generation_settings.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "attune/base/error.h"
#include "attune/base/log.h"
#include "attune/models/config_values.h"

namespace attune {

namespace {

std::optional<std::int64_t> one_token(const ConfigReader& c, const std::string& key) {
  std::vector<std::int64_t> ids = read_token_ids(c, key, {});
  if (ids.empty()) return std::nullopt;
  return ids.front();
}

void read_forbidden(const ConfigReader& c, std::vector<std::int64_t>& ids) {
  const Json& words = c.raw("bad_words_ids");
  if (words.is_null()) return;
  if (!words.is_array()) c.reject("bad_words_ids", "expected a list of lists of token ids");
  for (const Json& word : words) {
    if (!word.is_array() || !std::ranges::all_of(word, [](const Json& id) { return id.is_number_integer(); }))
      c.reject("bad_words_ids", "expected a list of lists of token ids");
    if (word.size() == 1)
      ids.push_back(word[0]);
    else
      log_warning(c.source() + ": bad_words_ids of several tokens are not heeded");
  }
}

}  // namespace

GenerationSettings GenerationSettings::read(const Bundle& bundle) {
  Path own = bundle.path / "generation_config.json";
  bool published = std::filesystem::exists(own);
  ConfigReader c =
      published ? ConfigReader::file(own) : ConfigReader(*bundle.config, (bundle.path / "config.json").string());
  const ModelFacts& facts = bundle.model->facts();
  GenerationSettings s;
  s.stop_ids = published ? read_token_ids(c, "eos_token_id", facts.eos_token_ids) : facts.eos_token_ids;
  s.begin_id = one_token(c, "bos_token_id");
  s.forced_stop_id = one_token(c, "forced_eos_token_id");
  read_forbidden(c, s.forbidden_ids);
  if (facts.pad_token_id && std::ranges::find(s.stop_ids, *facts.pad_token_id) == s.stop_ids.end())
    s.forbidden_ids.push_back(*facts.pad_token_id);
  if (c.has("num_beams")) s.beams = c.integer("num_beams", {.at_least = 1});
  if (c.has("length_penalty")) s.length_penalty = c.number("length_penalty");
  if (c.has("max_length")) s.max_length = c.integer("max_length", {.at_least = 1});
  return s;
}

std::int64_t longest_sequence(const Bundle& bundle) {
  std::int64_t own = bundle.model->facts().longest.value_or(0), said = bundle.contract.long_policy.longest;
  if (own == 0 || said == 0) return std::max(own, said);
  return std::min(own, said);
}

}  // namespace attune
