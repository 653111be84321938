#include "attune/workflows/clinical_example/phrases.h"

namespace attune::clinical {
namespace {

constexpr std::string_view kChargeLine[] = {
    "{someday} [consultation|follow-up visit|ward round|day bed] {money}",
    "{someday} {study} {money}",
    "{someday} {procedure} {money}",
    "{medicine} x{#5-60} {money}",
    "[theatre|room|nursing|pharmacy|laboratory] {#1-9} [unit|units|days] {money}",
    "code {code} {money}",
    "{code} {study} [both sides|left|right|] {money}",
    "[less|minus] [excess|payment received|plan discount] {money}",
    "[supplies|dressings|implant|contrast] {money}"};

// Sentences about money as they stand in any letter of account.
constexpr std::string_view kChargeProse[] = {
    "The sum for {procedure} on {prior} is {money}.",
    "{Payer} has [allowed|met|declined] {money} of {money}.",
    "[The|Your] plan [covers|does not cover] {study}[ beyond {money}|].",
    "The stay of {#1-12} nights [counts|was charged] at {money} a night.",
    "{He} [holds|held] cover with {payer}, number {reference}.",
    "[Co-payment|Excess|Deductible]: {money}.",
    "[Codes|Coded as]: {code}, {code}.",
    "[Item|Line] {#1-9} was [charged twice|entered in error|reduced to {money}].",
    "The [date|code|quantity] for {drug} [differs from|does not agree with] the record.",
    "[Payment|A transfer] of {money} [arrived|was received] on {someday}."};

// What other documents say about money in passing.
constexpr std::string_view kCoverNote[] = {
    "[Insurance|Payer|Cover]: {payer} {reference}.",
    "[Authorisation|Approval] {reference} [obtained|on file|pending].",
    "Code {code}.",
    "{He} asked [what this would cost|whether {payer} pays for it]; [the desk will answer|not known].",
    "[Self-paying|Covered by {payer}|Public patient].",
    "{Payer} has been told of the [visit|stay|date]."};

constexpr Table kTables[] = {{"charge_line", kChargeLine}, {"charge_prose", kChargeProse}, {"cover_note", kCoverNote}};

}  // namespace

std::span<const Table> billing_tables() { return kTables; }

}  // namespace attune::clinical
