#include "attune/bench/tokenization.h"

#include <set>
#include <string>
#include "attune/base/json_values.h"

#include "attune/base/error.h"
#include "attune/base/file.h"
#include "attune/base/json.h"
#include "attune/bench/threads_restored.h"
#include "attune/bench/timing.h"
#include "attune/kernels/cpu/machine_rates.h"
#include "attune/text/tokenizer_trainer.h"
#include "attune/workflows/clinical_example/clinical_example.h"

namespace attune::bench {

namespace {

constexpr std::size_t documents_trained_on = 400;

std::vector<std::string> bundled_texts() {
  std::vector<std::string> texts;
  for (Document& document : clinical_documents()) texts.push_back(std::move(document.text));
  return texts;
}

Tokenizer tokenizer_of(const std::string& kind, const std::vector<std::string>& texts) {
  std::size_t next = 0;
  return train_tokenizer({.kind = tokenizer_kind(kind), .vocab_size = 8000}, [&](std::string& text) {
    if (next == texts.size() || next == documents_trained_on) return false;
    text = texts[next++];
    return true;
  });
}

}  // namespace

std::vector<std::string> tokenization_names() { return {"wordpiece", "bpe", "unigram"}; }

void tokenization(const Report& report, const Run& run) {
  ThreadsRestored restored;
  const std::vector<std::string> texts = bundled_texts();
  std::vector<TextPair> inputs;
  std::size_t bytes = 0;
  for (const std::string& text : texts) {
    inputs.push_back({text});
    bytes += text.size();
  }
  const double limit = kernels::read_rate(static_cast<std::int64_t>(bytes / sizeof(float)));
  for (const std::string& name : tokenization_names()) {
    if (!report.wants(name)) continue;
    const Tokenizer tokenizer = tokenizer_of(name, texts);
    for (int threads : std::set<int>{1, restored.before}) {
      if (run.cancelled()) throw Cancelled("bench tokenize: stopped");
      set_num_threads(threads);
      const double seconds = median_seconds([&] { tokenizer.encode_batch(inputs); }, 1.0);
      report({"tokenize", name, threads, static_cast<double>(bytes) / seconds * 1e-6, "MB/s", limit * 1e-6});
    }
  }
}

void write_tokenization_cases(const Path& directory) {
  write_directory_atomically(directory, [](const Path& inside) {
    const std::vector<std::string> texts = bundled_texts();
    for (const std::string& name : tokenization_names()) tokenizer_of(name, texts).save(inside / (name + ".json"));
    std::string lines;
    for (const std::string& text : texts) lines += to_text(Json{{"text", text}}) + "\n";
    write_file_atomically(inside / "texts.jsonl", lines);
  });
}

}  // namespace attune::bench
