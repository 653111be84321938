#include <fmt/format.h>

#include "attune/base/error.h"
#include "attune/nn/named_object.h"
#include "attune/nn/position/rotary.h"

namespace attune {

namespace {

struct RopeNumber {
  double otherwise;
  ConfigRange range;
};

constexpr const char* needs_a_factor =
    "nothing says by how much sequences grow: give it, or original_max_position_embeddings and a larger "
    "max_position_embeddings of the model";

/// Cosines and sines are multiplied by attention_factor, or by what the method makes of the other values.
double yarn_magnitude_of(const ConfigReader& scaling, double factor) {
  const double m = scaling.number_or("mscale", 0), all = scaling.number_or("mscale_all_dim", 0);
  const double computed =
      m != 0 && all != 0 ? yarn_magnitude(factor, m) / yarn_magnitude(factor, all) : yarn_magnitude(factor);
  return scaling.number_or("attention_factor", computed, {.above = 0});
}

void read_yarn(const ConfigReader& scaling, double longest, RopeScaling& s) {
  if (longest <= s.original_positions && !scaling.has("factor")) scaling.reject("factor", needs_a_factor);
  s.factor = scaling.number_or("factor", longest / s.original_positions, {.at_least = 1});
  if (scaling.has("attention_factor") && scaling.has("mscale"))
    scaling.reject("attention_factor", "mscale stands beside it and says the same another way: give one of them");
  s.magnitude = yarn_magnitude_of(scaling, s.factor);
  s.beta_fast = scaling.number_or("beta_fast", 32, {.above = 0});
  s.beta_slow = scaling.number_or("beta_slow", 1, {.above = 0});
  if (s.beta_slow > s.beta_fast)
    scaling.reject("beta_slow", fmt::format("expected at most beta_fast, which is {}", s.beta_fast));
  s.truncate = scaling.flag_or("truncate", true);
  scaling.ignore({"finetuned"});  // in configs of the first yarn models; no code reads it
}

std::vector<double> longrope_factors(const ConfigReader& scaling, const char* key, std::int64_t dims) {
  const std::vector<double> factors = scaling.numbers_or(key, {});
  if (static_cast<std::int64_t>(factors.size()) != dims / 2)
    scaling.reject(key, fmt::format("{} factors: expected {}, one for each pair of the {} values of a head that turn",
                                    factors.size(), dims / 2, dims));
  for (double factor : factors)
    if (factor <= 0) scaling.reject(key, "expected numbers above 0");
  return factors;
}

void read_longrope(const ConfigReader& scaling, double longest, std::int64_t dims, RopeScaling& s) {
  if (longest <= 0 && !scaling.has("factor") && !scaling.has("attention_factor"))
    scaling.reject("factor", needs_a_factor);
  s.factor = scaling.number_or("factor", longest > 0 ? longest / s.original_positions : 1, {.above = 0});
  s.magnitude = scaling.number_or("attention_factor", longrope_magnitude(s.factor, s.original_positions), {.above = 0});
  s.short_factors = longrope_factors(scaling, "short_factor", dims);
  s.long_factors = longrope_factors(scaling, "long_factor", dims);
}

void read_llama3(const ConfigReader& scaling, RopeScaling& s) {
  s.low_frequency_factor = scaling.number("low_freq_factor", {.above = 0});
  s.high_frequency_factor = scaling.number("high_freq_factor", {.above = 0});
  if (s.high_frequency_factor <= s.low_frequency_factor)
    scaling.reject("high_freq_factor",
                   fmt::format("expected above low_freq_factor, which is {}", s.low_frequency_factor));
}

RopeScaling::Kind kind_of(const std::string& type) {
  using Kind = RopeScaling::Kind;
  if (type == "linear") return Kind::linear;
  if (type == "dynamic") return Kind::dynamic;
  if (type == "yarn") return Kind::yarn;
  if (type == "llama3") return Kind::llama3;
  return type == "default" ? Kind::none : Kind::longrope;
}

/// A number that may stand in both objects, in the outer one as `outer_key`. Throws Error where they hold different
/// ones: one would be dropped.
double in_one_of(const ConfigReader& outer, const char* outer_key, const ConfigReader& inner, const char* key,
                 const RopeNumber& number) {
  const double given = outer.number_or(outer_key, number.otherwise, number.range);
  const double within = inner.number_or(key, given, number.range);
  if (outer.has(outer_key) && inner.has(key) && given != within)
    inner.reject(key, fmt::format("\"{}\" outside is {}: give one of them", outer_key, given));
  return within;
}

RopeScaling::Kind read_kind(const ConfigReader& scaling) {
  // "su" was longrope's first name.
  const std::vector<std::string> known = {"default", "linear", "dynamic", "yarn", "llama3", "longrope", "su"};
  if (!scaling.has("type") || !scaling.has("rope_type"))  // once "type"
    return kind_of(scaling.choice_or(scaling.has("type") ? "type" : "rope_type", "default", known));
  const RopeScaling::Kind kind = kind_of(scaling.choice("rope_type", known));
  if (kind_of(scaling.choice("type", known)) != kind)
    scaling.reject("type", "rope_type beside it says another: give rope_type alone");
  return kind;
}

/// Where scaling of this kind begins: the length of the first training.
double read_original(const ConfigReader& config, const ConfigReader& scaling, double longest) {
  constexpr const char* original = "original_max_position_embeddings";
  const RopeNumber number{.otherwise = longest, .range = {.at_least = 1}};
  if (longest <= 0 && !config.has(original) && !scaling.has(original))
    scaling.reject(original,
                   "this scaling begins at the longest sequence of the first training: give it, or the "
                   "model's max_position_embeddings");
  return in_one_of(config, original, scaling, original, number);  // some models (Phi-3) keep it outside
}

/// `scaling` is the object that holds the values, `config` the one around it.
RopeScaling read_scaling(const ConfigReader& config, const ConfigReader& scaling, const RopeConfig& rope,
                         const RopeDefaults& defaults) {
  using Kind = RopeScaling::Kind;
  RopeScaling s;
  s.kind = read_kind(scaling);
  if (s.kind == Kind::none) return s;
  if (s.kind == Kind::linear || s.kind == Kind::dynamic || s.kind == Kind::llama3)
    s.factor = scaling.number("factor", {.at_least = 1});
  if (s.kind == Kind::linear) return s;
  if (s.kind == Kind::dynamic && rope.rotary_dims <= 2)
    scaling.reject("rope_type", "dynamic scaling needs heads of which more than 2 values turn: a larger head_dim");
  if (s.kind == Kind::yarn && rope.theta <= 1)
    scaling.reject("rope_type", fmt::format("yarn needs a rope_theta above 1, and it is {}", rope.theta));

  const double longest =
      config.number_or("max_position_embeddings", static_cast<double>(defaults.longest), {.at_least = 1});
  s.original_positions = read_original(config, scaling, longest);
  if (s.kind == Kind::yarn) read_yarn(scaling, longest, s);
  if (s.kind == Kind::longrope) read_longrope(scaling, longest, rope.rotary_dims, s);
  if (s.kind == Kind::llama3) read_llama3(scaling, s);
  return s;
}

/// The objects that hold one model's rotary positions: parameters and scaling may be one.
struct RopeObjects {
  ConfigReader config, parameters, scaling;
};

RopeConfig read_objects(const RopeObjects& from, std::int64_t head_dim, const RopeDefaults& defaults) {
  RopeConfig rope;
  rope.theta = in_one_of(from.config, defaults.theta_key, from.parameters, "rope_theta",
                         {.otherwise = defaults.theta, .range = {.at_least = 1e-6}});
  const double share = in_one_of(from.config, defaults.share_key, from.parameters, "partial_rotary_factor",
                                 {.otherwise = defaults.share, .range = {.at_most = 1, .above = 0}});
  rope.rotary_dims = static_cast<std::int64_t>(static_cast<double>(head_dim) * share);
  check(rope.rotary_dims > 0 && rope.rotary_dims % 2 == 0,
        "reading {}: rotary positions turn pairs of a head's values: head_dim {} (hidden_size / num_attention_heads "
        "where it is not given) and {} {} let {} turn: expected an even number above 0: change head_dim, "
        "num_attention_heads or {}",
        from.config.source(), head_dim, defaults.share_key, share, rope.rotary_dims, defaults.share_key);
  rope.scaling = read_scaling(from.config, from.scaling, rope, defaults);
  return rope;
}

}  // namespace

RopeConfig read_rope(const ConfigReader& config, std::int64_t head_dim, const RopeDefaults& defaults) {
  // In transformers 5 one object holds theta, share and scaling; in 4 they stand beside the scaling's object.
  const ConfigReader parameters = named_object_or_empty(config, "rope_parameters", "rope_type");
  if (config.has("rope_parameters") && config.has("rope_scaling"))
    config.reject("rope_scaling",
                  "rope_parameters stands beside it and is the newer name of the same: give one of them");
  const ConfigReader scaling =
      config.has("rope_parameters") ? parameters : named_object_or_empty(config, "rope_scaling", "rope_type");
  return read_objects({config, parameters, scaling}, head_dim, defaults);
}

RopeConfig read_rope_of(const ConfigReader& parameters, const ConfigReader& config, std::int64_t head_dim,
                        const RopeDefaults& defaults) {
  return read_objects({config, parameters, parameters}, head_dim, defaults);
}

}  // namespace attune
