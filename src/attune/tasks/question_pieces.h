#pragma once

#include <string_view>
#include <vector>

#include "attune/bundle/bundle.h"
#include "attune/data/chunks.h"
#include "attune/tasks/text_pieces.h"

namespace attune {

/// A question, and the text that is to hold its answer.
struct Question {
  std::string_view question, text;
};

/// Both as one sequence, question first, and the pieces in which a model reads it: all of it, or, where it is longer
/// than policy.longest (0: no bound), windows of the text with the question before each.
class QuestionPieces {
 public:
  /// Throws Error: a text without a token; a length that the policy refuses, with both numbers; a question that leaves
  /// no room; a tokenizer that does not put the model's question_end between the two.
  QuestionPieces(const Bundle& bundle, const Question& question, const LongPolicy& policy);

  const std::vector<Chunk>& pieces() const { return pieces_; }  // in tokens of the text
  std::int64_t begin() const { return begin_; }                 // where the text's tokens begin in each piece
  /// As the model reads it; `text` of the result is 0.
  TextPiece piece(std::size_t number) const;
  /// Of a token of the text, in code points of it.
  TextRange place(std::int64_t token) const { return encoding_.offsets[static_cast<std::size_t>(begin_ + token)]; }

 private:
  Encoding encoding_;
  std::int64_t begin_ = 0, end_ = 0;  // the text's tokens in it
  std::vector<Chunk> pieces_;
};

}  // namespace attune
