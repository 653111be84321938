#include "attune/train/trainer.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>

#include "attune/autograd/tape.h"
#include "attune/base/error.h"
#include "attune/base/log.h"
#include "attune/train/run_directory.h"
#include "attune/train/step_plan.h"
#include "attune/train/tensorboard.h"
#include "attune/train/weights_average.h"

namespace attune {

namespace {

bool lower_is_better(const std::string& metric) { return metric.ends_with("loss") || metric.ends_with("perplexity"); }

std::vector<NamedTensor> weights_of(const ParameterSet& parameters) {
  std::vector<NamedTensor> all;
  for (const Parameter& p : parameters.all()) all.push_back({p.name, p.value.detached()});
  return all;
}

void restore_weights(const ParameterSet& parameters, const Checkpoint& from) {
  for (const Parameter& p : parameters.all()) {
    Tensor saved = from.tensor(p.name);
    check(saved.shape() == p.value.shape() && saved.dtype() == p.value.dtype(), "{} is {} in the checkpoint, not {}",
          p.name, saved.shape(), p.value.shape());
    copy_into(saved, p.value.detached());
    p.value.mark_changed();
  }
}

std::vector<std::int64_t> lengths_of(const TrainingSet& data) {
  std::vector<std::int64_t> lengths;
  for (std::int64_t i = 0; i < data.count(); ++i) lengths.push_back(data.tokens(i));
  return lengths;
}

class Trainer {
 public:
  Trainer(const TrainingJob& job, const Run& run)
      : job_(job),
        run_(run),
        plan_(lengths_of(job.data), job.options, run),
        directory_(job.directory),
        optimizer_(job.model.parameters(), job.options.adamw),
        average_(job.model.parameters(), job.options.ema_decay) {
    schedule_ = {job.options.schedule, job.options.learning_rate,
                 job.options.warmup_steps.value_or(plan_.total_steps() / 16), plan_.total_steps()};
    state_.fingerprint = job.fingerprint;
  }

  TrainingResult run() {
    make_directories(job_.directory);
    if (job_.resume && finished_before()) return result_;
    begin();
    job_.model.checkpoint_blocks(job_.options.gradient_checkpointing);
    while (state_.step < plan_.total_steps() && !state_.stopped_early) {
      if (run_.cancelled()) stop();
      StepPlan::Step step = plan_.step(state_.step + 1);
      take_step(step);
      bool last = state_.step == plan_.total_steps();
      bool evaluation =
          last || (job_.options.evaluate_every > 0 ? state_.step % job_.options.evaluate_every == 0 : step.ends_epoch);
      if (evaluation) {
        evaluate();
        write_tensorboard(job_.directory / "tensorboard", result_);  // as it stands: to be watched
      }
      if (job_.options.checkpoint_every > 0 ? state_.step % job_.options.checkpoint_every == 0 : evaluation && !last)
        save();
    }
    finish();
    return result_;
  }

 private:
  bool finished_before() {
    std::optional<RunState> before = directory_.read_finished();
    if (!before) return false;
    check_fingerprint(*before);
    state_ = *before;
    directory_.rewind_metrics(state_.step, result_);
    result_.was_finished = true;
    fill_result();
    return true;
  }

  void check_fingerprint(const RunState& before) const {
    check(before.fingerprint == job_.fingerprint,
          "resuming {}: the configuration or the data changed since the run began: start anew in another directory, or "
          "bring them back",
          job_.directory.string());
  }

  void begin() {
    std::optional<Path> checkpoint = job_.resume ? directory_.newest_checkpoint() : std::nullopt;
    if (checkpoint) {
      within("resuming from " + checkpoint->string(), [&] {
        RunState before = RunDirectory::read_state(*checkpoint);
        check_fingerprint(before);
        restore_weights(job_.model.parameters(), Checkpoint::open(*checkpoint / "weights.safetensors"));
        Checkpoint moments = Checkpoint::open(*checkpoint / "optimizer.safetensors");
        optimizer_.restore(moments, before.step);
        average_.restore(moments);
        state_ = before;
      });
    } else {
      std::filesystem::remove_all(job_.directory / "checkpoints");
      std::filesystem::remove_all(directory_.model());
    }
    if (schedule_.warmup_steps >= schedule_.total_steps)
      log_warning(fmt::format(
          "train.warmup_steps is {} and the run has {} steps: the learning rate never reaches its height of {}",
          schedule_.warmup_steps, schedule_.total_steps, schedule_.learning_rate));
    std::filesystem::remove(job_.directory / "finished.json");
    directory_.rewind_metrics(state_.step, result_);
  }

  void take_step(const StepPlan::Step& plan) {
    auto began = std::chrono::steady_clock::now();
    std::int64_t step = state_.step + 1;
    RandomKey key{.seed = job_.options.seed, .step = static_cast<std::uint64_t>(step)};
    CrossEntropyOptions loss_options{.label_smoothing = job_.options.label_smoothing};
    if (!job_.options.class_weights.empty()) {
      std::vector<float> weights(job_.options.class_weights.begin(), job_.options.class_weights.end());
      loss_options.class_weights = Tensor::from<float>({static_cast<std::int64_t>(weights.size())}, weights);
    }
    std::vector<LabelledBatch> batches;
    double denominator = 0;
    StepRecord record;
    record.step = step;
    for (const auto& numbers : plan.micro_batches) {
      std::vector<Example> examples;
      for (std::int64_t i : numbers) {
        examples.push_back(job_.data.example(i, key.at("example")));
        record.tokens += examples.back().tokens();
      }
      batches.push_back(collate(job_.model, examples, numbers));
      denominator += cross_entropy_denominator(batches.back().labels, loss_options);
    }
    loss_options.denominator = denominator;
    if (denominator > 0) {
      for (LabelledBatch& batch : batches) {
        batch.batch.dropout = key;
        if (batch.decoder) batch.decoder->dropout = key;
        if (batch.labelled == 0) continue;
        Tensor loss = loss_of(job_.model, batch, loss_options);
        record.loss += loss.item();
        if (std::isfinite(record.loss)) backward(loss);
      }
    }
    record.gradient_norm = optimizer_.gradient_norm();
    if (!std::isfinite(record.loss) || !std::isfinite(record.gradient_norm)) diverged(record, plan);
    double clip = job_.options.clip_norm / (record.gradient_norm + 1e-6);  // as torch.nn.utils.clip_grad_norm_
    record.learning_rate = schedule_.rate(step);
    optimizer_.step(record.learning_rate, job_.options.clip_norm > 0 ? std::min(1.0, clip) : 1.0);
    average_.update();
    state_.step = step;
    double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    record.tokens_per_second = static_cast<double>(record.tokens) / std::max(seconds, 1e-9);
    directory_.append(record);
    result_.history.push_back(record);
    run_.report({.doing = "training",
                 .done = step,
                 .total = plan_.total_steps(),
                 .unit = "steps",
                 .detail = fmt::format("epoch {}, loss {:.4f}, {:.0f} tokens/s", plan.epoch + 1, record.loss,
                                       record.tokens_per_second)});
  }

  [[noreturn]] void diverged(const StepRecord& record, const StepPlan::Step& plan) {
    std::string names;
    std::size_t left_out = 0;
    for (const auto& batch : plan.micro_batches)
      for (std::int64_t i : batch) {
        if (names.size() > 400)
          ++left_out;
        else
          names +=
              (names.empty() ? "" : ", ") + (job_.name_of_example ? job_.name_of_example(i) : std::to_string(i + 1));
      }
    if (left_out > 0) names += fmt::format(" and {} more", left_out);
    std::optional<Path> checkpoint = directory_.newest_checkpoint();
    fail(
        "training step {}: the loss is {} and the gradient norm {}: not finite. Examples of the batch: {}. {} Lower "
        "the learning rate, "
        "lengthen the warm-up, or look at those examples",
        record.step, record.loss, record.gradient_norm, names,
        checkpoint ? "The last good checkpoint is " + checkpoint->string() + "." : "No checkpoint was saved yet.");
  }

  void evaluate() {
    bool improved = true;
    if (job_.evaluate) {
      auto averaged = average_.swapped_in();
      EvaluationRecord record{.step = state_.step, .metrics = evaluated()};
      directory_.append(record);
      improved = note(record.metrics);
      result_.evaluations.push_back(std::move(record));
    }
    if (!improved) return;
    state_.best_step = state_.step;
    auto averaged = average_.swapped_in();
    write_directory_atomically(directory_.model(), job_.save_model);
  }

  /// Half an evaluation is none: a run that is stopped in one goes on from the checkpoint before it, to the same bits.
  Metrics evaluated() {
    try {
      return job_.evaluate(job_.model, run_);
    } catch (const Cancelled&) {
      std::optional<Path> checkpoint = directory_.newest_checkpoint();
      throw Cancelled(fmt::format(
          "training stopped during the evaluation after step {}: go on {} with --resume --output {}", state_.step,
          checkpoint ? "from " + checkpoint->filename().string() : "from the beginning", job_.directory.string()));
    }
  }

  /// Whether these are the best so far; counts towards early stopping where they are not.
  bool note(const Metrics& metrics) {
    const std::string& wanted = job_.options.early_stopping.metric;
    for (const auto& [name, value] : metrics) {
      if (name != wanted) continue;
      bool better = !state_.best || (lower_is_better(wanted) ? value < *state_.best : value > *state_.best);
      if (better) {
        state_.best = value;
        state_.without_improvement = 0;
      } else {
        state_.without_improvement += 1;
        std::int64_t patience = job_.options.early_stopping.patience;
        state_.stopped_early = patience > 0 && state_.without_improvement >= patience;
      }
      return better;
    }
    std::string known;
    for (const auto& [name, value] : metrics) known += (known.empty() ? "" : ", ") + name;
    fail("early_stopping.metric is \"{}\": this task's evaluation gives {}", wanted, known);
  }

  void save() {
    std::vector<NamedTensor> moments = optimizer_.state();
    for (NamedTensor& tensor : average_.state()) moments.push_back(std::move(tensor));
    directory_.save(state_, weights_of(job_.model.parameters()), moments);
  }

  [[noreturn]] void stop() {
    if (state_.step > 0) save();
    throw Cancelled(
        fmt::format("training stopped after step {} of {} and was saved: go on with attune train --resume --output {}",
                    state_.step, plan_.total_steps(), job_.directory.string()));
  }

  void finish() {
    state_.finished = true;
    directory_.write_finished(state_);
    if (state_.best_step != state_.step || job_.options.ema_decay > 0)
      restore_weights(job_.model.parameters(), Checkpoint::open(directory_.model() / "model.safetensors"));
    fill_result();
  }

  void fill_result() {
    result_.steps = state_.step;
    result_.best_step = state_.best_step;
    result_.stopped_early = state_.stopped_early;
  }

  const TrainingJob& job_;
  const Run& run_;
  StepPlan plan_;
  RunDirectory directory_;
  AdamW optimizer_;
  WeightsAverage average_;
  Schedule schedule_;
  RunState state_;
  TrainingResult result_;
};

}  // namespace

TrainingResult train(const TrainingJob& job, const Run& run) { return Trainer(job, run).run(); }

}  // namespace attune
