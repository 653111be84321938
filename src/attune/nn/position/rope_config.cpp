#include "attune/nn/position/rotary.h"

namespace attune {

namespace {

/// Cosines and sines are multiplied by attention_factor, or by what the method makes of the other values.
double yarn_magnitude_of(const ConfigReader& scaling, double factor) {
  const double m = scaling.number_or("mscale", 0), all = scaling.number_or("mscale_all_dim", 0);
  const double computed =
      m != 0 && all != 0 ? yarn_magnitude(factor, m) / yarn_magnitude(factor, all) : yarn_magnitude(factor);
  return scaling.number_or("attention_factor", computed, {.above = 0});
}

void read_yarn(const ConfigReader& scaling, double longest, RopeScaling& s) {
  s.factor = scaling.number_or("factor", longest / s.original_positions, {.at_least = 1});
  s.magnitude = yarn_magnitude_of(scaling, s.factor);
  s.beta_fast = scaling.number_or("beta_fast", 32, {.above = 0});
  s.beta_slow = scaling.number_or("beta_slow", 1, {.above = 0, .below = s.beta_fast + 1e-12});
  s.truncate = scaling.flag_or("truncate", true);
  scaling.ignore({"finetuned"});  // in configs of the first yarn models; no code reads it
}

void read_longrope(const ConfigReader& scaling, double longest, RopeScaling& s) {
  s.factor = scaling.number_or("factor", longest / s.original_positions, {.above = 0});
  s.magnitude = scaling.number_or("attention_factor", longrope_magnitude(s.factor, s.original_positions), {.above = 0});
  s.short_factors = scaling.numbers_or("short_factor", {});
  s.long_factors = scaling.numbers_or("long_factor", {});
}

RopeScaling::Kind kind_of(const std::string& type) {
  using Kind = RopeScaling::Kind;
  if (type == "linear") return Kind::linear;
  if (type == "dynamic") return Kind::dynamic;
  if (type == "yarn") return Kind::yarn;
  if (type == "llama3") return Kind::llama3;
  return type == "default" ? Kind::none : Kind::longrope;
}

/// `scaling` is the object that holds the values, `config` the one around it.
RopeScaling read_scaling(const ConfigReader& config, const ConfigReader& scaling, std::int64_t longest_otherwise) {
  using Kind = RopeScaling::Kind;
  RopeScaling s;
  const std::string key = scaling.has("type") && !scaling.has("rope_type") ? "type" : "rope_type";  // once "type"
  // "su" was longrope's first name.
  s.kind =
      kind_of(scaling.choice_or(key, "default", {"default", "linear", "dynamic", "yarn", "llama3", "longrope", "su"}));
  if (scaling.has("type")) scaling.ignore({"type"});
  if (s.kind == Kind::none) return s;
  if (s.kind == Kind::linear || s.kind == Kind::dynamic || s.kind == Kind::llama3)
    s.factor = scaling.number("factor", {.at_least = 1});
  if (s.kind == Kind::linear) return s;

  const double longest =
      config.number_or("max_position_embeddings", static_cast<double>(longest_otherwise), {.at_least = 1});
  // Some models (Phi-3) keep it outside, and there it counts more. Dynamic scaling begins where the config's longest
  // ends.
  s.original_positions = longest;
  if (s.kind == Kind::dynamic) return s;
  s.original_positions = scaling.number_or("original_max_position_embeddings", longest, {.at_least = 1});
  s.original_positions = config.number_or("original_max_position_embeddings", s.original_positions, {.at_least = 1});
  if (s.kind == Kind::yarn) read_yarn(scaling, longest, s);
  if (s.kind == Kind::longrope) read_longrope(scaling, longest, s);
  if (s.kind == Kind::llama3) {
    s.low_frequency_factor = scaling.number("low_freq_factor");
    s.high_frequency_factor = scaling.number("high_freq_factor");
  }
  return s;
}

}  // namespace

RopeConfig read_rope(const ConfigReader& config, std::int64_t head_dim, std::int64_t longest) {
  RopeConfig rope;
  // In transformers 5 one object holds theta, share and scaling; in 4 they stand beside the scaling's object.
  const ConfigReader parameters = config.object_or_empty("rope_parameters");
  const ConfigReader scaling = config.has("rope_parameters") ? parameters : config.object_or_empty("rope_scaling");
  rope.theta = config.number_or("rope_theta", 10000, {.at_least = 1e-6});
  rope.theta = parameters.number_or("rope_theta", rope.theta, {.at_least = 1e-6});
  double share = config.number_or("partial_rotary_factor", 1, {.at_most = 1, .above = 0});
  share = parameters.number_or("partial_rotary_factor", share, {.at_most = 1, .above = 0});
  rope.rotary_dims = static_cast<std::int64_t>(static_cast<double>(head_dim) * share);
  rope.scaling = read_scaling(config, scaling, longest);
  return rope;
}

}  // namespace attune
