// Whatever the bytes, a line of predictions or references is a record or an Error, and so is what each metric reads in
// it.
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "attune/base/error.h"
#include "attune/evaluate/scored_records.h"

namespace {

template <class Read>
void refused_or(Read&& read) {
  try {
    read();
  } catch (const attune::Error&) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace attune::evaluate;
  refused_or([&] {
    const ScoredRecord record = parse_scored({reinterpret_cast<const char*>(data), size}, 1, "fuzz");
    refused_or([&] { text_in(record, ""); });
    refused_or([&] { references_in(record, ""); });
    for (TagReading reading : {TagReading::lenient, TagReading::strict})
      refused_or([&] { span_scores(std::vector<FoundSpans>{{spans_in(record, "", reading), {}}}).on_all(); });
    refused_or([&] {
      const AnswerAndTruth question{"a", answers_in(record, ""), probability_in(record, "no_answer_probability")};
      squad2_scores(std::vector<AnswerAndTruth>{question}, 0.5).on_all();
    });
    refused_or([&] {
      ranking_scores(std::vector<RankedQuery>{{scores_in(record, ""), grades_in(record, "")}}, {1, 5}).on_all();
    });
  });
  return 0;
}
