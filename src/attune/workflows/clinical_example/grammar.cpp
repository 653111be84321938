#include "attune/workflows/clinical_example/grammar.h"

#include <cctype>
#include <charconv>

#include "attune/base/error.h"

namespace attune::clinical {
namespace {

char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }
char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

constexpr std::string_view kMonths[] = {"January", "February", "March",     "April",   "May",      "June",
                                        "July",    "August",   "September", "October", "November", "December"};

struct Calendar {
  int year, month, day;
};

std::string_view currency(Dialect dialect) {
  return dialect == Dialect::british ? "GBP " : dialect == Dialect::american ? "$" : "EUR ";
}

// Days since 1970-01-01 to a date of the Gregorian calendar (Hinnant, "chrono-compatible low-level date algorithms").
Calendar calendar(int days) {
  int z = days + 719468, era = z / 146097, of_era = z - era * 146097;
  int year_of_era = (of_era - of_era / 1460 + of_era / 36524 - of_era / 146096) / 365;
  int of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  int m = (5 * of_year + 2) / 153;
  int month = m < 10 ? m + 3 : m - 9;
  return {year_of_era + era * 400 + (month <= 2), month, of_year - (153 * m + 2) / 5 + 1};
}

int whole(std::string_view text) {
  int value = 0;
  auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), value);
  check(problem == std::errc() && end == text.data() + text.size(), "clinical grammar: \"{}\" is not a number", text);
  return value;
}

// The end of the bracket that opens at `begin`.
std::size_t closing(std::string_view text, std::size_t begin) {
  int depth = 0;
  for (std::size_t i = begin; i < text.size(); ++i) {
    if (text[i] == '[') ++depth;
    if (text[i] == ']' && --depth == 0) return i;
  }
  fail("clinical grammar: a bracket is not closed in \"{}\"", text);
}

}  // namespace

std::string iso_date(int day) {
  Calendar c = calendar(day);
  return fmt::format("{:04}-{:02}-{:02}", c.year, c.month, c.day);
}

std::string written_date(int day, Dialect dialect, int form) {
  Calendar c = calendar(day);
  std::string_view month = kMonths[c.month - 1];
  if (dialect == Dialect::british) {
    if (form == 0) return fmt::format("{} {} {}", c.day, month, c.year);
    if (form == 1) return fmt::format("{:02}/{:02}/{}", c.day, c.month, c.year);
    return fmt::format("{} {} {:02}", c.day, month.substr(0, 3), c.year % 100);
  }
  if (dialect == Dialect::american) {
    if (form == 0) return fmt::format("{} {}, {}", month, c.day, c.year);
    if (form == 1) return fmt::format("{:02}/{:02}/{}", c.month, c.day, c.year);
    return fmt::format("{}/{}/{:02}", c.month, c.day, c.year % 100);
  }
  if (form == 0) return fmt::format("{} of {} of {}", c.day, month, c.year);
  if (form == 1) return fmt::format("{:02}-{:02}-{}", c.day, c.month, c.year);
  return fmt::format("{:02}.{:02}.{:02}", c.day, c.month, c.year % 100);
}

void set_dates(Facts& facts, int today, RandomStream& random) {
  facts.today = today;
  int left = today - static_cast<int>(random.below(4)), came = left - 1 - static_cast<int>(random.below(16));
  int between = came + static_cast<int>(random.below(left - came));
  auto set = [&](const char* slot, int day) {
    facts.fixed[slot] = written_date(day, facts.dialect, static_cast<int>(random.below(3)));
  };
  set("today", today);
  set("discharge", left);
  set("admit", came);
  set("prior", between);
}

std::string tidied(std::string_view text, bool capital) {
  std::string out;
  out.reserve(text.size());
  for (char c : text) {
    bool after_space = !out.empty() && out.back() == ' ';
    if (c == ' ' && (out.empty() || after_space || out.back() == '\n')) continue;
    if ((c == '.' || c == ',' || c == ';' || c == ':') && after_space) out.pop_back();
    if (c == '.' && !out.empty() && out.back() == '.') continue;
    if (c == '8' && out.ends_with(" a ")) out.insert(out.size() - 1, "n");
    out += c;
  }
  while (!out.empty() && out.back() == ' ') out.pop_back();
  if (capital && !out.empty()) out[0] = upper(out[0]);
  for (std::size_t i = 0; i + 2 < out.size(); ++i)
    if ((out[i] == '.' || out[i] == '?') && out[i + 1] == ' ' && capital) out[i + 2] = upper(out[i + 2]);
  return out;
}

Grammar::Grammar() {
  for (auto tables :
       {people_tables(), medicine_tables(), imaging_tables(), narrative_tables(), medication_tables(), billing_tables(),
        intent_tables(), unfamiliar_intent_tables(), mention_tables(), unrelated_tables()})
    for (const Table& table : tables)
      check(tables_.emplace(table.slot, table.phrases).second, "clinical grammar: two tables named {}", table.slot);
}

std::string Grammar::make(std::string_view production, const Facts& facts, RandomStream& random) const {
  std::string out;
  expand(production, facts, random, out);
  return out;
}

std::span<const std::string_view> Grammar::phrases(std::string_view table) const {
  auto found = tables_.find(table);
  check(found != tables_.end(), "clinical grammar: no table or fact named \"{}\"", table);
  return found->second;
}

std::string Grammar::pick(std::string_view table, RandomStream& random) const {
  std::span<const std::string_view> all = phrases(table);
  return std::string(all[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(all.size())))]);
}

std::string Grammar::sentence(std::string_view table, const Facts& facts, RandomStream& random) const {
  return tidied(make(pick(table, random), facts, random), true);
}

void Grammar::expand(std::string_view text, const Facts& facts, RandomStream& random, std::string& out) const {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '[') {
      std::size_t end = closing(text, i);
      // The alternatives are counted, one is drawn, and only that one is expanded.
      std::int64_t count = 1;
      int depth = 0;
      for (std::size_t j = i; j < end; ++j) {
        depth += text[j] == '[' ? 1 : text[j] == ']' ? -1 : 0;
        if (text[j] == '|' && depth == 1) ++count;
      }
      std::int64_t chosen = random.below(count), at = 0;
      std::size_t begin = i + 1;
      depth = 1;
      for (std::size_t j = i + 1; j <= end; ++j) {
        if ((text[j] == '|' && depth == 1) || j == end) {
          if (at++ == chosen) expand(text.substr(begin, j - begin), facts, random, out);
          begin = j + 1;
        }
        depth += text[j] == '[' ? 1 : text[j] == ']' ? -1 : 0;
      }
      i = end;
    } else if (text[i] == '{') {
      std::size_t end = text.find('}', i);
      check(end != std::string_view::npos, "clinical grammar: a slot is not closed in \"{}\"", text);
      expand_slot(text.substr(i + 1, end - i - 1), facts, random, out);
      i = end;
    } else {
      out += text[i];
    }
  }
}

void Grammar::expand_slot(std::string_view slot, const Facts& facts, RandomStream& random, std::string& out) const {
  std::size_t dash = slot.find('-');
  if (slot[0] == '#' || slot[0] == '.') {
    check(dash != std::string_view::npos, "clinical grammar: a range \"{}\" needs a dash", slot);
    int low = whole(slot.substr(1, dash - 1)), high = whole(slot.substr(dash + 1));
    int value = low + static_cast<int>(random.below(high - low + 1));
    if (slot[0] == '#')
      out += std::to_string(value);
    else
      out += std::to_string(value / 10) + "." + std::to_string(value % 10);
    return;
  }
  std::size_t begin = out.size();
  std::string name(slot[0] == '@' ? slot.substr(1) : slot);
  bool capital = name[0] != lower(name[0]);
  name[0] = lower(name[0]);
  if (slot[0] == '@') name += "_" + std::string(facts.condition->region);
  if (auto fixed = facts.fixed.find(name); fixed != facts.fixed.end()) {
    out += fixed->second;
  } else if (!expand_special(name, facts, random, out)) {
    expand(pick(name, random), facts, random, out);
  }
  if (capital && begin < out.size()) out[begin] = upper(out[begin]);
}

// Slots that are neither a fact nor a table: dates near the document's, money, numbers that name things. Each draw is a
// statement of its own: compilers differ in the order in which they evaluate arguments.
bool Grammar::expand_special(std::string_view slot, const Facts& facts, RandomStream& random, std::string& out) const {
  auto number = [&](int low, int high) { return low + static_cast<int>(random.below(high - low + 1)); };
  auto date = [&](int day) { out += written_date(day, facts.dialect, number(0, 2)); };
  auto digits = [&](int low, int high, int width) { out += fmt::format("{:0{}}", number(low, high), width); };
  auto letter = [&] { out += static_cast<char>('A' + number(0, 25)); };
  if (slot == "someday") {
    int day = facts.today - number(3, 500);
    date(day);
  } else if (slot == "later") {
    int day = facts.today + number(3, 120);
    date(day);
  } else if (slot == "printed") {
    int day = facts.today + number(0, 4);
    date(day);
    out += ' ';
    digits(7, 19, 1), out += ':', digits(0, 59, 2);
  } else if (slot == "month") {
    out += kMonths[number(0, 11)];
  } else if (slot == "time") {
    int hour = number(0, 23), fives = number(0, 11);
    out += fmt::format("{:02}:{:02}", hour, fives * 5);
  } else if (slot == "money" || slot == "fee") {
    out += currency(facts.dialect);
    bool small = slot == "fee";
    digits(small ? 1 : 12, small ? 29 : 4200, 1), out += '.', digits(0, 99, 2);
  } else if (slot == "reference") {
    letter(), letter(), digits(100000, 999999, 6);
  } else if (slot == "code") {
    letter(), digits(10, 99, 2), out += '.', digits(0, 9, 1);
  } else if (slot == "phone") {
    digits(200, 989, 3), out += '-', digits(100, 999, 3), out += '-', digits(0, 9999, 4);
  } else if (slot == "initials") {
    letter(), letter();
  } else if (slot == "other_problem") {
    out += conditions()[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(conditions().size())))].problem;
  } else {
    return false;
  }
  return true;
}

}  // namespace attune::clinical
