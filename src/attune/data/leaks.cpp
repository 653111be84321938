#include "attune/data/leaks.h"

#include <algorithm>
#include <map>

#include "attune/base/error.h"
#include "attune/data/split.h"

namespace attune {

namespace {

constexpr std::size_t most_examples = 20;

class LeakSearch {
 public:
  LeakSearch(std::span<const Document> documents, std::span<const Part> parts, const SplitOptions& options,
             const DocumentFormat& format, const Run& run)
      : documents_(documents), parts_(parts), options_(options), format_(format), run_(run) {}

  LeakReport run() {
    for (const std::string& field : options_.group_fields)
      report_.groups += shared(field, "group ", [](Part one, Part other) { return one != other; });
    for (const std::string& field : options_.hold_out)
      report_.held_out_values += shared(field, "held-out ", [](Part one, Part other) {
        return (one == Part::unfamiliar) != (other == Part::unfamiliar);
      });
    duplicates();
    bool labelled = std::ranges::any_of(documents_, [](const Document& one) { return one.label.has_value(); });
    for (std::size_t i = 0; labelled && i < documents_.size(); ++i)
      if (parts_[i] == Part::train && !documents_[i].label) {
        ++report_.unlabelled_in_training;
        example({"no label", documents_[i].id, Part::train, Part::train});
      }
    return std::move(report_);
  }

 private:
  /// The number of values of the field that occur in two parts which may not share.
  template <class MayNotShare>
  std::int64_t shared(const std::string& field, const char* kind, MayNotShare&& may_not_share) {
    std::map<std::string_view, std::vector<Part>> parts_of;
    for (std::size_t i = 0; i < documents_.size(); ++i) {
      const std::string* value = value_of(documents_[i], field, format_);
      if (!value || parts_[i] == Part::dropped) continue;
      std::vector<Part>& parts = parts_of[*value];
      if (std::ranges::find(parts, parts_[i]) == parts.end()) parts.push_back(parts_[i]);
    }
    std::int64_t count = 0;
    for (const auto& [value, parts] : parts_of) {
      auto other = std::ranges::find_if(parts, [&, first = parts[0]](Part part) { return may_not_share(first, part); });
      if (other == parts.end()) continue;
      ++count;
      example({kind + field, std::string(value), parts[0], *other});
    }
    return count;
  }

  void duplicates() {
    std::vector<std::string_view> texts;
    std::vector<std::size_t> place;
    for (std::size_t i = 0; i < documents_.size(); ++i)
      if (parts_[i] != Part::dropped) {
        texts.push_back(documents_[i].text);
        place.push_back(i);
      }
    auto part = [&](std::int64_t text) { return parts_[place[static_cast<std::size_t>(text)]]; };
    auto id = [&](std::int64_t text) -> const std::string& {
      return documents_[place[static_cast<std::size_t>(text)]].id;
    };
    find_duplicates(
        texts, options_.duplicates, [&](std::int64_t a, std::int64_t b) { return part(a) != part(b); },
        [&](const DuplicatePair& pair) {
          bool exact = pair.jaccard == 1.0;
          ++(exact ? report_.exact_duplicates : report_.near_duplicates);
          example({exact ? "exact duplicate" : "near duplicate", id(pair.a) + " and " + id(pair.b), part(pair.a),
                   part(pair.b)});
        },
        run_);
  }

  void example(Leak leak) {
    if (report_.examples.size() < most_examples) report_.examples.push_back(std::move(leak));
  }

  std::span<const Document> documents_;
  std::span<const Part> parts_;
  const SplitOptions& options_;
  const DocumentFormat& format_;
  const Run& run_;
  LeakReport report_;
};

}  // namespace

std::string LeakReport::text() const {
  if (clean()) return "no leak";
  std::string out = fmt::format(
      "{} groups, {} held-out values, {} exact and {} near duplicates are in two parts, {} documents without a label "
      "in training",
      groups, held_out_values, exact_duplicates, near_duplicates, unlabelled_in_training);
  if (!examples.empty())
    out += fmt::format("; for example {} {} in {} and {}", examples[0].kind, examples[0].what, name_of(examples[0].one),
                       name_of(examples[0].other));
  return out;
}

LeakReport check_leaks(std::span<const Document> documents, std::span<const Part> parts, const SplitOptions& options,
                       const DocumentFormat& format, const Run& run) {
  check(documents.size() == parts.size(), "checking a split: {} documents, but {} parts", documents.size(),
        parts.size());
  return LeakSearch(documents, parts, options, format, run).run();
}

}  // namespace attune
