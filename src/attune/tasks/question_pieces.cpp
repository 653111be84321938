#include "attune/tasks/question_pieces.h"

#include "attune/base/error.h"

namespace attune {

QuestionPieces::QuestionPieces(const Bundle& bundle, const Question& question, const LongPolicy& policy)
    : encoding_(bundle.text().encode(TextPair{question.question, question.text})) {
  const auto& of = encoding_.sequences;
  const auto size = static_cast<std::int64_t>(of.size());
  while (begin_ < size && of[static_cast<std::size_t>(begin_)] != 1) ++begin_;
  end_ = begin_;
  while (end_ < size && of[static_cast<std::size_t>(end_)] == 1) ++end_;
  check(end_ > begin_, "the text has no token: there is nothing to find an answer in");
  const std::optional<std::int64_t> between = bundle.model->facts().question_end;
  check(!between || (begin_ > 0 && encoding_.ids[static_cast<std::size_t>(begin_ - 1)] == *between),
        "the model's questions end with token {} (\"sep_token_id\" in its config.json), and its tokenizer does not put "
        "that before the text: set it to the token that stands there, or use the tokenizer of the model",
        between.value_or(0));
  const std::int64_t tokens = end_ - begin_, room = policy.longest - (size - tokens);
  if (policy.longest == 0 || tokens <= room) {
    pieces_ = {{0, tokens}};
    return;
  }
  check(policy.kind != LongPolicy::Kind::refuse,
        "question and text have {} tokens and the model takes {}: shorten them, or let the text be read in pieces: "
        "--long stride (in a run file: long.policy)",
        size, policy.longest);
  check(room >= 2, "the question has {} tokens and the model takes {}: that leaves no room for the text", size - tokens,
        policy.longest);
  pieces_ = stride_chunks(tokens, room, policy.kind == LongPolicy::Kind::stride ? room / 4 : 0);
}

TextPiece QuestionPieces::piece(std::size_t number) const {
  TextPiece piece{.text = 0, .number = number};
  const Chunk range = pieces_[number];
  const auto size = static_cast<std::int64_t>(encoding_.size());
  for (std::int64_t t = 0; t < size; ++t) {
    if (t >= begin_ && t < end_ && (t < begin_ + range.begin || t >= begin_ + range.end)) continue;
    piece.ids.push_back(encoding_.ids[static_cast<std::size_t>(t)]);
    piece.type_ids.push_back(encoding_.type_ids[static_cast<std::size_t>(t)]);
  }
  return piece;
}

}  // namespace attune
