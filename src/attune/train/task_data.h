#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "attune/base/run.h"
#include "attune/bundle/bundle.h"
#include "attune/data/documents.h"
#include "attune/train/answer_data.h"
#include "attune/train/run_config.h"
#include "attune/train/tag_data.h"
#include "attune/train/training_sets.h"

namespace attune {

/// A run's files as read, before there is a tokenizer or a model.
struct RunFiles {
  Documents train, validation;                                // texts
  std::vector<Example> train_examples, validation_examples;   // or lines of ids, which need no tokenizer
  std::vector<Entities> train_entities, validation_entities;  // tag: a document's each
  std::vector<Answers> train_answers, validation_answers;     // answer: to a document's question each
  std::vector<std::string> labels;  // of the training documents: of classify sorted, of tag in IOB2
  std::vector<DataSource> lineage;
  bool in_ids = false;
};

/// Throws Error: a file that is missing or holds nothing, a record without text, target, label, entities, question or
/// answers, marks that do not fit their text, a label that training never saw, one class only, fewer documents than
/// classes.
RunFiles read_run_files(const RunConfig& config);

/// All texts of the training part, targets and questions included: what a new tokenizer learns from.
std::vector<std::string_view> training_texts(const RunFiles& files, const RunConfig& config);

/// What the model learns from and is measured on.
struct TaskData {
  std::unique_ptr<TrainingSet> train;
  std::unique_ptr<TrainingSet> validation;  // null without a validation file
  std::vector<double> class_weights = {};   // classify: one a class, or none where all count alike
  /// For each training example the document (of RunFiles::train) that it comes from, or begins in; empty for lines of
  /// ids.
  std::vector<std::int64_t> origins = {};
  /// Of texts, what the task itself does with the validation part as the model is now, beside the loss: tag's f1,
  /// precision, recall; answer's exact and f1. Refers to the files and the bundle.
  std::function<Metrics(const Run&)> figures = {};
};
TaskData make_task_data(const RunFiles& files, const RunConfig& config, const Bundle& bundle, const Run& run);

/// On the validation part: loss and perplexity; for classifiers loss, accuracy and macro_f1; loss and data.figures
/// where there are such.
Metrics measure(const Model& model, const TaskData& data, const Run& run);

}  // namespace attune
