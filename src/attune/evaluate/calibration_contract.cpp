#include "attune/evaluate/calibration_contract.h"

#include <fmt/core.h>

#include "attune/base/json_values.h"

#include "attune/base/config_reader.h"
#include "attune/base/error.h"

namespace attune::evaluate {

namespace {

Json figures_to_json(const CalibrationContract::Figures& figures) {
  return Json{{"nll", figures.nll}, {"ece", figures.ece}, {"brier", figures.brier}};
}

CalibrationContract::Figures figures_of(const ConfigReader& c) {
  return {.nll = c.number("nll", {.at_least = 0}), .ece = c.number("ece", {0, 1}), .brier = c.number("brier", {0, 2})};
}

/// A name from a fixed list, read with the file's and the key's name in the error.
template <class Named>
auto named(const ConfigReader& c, const std::string& key, Named&& value) {
  const std::string name = c.string(key);
  try {
    return value(name);
  } catch (const Error& error) {
    c.reject(key, error.what());
  }
}

Json route_to_json(const CalibrationContract& contract) {
  const ThresholdChoice& route = contract.route;
  Json out{{"target_error", contract.target_error},
           {"bound_confidence", contract.bound_confidence},
           {"assurance", assurance_name(route.assurance)}};
  if (route.threshold) out["confidence_threshold"] = *route.threshold;
  out["coverage"] = route.coverage;
  out["risk"] = route.risk;
  out["upper_bound"] = route.upper_bound;
  out["documents"] = route.documents;
  out["answered"] = route.answered;
  out["wrong"] = route.wrong;
  out["statement"] = route.statement;
  return out;
}

void read_route(const ConfigReader& c, CalibrationContract& contract) {
  contract.target_error = c.number("target_error", {0, 1});
  contract.bound_confidence = c.number("bound_confidence", {0, 1});
  ThresholdChoice& route = contract.route;
  route.assurance = named(c, "assurance", assurance_named);
  if (c.has("confidence_threshold")) route.threshold = c.number("confidence_threshold", {0, 1.000001});
  if (route.threshold.has_value() == (route.assurance == Assurance::none))
    c.reject("confidence_threshold", "a threshold is expected exactly where \"assurance\" is not \"none\"");
  route.coverage = c.number("coverage", {0, 1});
  route.risk = c.number("risk", {0, 1});
  route.upper_bound = c.number("upper_bound", {0, 1});
  route.documents = c.integer("documents", {.at_least = 0});
  route.answered = c.integer("answered", {.at_least = 0});
  route.wrong = c.integer("wrong", {.at_least = 0});
  route.statement = c.string("statement");
}

CalibrationContract::Figures short_figures(const CalibrationFigures& figures) {
  return {figures.nll, figures.ece, figures.brier};
}

/// Documents that neither the novelty score nor their length sends to review.
std::vector<std::size_t> familiar(const CalibrationData& data, const CalibrationContract& contract) {
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < data.truth.size(); ++i)
    if ((!contract.novelty || data.novelty[i] <= contract.novelty->threshold) &&
        (data.tokens.empty() || data.tokens[i] >= contract.shortest))
      out.push_back(i);
  return out;
}

void choose_route(const CalibrationData& data, const CalibrationOptions& options, CalibrationContract& out) {
  const ScoreTable probabilities = softmax(data.logits, out.temperature);
  const std::vector<int> answers = top_class(probabilities);
  const std::vector<double> all_confidence = top_score(probabilities);
  std::vector<double> confidence;
  std::vector<bool> right;
  for (const std::size_t i : familiar(data, out)) {
    confidence.push_back(all_confidence[i]);
    right.push_back(answers[i] == data.truth[i]);
  }
  out.route = choose_threshold(confidence, right, options.threshold);
  out.route.coverage = static_cast<double>(out.route.answered) / static_cast<double>(data.truth.size());
}

}  // namespace

Json to_json(const CalibrationContract& contract) {
  Json out{{"temperature", contract.temperature},
           {"fitted_temperature", contract.fitted_temperature},
           {"kept_identity", contract.kept_identity},
           {"temperature_reason", contract.temperature_reason},
           {"before", figures_to_json(contract.before)},
           {"after", figures_to_json(contract.after)},
           {"route", route_to_json(contract)}};
  if (contract.novelty) {
    out["novelty"] = Json{{"method", novelty_method_name(contract.novelty->method)},
                          {"neighbours", contract.novelty->neighbours},
                          {"threshold", contract.novelty->threshold},
                          {"share", contract.novelty->share}};
  }
  out["shortest"] = contract.shortest;
  out["documents"] = contract.documents;
  out["uncategorised"] = contract.uncategorised;
  out["data_hash"] = contract.data_hash;
  return out;
}

CalibrationContract calibration_contract(const Json& json, const std::string& source) {
  const ConfigReader c(json, source);
  CalibrationContract out;
  out.temperature = c.number("temperature", {.at_least = 1e-6});
  out.fitted_temperature = c.number("fitted_temperature", {.at_least = 1e-6});
  out.kept_identity = c.flag("kept_identity");
  out.temperature_reason = c.string("temperature_reason");
  out.before = figures_of(c.object_or_empty("before"));
  out.after = figures_of(c.object_or_empty("after"));
  read_route(c.object_or_empty("route"), out);
  if (c.has("novelty")) {
    const ConfigReader n = c.object_or_empty("novelty");
    out.novelty = CalibrationContract::Novelty{.method = named(n, "method", novelty_method_named),
                                               .neighbours = static_cast<int>(n.integer("neighbours", {0, 1e6})),
                                               .threshold = n.number("threshold"),
                                               .share = n.number("share", {0, 1})};
  }
  out.shortest = c.integer_or("shortest", 0, {.at_least = 0});
  out.documents = c.integer("documents", {.at_least = 0});
  out.uncategorised = c.integer("uncategorised", {.at_least = 0});
  out.data_hash = c.string("data_hash");
  c.finish();
  return out;
}

CalibrationContract calibrate(const CalibrationData& data, const CalibrationOptions& options) {
  check_finite(data.logits, "calibrating");
  check(static_cast<std::int64_t>(data.truth.size()) == data.logits.rows(),
        "calibrating: {} true classes for {} documents", data.truth.size(), data.logits.rows());
  check(data.novelty.empty() || data.novelty.size() == data.truth.size(),
        "calibrating: {} novelty scores for {} documents", data.novelty.size(), data.truth.size());
  check(data.tokens.empty() || data.tokens.size() == data.truth.size(), "calibrating: {} lengths for {} documents",
        data.tokens.size(), data.truth.size());
  CalibrationContract out;
  ScoreTable logits;
  std::vector<int> truth;
  std::vector<double> known_novelty;
  for (std::size_t i = 0; i < data.truth.size(); ++i) {
    if (data.truth[i] == -1) continue;
    logits.add_row(data.logits.row(static_cast<std::int64_t>(i)));
    truth.push_back(data.truth[i]);
    if (!data.novelty.empty()) known_novelty.push_back(data.novelty[i]);
    if (!data.tokens.empty())
      out.shortest = truth.size() == 1 ? data.tokens[i] : std::min(out.shortest, data.tokens[i]);
  }
  check(!truth.empty(), "calibrating: none of the {} documents has a category", data.truth.size());

  const TemperatureFit fit = fit_temperature(logits, truth, options.sharpening);
  out.temperature = fit.temperature, out.fitted_temperature = fit.fitted_temperature;
  out.kept_identity = fit.kept_identity, out.temperature_reason = fit.reason;
  out.before = short_figures(fit.before), out.after = short_figures(fit.after);
  out.target_error = options.threshold.target_error, out.bound_confidence = options.threshold.confidence;
  if (!known_novelty.empty()) {
    out.novelty = CalibrationContract::Novelty{.method = options.novelty_method,
                                               .neighbours = options.neighbours,
                                               .threshold = novelty_threshold(known_novelty, options.known_share),
                                               .share = options.known_share};
  }
  choose_route(data, options, out);
  out.documents = static_cast<std::int64_t>(data.truth.size());
  out.uncategorised = out.documents - static_cast<std::int64_t>(truth.size());
  out.data_hash = data.hash;
  return out;
}

std::string review_reason_name(ReviewReason reason) {
  switch (reason) {
    case ReviewReason::low_confidence:
      return "low_confidence";
    case ReviewReason::novel:
      return "novel";
    case ReviewReason::too_short:
      return "short";
    case ReviewReason::no_threshold:
      return "no_threshold";
  }
  return "";
}

Route route(const CalibrationContract& contract, const Seen& seen) {
  Route out;
  if (!contract.route.threshold) {
    out.reasons.push_back({ReviewReason::no_threshold,
                           fmt::format("no threshold keeps the error within {:.1f} %: every document is reviewed",
                                       100 * contract.target_error)});
  } else if (!(seen.confidence >= *contract.route.threshold)) {
    out.reasons.push_back({ReviewReason::low_confidence, fmt::format("confidence {:.3f} is below {:.3f}",
                                                                     seen.confidence, *contract.route.threshold)});
  }
  if (seen.tokens < contract.shortest)
    out.reasons.push_back({ReviewReason::too_short,
                           fmt::format("{} tokens: shorter than any document that the model was calibrated on ({})",
                                       seen.tokens, contract.shortest)});
  if (!contract.novelty) return out;
  check(seen.novelty.has_value(),
        "routing: the contract has a novelty threshold, but the document has no novelty score");
  if (!(*seen.novelty <= contract.novelty->threshold))
    out.reasons.push_back(
        {ReviewReason::novel, fmt::format("novelty {:.3g} is above {:.3g}: unlike the training documents",
                                          *seen.novelty, contract.novelty->threshold)});
  return out;
}

}  // namespace attune::evaluate
