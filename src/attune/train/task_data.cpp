#include "attune/train/task_data.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "attune/autograd/tape.h"
#include "attune/base/error.h"
#include "attune/data/example_file.h"
#include "attune/evaluate/classification.h"
#include "attune/models/forward.h"
#include "attune/tasks/classify.h"

namespace attune {

namespace {

const std::string& target_of(const Document& document, const RunConfig& config, const std::string& source) {
  auto found = document.fields.find(config.data.target_field);
  check(found != document.fields.end(),
        "{}: line {} has no \"{}\": a translation needs a text and its target (data.target_field)", source,
        document.line, config.data.target_field);
  check(found->second.find_first_not_of(" \t\r\n\f\v") != std::string::npos,
        "{}: line {}: \"{}\" is empty: write a target, or leave the pair out", source, document.line,
        config.data.target_field);
  return found->second;
}

/// `data.train` may be one directory that `split` made: then its train.jsonl and, where no file is named, its
/// validation.jsonl.
std::pair<Path, Path> files_of(const RunConfig& config) {
  Path train = config.data.train, validation = config.data.validation;
  if (!std::filesystem::is_directory(train)) return {train, validation};
  Path beside = train / "validation.jsonl";
  if (validation.empty() && std::filesystem::exists(beside)) validation = beside;
  return {train / "train.jsonl", validation};
}

void check_labels(RunFiles& files, const Path& train, const Path& validation) {
  std::set<std::string> labels;
  for (const Document& d : files.train.items) labels.insert(*d.label);
  files.labels.assign(labels.begin(), labels.end());
  check(labels.size() >= 2, "{}: all {} documents have the label \"{}\": a classifier needs at least two",
        train.string(), files.train.items.size(), *labels.begin());
  check(files.train.items.size() >= labels.size(), "{}: {} documents for {} labels: a label needs at least one",
        train.string(), files.train.items.size(), labels.size());
  for (const Document& d : files.validation.items)
    check(!d.label || labels.count(*d.label), "{}: line {}: the label \"{}\" does not occur in the training data",
          validation.string(), d.line, d.label.value_or(""));
}

/// What the records of tag and answer hold beside their texts.
void read_annotations(const RunConfig& config, RunFiles& files) {
  const auto each = [](const Documents& documents, auto&& read) {
    for (const Document& d : documents.items)
      within(documents.source + ", line " + std::to_string(d.line), [&] { read(d); });
  };
  const auto entities = [&](const Documents& documents, std::vector<Entities>& to) {
    each(documents, [&](const Document& d) { to.push_back(marked_entities(d, config.data.entities_field)); });
  };
  const auto answers = [&](const Documents& documents, std::vector<Answers>& to) {
    each(documents, [&](const Document& d) {
      question_in(d, config.data.question_field);
      to.push_back(known_answers(d, config.data.answers_field));
    });
  };
  if (config.task == TrainTask::tag) {
    entities(files.train, files.train_entities);
    entities(files.validation, files.validation_entities);
    files.labels = within(files.train.source, [&] { return iob2_labels(files.train_entities); });
  } else if (config.task == TrainTask::answer) {
    answers(files.train, files.train_answers);
    answers(files.validation, files.validation_answers);
  }
}

std::int64_t class_of(const std::string& label, const Bundle& bundle) {
  const auto& labels = bundle.contract.labels;
  auto found = std::find(labels.begin(), labels.end(), label);
  check(found != labels.end(), "the label \"{}\" is none of the model's", label);
  return found - labels.begin();
}

std::int64_t special_id(const Bundle& bundle, const std::vector<const char*>& names, const std::string& what) {
  std::string tried;
  for (const char* name : names) {
    if (auto id = bundle.text().id_of(name)) return *id;
    tried += (tried.empty() ? "" : ", ") + std::string(name);
  }
  fail("the tokenizer has no {} token (one of {})", what, tried);
}

std::int64_t mask_id(const Bundle& bundle) { return special_id(bundle, {"[MASK]", "<mask>"}, "mask"); }

std::vector<std::int64_t> special_ids(const Bundle& bundle) {
  std::vector<std::int64_t> ids;
  for (const AddedToken& token : bundle.text().added_tokens())
    if (token.special) ids.push_back(token.id);
  return ids;
}

using Encoded = std::vector<std::vector<std::int64_t>>;

std::vector<EncodedText> encode(const std::vector<Document>& documents, const TextEncoder& encoder) {
  std::vector<std::string_view> texts;
  for (const Document& d : documents) texts.push_back(d.text);
  return encoder.encode_all(texts);
}

/// Examples and, for each, the document that it comes from.
struct Made {
  std::unique_ptr<TrainingSet> examples;
  std::vector<std::int64_t> origins;

  Made() = default;
  Made(std::unique_ptr<TrainingSet> set, std::vector<std::int64_t> documents)
      : examples(std::move(set)), origins(std::move(documents)) {}
  Made(NumberedExamples made)  // NOLINT: implicit on purpose
      : examples(std::make_unique<FixedSet>(std::move(made.examples))), origins(std::move(made.origins)) {}
};

Made classification_set(const std::vector<Document>& documents, const Bundle& bundle) {
  std::vector<EncodedText> texts = encode(documents, text_encoder(bundle));
  std::vector<Example> examples;
  std::vector<std::int64_t> origins;
  for (std::size_t i = 0; i < documents.size(); ++i) {
    if (!documents[i].label) continue;  // documents of no category are for calibration and evaluation
    examples.push_back({.chunks = texts[i].chunks,
                        .type_ids = {},
                        .decoder_ids = {},
                        .labels = {class_of(*documents[i].label, bundle)}});
    origins.push_back(static_cast<std::int64_t>(i));
  }
  return {std::make_unique<FixedSet>(std::move(examples)), std::move(origins)};
}

Made masked_set(const std::vector<Document>& documents, const RunConfig& config, const Bundle& bundle) {
  Encoded sequences;
  std::vector<std::int64_t> origins;
  std::int64_t document = 0;
  for (EncodedText& text : encode(documents, text_encoder(bundle))) {
    for (auto& chunk : text.chunks) {
      sequences.push_back(std::move(chunk));
      origins.push_back(document);
    }
    ++document;
  }
  Masking masking{.probability = config.mask_probability,
                  .mask_id = mask_id(bundle),
                  .vocab_size = bundle.model->facts().vocab_size,
                  .special_ids = special_ids(bundle)};
  return {std::make_unique<MaskedSet>(std::move(sequences), std::move(masking)), std::move(origins)};
}

Made language_model_set(const std::vector<Document>& documents, const RunConfig& config, const Bundle& bundle) {
  const std::int64_t bound = bundle.model->facts().longest.value_or(0);
  const std::int64_t longest = config.long_policy.longest > 0 ? config.long_policy.longest : bound;
  check(longest > 0, "language modelling: give long.longest, the length of a block of tokens");
  check(bound == 0 || longest <= bound, "language modelling: long.longest is {}, but the model takes {} tokens",
        longest, bound);
  Encoded texts;
  for (EncodedText& text : encode(documents, TextEncoder(bundle.text(), {LongPolicy::Kind::chunk, 0}, 0)))
    texts.push_back(std::move(text.chunks.at(0)));
  const std::vector<std::int64_t>& ends = bundle.model->facts().eos_token_ids;
  check(!ends.empty() && ends.front() < bundle.model->facts().vocab_size,
        "language modelling: the model has no end token (eos_token_id in its config), which stands between texts");
  std::vector<std::int64_t> origins;
  std::int64_t token = 0, document = 0;
  for (const auto& text : texts) {
    const std::int64_t end = token + static_cast<std::int64_t>(text.size()) + 1;  // a separator behind each
    while (static_cast<std::int64_t>(origins.size()) * longest < end) origins.push_back(document);
    token = end;
    ++document;
  }
  return {std::make_unique<FixedSet>(language_model_blocks(texts, ends.front(), longest)), std::move(origins)};
}

Made translation_set(const std::vector<Document>& documents, const RunConfig& config, const Bundle& bundle,
                     const std::string& source) {
  // A long side is refused: the pieces of two texts do not belong together.
  TextEncoder encoder = text_encoder(bundle, LongPolicy::Kind::refuse);
  std::vector<Example> examples;
  std::vector<std::int64_t> origins(documents.size());
  std::iota(origins.begin(), origins.end(), std::int64_t{0});
  for (const Document& d : documents)
    within(source + ", line " + std::to_string(d.line), [&] {
      examples.push_back({.chunks = encoder.encode(d.text).chunks,
                          .type_ids = {},
                          .decoder_ids = {},
                          .labels = encoder.encode(target_of(d, config, source)).chunks.at(0)});
    });
  return {std::make_unique<FixedSet>(std::move(examples)), std::move(origins)};
}

void check_examples(const std::string& part, const std::vector<Example>& examples, const Bundle& bundle) {
  if (!bundle.model) return;  // nothing to check against
  for (std::size_t i = 0; i < examples.size(); ++i)
    within(part + " example " + std::to_string(i + 1), [&] { check_example(bundle.model->facts(), examples[i]); });
}

/// Of the run file, or by how many examples there are of each class.
std::vector<double> class_weights_of(const RunConfig& config, const TrainingSet& examples, std::size_t classes) {
  using Balance = RunConfig::ClassBalance;
  if (config.class_balance == Balance::none) {
    std::size_t given = config.train.class_weights.size();
    check(given == 0 || given == classes, "\"train.class_weights\" holds {} numbers for {} labels: give one for each",
          given, classes);
    return config.train.class_weights;
  }
  std::vector<double> counts(classes);
  for (std::int64_t i = 0; i < examples.count(); ++i)
    for (std::int64_t label : examples.example(i, {}).labels) {
      check(label < static_cast<std::int64_t>(classes), "example {} has the label {}: the model has {} classes", i + 1,
            label, classes);
      if (label >= 0) ++counts[static_cast<std::size_t>(label)];
    }
  std::vector<double> weights;
  for (double count : counts) {
    double weight = static_cast<double>(examples.count()) / (static_cast<double>(classes) * std::max(count, 1.0));
    weights.push_back(config.class_balance == Balance::balanced ? weight : std::sqrt(weight));
  }
  return weights;
}

}  // namespace

RunFiles read_run_files(const RunConfig& config) {
  auto [train, validation] = files_of(config);
  RunFiles files;
  files.in_ids = holds_examples(train);
  if (files.in_ids) {
    files.train_examples = read_examples(train);
    if (!validation.empty()) files.validation_examples = read_examples(validation);
  } else {
    DocumentFormat format{.text_field = config.data.text_field, .label_field = config.data.label_field};
    format.labels = config.task == TrainTask::classify ? Labels::required : Labels::optional;
    files.train = read_documents(train, format);
    format.labels = config.task == TrainTask::classify ? Labels::nullable : Labels::optional;
    if (!validation.empty()) files.validation = read_documents(validation, format);
    if (config.task == TrainTask::classify) check_labels(files, train, validation);
    if (config.task == TrainTask::translate)
      for (const Documents* documents : {&files.train, &files.validation})
        for (const Document& d : documents->items) target_of(d, config, documents->source);
    read_annotations(config, files);
  }
  auto trained = static_cast<std::int64_t>(files.in_ids ? files.train_examples.size() : files.train.items.size());
  files.lineage.push_back({"train", train.filename().string(), sha256_of_file(train), trained});
  if (!validation.empty()) {
    auto held =
        static_cast<std::int64_t>(files.in_ids ? files.validation_examples.size() : files.validation.items.size());
    files.lineage.push_back({"validation", validation.filename().string(), sha256_of_file(validation), held});
  }
  return files;
}

std::vector<std::string_view> training_texts(const RunFiles& files, const RunConfig& config) {
  std::vector<std::string_view> texts;
  for (const Document& d : files.train.items) {
    texts.push_back(d.text);
    if (config.task == TrainTask::translate) texts.push_back(target_of(d, config, files.train.source));
    if (config.task == TrainTask::answer) texts.push_back(question_in(d, config.data.question_field));
  }
  return texts;
}

TaskData make_task_data(const RunFiles& files, const RunConfig& config, const Bundle& bundle, const Run& run) {
  run.report({.doing = "reading texts", .done = 0, .total = 0, .unit = "documents", .detail = ""});
  if (files.in_ids) {
    check_examples("training", files.train_examples, bundle);
    check_examples("validation", files.validation_examples, bundle);
    TaskData data{std::make_unique<FixedSet>(files.train_examples), nullptr};
    if (!files.validation_examples.empty()) data.validation = std::make_unique<FixedSet>(files.validation_examples);
    check(config.token_dropout == 0,
          "train.token_dropout needs texts and a tokenizer: lines of ids name no mask token");
    data.class_weights = class_weights_of(config, *data.train, bundle.contract.labels.size());
    return data;
  }
  const TaggingSource tagging[] = {{files.train.items, files.train_entities, files.train.source},
                                   {files.validation.items, files.validation_entities, files.validation.source}};
  const std::string& question = config.data.question_field;
  const AnsweringSource answering[] = {
      {files.train.items, files.train_answers, question, files.train.source},
      {files.validation.items, files.validation_answers, question, files.validation.source}};
  auto make = [&](const Documents& documents) -> Made {
    if (documents.items.empty()) return {};
    const std::size_t part = &documents == &files.train ? 0 : 1;
    switch (config.task) {
      case TrainTask::classify:
        return classification_set(documents.items, bundle);
      case TrainTask::mlm:
        return masked_set(documents.items, config, bundle);
      case TrainTask::lm:
        return language_model_set(documents.items, config, bundle);
      case TrainTask::translate:
        return translation_set(documents.items, config, bundle, documents.source);
      case TrainTask::tag:
        return tagging_examples(tagging[part], bundle);
      case TrainTask::answer:
        return answering_examples(answering[part], bundle);
    }
    return {};
  };
  Made train = make(files.train);
  TaskData data{std::move(train.examples), make(files.validation).examples};
  data.origins = std::move(train.origins);
  if (data.validation && config.task == TrainTask::tag)
    data.figures = [source = tagging[1], &bundle](const Run& during) {
      return tagging_figures(source, bundle, during);
    };
  if (data.validation && config.task == TrainTask::answer) {
    const auto none = [](const std::vector<Answers>& all) { return std::ranges::any_of(all, &Answers::empty); };
    const bool may_have_none = none(files.train_answers) || none(files.validation_answers);
    data.figures = [source = answering[1], may_have_none, &bundle](const Run& during) {
      return answering_figures(source, bundle, may_have_none, during);
    };
  }
  data.class_weights = class_weights_of(config, *data.train, bundle.contract.labels.size());
  if (config.token_dropout > 0 && config.task == TrainTask::classify)
    data.train = std::make_unique<TokenDropoutSet>(std::move(data.train), config.token_dropout, mask_id(bundle),
                                                   special_ids(bundle));
  return data;
}

Metrics measure(const Model& model, const TaskData& task, const Run& run) {
  NoGradient none;
  const TrainingSet& data = *task.validation;
  std::vector<Example> examples;
  std::vector<std::int64_t> lengths;
  // One fixed key, so that masked tokens are the same at every evaluation.
  for (std::int64_t i = 0; i < data.count(); ++i) {
    examples.push_back(data.example(i, RandomKey{}.at("evaluation")));
    lengths.push_back(examples.back().tokens());
  }
  double sum = 0;
  std::int64_t labelled = 0;
  for (const auto& numbers : make_batches(lengths, {.batch_tokens = 8192, .order = BatchOrder::sequential}, 0)) {
    if (run.cancelled()) throw Cancelled("stopped during an evaluation");
    std::vector<Example> part;
    for (std::int64_t i : numbers) part.push_back(examples[static_cast<std::size_t>(i)]);
    LabelledBatch batch = collate(model, part, numbers);
    if (batch.labelled == 0) continue;
    batch.batch.routing = nullptr;  // perplexity is of the text alone
    sum += loss_of(model, batch).item() * static_cast<double>(batch.labelled);
    labelled += batch.labelled;
  }
  check(labelled > 0, "evaluating: no example has a label");
  double loss = sum / static_cast<double>(labelled);
  if (task.figures) {
    Metrics metrics = {{"loss", loss}};
    for (auto& figure : task.figures(run)) metrics.push_back(std::move(figure));
    return metrics;
  }
  if (model.facts().head != HeadKind::classify) return {{"loss", loss}, {"perplexity", std::exp(loss)}};
  ClassScores scores = score_examples(model, examples, Run{.progress = {}, .cancel = run.cancel});
  std::vector<int> truth;
  for (const Example& example : examples) truth.push_back(static_cast<int>(example.labels.at(0)));
  auto figures =
      evaluate::classification(truth, evaluate::top_class(scores.logits), static_cast<int>(scores.logits.width));
  return {{"loss", loss}, {"accuracy", figures.accuracy}, {"macro_f1", figures.macro.f1}};
}

}  // namespace attune
