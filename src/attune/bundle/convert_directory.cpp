#include <algorithm>
#include <cctype>
#include <map>

#include "attune/base/error.h"
#include "attune/base/json_values.h"
#include "attune/bundle/bundle.h"
#include "attune/bundle/convert.h"
#include "attune/bundle/stored_part.h"
#include "attune/checkpoint/weight_writer.h"
#include "attune/models/quantization.h"
#include "attune/ops/int8.h"
#include "attune/tensor/dtype.h"

namespace attune {

namespace {

/// Other forms of the weights, which tell nothing that the new ones do not.
bool holds_weights(const Path& file) {
  static const std::vector<std::string> endings = {".safetensors", ".bin", ".h5",  ".msgpack", ".ot",
                                                   ".onnx",        ".pt",  ".pth", ".gguf"};
  const std::string name = file.filename().string();
  if (name == "attune.safetensors") return false;  // the contract's
  return name.ends_with(".index.json") || std::ranges::find(endings, file.extension().string()) != endings.end();
}

/// "1_Pooling": sentence-transformers' modules are directories that begin with a number; and chat templates have one.
bool is_kept(const Path& directory) {
  const std::string name = directory.filename().string();
  if (name == "additional_chat_templates") return true;
  return !name.empty() && std::isdigit(static_cast<unsigned char>(name[0])) != 0;
}

void copy_other_files(const Path& source, const Path& target) {
  for (const auto& entry : std::filesystem::directory_iterator(source)) {
    const Path to = target / entry.path().filename();
    if (entry.is_directory() && is_kept(entry.path()))
      std::filesystem::copy(entry.path(), to, std::filesystem::copy_options::recursive);
    if (entry.is_regular_file() && !holds_weights(entry.path()) && entry.path().filename() != "config.json")
      std::filesystem::copy_file(entry.path(), to);
  }
}

/// A weight that becomes int8, in the file's tensor.
struct Rounded {
  std::string name;
  Shape shape;
  std::optional<FilePart> part;
};

RoundingReport rounding_of(const std::vector<RoundedWeight>& rounded) {
  RoundingReport report;
  for (const RoundedWeight& one : rounded) {
    report.mean += one.error / static_cast<double>(rounded.size());
    if (one.error > report.worst) report.worst = one.error, report.worst_name = one.name;
  }
  return report;
}

}  // namespace

ConvertReport convert_directory(const Path& source, const Path& target, std::optional<DType> type, const Run& run) {
  check(!std::filesystem::exists(target), "{} is there already: choose a new directory", target.string());
  ConvertReport report;
  Bundle bundle = load_bundle(source, {.linears = type ? LinearFormat::as_stored : LinearFormat::int8});
  const ParameterSet& parameters = bundle.model->parameters();
  const std::shared_ptr<const Checkpoint> checkpoint = parameters.source().checkpoint;
  std::map<std::string, std::vector<Rounded>> to_int8;  // by the file's names
  if (!type) {
    check(!parameters.rounded().empty(), "{} has no weight that int8 would make smaller: it is in int8 already",
          source.string());
    for (const RoundedWeight& one : parameters.rounded()) {
      check(!one.in_by_out,
            "{} keeps {} as [in, out], which int8 files have no place for: a .gguf file with --type q8_0 is as small",
            source.string(), one.name);
      const Parameter& p = *parameters.find(one.name);
      // Of several in one tensor each is written under its own name.
      to_int8[p.file_name].push_back({p.part ? p.name : p.file_name, p.shape(), p.part});
    }
    report.rounding = rounding_of(parameters.rounded());
  }
  Json config = *bundle.config;
  std::vector<std::string> ignored;  // linear layers that stay as they are, as transformers names them
  constexpr std::string_view ending = ".weight";
  const auto ignore = [&](const std::string& name) {
    if (name.ends_with(ending)) ignored.push_back(name.substr(0, name.size() - ending.size()));
  };
  for (const std::string& name : parameters.tied()) ignore(name);
  bundle.model.reset();

  std::vector<TensorToWrite> tensors;
  const auto check_running = [&run] {
    if (run.cancelled()) throw Cancelled("converting was stopped: nothing was written");
  };
  const auto add = [&](const std::string& name, DType as, const Shape& shape, std::function<Tensor()> values) {
    tensors.push_back({name, as, shape, [check_running, values = std::move(values)] {
                         check_running();
                         return values();
                       }});
  };
  for (const std::string& name : checkpoint->names()) {
    check_running();
    if (const auto coded = type ? std::nullopt : checkpoint->int8(name)) {
      add(name, coded->codes.dtype(), coded->codes.shape(), [coded] { return coded->codes; });
      add(name + "_scale", coded->scales.dtype(), coded->scales.shape(), [coded] { return coded->scales; });
    } else if (const auto found = to_int8.find(name); found != to_int8.end()) {
      for (const Rounded& one : found->second) {
        const auto weight = [checkpoint, name, one] {
          const Int8Weight made(stored_part(checkpoint->tensor(name), one.part, one.shape));
          checkpoint->drop_pages(name);
          return made;
        };
        add(one.name, DType::I8, one.shape, [weight] { return weight().codes(); });
        add(one.name + "_scale", DType::F32, {one.shape[0], 1}, [weight] { return weight().scales(); });
      }
    } else {
      const TensorInfo& info = checkpoint->info(name);
      if (!type && info.shape.rank() == 2) ignore(name);
      const DType as = type && is_float(info.type) ? *type : info.type;
      add(name, as, info.shape, [checkpoint, name, as] {
        const Tensor values = checkpoint->tensor(name).to(as).contiguous();
        if (as != checkpoint->info(name).type) checkpoint->drop_pages(name);
        return values;
      });
    }
  }
  report.tensors = static_cast<std::int64_t>(tensors.size());
  config.erase("quantization_config");
  if (type)
    config["dtype"] = *type == DType::F32 ? "float32" : *type == DType::F16 ? "float16" : "bfloat16";
  else
    config["quantization_config"] = int8_quantization(ignored);
  write_directory_atomically(target, [&](const Path& to) {
    copy_other_files(source, to);
    write_file_atomically(to / "config.json", to_text(config, 2) + "\n");
    write_tensors_sharded(to, tensors);
  });
  return report;
}

}  // namespace attune
