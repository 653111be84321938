#include "attune/workflows/clinical_example/compose.h"

#include <algorithm>
#include <array>

#include "attune/base/error.h"

namespace attune::clinical {
namespace {

using std::string;
using std::string_view;

struct Part {
  string section, heading;
};

std::vector<string> split(string_view text, char at) {
  std::vector<string> out(1);
  for (char c : text) {
    if (c == at)
      out.emplace_back();
    else if (c != ' ' || !out.back().empty())
      out.back() += c;
  }
  return out;
}

bool chance(RandomStream& random, int percent) { return random.below(100) < percent; }

string heading_line(HeadingStyle style, const string& heading, int number) {
  if (heading.empty()) return "";
  string upper = heading;
  for (char& c : upper)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  switch (style) {
    case HeadingStyle::capitals:
      return upper + "\n";
    case HeadingStyle::colon:
      return heading + ":\n";
    case HeadingStyle::inline_colon:
      return heading + ": ";
    case HeadingStyle::numbered:
      return fmt::format("{}. {}\n", number, heading);
    case HeadingStyle::underlined:
      return heading + "\n" + string(heading.size(), '-') + "\n";
    case HeadingStyle::starred:
      return "** " + heading + " **\n";
    case HeadingStyle::none:
      return "";
  }
  return "";
}

// Every line with a mark before it.
string with_prefix(string_view text, string_view mark) {
  string out(mark);
  for (char c : text) {
    out += c;
    if (c == '\n') out += mark;
  }
  return out;
}

// Sections that are lists, one item a line.
bool is_list(string_view section) {
  constexpr std::array<string_view, 5> lists = {"medicine_line", "medicine_change", "administration", "charge_line",
                                                "nursing"};
  return std::find(lists.begin(), lists.end(), section) != lists.end();
}

class Writer {
 public:
  Writer(const Order& order, const Grammar& grammar, const Facts& facts, RandomStream& random)
      : order_(order), family_(*order.family), grammar_(grammar), facts_(facts), random_(random) {}

  Content write();

 private:
  string sentence(const string& table, const Facts& facts) { return grammar_.sentence(table, facts, random_); }
  string act(string_view which, Category category, const Family& family, const Facts& facts);
  string mention();
  string passage(const string& section, int tokens, const Facts& facts);
  std::vector<Part> parts_of(const Family& family, Category category, int wanted);
  string foreign(int tokens);
  std::vector<string> quotations(int budget);
  std::vector<string> own_sections(int budget);
  void lengthen(int missing, std::vector<string>& quoted);
  void arrange(string opening, string closing, const std::vector<string>& quoted, std::vector<string>& sections);
  Category other_category();

  const Order& order_;
  const Family& family_;
  const Grammar& grammar_;
  const Facts& facts_;
  RandomStream& random_;
};

// An opening or closing sentence. Unfamiliar templates say it in other words in one of four cases.
string Writer::act(string_view which, Category category, const Family& family, const Facts& facts) {
  string table = string(which) + "_" + string(label(category));
  if (family.unfamiliar && chance(random_, 25)) table = "new_" + table;
  return sentence(table, facts);
}

Category Writer::other_category() {
  auto drawn = static_cast<int>(random_.below(kCategories - 1));
  return static_cast<Category>(drawn + (drawn >= static_cast<int>(order_.category)));
}

string Writer::mention() { return sentence("mention_" + string(label(other_category())), facts_); }

// How the pictures of a study are made: the kind of study that its name begins with.
string technique(string_view study) {
  if (study.starts_with("CT")) return "technique_ct";
  if (study.starts_with("MRI")) return "technique_mri";
  return study.find("radiograph") != string_view::npos ? "technique_film" : "technique_sound";
}

// How many sentences a section has room for: nobody writes ten lines of technique.
int most_sentences(string_view section) {
  if (section == "comparison") return 1;
  if (section == "technique" || section == "indication") return 2;
  if (section == "impression" || section == "examination" || section == "cover_note" || section == "appointment")
    return 3;
  if (section == "laboratory") return 5;
  return 40;
}

// Sentences or lines of one section, at least one, until `tokens` are reached. Each way of saying comes once before one
// comes again, and no list has a drug or a charge twice.
string Writer::passage(const string& section, int tokens, const Facts& facts) {
  std::span<const string_view> phrases =
      grammar_.phrases(section == "technique" ? technique(facts.condition->study) : section);
  bool list = is_list(section);
  string out, mark = list ? grammar_.pick("bullet", random_) : "";
  std::vector<string> begun;
  std::vector<std::size_t> order;
  int have = 0, room = most_sentences(section);
  for (int tries = 0; tries < 8 + tokens / 6 && room > 0 && (have == 0 || have < tokens); ++tries) {
    if (order.empty()) {
      for (std::size_t i = 0; i < phrases.size(); ++i) order.push_back(i);
      random_.shuffle(order);
    }
    string next = tidied(grammar_.make(phrases[order.back()], facts, random_), true);
    order.pop_back();
    string start = next.substr(0, list ? std::min<std::size_t>(next.find(' '), 9) : 40);
    if (std::find(begun.begin(), begun.end(), start) != begun.end()) continue;
    begun.push_back(start);
    --room;
    if (!list && chance(random_, 6)) next += " " + mention();
    have += rough_tokens(next);
    if (!out.empty()) out += list || chance(random_, 12) ? "\n" : " ";
    out += mark + next;
  }
  return out;
}

// The family's parts in their order, or for a shared family a draw of the category's sections under headings that say
// nothing.
std::vector<Part> Writer::parts_of(const Family& family, Category category, int wanted) {
  std::vector<Part> parts;
  if (family.category != Category::none) {
    for (const string& item : split(family.parts, ';')) {
      std::size_t colon = item.find(':');
      parts.push_back({item.substr(0, colon), item.substr(colon + 1)});
    }
    while (static_cast<int>(parts.size()) > wanted)
      parts.erase(parts.begin() + random_.below(static_cast<std::int64_t>(parts.size())));
    return parts;
  }
  std::vector<string> headings = split(family.parts, '|');
  std::vector<std::pair<string, int>> sections;
  for (const string& item : split(shared_sections(category), ' ')) {
    std::size_t colon = item.find(':');
    sections.emplace_back(item.substr(0, colon), item[colon + 1] - '0');
  }
  while (static_cast<int>(parts.size()) < wanted && !sections.empty()) {
    int total = 0;
    for (auto& s : sections) total += s.second;
    auto drawn = static_cast<int>(random_.below(total));
    std::size_t i = 0;
    while (drawn >= sections[i].second) drawn -= sections[i++].second;
    parts.push_back({sections[i].first, headings[std::min(parts.size(), headings.size() - 1)]});
    sections.erase(sections.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return parts;
}

// A passage of another document: copied forward from the patient's own, or quoted with its headings and its act.
string Writer::foreign(int tokens) {
  const bool unfamiliar = family_.unfamiliar;
  Facts then = facts_;
  set_dates(then, facts_.today - 20 - static_cast<int>(random_.below(500)), random_);
  then.fixed["someday"] = then.fixed["today"];
  string begin = sentence(unfamiliar && chance(random_, 40) ? "new_quote_begin" : "quote_begin", then) + "\n", out;
  then.fixed.erase("someday");
  if (!order_.earlier.empty() && chance(random_, 40)) {
    out += order_.earlier[static_cast<std::size_t>(random_.below(static_cast<std::int64_t>(order_.earlier.size())))];
  } else {
    Category category = other_category();
    std::vector<const Family*> possible;
    for (const Family& f : families())
      if (f.category == category && (unfamiliar || !f.unfamiliar)) possible.push_back(&f);
    const Family& family =
        *possible[static_cast<std::size_t>(random_.below(static_cast<std::int64_t>(possible.size())))];
    if (chance(random_, 50)) out += tidied(grammar_.make(family.titles, then, random_), false) + "\n";
    out += act("open", category, family, then);
    std::vector<Part> parts = parts_of(family, category, 1 + std::min(3, tokens / 90));
    int each = std::max(15, tokens / static_cast<int>(parts.size()) - 20), number = 0;
    for (const Part& part : parts)
      out += "\n" + heading_line(family.heading, part.heading, ++number) + passage(part.section, each, then);
    if (chance(random_, 60)) out += "\n" + act("close", category, family, then);
  }
  // Marked at every line as mail programs do, or from a line that opens to, mostly, one that closes.
  if (chance(random_, 50)) return begin + with_prefix(out, chance(random_, 70) ? "> " : "| ");
  if (chance(random_, 85)) out += "\n" + sentence("quote_end", then);
  return begin + out;
}

// How much of the document is another's: nothing, or a fifth to a half.
std::vector<string> Writer::quotations(int budget) {
  std::vector<string> quoted;
  int percent = (order_.tokens < 90 ? 10 : order_.tokens < 400 ? 27 : 48) + (family_.unfamiliar ? 14 : 0);
  if (!chance(random_, percent)) return quoted;
  int share = budget * static_cast<int>(20 + random_.below(33)) / 100, pieces = 1 + share / 700;
  for (int i = 0; i < pieces; ++i) quoted.push_back(foreign(share / pieces));
  return quoted;
}

std::vector<string> Writer::own_sections(int budget) {
  std::vector<string> sections;
  std::vector<Part> parts = parts_of(family_, order_.category, std::clamp(1 + budget / 55, 1, 8));
  int each = std::max(12, budget / static_cast<int>(parts.size()) - 4), number = 0;
  for (const Part& part : parts)
    sections.push_back(heading_line(family_.heading, part.heading, ++number) +
                       passage(part.section, std::min(each, is_list(part.section) ? 260 : 420), facts_));
  return sections;
}

// A long file goes on with entries of other days, its own and others', until it is as long as it should be.
void Writer::lengthen(int missing, std::vector<string>& quoted) {
  constexpr std::array<const char*, 4> more = {"nursing", "history", "course", "chitchat"};
  while (missing > 150) {
    quoted.push_back(chance(random_, 55)
                         ? foreign(std::min(500, missing))
                         : passage(more[static_cast<std::size_t>(random_.below(4))], std::min(300, missing), facts_));
    missing -= rough_tokens(quoted.back());
  }
}

// Where the act stands: mostly first; below a quotation now and then; in long files sometimes far below.
void Writer::arrange(string opening, string closing, const std::vector<string>& quoted, std::vector<string>& sections) {
  bool late = order_.tokens > 600 && chance(random_, 35);  // then the evidence may lie beyond the first 512 tokens
  bool below = late || (!quoted.empty() && chance(random_, family_.unfamiliar ? 30 : 18));
  auto first = sections.begin();
  if (late) {
    sections.push_back(std::move(opening));
  } else {
    first = sections.insert(first, std::move(opening));
  }
  auto at = sections.begin() + (below ? 0 : 1 + random_.below(static_cast<std::int64_t>(sections.size())));
  sections.insert(at, quoted.begin(), quoted.end());
  if (!closing.empty()) sections.push_back(std::move(closing));
}

Content Writer::write() {
  Content content;
  content.brief = order_.tokens < 60;
  if (!chance(random_, content.brief ? 50 : 25))
    content.title = tidied(grammar_.make(family_.titles, facts_, random_), false);
  string opening = act("open", order_.category, family_, facts_), closing;
  if (order_.tokens > 120 && chance(random_, 35)) opening += " " + act("open", order_.category, family_, facts_);
  // Some papers do two things: the category is the one that they begin with.
  string second = order_.tokens > 120 && chance(random_, 5) ? act("open", other_category(), family_, facts_) : "";
  if (chance(random_, order_.tokens < 70 ? 40 : 75)) closing = act("close", order_.category, family_, facts_);
  int budget = order_.tokens - rough_tokens(opening) - rough_tokens(closing);
  std::vector<string> quoted = quotations(budget);
  for (const string& one : quoted) budget -= rough_tokens(one);
  content.own = own_sections(budget);
  content.sections = content.own;
  for (const string& one : content.own) budget -= rough_tokens(one);
  lengthen(budget, quoted);
  if (chance(random_, family_.unfamiliar ? 45 : 30))
    content.sections.back() += (family_.heading == HeadingStyle::none ? "\n\n" : "\n") + mention();
  if (!second.empty()) content.sections.push_back(std::move(second));
  arrange(std::move(opening), std::move(closing), quoted, content.sections);
  return content;
}

}  // namespace

int rough_tokens(string_view text) {
  int count = 0, run = 0;
  for (char c : text) {
    bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (word && run++ % 7 == 0) ++count;
    if (!word) run = 0, count += c != ' ' && c != '\n';
  }
  return count;
}

Content compose(const Order& order, const Grammar& grammar, const Facts& facts, RandomStream& random) {
  return Writer(order, grammar, facts, random).write();
}

Content compose_unrelated(string_view kind, int tokens, const Grammar& grammar, const Facts& facts,
                          RandomStream& random) {
  Content content;
  string table(kind);
  content.title = grammar.sentence("title_" + table, facts, random);
  string body;
  for (int have = 0, tries = 0; have < tokens && tries < tokens; ++tries) {
    string next = grammar.sentence(table, facts, random);
    if (body.find(next) != string::npos) continue;
    have += rough_tokens(next);
    body += (body.empty() ? "" : "\n") + next;
  }
  content.sections.push_back(std::move(body));
  return content;
}

}  // namespace attune::clinical
