#include "attune/workflows/clinical_example/surface.h"

#include <unordered_map>

namespace attune::clinical {
namespace {

struct Spelling {
  std::string_view british, american, spanish;  // an empty one: as in British
};

// What others write for a word or a pair of words. The Spanish-influenced forms are calques that clinicians do write.
constexpr Spelling kSpellings[] = {{"haemoglobin", "hemoglobin", "hemoglobin"},
                                   {"anaemia", "anemia", "anemia"},
                                   {"haematology", "hematology", "hematology"},
                                   {"orthopaedics", "orthopedics", "traumatology"},
                                   {"ischaemic", "ischemic", "ischemic"},
                                   {"oedema", "edema", "edema"},
                                   {"haemorrhage", "hemorrhage", "hemorrhage"},
                                   {"haematoma", "hematoma", "hematoma"},
                                   {"paracetamol", "acetaminophen", "paracetamol"},
                                   {"salbutamol", "albuterol", "salbutamol"},
                                   {"furosemide", "furosemide", "furosemid"},
                                   {"radiograph", "x-ray", "radiography"},
                                   {"ultrasound", "ultrasound", "echography"},
                                   {"theatre", "operating room", "operating theater"},
                                   {"casualty", "the ED", "urgencies"},
                                   {"surgery's", "office's", "health center's"},
                                   {"colour", "color", "color"},
                                   {"tumour", "tumor", "tumor"},
                                   {"litre", "liter", "liter"},
                                   {"litres", "liters", "liters"},
                                   {"authorisation", "authorization", "authorization"},
                                   {"cheque", "check", "cheque"},
                                   {"registrar", "fellow", "adjunct"},
                                   {"consultant", "attending", "head physician"},
                                   {"gp", "PCP", "family doctor"},
                                   {"admitted", "admitted", "ingressed"},
                                   {"admission", "admission", "ingress"},
                                   {"discharged", "discharged", "given of high"},
                                   {"symptoms", "symptoms", "symptomatology"},
                                   {"complaint", "complaint", "motive of consultation"},
                                   {"blood tests", "labs", "analytics"},
                                   {"bloods", "labs", "the analytic"},
                                   {"vomiting", "vomiting", "vomits"},
                                   {"breathlessness", "shortness of breath", "dyspnea"},
                                   {"fever", "fever", "febrile picture"},
                                   {"family", "family", "familiars"},
                                   {"currently", "currently", "actually"},
                                   {"background", "background", "antecedents"},
                                   {"past history", "past medical history", "personal antecedents"},
                                   {"course", "course", "evolution"},
                                   {"recovery", "recovery", "evolution"},
                                   {"uneventful", "uneventful", "without incidences"},
                                   {"operation", "surgery", "intervention"},
                                   {"drip", "IV", "serum"},
                                   {"tablets", "pills", "tablets"},
                                   {"chart", "chart", "sheet"},
                                   {"appointment", "appointment", "citation"},
                                   {"follow-up", "follow-up", "control"},
                                   {"advised", "advised", "recommended"},
                                   {"diagnosis", "diagnosis", "diagnostic"},
                                   {"medicines", "medications", "medications"},
                                   {"surname", "last name", "first surname"},
                                   {"post-operative", "postoperative", "postoperatory"},
                                   {"physiotherapist", "physical therapist", "rehabilitator"},
                                   {"physiotherapy", "physical therapy", "rehabilitation"},
                                   {"ward", "floor", "plant"},
                                   {"post", "mail", "post"},
                                   {"rung", "called", "called"},
                                   {"co-amoxiclav", "amoxicillin-clavulanate", "amoxicillin-clavulanic"},
                                   {"whilst", "while", "while"},
                                   {"every 8", "every 8", "each 8"},
                                   {"every 12", "every 12", "each 12"},
                                   {"every 6", "every 6", "each 6"},
                                   {"invoice", "invoice", "factura"},
                                   {"gallstones", "gallstones", "cholelithiasis"},
                                   {"kidneys", "kidneys", "kidneys"},
                                   {"heart failure", "heart failure", "cardiac insufficiency"},
                                   {"on examination", "on exam", "at exploration"},
                                   {"afebrile", "afebrile", "without fever"},
                                   {"pain", "pain", "pain"},
                                   {"hospital", "hospital", "hospital center"}};

struct Abbreviation {
  std::string_view full, brief;
};
constexpr Abbreviation kAbbreviations[] = {{"patient", "pt"},
                                           {"history", "hx"},
                                           {"with", "w/"},
                                           {"without", "w/o"},
                                           {"twice daily", "bd"},
                                           {"once daily", "od"},
                                           {"three times", "tds"},
                                           {"at night", "nocte"},
                                           {"as needed", "prn"},
                                           {"every 8", "q8"},
                                           {"every 6", "q6"},
                                           {"every 12", "q12"},
                                           {"diagnosis", "dx"},
                                           {"treatment", "tx"},
                                           {"treated", "tx'd"},
                                           {"fracture", "#"},
                                           {"blood pressure", "BP"},
                                           {"pulse", "HR"},
                                           {"temperature", "T"},
                                           {"respiratory rate", "RR"},
                                           {"saturations", "sats"},
                                           {"hypertension", "HTN"},
                                           {"type 2", "T2"},
                                           {"atrial fibrillation", "AF"},
                                           {"heart failure", "HF"},
                                           {"chest pain", "CP"},
                                           {"year old", "yo"},
                                           {"weeks", "wks"},
                                           {"months", "mths"},
                                           {"right", "R"},
                                           {"left", "L"},
                                           {"appointment", "appt"},
                                           {"department", "dept"},
                                           {"follow-up", "f/u"},
                                           {"discharge", "d/c"},
                                           {"discharged", "d/c'd"},
                                           {"admitted", "adm"},
                                           {"examination", "o/e"},
                                           {"medicines", "meds"},
                                           {"prescription", "Rx"},
                                           {"because of", "d/t"},
                                           {"daily", "dly"},
                                           {"approximately", "approx"},
                                           {"physiotherapist", "PT"},
                                           {"myocardial infarction", "MI"},
                                           {"pulmonary embolism", "PE"},
                                           {"deep vein", "DV"},
                                           {"chronic kidney", "CK"},
                                           {"bilateral", "bilat"},
                                           {"radiograph", "XR"},
                                           {"ultrasound", "US"},
                                           {"haemoglobin", "Hb"},
                                           {"creatinine", "Cr"},
                                           {"potassium", "K"},
                                           {"sodium", "Na"},
                                           {"please", "pls"},
                                           {"amount", "amt"},
                                           {"referred", "ref'd"},
                                           {"between", "betw"},
                                           {"operation", "op"},
                                           {"infection", "infn"},
                                           {"review", "r/v"},
                                           {"tablets", "tabs"},
                                           {"hours", "hrs"},
                                           {"number", "no."}};

bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool of_word(char c) { return letter(c) || (c >= '0' && c <= '9') || c == '\'' || c == '-'; }
char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }
std::string lowered(std::string_view word) {
  std::string out(word);
  for (char& c : out)
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  return out;
}

// Words that have another form, by their British spelling; `longest` words are tried first.
struct Lexicon {
  std::unordered_map<std::string_view, const Spelling*> spellings;
  std::unordered_map<std::string_view, std::string_view> abbreviations;
  Lexicon() {
    for (const Spelling& s : kSpellings) spellings.emplace(s.british, &s);
    for (const Abbreviation& a : kAbbreviations) abbreviations.emplace(a.full, a.brief);
  }
};

const Lexicon& lexicon() {
  static const Lexicon all;
  return all;
}

std::string misspelt(std::string word, RandomStream& random) {
  std::size_t at = 1 + static_cast<std::size_t>(random.below(static_cast<std::int64_t>(word.size()) - 2));
  switch (random.below(4)) {
    case 0:
      std::swap(word[at], word[at + 1]);
      break;
    case 1:
      word.erase(at, 1);
      break;
    case 2:
      word.insert(at, 1, word[at]);
      break;
    default:
      word[at] = "aeioustrnl"[random.below(10)];
  }
  return word;
}

// `to` with the capitals that `from` has.
std::string cased(std::string_view from, std::string_view to) {
  std::string out(to);
  bool all = from.size() > 1;
  for (char c : from) all = all && (!letter(c) || c == upper(c));
  if (all)
    for (char& c : out) c = upper(c);
  else if (from[0] == upper(from[0]))
    out[0] = upper(out[0]);
  return out;
}

// The form in this hand of one word or pair, or nothing where it stays.
std::string other_form(std::string_view original, const std::string& key, const Hand& hand, RandomStream& random) {
  const Lexicon& known = lexicon();
  if (auto brief = known.abbreviations.find(key);
      brief != known.abbreviations.end() && random.below(100) < hand.abbreviations)
    return std::string(brief->second);
  if (hand.dialect == Dialect::british) return {};
  auto found = known.spellings.find(key);
  if (found == known.spellings.end()) return {};
  bool american = hand.dialect == Dialect::american;
  std::string_view form = american ? found->second->american : found->second->spanish;
  if (form.empty() || form == key || random.below(100) >= (american ? 95 : 60)) return {};
  return cased(original, form);
}

}  // namespace

std::string in_hand(std::string_view text, const Hand& hand, RandomStream& random) {
  std::string out;
  out.reserve(text.size() + text.size() / 8);
  auto end_of_word = [&](std::size_t i) {
    while (i < text.size() && of_word(text[i])) ++i;
    return i;
  };
  for (std::size_t i = 0; i < text.size();) {
    if (!of_word(text[i])) {
      out += text[i++];
      continue;
    }
    std::size_t end = end_of_word(i);
    std::string_view word = text.substr(i, end - i);
    if (end < text.size() && text[end] == ' ') {
      std::size_t second = end_of_word(end + 1);
      std::string_view pair = text.substr(i, second - i);
      if (std::string form = other_form(pair, lowered(pair), hand, random); !form.empty()) {
        out += form;
        i = second;
        continue;
      }
    }
    std::string form = other_form(word, lowered(word), hand, random);
    if (form.empty()) form = word;
    bool plain = form.size() >= 5;
    for (char c : form) plain = plain && letter(c);
    if (plain && random.below(1000) < hand.misspellings) form = misspelt(std::move(form), random);
    out += form;
    i = end;
  }
  return out;
}

}  // namespace attune::clinical
