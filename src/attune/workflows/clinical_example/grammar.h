#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_map>

#include "attune/base/random.h"
#include "attune/workflows/clinical_example/phrases.h"

namespace attune::clinical {

/// Which English the writer of a document writes.
enum class Dialect { british, american, spanish };

/// What one document is about: the values that every phrase of it shares.
struct Facts {
  std::map<std::string, std::string, std::less<>> fixed;  // slot -> text: name, he, age, admit, hospital, ...
  const Condition* condition = nullptr;
  Dialect dialect = Dialect::british;
  int today = 0;  // days since 1970-01-01
};

/// Sets today and the days of a stay that ended about then, each as that writer writes dates: today, admit, prior,
/// discharge.
void set_dates(Facts& facts, int today, RandomStream& random);

/// A date as writers of that dialect write it; `form` picks one of their three ways.
std::string written_date(int day, Dialect dialect, int form);
std::string iso_date(int day);

/// Makes phrases out of productions:
///   [a|b|c]    one of the alternatives, which may be empty and may hold further productions
///   {slot}     a fact of the document, or a phrase of the table of that name; {Slot} begins with a capital
///   {@slot}    the table of that name for the part of the body that the document is about: finding_chest, ...
///   {#3-14}    a whole number; {.40-189} one with one decimal, here 4.0 to 18.9
class Grammar {
 public:
  Grammar();

  std::string make(std::string_view production, const Facts& facts, RandomStream& random) const;
  /// make() of a random phrase of a table, as a sentence: begins with a capital, spaces and articles in order.
  std::string sentence(std::string_view table, const Facts& facts, RandomStream& random) const;
  std::string pick(std::string_view table, RandomStream& random) const;
  std::span<const std::string_view> phrases(std::string_view table) const;

 private:
  void expand(std::string_view production, const Facts& facts, RandomStream& random, std::string& out) const;
  void expand_slot(std::string_view slot, const Facts& facts, RandomStream& random, std::string& out) const;
  bool expand_special(std::string_view slot, const Facts& facts, RandomStream& random, std::string& out) const;

  std::unordered_map<std::string_view, std::span<const std::string_view>> tables_;
};

/// One space between words, none before a full stop or comma, "an 81", a capital at the start.
std::string tidied(std::string_view text, bool capital);

}  // namespace attune::clinical
