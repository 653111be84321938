#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attune/base/random.h"
#include "attune/checkpoint/checkpoint.h"
#include "attune/ops/int8.h"
#include "attune/tensor/quantised.h"
#include "attune/tensor/tensor.h"

namespace attune {

/// Which rows of a file's tensor a parameter is, where files keep several in one: [i, part] of [stacked, parts * rows,
/// columns], read as [stacked, parts, rows, columns].
struct FilePart {
  std::int64_t index = 0, part = 0;
  Shape whole = {};  // the file's
};

/// One stored tensor of a model under its published name. A tied alias is no second Parameter.
struct Parameter {
  std::string name;       // as the architecture publishes it: "bert.embeddings.word_embeddings.weight"
  std::string file_name;  // as the file read spells it: "...LayerNorm.gamma"
  Tensor value;  // in the file's layout; a leaf of the tape where it is trained; undefined where blocks or codes are
  bool trained = false;                        // a constant of the file (Marian's final_logits_bias) never is
  std::optional<QuantisedTensor> blocks = {};  // as the file keeps it, [out, in], never trained
  std::optional<Int8Weight> int8 = {};         // as the file keeps it, [out, in], never trained
  std::optional<FilePart> part = {};           // of the tensor file_name; none: it is that tensor

  Shape shape() const;
  /// The numbers: `value`, or what the blocks or codes stand for, made anew in f32.
  Tensor numbers() const;
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
  /// Matrices of all experts in one tensor, [experts, parts * rows, columns]: {"mlp.experts", "up_proj.weight",
  /// "mlp.experts.gate_up_proj", 1, 2} is "mlp.experts.3.up_proj.weight" as the second of two parts.
  struct Stacked {
    std::string scope, name, other;
    std::int64_t part = 0, parts = 1;
  };
  std::vector<Spelling> spellings = {};
  std::vector<Stacked> stacked = {};
  std::vector<std::string> unused = {};  // name endings that files hold and the model does not use (".position_ids")
  std::vector<std::string> may_be_new =
      {};  // prefixes that a file may lack, because a new head begins afresh ("classifier.")
};

/// How linear layers keep their weights: as the file has them, or as int8 copies, which are smaller and faster and a
/// little off (ops/int8.h). Weights that a file keeps in blocks stay so.
enum class LinearFormat { as_stored, int8 };

/// Where a model's weights come from while it is built.
struct WeightSource {
  std::shared_ptr<const Checkpoint> checkpoint;  // null: all weights are new
  RandomKey initial;                             // of new weights, with the name as the site
  bool trainable = false;
  DType type = DType::F32;  // F64 runs the model on the reference kernels
  LinearFormat linears = LinearFormat::as_stored;
  std::vector<std::string> left_out = {};  // prefixes of names that the file has for another purpose: not read
};

/// A weight that is kept as an int8 copy, and what that left out: root of the mean of squares, over the values'.
struct RoundedWeight {
  std::string name;
  double error;
  bool in_by_out;  // the file has it as [in, out]
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
  const std::vector<RoundedWeight>& rounded() const { return rounded_; }
  /// Names that are another name of a weight, whether the file has them or not.
  const std::vector<std::string>& tied() const { return tied_; }

 private:
  friend class Weights;
  enum class Role { weight, constant, stored };  // stored: in the type that the file has
  Tensor declare(const std::string& name, const Shape& shape, Initial initial, Role role = Role::weight);
  std::optional<QuantisedTensor> declare_blocks(const std::string& name, const Shape& shape);
  bool keeps_int8(const std::string& name) const;
  Int8Weight declare_int8(const std::string& name, const Shape& shape, Initial initial, bool in_by_out);
  void declare_tied(const std::string& name, const std::function<Tensor()>& twin);
  std::optional<std::string> spelling_in_file(const std::string& name) const;
  struct Found {
    std::string name;
    std::optional<FilePart> part = {};
    std::int64_t parts = 1;
  };
  std::optional<Found> find_in_file(const std::string& name) const;
  Tensor read(const Found& found) const;
  void take(const Found& found);
  Tensor fresh_value(const std::string& name, const Shape& shape, Initial initial) const;

  WeightSource source_;
  NameRules rules_;
  std::vector<Parameter> all_;
  std::vector<std::string> taken_, problems_, unused_, fresh_, tied_;
  std::map<std::string, std::int64_t> parts_left_;  // of the file's tensors that hold several
  std::vector<RoundedWeight> rounded_;
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
  /// The blocks of the matrix "scope.name", [out, in], where the file keeps it in a block-quantised format and the
  /// model computes in f32; then it is declared, else none. Throws Error where it should be trained.
  std::optional<QuantisedTensor> blocks(std::string_view name, const Shape& shape) const {
    return set_->declare_blocks(join(name), shape);
  }
  /// The matrix "scope.name" ([in, out] where `in_by_out`) in int8: as the file keeps it, or a copy of what stays in
  /// the file. Throws Error where it should be trained or the model computes in f64.
  Int8Weight int8(std::string_view name, const Shape& shape, Initial initial, bool in_by_out = false) const {
    return set_->declare_int8(join(name), shape, initial, in_by_out);
  }
  /// The file keeps "scope.name" in int8, and the model computes in f32.
  bool keeps_int8(std::string_view name) const { return set_->keeps_int8(join(name)); }
  LinearFormat linears() const { return set_->source().linears; }
  /// "scope.name" is another name of `twin`: files may leave it out; where it is there it must agree.
  void tied(std::string_view name, const Tensor& twin) const {
    set_->declare_tied(join(name), [&] { return twin; });
  }
  /// The same, for a twin that is made only where the file has the name.
  void tied(std::string_view name, const std::function<Tensor()>& twin) const { set_->declare_tied(join(name), twin); }
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
