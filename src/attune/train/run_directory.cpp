#include "attune/train/run_directory.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include "attune/base/json_values.h"

#include "attune/base/config_reader.h"
#include "attune/base/error.h"

namespace attune {

namespace {

std::string checkpoint_name(std::int64_t step) { return fmt::format("step-{:08}", step); }

std::vector<Path> checkpoints_in(const Path& directory) {
  std::vector<Path> found;
  std::error_code none;
  for (const auto& entry : std::filesystem::directory_iterator(directory, none)) {
    std::string name = entry.path().filename().string();
    if (name.size() == 13 && name.starts_with("step-") && std::filesystem::exists(entry.path() / "state.json"))
      found.push_back(entry.path());
  }
  std::sort(found.begin(), found.end());
  return found;
}

Json to_json(const RunState& s) {
  Json json = {{"step", s.step},           {"fingerprint", s.fingerprint},
               {"best_step", s.best_step}, {"without_improvement", s.without_improvement},
               {"finished", s.finished},   {"stopped_early", s.stopped_early}};
  // A double survives JSON bit for bit: nlohmann prints the shortest text that reads back as the same number.
  if (s.best) json["best"] = *s.best;
  return json;
}

RunState state_from(const Path& file) {
  ConfigReader c = ConfigReader::file(file);
  RunState s;
  s.step = c.integer("step", {.at_least = 0});
  s.fingerprint = c.string("fingerprint");
  s.best_step = c.integer("best_step");
  s.without_improvement = c.integer("without_improvement");
  s.finished = c.flag("finished");
  s.stopped_early = c.flag("stopped_early");
  if (c.has("best")) s.best = c.number("best");
  c.finish();
  return s;
}

}  // namespace

std::optional<Path> RunDirectory::newest_checkpoint() const {
  std::vector<Path> all = checkpoints_in(path_ / "checkpoints");
  if (all.empty()) return std::nullopt;
  return all.back();
}

RunState RunDirectory::read_state(const Path& checkpoint) { return state_from(checkpoint / "state.json"); }

void RunDirectory::save(const RunState& state, const std::vector<NamedTensor>& weights,
                        const std::vector<NamedTensor>& optimizer) const {
  Path all = path_ / "checkpoints";
  make_directories(all);
  write_directory_atomically(all / checkpoint_name(state.step), [&](const Path& directory) {
    write_safetensors(directory / "weights.safetensors", weights);
    write_safetensors(directory / "optimizer.safetensors", optimizer);
    write_file_atomically(directory / "state.json", to_text(to_json(state), 2) + "\n");
  });
  std::vector<Path> kept = checkpoints_in(all);
  for (std::size_t i = 0; i + 2 < kept.size(); ++i) std::filesystem::remove_all(kept[i]);
}

void RunDirectory::write_finished(const RunState& state) const {
  write_file_atomically(path_ / "finished.json", to_text(to_json(state), 2) + "\n");
}

std::optional<RunState> RunDirectory::read_finished() const {
  if (!std::filesystem::exists(path_ / "finished.json")) return std::nullopt;
  return state_from(path_ / "finished.json");
}

void RunDirectory::append_line(const std::string& line) {
  Path file = path_ / "metrics.jsonl";
  std::FILE* out = std::fopen(file.c_str(), "a");
  check(out != nullptr, "writing {}: cannot open it: check the directory's permissions", file.string());
  bool written = std::fwrite((line + "\n").data(), 1, line.size() + 1, out) == line.size() + 1;
  check((std::fclose(out) == 0) && written, "writing {}: the disk refused: is it full?", file.string());
}

void RunDirectory::append(const StepRecord& r) {
  append_line(to_text({{"step", r.step},
                       {"loss", r.loss},
                       {"learning_rate", r.learning_rate},
                       {"grad_norm", r.gradient_norm},
                       {"tokens", r.tokens},
                       {"tokens_per_second", r.tokens_per_second}}));
}

void RunDirectory::append(const EvaluationRecord& r) {
  Json line = {{"step", r.step}};
  for (const auto& [name, value] : r.metrics) line["evaluation." + name] = value;
  append_line(to_text(line));
}

void RunDirectory::rewind_metrics(std::int64_t step, TrainingResult& result) const {
  Path file = path_ / "metrics.jsonl";
  std::string kept;
  if (step > 0 && std::filesystem::exists(file)) {
    for_each_line(file, [&](std::int64_t, std::string_view text) {
      Json line = Json::parse(text, nullptr, false);  // a killed run may leave half a line at the end
      if (line.is_discarded() || !line.contains("step") || line["step"].get<std::int64_t>() > step) return;
      kept += std::string(text) + "\n";
      if (line.contains("loss")) {
        result.history.push_back({line["step"], line["tokens"], line["loss"], line["learning_rate"], line["grad_norm"],
                                  line["tokens_per_second"]});
      } else {
        EvaluationRecord record{.step = line["step"], .metrics = {}};
        for (const auto& [key, value] : line.items())
          if (key.starts_with("evaluation.")) record.metrics.emplace_back(key.substr(11), value);
        result.evaluations.push_back(std::move(record));
      }
    });
  }
  write_file_atomically(file, kept);
}

}  // namespace attune
