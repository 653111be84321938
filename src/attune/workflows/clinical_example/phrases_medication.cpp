#include "attune/workflows/clinical_example/phrases.h"

namespace attune::clinical {
namespace {

// One line each: how a list of medicines looks, in any kind of document.
constexpr std::string_view kMedicineLine[] = {
    "{medicine} {frequency}", "{medicine}, {frequency}", "{Medicine} [x{#1-3}/day|{frequency}]",
    "{Medicine}, [one|{frequency}], {#7-56} days", "{Medicine} {frequency} [since {month}|long term|new|]"};

constexpr std::string_view kMedicineChange[] = {
    "{medicine} {frequency}: [new|started {someday}|for {problem}]",
    "{drug}: stopped [because of {complication}|{someday}|no longer needed]",
    "{medicine} {frequency}: [increased|reduced|changed] [{someday}|on review|for {complication}]",
    "{medicine} {frequency}: unchanged",
    "{drug}: [withheld|on hold] until [review|{later}|renal function is checked]",
    "{medicine} {frequency}: continue [long term|for {#3-28} days|until {later}]"};

constexpr std::string_view kAdministration[] = {
    "{time} {medicine} [given|given {initials}|taken|signed {initials}]",
    "{time} {medicine} [refused|omitted: nil by mouth|not available|vomited]",
    "{someday} {time} {medicine} [given|{initials}]",
    "{medicine}: due {time}, [given {time}|late|patient off ward]",
    "[PRN|As needed]: {medicine} at {time} for [pain|nausea|sleep|breathlessness], effect [good|partial|none]",
    "Fluid: [sodium chloride 0.9%|Hartmann's|glucose 5%] 1 litre over {#4-12} hours from {time}",
    "{time} glucose {.41-189}, insulin aspart {#2-24} units"};

// Sentences about medicines as any writer would put them.
constexpr std::string_view kMedicineProse[] = {
    "{He} takes {medicine} {frequency} and {medicine}.",
    "Current medicines are {drug}, {drug} and {drug}.",
    "{He} was on {drug} [before|for years] but [stopped it|could not tolerate it|ran out].",
    "{Drug} was [started|stopped|increased] in {month}.",
    "On {medicine} {frequency}, {medicine} {frequency}.",
    "{He} [misses|forgets] doses [at weekends|often|now and then].",
    "[Medication|Medicines|Treatment]: {medicine}, {medicine}, {medicine}."};

// Sentences that stand only in a record of medicines.
constexpr std::string_view kMedicineCheck[] = {
    "[Sources|Checked against]: [the surgery's list|{his} own boxes|the last prescription|a phone call to the "
    "pharmacy].",
    "[Adherence|Compliance]: [good|uses a dosette box|misses evening doses|{his} [wife|husband|daughter] helps].",
    "[Dose|Interval] [adjusted|to be checked] for renal function ({result}).",
    "[Interaction|Caution]: {drug} with {drug}, [monitor|accepted|prescriber told].",
    "[Supply|Quantity]: {#7-56} [days|tablets], [own supply|from ward stock|to be collected].",
    "[Not|Never] to have {drug} ([rash|swelling|vomiting]).",
    "[Weight|Height] for dosing {#45-118} kg.",
    "[Counselled|Shown] on [inhaler use|injection|bleeding|timing] by {doctor}."};

constexpr Table kTables[] = {{"medicine_line", kMedicineLine},
                             {"medicine_change", kMedicineChange},
                             {"administration", kAdministration},
                             {"medicine_prose", kMedicineProse},
                             {"medicine_check", kMedicineCheck}};

}  // namespace

std::span<const Table> medication_tables() { return kTables; }

}  // namespace attune::clinical
