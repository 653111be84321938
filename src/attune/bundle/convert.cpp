#include "attune/bundle/convert.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include "attune/base/json_values.h"

#include "attune/base/error.h"
#include "attune/bundle/bundle.h"
#include "attune/bundle/gguf_config.h"
#include "attune/bundle/gguf_tokenizer.h"
#include "attune/bundle/stored_part.h"
#include "attune/checkpoint/gguf_change.h"
#include "attune/checkpoint/gguf_weights.h"
#include "attune/checkpoint/weight_writer.h"
#include "attune/ops/quantised.h"

namespace attune {

namespace {

struct WrittenFormat {
  const char* name;
  GgufFormat format;
  std::uint32_t file_type;  // "general.file_type"
};
constexpr std::array<WrittenFormat, 9> written = {{{"f32", DType::F32, 0},
                                                   {"f16", DType::F16, 1},
                                                   {"bf16", DType::BF16, 32},
                                                   {"q8_0", QuantisedFormat::Q8_0, 7},
                                                   {"q4_0", QuantisedFormat::Q4_0, 2},
                                                   {"q4_1", QuantisedFormat::Q4_1, 3},
                                                   {"q4_k", QuantisedFormat::Q4_K, 14},
                                                   {"q5_k", QuantisedFormat::Q5_K, 16},
                                                   {"q6_k", QuantisedFormat::Q6_K, 18}}};

/// A published tensor on its way into a tensor of the file, of which it may be one of many.
struct Source {
  std::string file_name;  // in the model's own files
  GgufChange change = GgufChange::none;
  std::int64_t index = 0;
  Shape shape = {};
  std::optional<FilePart> part = {};  // of the tensor file_name

  /// As the model's own files have it.
  Tensor values(const Checkpoint& checkpoint) const { return stored_part(checkpoint.tensor(file_name), part, shape); }
};

struct Target {
  std::vector<Source> sources;  // ordered by index
  Shape shape;
  bool stacked = false;
};

bool begins_with_any(const std::string& name, const std::vector<std::string>& beginnings) {
  return std::ranges::any_of(beginnings, [&](const std::string& b) { return name.starts_with(b); });
}

/// Which of the model's weights make each tensor of the file.
std::map<std::string, Target> targets_of(const Model& model, const GgufArchitecture& architecture,
                                         ConvertReport& report) {
  std::map<std::string, Target> targets;
  for (const Parameter& p : model.parameters().all()) {
    const GgufNameRule* rule = nullptr;
    std::optional<GgufNameMatch> match;
    for (const GgufNameRule& one : architecture.names) {
      for (const std::string& name : {p.name, architecture.prefix + p.name})
        if (!match && (match = match_name(one.published, name))) rule = &one;
      if (match) break;
    }
    if (!match) {
      check(begins_with_any(p.name, architecture.left_out), "the weight {} has no place in a GGUF file of {}", p.name,
            architecture.name);
      report.left_out.push_back(p.name);
      continue;
    }
    Target& target = targets[name_with(rule->file, *match)];
    target.stacked = rule->published.find("[]") != std::string::npos;
    target.sources.push_back({p.file_name, rule->change, match->index.value_or(0), p.shape(), p.part});
    target.shape = p.shape();
  }
  for (auto& [name, target] : targets) {
    std::ranges::sort(target.sources, {}, &Source::index);
    const GgufChange change = target.sources[0].change;
    // transposed and one_row undo themselves.
    std::vector<std::int64_t> sizes(target.shape.sizes().begin(), target.shape.sizes().end());
    if (change == GgufChange::transposed) std::ranges::reverse(sizes);
    if (change == GgufChange::one_row) sizes.erase(sizes.begin());
    if (target.stacked) sizes.insert(sizes.begin(), static_cast<std::int64_t>(target.sources.size()));
    target.shape = Shape(std::span<const std::int64_t>(sizes));
    for (std::size_t i = 0; i < target.sources.size(); ++i)
      check(target.sources[i].index == static_cast<std::int64_t>(i),
            "{} would be made of {} weights, and number {} is missing", name, target.sources.size(), i);
  }
  return targets;
}

bool is_four_or_five_bit(const GgufFormat& format) {
  const auto* blocks = std::get_if<QuantisedFormat>(&format);
  return blocks && (*blocks == QuantisedFormat::Q4_0 || *blocks == QuantisedFormat::Q4_1 ||
                    *blocks == QuantisedFormat::Q4_K || *blocks == QuantisedFormat::Q5_K);
}

GgufFormat format_for(const std::string& name, const Shape& shape, GgufFormat wanted, bool is_output) {
  const auto ends = [&](const char* part) { return name.find(part) != std::string::npos; };
  if (shape.rank() < 2 || ends("norm") || ends("ffn_gate_inp") || ends("position_embd") || ends("token_types") ||
      ends("attn_rel_b") || name.ends_with(".bias"))
    return DType::F32;
  if (is_output && is_four_or_five_bit(wanted)) wanted = QuantisedFormat::Q6_K;
  const auto* blocks = std::get_if<QuantisedFormat>(&wanted);
  if (!blocks || shape[-1] % block_of(*blocks).values == 0) return wanted;
  if (shape[-1] % block_of(QuantisedFormat::Q8_0).values == 0) return QuantisedFormat::Q8_0;
  return DType::F16;
}

GgufValues in_format(const Tensor& values, const GgufFormat& format) {
  if (const auto* type = std::get_if<DType>(&format)) return values.to(*type);
  return quantise(values.to(DType::F32).contiguous(), std::get<QuantisedFormat>(format));
}

/// The tensor's values as the file has them, before they are brought into its type.
GgufValues values_of(const Checkpoint& checkpoint, const Target& target, const GgufFormat& format, GgufHeads heads) {
  if (!target.stacked)
    return in_format(file_values(target.sources[0].values(checkpoint), target.sources[0].change, heads), format);
  std::optional<Tensor> plain;
  std::optional<QuantisedTensor> blocks;
  for (std::size_t i = 0; i < target.sources.size(); ++i) {
    const Source& source = target.sources[i];
    const GgufValues part = in_format(file_values(source.values(checkpoint), source.change, heads), format);
    const auto at = static_cast<std::int64_t>(i);
    if (const auto* tensor = std::get_if<Tensor>(&part)) {
      if (!plain) plain = Tensor::empty(target.shape, tensor->dtype());
      copy_into(tensor->contiguous().as_shape(plain->rows(at, at + 1).shape()), plain->rows(at, at + 1));
    } else {
      const auto& piece = std::get<QuantisedTensor>(part);
      if (!blocks) blocks = QuantisedTensor::empty(target.shape, piece.format());
      std::ranges::copy(piece.bytes(), blocks->rows(at, at + 1).mutable_bytes().begin());
    }
    checkpoint.drop_pages(source.file_name);
  }
  return plain ? GgufValues(*plain) : GgufValues(*blocks);
}

std::string name_of_model(const Path& path) {
  const Path whole = std::filesystem::absolute(path).lexically_normal();
  const std::string name = (whole.has_filename() ? whole : whole.parent_path()).filename().string();
  return name.empty() ? "model" : name;
}

}  // namespace

GgufFormat written_format(const std::string& name) {
  std::string known;
  for (const WrittenFormat& one : written) {
    if (one.name == name) return one.format;
    known += (known.empty() ? "" : ", ") + std::string(one.name);
  }
  fail("the type \"{}\" is not written: expected one of {}", name, known);
}

ConvertReport convert_to_gguf(const Path& directory, const Path& file, const GgufFormat& format, const Run& run) {
  ConvertReport report;
  const auto form = std::ranges::find(written, format, &WrittenFormat::format);
  check(form != written.end(), "weights are not written in this type: choose another");
  check(!std::filesystem::exists(file), "{} is there already: choose another name, or remove it", file.string());
  // The model is built once: so everything in its files is known to fit before anything is written.
  Bundle bundle = load_bundle(directory);
  check(!bundle.config->contains("quantization_config"),
        "{} is in int8, which a GGUF file does not hold: make numbers of it first, with attune convert and --type f32",
        directory.string());
  const GgufArchitecture& architecture = gguf_architecture_for(bundle.model->facts().model_type);
  const std::string doing = "converting " + directory.string();
  GgufConfigTarget config =
      within(doing, [&] { return gguf_config_target(*bundle.config, *bundle.defaults, architecture); });
  GgufMetadata metadata;
  metadata.set("general.architecture", GgufValue::text(architecture.name));
  metadata.set("general.type", GgufValue::text("model"));
  metadata.set("general.name", GgufValue::text(name_of_model(directory)));
  metadata.set("general.file_type", GgufValue::u32(form->file_type));
  if (std::holds_alternative<QuantisedFormat>(format)) metadata.set("general.quantization_version", GgufValue::u32(2));
  for (const auto& [key, value] : config.metadata.entries()) metadata.set(key, value);
  if (bundle.tokenizer) {
    within(doing, [&] {
      add_gguf_tokenizer(metadata, *bundle.tokenizer,
                         {&*bundle.config, bundle.model->facts().vocab_size, architecture.name});
    });
    set_gguf_chat_texts(metadata, bundle.chat);
  }
  report.left_out = bundle.model->parameters().unused();
  if (std::filesystem::exists(directory / "modules.json"))
    report.left_out.push_back("what modules.json says of pooling, normalising and prompts");
  const GgufHeads heads = heads_of(metadata);
  const std::map<std::string, Target> targets =
      within(doing, [&] { return targets_of(*bundle.model, architecture, report); });
  const char* tied = "tie_word_embeddings";
  check(!targets.contains("output.weight") || bundle.config->value(tied, bundle.defaults->value(tied, false)) == false,
        "{}: \"{}\" is true in its config.json, or by default, and the weights have an output layer of their own: "
        "readers of "
        "a GGUF file would take it for false: say so in config.json, or remove that layer",
        doing, tied);
  if (const auto types = targets.find("token_types.weight"); types != targets.end())
    metadata.set("tokenizer.ggml.token_type_count", GgufValue::u32(static_cast<std::uint32_t>(types->second.shape[0])));
  const auto checkpoint = bundle.model->parameters().source().checkpoint;
  bundle.model.reset();  // its copies of the weights are not needed to write them

  const std::string output = targets.contains("output.weight") ? "output.weight" : "token_embd.weight";
  std::vector<GgufTensor> tensors = config.tensors;
  for (const auto& [name, target] : targets) {
    const GgufFormat own = format_for(name, target.shape, format, name == output);
    if (std::holds_alternative<QuantisedFormat>(format) && target.shape.rank() > 1 && own != format &&
        own != GgufFormat(DType::F32))
      report.other_types.push_back(fmt::format("{} ({})", name, gguf_type_of(own)->name));
    tensors.push_back({name, own, target.shape, [&, own, &target = target] {
                         if (run.cancelled()) throw Cancelled("converting was stopped: nothing was written");
                         GgufValues values = values_of(*checkpoint, target, own, heads);
                         for (const Source& source : target.sources) checkpoint->drop_pages(source.file_name);
                         return values;
                       }});
  }
  report.tensors = static_cast<std::int64_t>(tensors.size());
  write_gguf(file, metadata, tensors);
  return report;
}

ConvertReport convert_to_directory(const Path& file, const Path& directory, DType type, const Run& run) {
  check(!std::filesystem::exists(directory), "{} is there already: choose a new directory", directory.string());
  ConvertReport report;
  Bundle bundle = load_bundle(file);
  const auto checkpoint = bundle.model->parameters().source().checkpoint;
  std::vector<TensorToWrite> tensors;
  for (const Parameter& p : bundle.model->parameters().all())
    tensors.push_back(
        {p.name, type, checkpoint->info(p.file_name).shape, [&run, &checkpoint, type, name = p.file_name] {
           if (run.cancelled()) throw Cancelled("converting was stopped: nothing was written");
           const Tensor values = checkpoint->tensor(name).to(type).contiguous();
           checkpoint->drop_pages(name);
           return values;
         }});
  bundle.model.reset();  // its copies of the weights are not needed to write them
  report.tensors = static_cast<std::int64_t>(tensors.size());
  Json config = *bundle.config;
  config["dtype"] = type == DType::F32 ? "float32" : type == DType::F16 ? "float16" : "bfloat16";
  write_directory_atomically(directory, [&](const Path& to) {
    write_file_atomically(to / "config.json", to_text(config, 2) + "\n");
    write_tensors_sharded(to, tensors);
    if (!bundle.tokenizer) return;
    bundle.tokenizer->save(to / "tokenizer.json");
    write_companions(bundle.companions, to);
  });
  return report;
}

}  // namespace attune
