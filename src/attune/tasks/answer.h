#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "attune/base/run.h"
#include "attune/bundle/bundle.h"
#include "attune/tasks/question_pieces.h"

namespace attune {

struct AnswerOptions {
  std::int64_t most_tokens = 30;                     // of an answer
  bool may_have_none = false;                        // "the text does not say" is an answer, too (SQuAD 2)
  std::optional<LongPolicy::Kind> long_policy = {};  // in place of the contract's
  std::int64_t batch_tokens = 8192;
};

struct Answer {
  std::string text;                 // as it stands in the text; empty where there is none
  std::int64_t begin = 0, end = 0;  // code points of the text
  double score = 0;                 // its share of all that could have been answered in its piece of the text
  double none_score = 0;            // that of no answer, in the piece where it is least
  std::int64_t tokens = 0, chunks = 1;
};

/// The stretch of each text that answers its question best, with a model that marks where answers begin and end
/// ("...ForQuestionAnswering"; Devlin et al. 2019, section 4.2). A stretch's logit is the sum of its first token's and
/// its last one's; none is longer than most_tokens; the first token's own stands for no answer (section 4.3), which is
/// given where it is higher. A text that is too long beside its question is refused with both numbers, or read in
/// pieces with the question before each, of which the best answer counts. Throws Error for a model of another kind;
/// Cancelled where the run is stopped.
std::vector<Answer> answer(const Bundle& bundle, std::span<const Question> questions, const AnswerOptions& options,
                           const Run& run);

}  // namespace attune
