#include "attune/explain/probes.h"

#include <fmt/core.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <map>

#include "attune/base/error.h"

namespace attune::explain {

namespace {

constexpr std::int64_t first_part = 64;  // places; each further part ends at twice the end of the one before
constexpr double masked_share = 0.15;

bool masks(const Probed& probed) { return probed.model.facts().head == HeadKind::masked_lm; }

/// Why a model is not asked for sequences of a length; empty where it is.
std::string refusal(const Probed& probed, std::int64_t length) {
  const auto longest = probed.model.facts().longest;
  if (!longest || length <= *longest) return "";
  return fmt::format("the model takes {} tokens", *longest);
}

void check_lengths(const std::vector<std::int64_t>& lengths) {
  for (std::int64_t length : lengths)
    check(length <= longest_probe, "a length of {} tokens: a probe's is {} at most", length, longest_probe);
}

std::int64_t part_of(std::int64_t place) { return std::bit_width(static_cast<std::uint64_t>(place / first_part)); }

/// Sequences of one length over the first tokens of the stream.
std::vector<Asked> sequences_of(const Probed& probed, std::span<const std::int64_t> text, std::int64_t length) {
  std::vector<Asked> all;
  for (std::size_t begin = 0; begin < text.size(); begin += static_cast<std::size_t>(length)) {
    const std::size_t end = std::min(text.size(), begin + static_cast<std::size_t>(length));
    Asked one;
    one.ids.assign(text.begin() + static_cast<std::ptrdiff_t>(begin), text.begin() + static_cast<std::ptrdiff_t>(end));
    for (std::size_t t = masks(probed) ? 0 : 1; t < end - begin; ++t) {
      // By the place in the stream: the same tokens are masked at every length.
      if (masks(probed) && RandomStream(RandomKey{}.at("masked").at(begin + t)).uniform() >= masked_share) continue;
      one.places.push_back(static_cast<std::int64_t>(t));
    }
    all.push_back(std::move(one));
  }
  return all;
}

LengthPerplexity measured(const std::vector<Asked>& sequences, const std::vector<std::vector<TokenAnswer>>& answers,
                          std::int64_t length, std::int64_t longest) {
  LengthPerplexity result{.length = length};
  std::map<std::int64_t, LengthPerplexity::Part> parts;
  std::map<std::int64_t, std::pair<double, std::int64_t>> stretches;  // sum of losses, tokens
  double sum = 0;
  for (std::size_t s = 0; s < sequences.size(); ++s)
    for (std::size_t i = 0; i < answers[s].size(); ++i) {
      const double loss = answers[s][i].loss;
      const std::int64_t part = part_of(sequences[s].places[i]);
      LengthPerplexity::Part& at = parts[part];
      ++at.tokens, at.loss += loss;
      auto& stretch = stretches[static_cast<std::int64_t>(s) * length / longest];
      stretch.first += loss, ++stretch.second;
      sum += loss, ++result.tokens;
    }
  check(result.tokens > 0, "perplexity at {} tokens: there is nothing to ask for in so little text", length);
  for (auto& [number, part] : parts) {
    part.begin = number == 0 ? 0 : first_part << (number - 1);
    part.end = std::min(length, first_part << number);
    part.loss /= static_cast<double>(part.tokens);
    result.by_position.push_back(part);
  }
  std::vector<double> means;
  for (const auto& [number, stretch] : stretches) means.push_back(stretch.first / static_cast<double>(stretch.second));
  result.loss = evaluate::mean_interval(means);
  const double mean = sum / static_cast<double>(result.tokens);  // stretches weigh by their tokens, nearly all the same
  result.loss.low += mean - result.loss.value, result.loss.high += mean - result.loss.value, result.loss.value = mean;
  return result;
}

using MakeDocument = std::function<Asked(std::int64_t length, double depth, RandomStream& random)>;

ProbeCell cell_of(const Probed& probed, std::vector<Asked> documents, ProbeCell cell, const Run& run) {
  const auto answers = ask(probed.model, documents, probed.asking, run);
  double right = 0, loss = 0, asked = 0;
  for (const auto& document : answers)
    for (const TokenAnswer& answer : document) right += answer.right, loss += answer.loss, ++asked;
  cell.documents = static_cast<std::int64_t>(documents.size());
  cell.accuracy = evaluate::wilson_interval(right / asked, cell.documents);
  cell.loss = loss / asked;
  return cell;
}

/// Tells the progress of one part of a probe as that of all `parts`, which have as many sequences.
Run part_of_run(const Run& run, std::size_t part, std::size_t parts, std::string detail) {
  Run inside = run;
  if (run.progress)
    inside.progress = [&run, part, parts, detail = std::move(detail)](Progress now) {
      now.done += now.total * static_cast<std::int64_t>(part);
      now.total *= static_cast<std::int64_t>(parts);
      now.detail = detail;
      run.report(now);
    };
  return inside;
}

std::vector<ProbeCell> cells(const Probed& probed, const ProbeGrid& grid, const MakeDocument& make, const Run& run) {
  check(grid.documents >= 1 && grid.documents <= most_documents, "a probe of {} documents: give 1 to {}",
        grid.documents, most_documents);
  check_lengths(grid.lengths);
  const std::size_t parts = grid.lengths.size() * grid.depths.size();
  std::vector<ProbeCell> all;
  for (std::int64_t length : grid.lengths)
    for (double depth : grid.depths) {
      ProbeCell cell{.length = length, .depth = depth, .skipped = refusal(probed, length)};
      if (cell.skipped.empty()) {
        std::vector<Asked> documents;
        for (std::int64_t i = 0; i < grid.documents; ++i) {
          if (run.cancelled()) throw Cancelled("stopped during a probe: no result was written");
          // By length and number: the same words and text at every depth.
          RandomStream random(RandomKey{.seed = grid.seed}
                                  .at("probe")
                                  .at(static_cast<std::uint64_t>(length))
                                  .at(static_cast<std::uint64_t>(i)));
          documents.push_back(make(length, depth, random));
        }
        cell = cell_of(probed, std::move(documents), cell,
                       part_of_run(run, all.size(), parts, fmt::format("{} tokens, depth {}", length, depth)));
      }
      all.push_back(cell);
    }
  return all;
}

}  // namespace

double LengthPerplexity::perplexity() const { return std::exp(loss.value); }

std::vector<LengthPerplexity> probe_perplexity(const Probed& probed, const std::vector<std::int64_t>& text,
                                               const std::vector<std::int64_t>& lengths, const Run& run) {
  check(!lengths.empty(), "perplexity: no length was given");
  for (std::int64_t length : lengths) check(length >= 2, "perplexity: a length of {} has nothing to predict", length);
  check_lengths(lengths);
  const std::int64_t longest = *std::ranges::max_element(lengths);
  const auto whole = static_cast<std::int64_t>(text.size()) / longest * longest;
  check(whole > 0, "perplexity at {} tokens: the text has {} in all, so give shorter --lengths or more text", longest,
        text.size());
  std::vector<LengthPerplexity> all;
  for (std::int64_t length : lengths) {
    if (std::string why = refusal(probed, length); !why.empty()) {
      all.push_back({.length = length, .skipped = std::move(why)});
      continue;
    }
    const auto sequences = sequences_of(probed, std::span(text).first(static_cast<std::size_t>(whole)), length);
    const Run inside = part_of_run(run, 0, 1, fmt::format("of {} tokens", length));
    all.push_back(measured(sequences, ask(probed.model, sequences, probed.asking, inside), length, longest));
  }
  return all;
}

std::vector<ProbeCell> probe_needle(const Probed& probed, const ProbeText& text, const ProbeGrid& grid,
                                    std::int64_t pairs, const Run& run) {
  auto make = [&](std::int64_t length, double depth, RandomStream& random) {
    return needle_document(text, {.length = length, .depth = depth, .pairs = pairs}, random);
  };
  return cells(probed, grid, make, run);
}

std::vector<ProbeCell> probe_copy(const Probed& probed, const ProbeText& text, const ProbeGrid& grid, std::int64_t span,
                                  const Run& run) {
  auto make = [&](std::int64_t length, double depth, RandomStream& random) {
    Asked document = copy_document(text, {.length = length, .depth = depth, .span = span}, random);
    if (!masks(probed)) return document;
    std::vector<std::int64_t> some;
    for (std::size_t i = 0; i < document.places.size(); i += 6) some.push_back(document.places[i]);
    document.places = std::move(some);
    return document;
  };
  return cells(probed, grid, make, run);
}

}  // namespace attune::explain
