#include "attune/tasks/text_memory.h"

#include <algorithm>
#include <set>

#include "attune/autograd/tape.h"
#include "attune/base/error.h"
#include "attune/base/stop.h"
#include "attune/checkpoint/checkpoint.h"
#include "attune/models/objective.h"

namespace attune {

namespace {

using Ids = std::vector<std::int64_t>;

constexpr std::int64_t batch_tokens = 8192;  // read together

/// The layer that remembers.
const MultiHead& knn_layer(const Bundle& bundle) {
  const ConfigReader config(*bundle.config, bundle.path.string() + "/config.json");
  const std::string family = config.object_or_empty("attention").string_or("family", "full");
  const MultiHead* found = nullptr;
  if (family == "knn")
    for (const Block& block : bundle.model->decoding_blocks())
      if (block.attention.family) found = &block.attention;
  check(found != nullptr,
        "{} has no layer that looks up keys: train one with attention = {{family = \"knn\"}} (docs/memory.md)",
        bundle.path.string());
  return *found;
}

/// What tells these weights from any others.
std::string origin_of(const Bundle& bundle) {
  std::string hashes;
  for (const Path& file : Checkpoint::open(bundle.path).files()) hashes += sha256_of_file(file);
  return "weights " + sha256(hashes);
}

std::vector<Ids> ids_of(const Bundle& bundle, std::span<const NamedText> texts) {
  std::vector<Ids> all;
  for (const NamedText& text : texts) {
    const Encoding encoding = bundle.text().encode(text.text);
    all.emplace_back(encoding.ids.begin(), encoding.ids.end());
  }
  return all;
}

/// Why the model cannot read a text; empty where it can.
std::string unreadable(const Bundle& bundle, const Ids& ids) {
  const auto longest = bundle.model->facts().longest;
  if (ids.empty()) return "it is empty";
  if (!longest || static_cast<std::int64_t>(ids.size()) <= *longest) return "";
  return fmt::format("it has {} tokens and the model takes {}: divide it", ids.size(), *longest);
}

/// Calls work(first, last) for runs of texts that are read together.
template <class Work>
void for_each_batch(const std::vector<Ids>& ids, const Run& run, const Work& work) {
  for (std::size_t first = 0; first < ids.size();) {
    std::size_t last = first;
    std::int64_t tokens = 0;
    do tokens += static_cast<std::int64_t>(ids[last++].size());
    while (last < ids.size() && tokens + static_cast<std::int64_t>(ids[last].size()) <= batch_tokens);
    if (run.cancelled()) throw Cancelled("reading texts: stopped, nothing was changed");
    run.report({.doing = "reading",
                .done = static_cast<std::int64_t>(first),
                .total = static_cast<std::int64_t>(ids.size()),
                .unit = "texts",
                .detail = ""});
    const StopWithin stop(run);
    work(first, last);
    first = last;
  }
}

}  // namespace

TextMemory::TextMemory(const Bundle& bundle, const KeyMemoryOptions& options)
    : bundle_(bundle),
      memory_({.kv_heads = knn_layer(bundle).sizes.kv_heads, .head_dim = knn_layer(bundle).sizes.head_dim}, options) {
  memory_.origin = origin_of(bundle);
}

TextMemory::TextMemory(const Bundle& bundle, KeyMemory memory) : bundle_(bundle), memory_(std::move(memory)) {
  knn_layer(bundle);
  check(memory_.origin == origin_of(bundle),
        "the memory was made by other weights than those in {}: their keys mean something else, so add its texts to a "
        "new one",
        bundle.path.string());
}

void TextMemory::add(std::span<const NamedText> texts, const Run& run) {
  std::set<std::string_view> seen;
  for (const NamedText& text : texts) check(seen.insert(text.name).second, "two texts have the name {}", text.name);
  const std::vector<Ids> ids = ids_of(bundle_, texts);
  for (std::size_t i = 0; i < ids.size(); ++i)
    if (const std::string why = unreadable(bundle_, ids[i]); !why.empty())
      fail("the text {} cannot be remembered: {}", texts[i].name, why);
  NoGradient none;
  KeyMemory fresh(memory_.sizes(), {.exact_up_to = std::int64_t{1} << 60});  // nothing is searched for in it
  for_each_batch(ids, run, [&](std::size_t first, std::size_t last) {
    Batch batch =
        Batch::of({ids.begin() + static_cast<std::ptrdiff_t>(first), ids.begin() + static_cast<std::ptrdiff_t>(last)},
                  static_cast<std::int64_t>(first));
    batch.record = &fresh;
    bundle_.model->forward(batch);
  });
  // Everything was read: from here on nothing fails.
  std::int64_t next = memory_.names.empty() ? 0 : memory_.names.rbegin()->first + 1;
  std::vector<std::int64_t> replaced;
  for (const auto& [document, name] : memory_.names)
    if (seen.contains(name)) replaced.push_back(document);
  for (std::int64_t document : replaced) memory_.remove_document(document);
  std::int64_t begin = 0;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    const std::int64_t end = begin + static_cast<std::int64_t>(ids[i].size());
    memory_.add(fresh.keys().rows(begin, end), fresh.values().rows(begin, end), next);
    memory_.names[next++] = texts[i].name;
    begin = end;
  }
}

std::vector<MemoryScore> TextMemory::score(std::span<const NamedText> texts, const Run& run) const {
  std::vector<Ids> ids;
  std::vector<MemoryScore> scores(texts.size());
  std::vector<std::size_t> scored;  // texts whose ids are in `ids`
  std::vector<Ids> given = ids_of(bundle_, texts);
  for (std::size_t i = 0; i < given.size(); ++i) {
    scores[i].tokens = static_cast<std::int64_t>(given[i].size());
    scores[i].left_out = unreadable(bundle_, given[i]);
    if (given[i].size() == 1) scores[i].left_out = "it is one token long: there is none to foresee";
    if (scores[i].left_out.empty()) ids.push_back(std::move(given[i])), scored.push_back(i);
  }
  check(texts.empty() || !ids.empty(), "no text can be scored: {}, the first: {}; give texts of 2 tokens and more",
        texts.empty() ? "" : texts[0].name, texts.empty() ? "" : scores[0].left_out);
  NoGradient none;
  const Model& model = *bundle_.model;
  for_each_batch(ids, run, [&](std::size_t first, std::size_t last) {
    std::vector<Example> examples;
    std::vector<std::int64_t> numbers;
    for (std::size_t i = first; i < last; ++i) {
      examples.push_back({.chunks = {ids[i]}, .labels = ids[i]});
      numbers.push_back(static_cast<std::int64_t>(i));
    }
    for (const KeyMemory* memory : {&memory_, static_cast<const KeyMemory*>(nullptr)}) {
      LabelledBatch batch = collate(model, examples, numbers);
      batch.batch.lookup = memory;
      const Tensor states = final_states(model, batch);
      std::int64_t row = 0;
      for (std::size_t i = first; i < last; ++i) {
        const auto labelled = static_cast<std::int64_t>(ids[i].size()) - 1;
        LabelledBatch one;
        one.batch = batch.batch;
        one.rows = {batch.rows.begin() + row, batch.rows.begin() + row + labelled};
        one.labels = batch.labels.rows(row, row + labelled);
        one.labelled = labelled;
        MemoryScore& score = scores[scored[i]];
        (memory ? score.loss : score.loss_without) = loss_of_states(model, states, one).item();
        row += labelled;
      }
    }
  });
  return scores;
}

std::vector<RememberedText> remembered_texts(const KeyMemory& memory) {
  std::map<std::int64_t, std::int64_t> tokens;
  for (KeyMemory::Id id : memory.ids()) ++tokens[memory.document_of(id)];
  std::vector<RememberedText> all;
  for (const auto& [document, count] : tokens) {
    const auto name = memory.names.find(document);
    all.push_back({document, name == memory.names.end() ? "" : name->second, count});
  }
  return all;
}

void forget_text(KeyMemory& memory, const std::string& name) {
  std::vector<std::string> names;
  for (const auto& [document, known] : memory.names) {
    if (known == name) {
      memory.remove_document(document);
      return;
    }
    names.push_back(known);
  }
  const std::string near = nearest_name(name, names);
  fail("the memory holds no text named {}{}", name, near.empty() ? "" : ": did you mean " + near + "?");
}

}  // namespace attune
