#include "attune/workflows/clinical_example/phrases.h"

namespace attune::clinical {
namespace {

// Another document's act, told, denied or promised: the words of its category without its meaning.
constexpr std::string_view kMentionReferral[] = {
    "{His} GP had asked us to see {him} [on {someday}|in {month}].",
    "You asked for our opinion on {symptom} in {month}; [it was given|we wrote back on {someday}].",
    "[No|A] referral to {department} was made[ on {someday}| and has been accepted|].",
    "We were asked whether {department} could see {him}[, and they did| but they could not].",
    "{Department} was [asked to advise|grateful for an early look] and [saw|reviewed] {him} on {someday}.",
    "[A request|An appointment] for {department} [has already been sent|was cancelled].",
    "{He} does not need to be seen by {department}.",
    "Thank you for [referring|sending] {him} [to us|] in {month}."};
constexpr std::string_view kMentionDischarge[] = {
    "{He} had been admitted on {someday} [with {symptom}|for {procedure}] and was discharged a [week|few days] later.",
    "A discharge summary [will follow|was sent on {someday}|is not yet written].",
    "{He} has not been discharged and remains on {ward}.",
    "The discharge summary of {someday} [lists|gives|mentions] {problem}.",
    "{He} is [not yet fit to go home|due to go home on {later}|an inpatient at present].",
    "{He} went home from [casualty|clinic] the same day.",
    "[Since|After] the admission of {someday} {he} has been [well|tired|at home].",
    "[Date of discharge|Length of stay]: [not applicable|not known]."};
constexpr std::string_view kMentionImaging[] = {
    "[The report of|We have the report of] {study} is [enclosed|awaited|in the notes].",
    "{study} [has not been done|was cancelled|is booked for {later}].",
    "The radiologist's impression was {@finding}.",
    "[The films|The images] [were|have been] [reviewed at the meeting|looked at again|sent on a disc].",
    "No imaging was [needed|done] this time.",
    "[An X-ray|A scan] [will be arranged|is not planned|was declined by the patient].",
    "The study of {someday} was reported as [normal|{@finding}]."};
constexpr std::string_view kMentionMedication[] = {
    "The drug chart shows {medicine} given at {time}.",
    "[A list of|The record of] {his} medicines [is enclosed|will follow|was not available].",
    "{His} medicines were checked against the list of {someday}.",
    "[No change|No changes] to {his} medicines.",
    "The pharmacist [reconciled|went through] {his} medicines on {someday}.",
    "[The prescription|The medication record] [was sent to the pharmacy|is kept on the ward|has been lost].",
    "{He} was told to take {medicine} {frequency}."};
constexpr std::string_view kMentionBilling[] = {
    "The account for this visit [was settled|has been sent|is dealt with elsewhere].",
    "[Authorisation|Approval] {reference} was [obtained from|refused by] {payer}.",
    "The invoice for {procedure} went to {payer} on {someday}.",
    "[This is not a bill.|No payment is due.|No charge was made.]",
    "{Payer} [paid|has agreed to pay] {money} for {study}.",
    "[The billing office|Accounts] will write about the [balance|amount due].",
    "A claim for {money} [was denied|is pending]; {he} [is aware|will appeal]."};

constexpr std::string_view kQuoteBegin[] = {"Copied forward from the record of {someday}:",
                                            "From the earlier [letter|document|entry] of {someday}:",
                                            "----- Original message -----",
                                            "Extract from the [file|notes] of {hospital}:",
                                            "For your information, [we repeat|here is] the text of {someday}:",
                                            "*** copied text begins ***",
                                            "[Enclosure|Attachment] 1 ([earlier|for information only]):",
                                            "Previous entry ({someday}), carried over:",
                                            "[As written|Quoted] on {someday}:",
                                            "Begin forwarded text [({someday})|]"};
constexpr std::string_view kQuoteEnd[] = {"[End of extract.|End of copied text.]", "*** copied text ends ***", "-----",
                                          "[Here ends|So far] the earlier [text|document].", "End forwarded text"};
constexpr std::string_view kNewQuoteBegin[] = {
    "[What was written|What stood in the file] on {someday}:",
    "--- {someday}, from the file, not part of this paper ---",
    "Taken over from an earlier paper [of {someday}|]:", "Below the text as we had it on {someday}:"};

constexpr Table kTables[] = {{"mention_referral", kMentionReferral},
                             {"mention_discharge_summary", kMentionDischarge},
                             {"mention_imaging_report", kMentionImaging},
                             {"mention_medication_record", kMentionMedication},
                             {"mention_billing_correspondence", kMentionBilling},
                             {"quote_begin", kQuoteBegin},
                             {"quote_end", kQuoteEnd},
                             {"new_quote_begin", kNewQuoteBegin}};

}  // namespace

std::span<const Table> mention_tables() { return kTables; }

}  // namespace attune::clinical
