#include "attune/text/model.h"

namespace attune {

std::shared_ptr<TokenizerModel> TokenizerModel::read(const JsonView& json) {
  // Files from before 2020 have no "type"; then the keys tell.
  const std::string type = json.has("type")                       ? json.string("type")
                           : json.has("merges")                   ? "BPE"
                           : json.has("max_input_chars_per_word") ? "WordPiece"
                           : json.has_key("unk_id")               ? "Unigram"
                                                                  : "WordLevel";
  if (type == "BPE") return read_bpe(json);
  if (type == "WordPiece") return read_word_piece(json);
  if (type == "Unigram") return read_unigram(json);
  if (type == "WordLevel") return read_word_level(json);
  json.reject("the model \"{}\" is not supported: expected BPE, WordPiece, Unigram or WordLevel", type);
}

}  // namespace attune
