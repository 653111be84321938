#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "attune/text/protobuf.h"

namespace attune {

/// A token of a SentencePiece model.
struct SentencePiece {
  enum class Type { normal = 1, unknown = 2, control = 3, user_defined = 4, unused = 5, byte = 6 };
  std::string text;
  float score = 0;
  Type type = Type::normal;
  std::string more = {};  // fields that Attune does not know, as they came
};

/// How a text is changed before it is cut (NormalizerSpec).
struct SentencePieceRules {
  ProtoMessage fields;

  std::string name() const { return fields.text(1, ""); }
  std::string charsmap() const { return fields.text(2, ""); }
  bool dummy_prefix() const { return fields.flag(3, true); }
  bool remove_extra_spaces() const { return fields.flag(4, true); }
  bool escape_spaces() const { return fields.flag(5, true); }
};

/// A SentencePiece model file (Kudo & Richardson 2018; the message ModelProto of its sentencepiece_model.proto). What
/// Attune has no use for is kept, so that a file that was read is written with the same bytes.
struct SentencePieceFile {
  enum class Kind { unigram = 1, bpe = 2, word = 3, character = 4 };

  std::vector<SentencePiece> pieces;
  ProtoMessage trainer;  // TrainerSpec
  SentencePieceRules normalizer;
  std::optional<SentencePieceRules> denormalizer = std::nullopt;
  std::string self_tests = {};  // the field SelfTestData as it came
  std::string more = {};        // fields that Attune does not know

  Kind kind() const { return static_cast<Kind>(trainer.integer(3, 1)); }
  bool byte_fallback() const { return trainer.flag(35, false); }
  bool space_as_suffix() const { return trainer.flag(24, false); }
  std::string unknown_surface() const { return trainer.text(44, " \xE2\x81\x87 "); }

  /// Throws Error unless this is a model that SentencePiece itself would take: pieces that are not empty, each once,
  /// exactly one unknown one, and all 256 bytes where (and only where) there is byte fallback.
  static SentencePieceFile read(std::string_view bytes, const std::string& source);
  std::string write() const;
};

}  // namespace attune
