#include "attune/nn/parameters.h"

#include <algorithm>
#include <charconv>

#include "attune/autograd/tape.h"
#include "attune/base/error.h"
#include "attune/ops/quantised.h"

namespace attune {

namespace {

bool ends_with_any(const std::string& name, const std::vector<std::string>& endings) {
  return std::any_of(endings.begin(), endings.end(), [&](const std::string& e) { return name.ends_with(e); });
}
bool starts_with_any(const std::string& name, const std::vector<std::string>& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(), [&](const std::string& p) { return name.starts_with(p); });
}

/// `name` and every form that the spellings make of it.
std::vector<std::string> forms_of(const std::string& name, const NameRules& rules) {
  std::vector<std::string> forms = {name};
  for (const NameRules::Spelling& rule : rules.spellings) {
    for (std::size_t i = 0, count = forms.size(); i < count; ++i) {
      std::string form = forms[i];
      if (rule.place == NameRules::Spelling::Place::prefix && form.starts_with(rule.ours))
        forms.push_back(rule.other + form.substr(rule.ours.size()));
      if (rule.place == NameRules::Spelling::Place::suffix && form.ends_with(rule.ours))
        forms.push_back(form.substr(0, form.size() - rule.ours.size()) + rule.other);
    }
  }
  return forms;
}

/// "model.layers.0.mlp.experts.3.up_proj.weight" under a rule for stacked matrices: what stands before, and the number.
struct StackedName {
  std::string before;
  std::int64_t index;
};

std::optional<StackedName> match_stacked(const NameRules::Stacked& rule, const std::string& name) {
  const std::string begin = rule.scope + ".", end = "." + rule.name;
  if (!name.ends_with(end)) return std::nullopt;
  const std::size_t at = name.find(begin), digits = at + begin.size();
  if (at == std::string::npos || digits + end.size() >= name.size()) return std::nullopt;
  std::int64_t index = 0;
  const char* last = name.data() + name.size() - end.size();
  const auto [stop, error] = std::from_chars(name.data() + digits, last, index);
  if (error != std::errc() || stop != last) return std::nullopt;
  return StackedName{name.substr(0, at), index};
}

bool same_values(const Tensor& a, const Tensor& b) {
  if (!(a.shape() == b.shape())) return false;
  return a.to(DType::F64).to_vector<double>() == b.to(DType::F64).to_vector<double>();
}

}  // namespace

Shape Parameter::shape() const {
  if (int8) return {int8->out_features(), int8->in_features()};
  return blocks ? blocks->shape() : value.shape();
}

Tensor Parameter::numbers() const { return int8 ? int8->dequantised() : blocks ? dequantise(*blocks) : value; }

ParameterSet::ParameterSet(WeightSource source, NameRules rules)
    : source_(std::move(source)), rules_(std::move(rules)) {}

const Parameter* ParameterSet::find(std::string_view name) const {
  for (const Parameter& p : all_)
    if (p.name == name) return &p;
  return nullptr;
}

std::int64_t ParameterSet::count() const {
  std::int64_t sum = 0;
  for (const Parameter& p : all_) sum += p.shape().numel();
  return sum;
}

std::optional<std::string> ParameterSet::spelling_in_file(const std::string& name) const {
  if (!source_.checkpoint || starts_with_any(name, source_.left_out)) return std::nullopt;
  for (const std::string& form : forms_of(name, rules_))
    if (source_.checkpoint->contains(form)) return form;
  return std::nullopt;
}

std::optional<ParameterSet::Found> ParameterSet::find_in_file(const std::string& name) const {
  if (std::optional<std::string> found = spelling_in_file(name)) return Found{*found};
  for (const NameRules::Stacked& rule : rules_.stacked) {
    const std::optional<StackedName> match = match_stacked(rule, name);
    if (!match) continue;
    const std::optional<std::string> found = spelling_in_file(match->before + rule.other);
    if (found)
      return Found{*found, FilePart{match->index, rule.part, source_.checkpoint->info(*found).shape}, rule.parts};
  }
  return std::nullopt;
}

Tensor ParameterSet::read(const Found& found) const {
  const Tensor whole = source_.checkpoint->tensor(found.name);
  if (!found.part) return whole;
  const FilePart& p = *found.part;
  const std::int64_t stacked = p.whole.rank() == 3 ? p.whole[0] : 0;
  if (p.index >= stacked || p.whole[1] % found.parts != 0)
    return whole;  // its shape is told by the one who declares it
  const std::int64_t rows = p.whole[1] / found.parts;
  return whole.rows(p.index, p.index + 1).as_shape({p.whole[1], p.whole[2]}).rows(p.part * rows, (p.part + 1) * rows);
}

Tensor ParameterSet::fresh_value(const std::string& name, const Shape& shape, Initial initial) const {
  if (initial.kind == Initial::Kind::zeros) return Tensor::zeros(shape, source_.type);
  if (initial.kind == Initial::Kind::ones) return Tensor::full(shape, 1, source_.type);
  Tensor value = Tensor::empty(shape);
  RandomStream random(source_.initial.at(name));
  for (float& v : value.mutable_values<float>()) v = static_cast<float>(initial.deviation * random.normal());
  return value.to(source_.type);
}

void ParameterSet::take(const Found& found) {
  if (std::find(taken_.begin(), taken_.end(), found.name) == taken_.end()) taken_.push_back(found.name);
  if (!found.part || found.part->whole.rank() != 3) return;
  parts_left_.try_emplace(found.name, found.part->whole[0] * found.parts).first->second -= 1;
}

Tensor ParameterSet::declare(const std::string& name, const Shape& shape, Initial initial, Role role) {
  check(find(name) == nullptr, "the weight {} is declared twice", name);
  Tensor value;
  std::string file_name = name;
  const std::optional<Found> found = find_in_file(name);
  if (found) {
    file_name = found->name;
    take(*found);
    value = read(*found);
    if (!(value.shape() == shape)) {
      problems_.push_back(
          fmt::format("{} is {} in the file, the config asks for {}", found->name, value.shape(), shape));
      value = Tensor::zeros(shape, source_.type);
    } else {
      // A trainable weight is written to, so it cannot stay a view of the mapped file.
      bool copy = value.dtype() == source_.type && source_.trainable;
      if (role != Role::stored) {
        const bool other = copy || value.dtype() != source_.type;
        value = copy ? value.clone() : value.to(source_.type);
        if (other) source_.checkpoint->drop_pages(found->name);
      }
    }
  } else {
    if (source_.checkpoint && !starts_with_any(name, rules_.may_be_new)) problems_.push_back(name + " is missing");
    if (source_.checkpoint) fresh_.push_back(name);
    value = fresh_value(name, shape, initial);
  }
  bool trained = source_.trainable && role == Role::weight;
  if (trained) value = require_gradient(value);
  all_.push_back({name, file_name, value, trained, {}, {}, found ? found->part : std::nullopt});
  return value;
}

std::optional<QuantisedTensor> ParameterSet::declare_blocks(const std::string& name, const Shape& shape) {
  if (source_.type != DType::F32) return std::nullopt;
  const std::optional<std::string> found = spelling_in_file(name);
  if (!found) return std::nullopt;
  std::optional<QuantisedTensor> blocks = source_.checkpoint->quantised(*found);
  if (!blocks || !(blocks->shape() == shape)) return std::nullopt;  // declare() tells of a wrong shape
  check(!source_.trainable,
        "{}: {} is kept in {}, and blocks of small whole numbers cannot be trained: make a trainable copy first, with "
        "attune convert and --type f32",
        source_.checkpoint->source(), *found, name_of(blocks->format()));
  check(find(name) == nullptr, "the weight {} is declared twice", name);
  taken_.push_back(*found);
  all_.push_back({name, *found, Tensor(), false, blocks, {}, {}});
  return blocks;
}

bool ParameterSet::keeps_int8(const std::string& name) const {
  const std::optional<std::string> found = spelling_in_file(name);
  return source_.type == DType::F32 && found && source_.checkpoint->int8(*found).has_value();
}

Int8Weight ParameterSet::declare_int8(const std::string& name, const Shape& shape, Initial initial, bool in_by_out) {
  check(!source_.trainable && source_.type == DType::F32,
        "{} cannot be in int8: that is for running a model in f32, not for training it or for f64; attune convert with "
        "--type f32 makes a copy that can be trained",
        name);
  const std::optional<std::string> found = spelling_in_file(name);
  if (const auto coded = found ? source_.checkpoint->int8(*found) : std::nullopt;
      coded && coded->codes.shape() == shape && !in_by_out) {  // declare() tells of a wrong shape
    check(find(name) == nullptr, "the weight {} is declared twice", name);
    taken_.push_back(*found);
    const Int8Weight weight(coded->codes, coded->scales);
    source_.checkpoint->drop_pages(*found);
    all_.push_back({name, *found, Tensor(), false, {}, weight, {}});
    return weight;
  }
  // As the file has it, without a copy in f32: it is looked at once.
  Tensor value = declare(name, shape, initial, Role::stored);
  const Int8Weight weight = within(name, [&] { return Int8Weight(value, in_by_out); });
  const Parameter& parameter = all_.back();
  if (source_.checkpoint && source_.checkpoint->contains(parameter.file_name))
    source_.checkpoint->drop_pages(parameter.file_name);
  rounded_.push_back({name, weight.error(), in_by_out});
  return weight;
}

void ParameterSet::declare_tied(const std::string& name, const std::function<Tensor()>& twin) {
  tied_.push_back(name);
  std::optional<std::string> found = spelling_in_file(name);
  if (!found) return;
  taken_.push_back(*found);
  if (!same_values(source_.checkpoint->tensor(*found), twin()))
    problems_.push_back(*found + " differs from the weight that the config ties it to");
}

void ParameterSet::finish() {
  if (!source_.checkpoint) return;
  for (const std::string& name : source_.checkpoint->names()) {
    if (std::find(taken_.begin(), taken_.end(), name) != taken_.end()) continue;
    if (ends_with_any(name, rules_.unused) || starts_with_any(name, source_.left_out))
      unused_.push_back(name);
    else
      problems_.push_back(name + " is not a weight of this model");
  }
  for (const auto& [name, left] : parts_left_)
    if (left != 0) problems_.push_back(name + " holds more matrices than the config asks for");
  if (problems_.empty()) return;
  std::string list;
  for (const std::string& problem : problems_) list += (list.empty() ? " " : "; ") + problem;
  fail("{}: {} of its tensors do not fit the model that the config describes:{}", source_.checkpoint->source(),
       problems_.size(), list);
}

}  // namespace attune
