#include <algorithm>
#include <array>
#include <map>

#include "attune/base/error.h"
#include "attune/workflows/clinical_example/clinical_example.h"
#include "attune/workflows/clinical_example/compose.h"
#include "attune/workflows/clinical_example/surface.h"

namespace attune {
namespace clinical {
namespace {

using std::string;

constexpr int kPatients = 900;
constexpr int kReservedPatients = 140;  // seen at the unfamiliar source alone
constexpr int kDocuments = 2640;        // familiar, of a category
constexpr int kReservedDocuments = 420;
constexpr int kResent = 30;   // sent again with a remark
constexpr int kMisfiled = 8;  // sent again under another patient's number
constexpr int kUnrelated = 90;
constexpr int kReservedUnrelated = 40;
constexpr int kFirstDay = 18993, kDays = 1100;  // from 2022-01-01

struct Source {
  std::string_view name, hospital;
  std::array<int, 3> dialects;  // per cent: British, American, Spanish-influenced
};
// The last is the unfamiliar one.
constexpr Source kSources[] = {
    {"aldermoor", "Aldermoor Royal Infirmary", {90, 4, 6}}, {"harrow-vale", "Harrow Vale Hospital", {88, 8, 4}},
    {"thornbury", "Thornbury Health Centre", {92, 3, 5}},   {"lakeview", "Lakeview General Hospital", {4, 90, 6}},
    {"pinewood", "Pinewood Medical Center", {5, 86, 9}},    {"cedar-falls", "Cedar Falls Clinic", {6, 88, 6}},
    {"santa-elvira", "Hospital Santa Elvira", {6, 14, 80}}, {"northgate", "Northgate Care Network", {40, 36, 24}}};
constexpr int kFamiliarSources = 7;

constexpr std::string_view kKinds[] = {"menu",   "it_notice",        "rota",    "minutes", "newsletter",
                                       "survey", "study_invitation", "parking", "vacancy", "works_order"};
constexpr int kFamiliarKinds = 7;

// Lengths to aim at, at the quantiles 0, 1/32, ..., 1: near a log-normal distribution with median 200 and deviation 0.9
// of the logarithm. Letterheads come on top. A table, because the last bits of exp() differ between machines.
constexpr int kLengths[] = {18,  30,  42,  52,  62,  72,  82,  92,  103, 113, 124, 135, 147, 159, 172,  185, 199,
                            214, 230, 248, 268, 290, 315, 344, 377, 416, 464, 527, 610, 730, 920, 1260, 5400};

struct Patient {
  string id;
  bool man = false;
  int born = 0;
  string first, last, record, address;
  std::array<int, 2> sources{};
  std::vector<const Condition*> problems;
  std::vector<string> earlier;
};

int length(RandomStream& random) {
  auto step = static_cast<int>(random.below(32)), within = static_cast<int>(random.below(1000));
  int low = kLengths[step], high = kLengths[step + 1];
  if (step == 31)
    return low + static_cast<int>(static_cast<std::int64_t>(high - low) * within / 1000 * within / 1000 * within /
                                  1000);  // the thin upper tail
  return low + (high - low) * within / 1000;
}

template <class Items>
auto one_of(const Items& items, RandomStream& random) {
  return items[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(std::size(items))))];
}

class Corpus {
 public:
  explicit Corpus(std::uint64_t seed) : key_{seed, 0, 0}, plan_(key_.at("plan")) {}
  std::vector<Document> write();

 private:
  void make_patients();
  void plan_documents(bool reserved, int count);
  void plan_unrelated(bool reserved, int count);
  const Family& family_for(Category category, bool reserved, int source, RandomStream& random);
  Facts facts_for(const Patient& patient, int source, int day, RandomStream& random);
  Hand hand_for(Page page, Dialect dialect, RandomStream& random);
  void write_planned(std::vector<Document>& documents);
  void send_again(std::vector<Document>& documents);
  Document document(string id, string text, int source, std::string_view family, const Facts& facts);

  struct Planned {
    int patient, day, source;
    Category category;
    std::string_view kind;  // of no category
    bool reserved;
  };

  RandomKey key_;
  RandomStream plan_;
  Grammar grammar_;
  std::vector<Patient> patients_;
  std::vector<Planned> planned_;
};

void Corpus::make_patients() {
  Facts nobody;
  for (int i = 0; i < kPatients; ++i) {
    Patient p;
    p.id = fmt::format("P{:06}", 100000 + plan_.below(900000));
    for (const Patient& other : patients_)
      if (other.id == p.id) p.id = fmt::format("P{:06}", i);  // below the drawn ones: no third patient can have it
    p.man = plan_.below(2) == 0;
    p.born = kFirstDay - 365 * 18 - static_cast<int>(plan_.below(365 * 74));
    p.first = grammar_.pick(p.man ? "his_name" : "her_name", plan_);
    p.last = grammar_.pick("surname", plan_);
    auto series = static_cast<char>('A' + plan_.below(26));
    p.record = fmt::format("{}{:07}", series, plan_.below(10000000));
    p.address = grammar_.make("{#1-240} {street}, {town}", nobody, plan_);
    bool reserved = i >= kPatients - kReservedPatients;
    for (int& s : p.sources) s = reserved ? kFamiliarSources : static_cast<int>(plan_.below(kFamiliarSources));
    for (int k = 0; k < 3; ++k)
      p.problems.push_back(
          &conditions()[static_cast<std::size_t>(plan_.below(static_cast<std::int64_t>(conditions().size())))]);
    patients_.push_back(std::move(p));
  }
}

// Some patients have many documents, most a few, each at least one.
void Corpus::plan_documents(bool reserved, int count) {
  int first = reserved ? kPatients - kReservedPatients : 0,
      number = reserved ? kReservedPatients : kPatients - kReservedPatients;
  constexpr int per_mille[] = {250, 230, 190, 180, 150};  // of the categories
  for (int i = 0; i < count; ++i) {
    int patient = first + (i < number ? i : static_cast<int>(std::min(plan_.below(number), plan_.below(number))));
    auto drawn = static_cast<int>(plan_.below(1000));
    int category = 0;
    while (drawn >= per_mille[category]) drawn -= per_mille[category++];
    int source = patients_[static_cast<std::size_t>(patient)].sources[plan_.below(4) == 0];
    planned_.push_back({patient, kFirstDay + static_cast<int>(plan_.below(kDays)), source,
                        static_cast<Category>(category), "", reserved});
  }
}

void Corpus::plan_unrelated(bool reserved, int count) {
  for (int i = 0; i < count; ++i) {
    int kind = reserved
                   ? kFamiliarKinds +
                         static_cast<int>(plan_.below(static_cast<std::int64_t>(std::size(kKinds)) - kFamiliarKinds))
                   : static_cast<int>(plan_.below(kFamiliarKinds));
    int source = reserved ? kFamiliarSources : static_cast<int>(plan_.below(kFamiliarSources));
    planned_.push_back(
        {-1, kFirstDay + static_cast<int>(plan_.below(kDays)), source, Category::none, kKinds[kind], reserved});
  }
}

// A source has about six of ten familiar templates. Three papers of five are shared ones.
const Family& Corpus::family_for(Category category, bool reserved, int source, RandomStream& random) {
  std::vector<const Family*> own, shared;
  int index = 0;
  for (const Family& family : families()) {
    bool used = reserved || (index * 7 + source * 3) % 10 < 6;
    ++index;
    if (family.unfamiliar != reserved || !used) continue;
    if (family.category == category) own.push_back(&family);
    if (family.category == Category::none) shared.push_back(&family);
  }
  bool plain = own.empty() || random.below(100) < (reserved ? 48 : 60);
  return *one_of(plain ? shared : own, random);
}

Facts Corpus::facts_for(const Patient& p, int source, int day, RandomStream& random) {
  Facts f;
  const Source& from = kSources[source];
  auto drawn = static_cast<int>(random.below(100));
  f.dialect = drawn < from.dialects[0]                      ? Dialect::british
              : drawn < from.dialects[0] + from.dialects[1] ? Dialect::american
                                                            : Dialect::spanish;
  f.condition =
      p.problems.empty()
          ? &conditions()[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(conditions().size())))]
          : one_of(p.problems, random);
  auto set = [&](std::string_view slot, string text) { f.fixed.emplace(slot, std::move(text)); };
  set_dates(f, day, random);
  set("born", written_date(p.born, f.dialect, static_cast<int>(random.below(3))));
  set("hospital", string(from.hospital));
  set("doctor", grammar_.make("[Dr|Dr|Dra|Mr|Ms|Sr|Prof] {surname}", f, random));
  set("pcp", grammar_.make("Dr {surname}", f, random));
  set("problem", string(f.condition->problem));
  set("symptom", string(f.condition->symptom));
  set("study", string(f.condition->study));
  set("procedure", string(f.condition->procedure));
  set("treatment", string(f.condition->drug));
  if (random.below(2)) set("department", string(f.condition->department));
  set("age", std::to_string((day - p.born) / 365));
  set("sex", p.man ? "M" : "F");
  set("he", p.man ? "he" : "she");
  set("him", p.man ? "him" : "her");
  set("his", p.man ? "his" : "her");
  set("man", p.man ? (random.below(2) ? "man" : "gentleman") : (random.below(3) ? "woman" : "lady"));
  set("name", (p.man ? "Mr " : random.below(3) ? "Mrs " : "Ms ") + p.last);
  set("fullname", random.below(2) ? p.first + " " + p.last : p.last + ", " + p.first);
  set("record", p.record);
  set("address", p.address);
  return f;
}

Hand Corpus::hand_for(Page page, Dialect dialect, RandomStream& random) {
  Hand hand{dialect, 0, 0};
  bool hasty = page == Page::note || page == Page::fax;
  if (random.below(100) < (hasty ? 80 : 35)) hand.abbreviations = 10 + static_cast<int>(random.below(80));
  hand.misspellings = static_cast<int>(random.below(random.below(5) == 0 ? 60 : hasty ? 20 : 8));
  return hand;
}

Document Corpus::document(string id, string text, int source, std::string_view family, const Facts& facts) {
  Document d;
  d.id = std::move(id);
  d.text = std::move(text);
  constexpr std::string_view languages[] = {"en-GB", "en-US", "en-ES"};
  d.fields = {{"source", string(kSources[source].name)},
              {"template", string(family)},
              {"date", iso_date(facts.today)},
              {"language", string(languages[static_cast<int>(facts.dialect)])}};
  return d;
}

// In the order of time, so that a document can copy from those before it.
void Corpus::write_planned(std::vector<Document>& documents) {
  std::stable_sort(planned_.begin(), planned_.end(), [](const Planned& a, const Planned& b) { return a.day < b.day; });
  std::uint64_t number = 0;
  for (const Planned& plan : planned_) {
    RandomStream random(key_.at("document").at(number));
    string id = fmt::format("D{:05}", ++number);
    bool related = plan.patient >= 0;
    const Patient visitor;
    const Patient& patient = related ? patients_[static_cast<std::size_t>(plan.patient)] : visitor;
    Facts facts = facts_for(patient, plan.source, plan.day, random);
    Content content;
    string family(plan.kind);
    Page page = Page::note;
    if (related) {
      const Family& chosen = family_for(plan.category, plan.reserved, plan.source, random);
      family = chosen.name, page = chosen.page;
      content = compose({&chosen, plan.category, length(random), patient.earlier}, grammar_, facts, random);
    } else {
      content = compose_unrelated(plan.kind, 30 + static_cast<int>(random.below(150)), grammar_, facts, random);
    }
    string text = related ? lay_out(content, page, grammar_, facts, random)
                          : content.title + "\n" + facts.fixed.at("hospital") + ", " + facts.fixed.at("today") +
                                "\n\n" + content.sections[0];
    documents.push_back(document(std::move(id), in_hand(text, hand_for(page, facts.dialect, random), random),
                                 plan.source, family, facts));
    // A notice concerns no patient; a number of its own keeps it apart from every group.
    documents.back().fields["patient"] = related ? patient.id : fmt::format("none-{:03}", documents.size());
    if (!related) continue;
    documents.back().label = label(plan.category);
    auto& earlier = patients_[static_cast<std::size_t>(plan.patient)].earlier;
    earlier.insert(earlier.end(), content.own.begin(), content.own.end());
  }
}

// The same paper twice in the files: sent again, or filed under the wrong number. A split must keep such pairs on one
// side.
void Corpus::send_again(std::vector<Document>& documents) {
  RandomStream random(key_.at("again"));
  std::size_t written = documents.size();
  for (int i = 0; i < kResent + kMisfiled;) {
    Document copy = documents[static_cast<std::size_t>(random.below(static_cast<std::int64_t>(written)))];
    if (!copy.label) continue;
    copy.id = fmt::format("D{:05}", documents.size() + 1);
    copy.text = random.below(2) ? "COPY\n" + copy.text : copy.text + "\nSent again; no reply to the first.";
    if (i >= kResent) {
      bool reserved = copy.fields["source"] == kSources[kFamiliarSources].name;
      std::int64_t first = reserved ? kPatients - kReservedPatients : 0,
                   number = reserved ? kReservedPatients : kPatients - kReservedPatients;
      copy.fields["patient"] = patients_[static_cast<std::size_t>(first + random.below(number))].id;
    }
    documents.push_back(std::move(copy));
    ++i;
  }
}

std::vector<Document> Corpus::write() {
  make_patients();
  plan_documents(false, kDocuments);
  plan_documents(true, kReservedDocuments);
  plan_unrelated(false, kUnrelated);
  plan_unrelated(true, kReservedUnrelated);
  std::vector<Document> documents;
  write_planned(documents);
  send_again(documents);
  return documents;
}

}  // namespace
}  // namespace clinical

std::vector<Document> clinical_documents(std::uint64_t seed) { return clinical::Corpus(seed).write(); }

}  // namespace attune
