#include "attune/tasks/entities.h"

#include <algorithm>

#include "attune/base/error.h"

namespace attune {

namespace {

/// A token, or a word of several, and its one label.
struct Unit {
  std::int64_t begin, end;
  std::size_t label;
  double score;
};

std::size_t surest(std::span<const float> scores) {
  return static_cast<std::size_t>(std::max_element(scores.begin(), scores.end()) - scores.begin());
}

float largest(std::span<const float> scores) { return *std::max_element(scores.begin(), scores.end()); }

Unit unit_of(std::span<const TokenScores> word, EntityGrouping grouping) {
  Unit unit{word.front().begin, word.back().end, 0, 0};
  if (grouping == EntityGrouping::average) {
    std::vector<float> mean(word.front().scores.size());
    for (const TokenScores& token : word)
      for (std::size_t c = 0; c < mean.size(); ++c) mean[c] += token.scores[c];
    for (float& value : mean) value /= static_cast<float>(word.size());
    unit.label = surest(mean), unit.score = mean[unit.label];
    return unit;
  }
  const TokenScores* chosen = &word.front();
  if (grouping == EntityGrouping::max)
    for (const TokenScores& token : word)
      if (largest(token.scores) > largest(chosen->scores)) chosen = &token;
  unit.label = surest(chosen->scores), unit.score = chosen->scores[unit.label];
  return unit;
}

struct Tag {
  bool begins;  // B-
  std::string kind;
};

Tag tag_of(const std::string& label) {
  const bool begins = label.starts_with("B-");
  return {begins, begins || label.starts_with("I-") ? label.substr(2) : label};
}

/// What an entity is called: its first label behind the first dash.
std::string name_of(const std::string& label) {
  const std::size_t dash = label.find('-');
  return dash == std::string::npos ? label : label.substr(dash + 1);
}

}  // namespace

EntityGrouping parse_entity_grouping(const std::string& name) {
  if (name == "simple") return EntityGrouping::simple;
  if (name == "first") return EntityGrouping::first;
  if (name == "average") return EntityGrouping::average;
  if (name == "max") return EntityGrouping::max;
  fail("grouping \"{}\": expected simple, first, average or max", name);
}

std::vector<Entity> find_entities(std::span<const TokenScores> tokens, const std::vector<std::string>& labels,
                                  EntityGrouping grouping) {
  std::vector<Unit> units;
  for (std::size_t i = 0; i < tokens.size();) {
    std::size_t end = i + 1;
    while (grouping != EntityGrouping::simple && end < tokens.size() && tokens[end].continues) ++end;
    units.push_back(unit_of(tokens.subspan(i, end - i), grouping));
    i = end;
  }
  std::vector<Entity> entities;
  for (std::size_t i = 0; i < units.size();) {
    std::size_t end = i + 1;
    while (end < units.size()) {
      const Tag before = tag_of(labels[units[end - 1].label]), now = tag_of(labels[units[end].label]);
      if (now.kind != before.kind || now.begins) break;
      ++end;
    }
    double sum = 0;
    for (std::size_t u = i; u < end; ++u) sum += units[u].score;
    const std::string name = name_of(labels[units[i].label]);
    if (name != "O") entities.push_back({name, units[i].begin, units[end - 1].end, sum / static_cast<double>(end - i)});
    i = end;
  }
  return entities;
}

}  // namespace attune
