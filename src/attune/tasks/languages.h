#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "attune/text/tokenizer.h"

namespace attune {

/// The languages of a multilingual translator: the special tokens by which its tokenizer marks them, "ro_RO" (mBART),
/// "fra_Latn" (NLLB) or "__fr__" (M2M-100).
class Languages {
 public:
  explicit Languages(const Tokenizer& tokenizer);

  bool empty() const { return ids_.empty(); }
  bool has(std::int64_t id) const;
  /// Of "fra_Latn", or of "fra" or "fr" where that is the beginning of one alone. `option` names in errors what asked
  /// for it. Throws Error, with the languages there are, where none or several fit.
  std::int64_t id_of(const std::string& language, std::string_view option) const;
  /// Some of their names, for messages: "ar_AR, cs_CZ, de_DE, ..."
  std::string some() const;

 private:
  std::map<std::string, std::int64_t, std::less<>> ids_;  // by name: "ro_RO", "fra_Latn", "fr"
};

}  // namespace attune
