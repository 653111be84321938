#include "attune/train/tag_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "attune/base/error.h"
#include "attune/base/json.h"
#include "attune/base/log.h"
#include "attune/evaluate/words.h"
#include "attune/tasks/tag.h"
#include "attune/tasks/text_encoder.h"
#include "attune/text/unicode.h"
#include "attune/text/utf8.h"

namespace attune {

namespace {

std::int64_t number_of(const std::string& label, const std::vector<std::string>& names) {
  const auto found = std::ranges::find(names, label);
  if (found == names.end())
    fail("the label {} is none of the model's ({})", json_quoted(label), fmt::join(names, ", "));
  return found - names.begin();
}

/// A token's place without the white space at its edges; all of it where it is nothing else.
TextRange without_edges(TextRange place, std::u32string_view text) {
  TextRange inner = place;
  const auto white = [&](std::int32_t at) { return is_white_space(text[static_cast<std::size_t>(at)]); };
  while (inner.begin < inner.end && white(inner.begin)) ++inner.begin;
  while (inner.begin < inner.end && white(inner.end - 1)) --inner.end;
  return inner.begin < inner.end ? inner : place;
}

/// Which of the entities a token stands for some of; their number where it is none.
std::size_t entity_at(TextRange token, const Entities& entities) {
  const auto found = std::ranges::find_if(entities, [&](const evaluate::TypedSpan& e) { return e.end > token.begin; });
  const std::int64_t reach = std::max(token.end, token.begin + 1);  // a token of no width stands where it begins
  return found != entities.end() && found->begin < reach ? static_cast<std::size_t>(found - entities.begin())
                                                         : entities.size();
}

std::string described(std::string_view text, const evaluate::TypedSpan& entity) {
  return json_quoted(code_point_range(text, static_cast<std::size_t>(entity.begin),
                                      static_cast<std::size_t>(std::min(entity.end, entity.begin + 40)))) +
         " (" + entity.type + ")";
}

/// Entities that tokens do not fit: how many, and the first of them.
class Misfits {
 public:
  void add(const Document& document, const Entities& entities, const std::vector<std::size_t>& which) {
    count_ += which.size();
    if (first_.empty() && !which.empty())
      first_ = "line " + std::to_string(document.line) + ", " + described(document.text, entities[which.front()]);
  }
  void warn(const std::string& source, const char* what) const {
    if (count_ > 0)
      log_warning(fmt::format("{}: {} {} {}: {}{}", source, count_, count_ == 1 ? "entity" : "entities", what, first_,
                              count_ > 1 ? ", ..." : ""));
  }

 private:
  std::size_t count_ = 0;
  std::string first_;
};

}  // namespace

std::vector<std::string> iob2_labels(std::span<const Entities> texts) {
  std::set<std::string> kinds;
  for (const Entities& entities : texts)
    for (const evaluate::TypedSpan& entity : entities) kinds.insert(entity.type);
  check(!kinds.empty(), "none of the {} texts has an entity: there is nothing to learn", texts.size());
  std::vector<std::string> labels = {"O"};
  for (const std::string& kind : kinds) {
    labels.push_back("B-" + kind);
    labels.push_back("I-" + kind);
  }
  return labels;
}

TokenLabels label_tokens(std::string_view text, const Encoding& encoding, const Entities& entities,
                         const std::vector<std::string>& names) {
  const std::u32string points = evaluate::code_points_of(text);
  TokenLabels result;
  std::vector<bool> begun(entities.size()), inexact(entities.size());
  for (const TextRange& place : encoding.offsets) {
    const TextRange token = without_edges(place, points);
    const std::size_t e = entity_at(token, entities);
    if (e == entities.size()) {
      result.labels.push_back(number_of("O", names));
      continue;
    }
    result.labels.push_back(number_of((begun[e] ? "I-" : "B-") + entities[e].type, names));
    if (token.begin < entities[e].begin || token.end > entities[e].end) inexact[e] = true;
    for (std::size_t next = e + 1; next < entities.size() && entities[next].begin < token.end; ++next)
      inexact[next] = true;
    begun[e] = true;
  }
  for (std::size_t e = 0; e < entities.size(); ++e) {
    if (!begun[e])
      result.unlearned.push_back(e);
    else if (inexact[e])
      result.inexact.push_back(e);
  }
  return result;
}

NumberedExamples tagging_examples(const TaggingSource& source, const Bundle& bundle) {
  const std::vector<std::string> names = labels_of(*bundle.config, "the model's config");
  const TextEncoder encoder(bundle.text(), bundle.contract.long_policy, bundle.model->facts().longest.value_or(0));
  NumberedExamples made;
  Misfits inexact, unlearned;
  for (std::size_t i = 0; i < source.documents.size(); ++i) {
    const Document& document = source.documents[i];
    within(source.name + ", line " + std::to_string(document.line), [&] {
      const Encoding encoding = encoder.tokenizer().encode(document.text, {.add_special_tokens = false});
      const TokenLabels tokens = label_tokens(document.text, encoding, source.entities[i], names);
      inexact.add(document, source.entities[i], tokens.inexact);
      unlearned.add(document, source.entities[i], tokens.unlearned);
      for (const Chunk& piece : encoder.pieces(document.text, encoding)) {
        Example example = Example::of(encoder.ids_of(encoding, piece));
        example.labels.assign(example.chunks[0].size(), ignored_label);
        std::copy(tokens.labels.begin() + piece.begin, tokens.labels.begin() + piece.end,
                  example.labels.begin() + encoder.tokens_before());
        made.examples.push_back(std::move(example));
        made.origins.push_back(static_cast<std::int64_t>(i));
      }
    });
  }
  inexact.warn(source.name, "with a border inside a token, all of which is learned as theirs");
  unlearned.warn(source.name, "without a token of their own, which can not be learned");
  return made;
}

Metrics tagging_figures(const TaggingSource& source, const Bundle& bundle, const Run& run) {
  std::vector<std::string_view> texts;
  for (const Document& document : source.documents) texts.push_back(document.text);
  const std::vector<TaggedText> tagged = tag(bundle, texts, {}, Run{.progress = {}, .cancel = run.cancel});
  std::vector<evaluate::FoundSpans> spans;
  for (std::size_t i = 0; i < tagged.size(); ++i) {
    spans.push_back({{}, source.entities[i]});
    for (const Entity& entity : tagged[i].entities)
      spans.back().found.push_back({entity.label, entity.begin, entity.end});
  }
  const std::vector<double> figures = evaluate::span_scores(spans).on_all();  // micro averages first
  return {{"f1", figures[0]}, {"precision", figures[1]}, {"recall", figures[2]}};
}

}  // namespace attune
