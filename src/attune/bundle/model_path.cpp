#include "attune/bundle/model_path.h"

#include "attune/base/error.h"

namespace attune {

namespace {

bool holds_model(const Path& directory) { return std::filesystem::is_regular_file(directory / "config.json"); }

}  // namespace

void check_model_directory(const Path& path) {
  if (holds_model(path)) return;
  const std::string name = path.string();
  if (!std::filesystem::is_directory(path)) {
    check(std::filesystem::exists(path),
          "{}: there is no such model directory: check the path (`attune train` writes a model as RUN/model)", name);
    const Path around = path.has_parent_path() ? path.parent_path() : Path(".");
    check(!holds_model(around), "{} is a file of a model: give the model's directory, {}", name, around.string());
    fail("{} is a file: a model is a directory with config.json, or a .gguf file", name);
  }
  const Path within = path / "model";
  check(!holds_model(within), "{} is no model directory, but holds one: give {}", name, within.string());
  check(!std::filesystem::exists(path / "metrics.jsonl") && !std::filesystem::exists(path / "checkpoints"),
        "{} is a training run that has no model yet: go on with it (attune train --resume --output {})", name, name);
  const Path own = std::filesystem::absolute(path).lexically_normal();
  const Path around = (own.has_filename() ? own : own.parent_path()).parent_path();
  check(!holds_model(around), "{} is a part of a model: give the model's directory, {}", name, around.string());
  fail("{} is no model directory: it has no config.json", name);
}

}  // namespace attune
