#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace attune {

/// How a model's answers about tokens become answers about stretches of text: the strategies of transformers'
/// TokenClassificationPipeline.
enum class EntityGrouping {
  simple,   // each token by itself
  first,    // a word is what its first token is
  average,  // a word is what its tokens are on average
  max,      // a word is what its surest token is
};
EntityGrouping parse_entity_grouping(const std::string& name);  // by the names above; else Error

/// One token of a text, special ones left out.
struct TokenScores {
  std::int64_t begin, end;        // code points
  bool continues;                 // the word that the token before began or went on with
  std::span<const float> scores;  // [labels], softmax
};

/// A stretch of text and what it is.
struct Entity {
  std::string label;  // without B- and I-
  std::int64_t begin, end;
  double score;  // mean of its tokens' or words'
};

/// Neighbours of one kind are joined, as long as the later does not say that something new begins (B-). What is "O" is
/// left out. labels: by class number, in IOB2 or plain.
std::vector<Entity> find_entities(std::span<const TokenScores> tokens, const std::vector<std::string>& labels,
                                  EntityGrouping grouping);

}  // namespace attune
