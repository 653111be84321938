#include "attune/workflows/tested_model.h"

#include "attune/base/json_values.h"

#include "attune/base/error.h"

namespace attune::workflows {

namespace {

/// "source northgate, template fax-3": where a document comes from, for a reader.
std::string origin_of(const Document& document) {
  std::string origin;
  for (const char* field : {"source", "template", "language"}) {
    auto found = document.fields.find(field);
    if (found == document.fields.end()) continue;
    origin += (origin.empty() ? "" : ", ") + std::string(field) + " " + found->second;
  }
  return origin;
}

}  // namespace

ModelTest test_model(const Bundle& bundle, const Documents& documents, const TestNaming& naming, const Run& run) {
  check_classifier(bundle);
  std::vector<int> truth = class_numbers(bundle.contract.labels, documents);
  ScoredTexts scored = score_texts(bundle, texts_of(documents), run);
  ModelTest test{.run = {}, .answers = decide(bundle, scored.scores, scored.read)};
  test.run.logits = std::move(scored.scores.logits);
  for (std::size_t i = 0; i < documents.items.size(); ++i) {
    const Document& document = documents.items[i];
    test.run.documents.push_back({.id = document.id,
                                  .text = document.text,
                                  .group = naming.group(document),
                                  .slices = naming.slices(document),
                                  .origin = origin_of(document),
                                  .truth = truth[i],
                                  .tokens = test.answers[i].tokens,
                                  .chunks = test.answers[i].chunks,
                                  .novelty = test.answers[i].novelty});
  }
  return test;
}

std::vector<std::string> slices_by(const Document& document, const std::vector<std::string>& fields) {
  std::vector<std::string> slices;
  for (const std::string& field : fields)
    if (auto found = document.fields.find(field); found != document.fields.end())
      slices.push_back(field + ": " + found->second);
  return slices;
}

std::string prediction_lines(const Bundle& bundle, const Documents& documents, const std::vector<Classified>& answers) {
  std::string lines;
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const Classified& answer = answers[i];
    const Document& document = documents.items[i];
    Json line = {{"label", document.label ? Json(*document.label) : Json(nullptr)}};
    line["answer"] = answer.label;
    line["confidence"] = answer.confidence;
    for (std::size_t c = 0; c < answer.probabilities.size(); ++c)
      line["scores"][bundle.contract.labels.at(c)] = answer.probabilities[c];
    line["route"] = answer.automatic ? "automatic" : "review";
    line["reasons"] = answer.reasons;
    line["novelty"] = answer.novelty ? Json(*answer.novelty) : Json(nullptr);
    line["tokens"] = answer.tokens;
    line["chunks"] = answer.chunks;
    lines += "{\"id\":" + id_as_json(document) + "," + to_text(line).substr(1) + "\n";
  }
  return lines;
}

}  // namespace attune::workflows
