#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attune/base/random.h"
#include "attune/checkpoint/checkpoint.h"
#include "attune/tensor/tensor.h"

namespace attune {

/// One stored tensor of a model under its published name. A tied alias is no second Parameter.
struct Parameter {
  std::string name;       // as the architecture publishes it: "bert.embeddings.word_embeddings.weight"
  std::string file_name;  // as the file read spells it: "...LayerNorm.gamma"
  Tensor value;           // in the file's layout; a leaf of the tape where it is trained
  bool trained = false;   // a constant of the file (Marian's final_logits_bias) never is
};

/// How a weight begins that no file gives.
struct Initial {
  enum class Kind { zeros, ones, normal } kind = Kind::zeros;
  double deviation = 0;

  static Initial zeros() { return {Kind::zeros, 0}; }
  static Initial ones() { return {Kind::ones, 0}; }
  static Initial normal(double deviation) { return {Kind::normal, deviation}; }
};

/// How published files of one architecture spell and fill their names.
struct NameRules {
  struct Spelling {
    enum class Place { prefix, suffix } place;
    std::string ours, other;  // {prefix, "transformer.", ""}: some files leave the prefix out
  };
  std::vector<Spelling> spellings = {};
  std::vector<std::string> unused = {};  // name endings that files hold and the model does not use (".position_ids")
  std::vector<std::string> may_be_new =
      {};  // prefixes that a file may lack, because a new head begins afresh ("classifier.")
};

/// Where a model's weights come from while it is built.
struct WeightSource {
  std::shared_ptr<const Checkpoint> checkpoint;  // null: all weights are new
  RandomKey initial;                             // of new weights, with the name as the site
  bool trainable = false;
  DType type = DType::F32;  // F64 runs the model on the reference kernels
};

/// The parameters of one model, in the order of their making. Built through Weights; finish() then accounts for the
/// whole file.
class ParameterSet {
 public:
  ParameterSet(WeightSource source, NameRules rules);

  const std::vector<Parameter>& all() const { return all_; }
  const Parameter* find(std::string_view name) const;  // by published name; null if there is none
  std::int64_t count() const;                          // of numbers
  const WeightSource& source() const { return source_; }

  /// Throws one Error that lists every tensor missing from the file, unexpected in it, misshapen, or unlike its tied
  /// twin.
  void finish();
  /// Names in the file that the architecture knows and does not use, and parameters that began afresh: for `info` and
  /// the log.
  const std::vector<std::string>& unused() const { return unused_; }
  const std::vector<std::string>& fresh() const { return fresh_; }

 private:
  friend class Weights;
  enum class Role { weight, constant };
  Tensor declare(const std::string& name, const Shape& shape, Initial initial, Role role = Role::weight);
  void declare_tied(const std::string& name, const Tensor& twin);
  std::optional<std::string> spelling_in_file(const std::string& name) const;
  Tensor fresh_value(const std::string& name, const Shape& shape, Initial initial) const;

  WeightSource source_;
  NameRules rules_;
  std::vector<Parameter> all_;
  std::vector<std::string> taken_, problems_, unused_, fresh_;
};

/// A scope of names in a ParameterSet: `w / "layer" / 3` is where the weights of "...layer.3" are declared.
class Weights {
 public:
  explicit Weights(ParameterSet& set, std::string scope = "") : set_(&set), scope_(std::move(scope)) {}

  Weights operator/(std::string_view name) const { return Weights(*set_, join(name)); }
  Weights operator/(std::int64_t index) const { return *this / std::to_string(index); }

  /// The tensor "scope.name", from the file or new. A wrong or missing one is told by ParameterSet::finish().
  Tensor parameter(std::string_view name, const Shape& shape, Initial initial) const {
    return set_->declare(join(name), shape, initial);
  }
  /// A tensor that is saved with the weights and never trained.
  Tensor constant(std::string_view name, const Shape& shape, Initial initial) const {
    return set_->declare(join(name), shape, initial, ParameterSet::Role::constant);
  }
  /// "scope.name" is another name of `twin`: files may leave it out; where it is there it must agree.
  void tied(std::string_view name, const Tensor& twin) const { set_->declare_tied(join(name), twin); }
  /// The file has "scope.name", in any spelling.
  bool in_file(std::string_view name) const { return set_->spelling_in_file(join(name)).has_value(); }
  const std::string& scope() const { return scope_; }
  DType type() const { return set_->source().type; }  // of all weights

 private:
  std::string join(std::string_view name) const {
    return scope_.empty() || name.empty() ? scope_ + std::string(name) : scope_ + "." + std::string(name);
  }

  ParameterSet* set_;
  std::string scope_;
};

}  // namespace attune
