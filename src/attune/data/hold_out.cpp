#include "attune/data/hold_out.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

#include "attune/base/error.h"
#include "attune/base/json.h"
#include "attune/base/random.h"
#include "attune/data/split.h"

namespace attune {

namespace {

constexpr double least_unfamiliar = 0.05;  // of the documents: below it, divided components are taken too
constexpr std::size_t most_candidates = 64, draws = 16;
constexpr double no_score = std::numeric_limits<double>::infinity();

/// The values of one field, and each document's.
struct Column {
  std::string field;
  std::vector<std::string> values;  // sorted, distinct
  std::vector<std::int32_t> of;     // for each document an index into values, -1 where it has none
};

Column column_of(std::span<const Document> documents, const std::string& field, const DocumentFormat& format) {
  std::map<std::string_view, std::int32_t> index;
  for (const Document& one : documents)
    if (const std::string* value = value_of(one, field, format)) index[*value] = 0;
  check(!index.empty(), "holding out {}: no document has that field", json_quoted(field));
  Column column;
  column.field = field;
  for (auto& [value, at] : index) {
    at = static_cast<std::int32_t>(column.values.size());
    column.values.emplace_back(value);
  }
  for (const Document& one : documents) {
    const std::string* value = value_of(one, field, format);
    column.of.push_back(value ? index[*value] : -1);
  }
  return column;
}

/// Which values of each field are held out.
using Choice = std::vector<std::vector<char>>;

struct Outcome {
  std::vector<Novelty> novelty;
  std::vector<char> unfamiliar;
  double score = no_score;
};

class Chooser {
 public:
  Chooser(std::span<const Document> documents, std::span<const std::int64_t> component, const SplitOptions& options,
          const DocumentFormat& format, const Run& run)
      : options_(options), run_(run), component_(component) {
    for (const std::string& field : options.hold_out) columns_.push_back(column_of(documents, field, format));
    for (std::int64_t one : component) components_ = std::max(components_, one + 1);
    std::map<std::string_view, std::int32_t> labels;
    for (const Document& one : documents)
      if (one.label) labels.emplace(*one.label, static_cast<std::int32_t>(labels.size()));
    for (const Document& one : documents) label_.push_back(one.label ? labels[*one.label] : -1);
    labels_ = labels.size();
  }

  HeldOut given() const {
    Choice choice = none();
    for (std::size_t f = 0; f < columns_.size(); ++f) {
      const Column& column = columns_[f];
      auto found = options_.held_out_values.find(column.field);
      check(found != options_.held_out_values.end() && !found->second.empty(),
            "holding out {}: values are given for another field, but none for this one", json_quoted(column.field));
      for (const std::string& value : found->second) {
        auto at = std::ranges::lower_bound(column.values, value);
        std::string near = nearest_name(value, column.values);
        check(at != column.values.end() && *at == value, "holding out {}: no document has the value {}{}",
              json_quoted(column.field), json_quoted(value),
              near.empty() ? "" : ": did you mean " + json_quoted(near) + "?");
        choice[f][static_cast<std::size_t>(at - column.values.begin())] = 1;
      }
    }
    for (const auto& [field, values] : options_.held_out_values)
      check(std::ranges::find(options_.hold_out, field) != options_.hold_out.end(),
            "values to hold out are given for {}, which is not among the fields to hold out", json_quoted(field));
    Outcome outcome = evaluate(choice);
    check(outcome.score < no_score,
          "holding out {}: with these values nothing would be unfamiliar, or training would lose a label", fields());
    return result(choice, std::move(outcome));
  }

  HeldOut chosen() const {
    std::vector<Choice> candidates = closures();
    Choice best = none();
    double best_score = no_score;
    auto consider = [&](const Choice& choice) {
      heed();
      double score = evaluate(choice).score;
      bool better = score < best_score;
      if (better) best = choice, best_score = score;
      return better;
    };
    for (const Choice& one : candidates) consider(one);
    for (bool better = best_score < no_score; better;) {
      better = false;
      Choice start = best;
      for (const Choice& one : candidates) better |= consider(united(start, one));
    }
    for (std::size_t draw = 0; draw < draws; ++draw) consider(drawn(draw));
    check(best_score < no_score,
          "holding out {}: no values leave both an unfamiliar part and every label in training: hold out fewer fields, "
          "or name "
          "the values",
          fields());
    return result(best, evaluate(best));
  }

 private:
  void heed() const {
    if (run_.cancelled()) throw Cancelled("stopped while choosing what to hold out: nothing was written");
  }

  Choice none() const {
    Choice choice;
    for (const Column& column : columns_) choice.emplace_back(column.values.size(), 0);
    return choice;
  }

  std::string fields() const {
    std::string names;
    for (const Column& column : columns_) names += (names.empty() ? "" : ", ") + json_quoted(column.field);
    return names;
  }

  Novelty novelty_of(std::size_t document, const Choice& choice) const {
    std::size_t has = 0, held = 0;
    for (std::size_t f = 0; f < columns_.size(); ++f) {
      std::int32_t value = columns_[f].of[document];
      if (value < 0) continue;
      ++has;
      held += choice[f][static_cast<std::size_t>(value)] != 0;
    }
    return held == 0 ? Novelty::familiar : held == has ? Novelty::novel : Novelty::mixed;
  }

  Outcome evaluate(const Choice& choice) const {
    Outcome outcome;
    std::size_t count = label_.size();
    std::vector<std::int64_t> novel(static_cast<std::size_t>(components_)), familiar(novel.size());
    outcome.novelty.resize(count);
    for (std::size_t i = 0; i < count; ++i) {
      outcome.novelty[i] = novelty_of(i, choice);
      auto c = static_cast<std::size_t>(component_[i]);
      novel[c] += outcome.novelty[i] == Novelty::novel;
      familiar[c] += outcome.novelty[i] == Novelty::familiar;
    }
    outcome.unfamiliar = sides(novel, familiar);
    outcome.score = score(outcome);
    return outcome;
  }

  /// Which components are on the unfamiliar side: those that keep more there, then the divided ones that lose least.
  std::vector<char> sides(const std::vector<std::int64_t>& novel, const std::vector<std::int64_t>& familiar) const {
    std::vector<char> unfamiliar(novel.size());
    std::vector<std::size_t> divided;
    std::int64_t taken = 0;
    for (std::size_t c = 0; c < novel.size(); ++c) {
      if (novel[c] == 0) continue;
      if (novel[c] >= familiar[c])
        unfamiliar[c] = 1, taken += novel[c];
      else
        divided.push_back(c);
    }
    std::ranges::stable_sort(
        divided, [&](std::size_t a, std::size_t b) { return familiar[a] * novel[b] < familiar[b] * novel[a]; });
    for (std::size_t c : divided) {
      if (static_cast<double>(taken) >= least_unfamiliar * static_cast<double>(label_.size())) break;
      unfamiliar[c] = 1, taken += novel[c];
    }
    return unfamiliar;
  }

  double score(const Outcome& outcome) const {
    std::int64_t unfamiliar = 0, familiar = 0;
    std::vector<char> label_left(labels_), label_tested(labels_);
    for (std::size_t i = 0; i < label_.size(); ++i) {
      bool side = outcome.unfamiliar[static_cast<std::size_t>(component_[i])] != 0;
      bool tested = side && outcome.novelty[i] == Novelty::novel;
      bool left = !side && outcome.novelty[i] == Novelty::familiar;
      unfamiliar += tested;
      familiar += left;
      if (label_[i] < 0) continue;
      auto label = static_cast<std::size_t>(label_[i]);
      label_tested[label] |= tested;
      label_left[label] |= left;
    }
    if (unfamiliar == 0 || familiar == 0 || std::ranges::find(label_left, 0) != label_left.end()) return no_score;
    auto count = static_cast<double>(label_.size());
    double dropped = count - static_cast<double>(unfamiliar + familiar);
    double lacking =
        labels_ == 0 ? 0 : static_cast<double>(std::ranges::count(label_tested, 0)) / static_cast<double>(labels_) / 10;
    return dropped / count + std::abs(static_cast<double>(unfamiliar) / count - options_.hold_out_fraction) + lacking;
  }

  /// One value held out, and with it the values of other fields that occur mostly beside it.
  Choice closure(std::size_t field, std::size_t value) const {
    Choice choice = none();
    choice[field][value] = 1;
    for (std::size_t f = 0; f < columns_.size(); ++f) {
      if (f == field) continue;
      std::vector<std::int64_t> all(columns_[f].values.size()), beside(all.size());
      for (std::size_t i = 0; i < label_.size(); ++i) {
        if (columns_[f].of[i] < 0) continue;
        auto other = static_cast<std::size_t>(columns_[f].of[i]);
        ++all[other];
        beside[other] += columns_[field].of[i] == static_cast<std::int32_t>(value);
      }
      for (std::size_t other = 0; other < all.size(); ++other) choice[f][other] = 2 * beside[other] > all[other];
    }
    return choice;
  }

  std::vector<Choice> closures() const {
    std::vector<std::pair<std::size_t, std::size_t>> starts;
    for (std::size_t f = 0; f < columns_.size(); ++f)
      for (std::size_t value = 0; value < columns_[f].values.size(); ++value) starts.emplace_back(f, value);
    RandomStream random(RandomKey{options_.seed}.at("hold-out starts"));
    random.shuffle(starts);
    if (starts.size() > most_candidates) starts.resize(most_candidates);
    std::vector<Choice> choices;
    for (auto [field, value] : starts) {
      heed();
      choices.push_back(closure(field, value));
    }
    return choices;
  }

  static Choice united(Choice a, const Choice& b) {
    for (std::size_t f = 0; f < a.size(); ++f)
      for (std::size_t value = 0; value < a[f].size(); ++value) a[f][value] |= b[f][value];
    return a;
  }

  Choice drawn(std::size_t draw) const {
    RandomStream random(RandomKey{options_.seed}.at("hold-out values").at(draw));
    Choice choice = none();
    for (auto& held : choice) {
      auto wanted =
          static_cast<std::size_t>(std::lround(options_.hold_out_fraction * static_cast<double>(held.size())));
      std::fill_n(held.begin(), std::clamp<std::size_t>(wanted, 1, held.size()), 1);
      random.shuffle(held);
    }
    return choice;
  }

  HeldOut result(const Choice& choice, Outcome outcome) const {
    HeldOut held{{}, std::move(outcome.novelty), std::move(outcome.unfamiliar)};
    for (std::size_t f = 0; f < columns_.size(); ++f) {
      std::vector<std::string>& values = held.values[columns_[f].field];
      for (std::size_t value = 0; value < choice[f].size(); ++value)
        if (choice[f][value]) values.push_back(columns_[f].values[value]);
    }
    return held;
  }

  const SplitOptions& options_;
  const Run& run_;
  std::span<const std::int64_t> component_;
  std::vector<Column> columns_;
  std::int64_t components_ = 0;
  std::vector<std::int32_t> label_;  // -1: none
  std::size_t labels_ = 0;
};

}  // namespace

HeldOut hold_out(std::span<const Document> documents, std::span<const std::int64_t> component,
                 const SplitOptions& options, const DocumentFormat& format, const Run& run) {
  check(options.hold_out_fraction > 0 && options.hold_out_fraction < 1,
        "holding out: the fraction must be between 0 and 1, got {}", options.hold_out_fraction);
  Chooser chooser(documents, component, options, format, run);
  return options.held_out_values.empty() ? chooser.chosen() : chooser.given();
}

}  // namespace attune
