#include "attune/workflows/clinical_example/compose.h"

namespace attune::clinical {
namespace {

using std::string;

bool chance(RandomStream& random, int percent) { return random.below(100) < percent; }

// Lines about the patient as a form's fields, some of them.
string fields(const Grammar& grammar, const Facts& facts, RandomStream& random, std::string_view between) {
  constexpr std::string_view lines[] = {"[Patient|Name]: {fullname}",
                                        "[DOB|Date of birth|Born]: {born}",
                                        "[MRN|Record no|Hospital no|NHC]: {record}",
                                        "[Date|Dated]: {today}",
                                        "[Age/sex|Age]: {age}[ {sex}|]",
                                        "[GP|PCP|Family doctor]: {pcp}",
                                        "[Ward|Location]: {ward}",
                                        "[Address]: {address}"};
  string out;
  for (std::string_view line : lines) {
    if (!out.empty() && chance(random, 35)) continue;
    if (!out.empty()) out += between;
    out += tidied(grammar.make(line, facts, random), false);
  }
  return out;
}

// Each piece is drawn in a statement of its own: compilers differ in the order in which they evaluate operands.
string header(Page page, const string& title, const Grammar& grammar, const Facts& facts, RandomStream& random) {
  string out;
  auto add = [&](std::string_view production) { out += tidied(grammar.make(production, facts, random), false); };
  auto perhaps = [&](std::string_view production) {
    if (chance(random, 50)) add(production);
  };
  const string head = title.empty() ? "" : title + "\n";
  switch (page) {
    case Page::letter: {
      add("{hospital}[, {address}|]\n[{today}|Date: {today}]\n");
      perhaps("[Re|Concerning|Patient]: {fullname}[, born {born}|][, record {record}|][, {address}|]\n");
      bool title_first = chance(random, 50);
      if (title_first) out += head;
      add("\n{salutation}\n");
      if (!title_first) out += head;
      break;
    }
    case Page::form:
      out += head;
      add("{hospital}\n");
      out += fields(grammar, facts, random, "\n") + "\n";
      break;
    case Page::email:
      add("From: {doctor}, {hospital}\nTo: {pcp}\nDate: {today} {time}\n");
      if (!title.empty()) out += "Subject: " + head;
      perhaps("\n{salutation}\n");
      break;
    case Page::fax:
      add("FAX {hospital} {phone}\nTo: {pcp} From: {doctor} Pages: {#1-9}\nDate {today} {time}\n");
      out += head;
      perhaps("Patient {fullname} {born} {record}\n");
      break;
    case Page::note:
      add("{today} {time} [{ward}|{hospital}|] {doctor}\n");
      out += head;
      perhaps("{fullname}, {record}\n");
      break;
    case Page::table:
      out += head + fields(grammar, facts, random, " | ") + "\n";
      break;
  }
  return out;
}

}  // namespace

string lay_out(const Content& content, Page page, const Grammar& grammar, const Facts& facts, RandomStream& random) {
  string out = content.brief ? content.title + "\n" +
                                   tidied(grammar.make("{today} {fullname}[, {record}|]", facts, random), false)
                             : header(page, content.title, grammar, facts, random);
  for (const string& section : content.sections) {
    if (section.empty()) continue;
    out += page == Page::note || chance(random, 30) ? "\n" : "\n\n";
    out += section;
  }
  if (content.brief) return out;
  bool signs = page == Page::letter || page == Page::email || chance(random, 25);
  if (signs) out += "\n\n" + tidied(grammar.make("{valediction}", facts, random), false);
  int footers = static_cast<int>(random.below(page == Page::letter || page == Page::fax ? 3 : 2));
  for (int i = 0; i < footers; ++i) out += "\n" + tidied(grammar.make("{footer}", facts, random), false);
  return out;
}

}  // namespace attune::clinical
