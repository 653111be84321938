#include "attune/workflows/clinical_example/families.h"

namespace attune::clinical {
namespace {

using enum Category;

constexpr Family kFamilies[] = {
    // Discharge summaries.
    {"ward-summary", discharge_summary, false, Page::form, HeadingStyle::capitals, "DISCHARGE SUMMARY",
     "history:Presenting complaint; examination:Findings on admission; course:Hospital course; laboratory:Results; "
     "medicine_change:Discharge medication; plan:Follow-up"},
    {"surgical-letter", discharge_summary, false, Page::letter, HeadingStyle::none,
     "[Discharge letter|Discharge letter, {department}]", "course:; finding_told:; medicine_prose:; plan:; chitchat:"},
    {"day-case", discharge_summary, false, Page::note, HeadingStyle::inline_colon,
     "[Day case discharge|Day unit discharge note]",
     "history:Indication; course:Operation; nursing:Recovery; medicine_line:To take home; plan:Advice"},
    {"alta-report", discharge_summary, false, Page::letter, HeadingStyle::colon,
     "[Report of discharge|Clinical report of discharge]",
     "history:Motive of admission; chitchat:Personal antecedents; examination:Exploration; laboratory:Complementary "
     "tests; finding_told:Imaging; course:Evolution; medicine_line:Treatment at discharge"},
    {"short-stay", discharge_summary, false, Page::table, HeadingStyle::colon,
     "[Short stay unit: end of episode|Emergency department discharge]",
     "history:Story; examination:Observations; finding_told:Tests; course:Treatment given; cover_note:Cover; plan:What "
     "next"},
    // Imaging reports.
    {"radiology-report", imaging_report, false, Page::form, HeadingStyle::capitals, "RADIOLOGY REPORT",
     "indication:Clinical information; technique:Technique; comparison:Comparison; finding_sentence:Findings; "
     "impression:Impression"},
    {"ultrasound-sheet", imaging_report, false, Page::form, HeadingStyle::inline_colon,
     "[Ultrasound report|Sonography sheet]",
     "indication:Request; technique:Method; finding_sentence:Description; impression:Conclusion"},
    {"cross-section", imaging_report, false, Page::table, HeadingStyle::numbered,
     "[CT and MR department: report|Cross-sectional imaging report]",
     "indication:Question; comparison:Earlier studies; technique:Protocol; finding_sentence:Observations; "
     "impression:Answer; plan:Suggestion"},
    {"echo-lab", imaging_report, false, Page::form, HeadingStyle::underlined,
     "[Cardiac imaging laboratory|Imaging laboratory report]",
     "indication:Reason for study; finding_sentence:Measurements; impression:Summary; comparison:Change"},
    {"plain-film", imaging_report, false, Page::note, HeadingStyle::none, "[Film reading|X-ray report {reference}]",
     "finding_sentence:; impression:; cover_note:"},
    // Referrals.
    {"gp-letter", referral, false, Page::letter, HeadingStyle::none, "[Referral to {department}|Re: referral, {name}]",
     "history:; examination:; chitchat:; medicine_prose:; laboratory:"},
    {"two-week-form", referral, false, Page::form, HeadingStyle::colon,
     "[Urgent referral form|Suspected cancer referral]",
     "history:Reason; examination:Signs; laboratory:Tests done; medicine_line:Current medicines; cover_note:Cover; "
     "appointment:Contact"},
    {"consult-request", referral, false, Page::note, HeadingStyle::inline_colon,
     "[Consult request|Inpatient consult to {department}]",
     "history:HPI; course:So far; laboratory:Labs; finding_told:Imaging; medicine_prose:Meds"},
    {"fax-request", referral, false, Page::fax, HeadingStyle::capitals, "[REFERRAL BY FAX|Request for appointment]",
     "history:Problem; finding_told:Imaging; medicine_line:Medicines; appointment:Arrangements"},
    {"advice-mail", referral, false, Page::email, HeadingStyle::none,
     "[Advice and guidance request|Advice please: {symptom}]", "history:; laboratory:; finding_told:; chitchat:"},
    // Medication records.
    {"reconciliation", medication_record, false, Page::table, HeadingStyle::capitals, "MEDICATION RECONCILIATION",
     "medicine_change:Medicines; medicine_check:Checks; chitchat:Allergies and habits; medicine_line:Not continued"},
    {"drug-chart", medication_record, false, Page::table, HeadingStyle::colon,
     "[Drug chart|Medication administration record]",
     "medicine_line:Regular; administration:Given; medicine_check:Notes; nursing:Nurse's entries"},
    {"pharmacy-letter", medication_record, false, Page::letter, HeadingStyle::none,
     "[Medicines review|Pharmacist's record of medicines]",
     "medicine_prose:; medicine_change:; medicine_check:; chitchat:"},
    {"repeat-list", medication_record, false, Page::form, HeadingStyle::inline_colon,
     "[Repeat prescription list|List of medicines]",
     "medicine_line:Repeat items; medicine_check:Remarks; appointment:Next visit"},
    {"treatment-sheet", medication_record, false, Page::form, HeadingStyle::underlined,
     "[Sheet of treatment|Treatment sheet {ward}]",
     "medicine_line:Pauta; administration:Administered; examination:Constants; medicine_check:Observations"},
    // Billing correspondence.
    {"claim-letter", billing_correspondence, false, Page::letter, HeadingStyle::none,
     "[Claim {reference}|Re: claim {reference}]", "charge_prose:; course:; charge_line:; finding_told:"},
    {"statement", billing_correspondence, false, Page::table, HeadingStyle::capitals, "[STATEMENT OF ACCOUNT|INVOICE]",
     "charge_line:Items; charge_prose:Remarks; cover_note:Plan"},
    {"denial-mail", billing_correspondence, false, Page::email, HeadingStyle::colon,
     "[Claim decision|Explanation of benefits {reference}]",
     "charge_prose:Decision; history:Case as submitted; charge_line:Lines; plan:Documents seen"},
    {"authorisation-fax", billing_correspondence, false, Page::fax, HeadingStyle::inline_colon,
     "[Billing office|Payment and authorisation]",
     "charge_prose:Subject; history:Clinical reason; medicine_line:Drugs charged; charge_line:Sums"},
    // Papers on which every category is written.
    {"plain-letter", none, false, Page::letter, HeadingStyle::none, "[|Re: {name}|{name}, {reference}]", "||"},
    {"clinic-letter", none, false, Page::letter, HeadingStyle::colon, "[|Clinic letter|Letter from {department}]",
     "Background|Details|Also|Notes|Further"},
    {"hospital-mail", none, false, Page::email, HeadingStyle::none,
     "[{name}|Patient {reference}|Your patient|For information|Following up]", "||"},
    {"fax-cover", none, false, Page::fax, HeadingStyle::inline_colon, "[FAX|Fax message|]", "Re|Text|Details|Remarks"},
    {"ward-note", none, false, Page::note, HeadingStyle::inline_colon, "[|Entry|Note]", "Story|Detail|Now|Other|NB"},
    {"portal-message", none, false, Page::email, HeadingStyle::starred,
     "[Message|New message about {name}|Message {reference}]", "Message|Details|More|Notes"},
    {"transfer-form", none, false, Page::form, HeadingStyle::numbered,
     "[General form {reference}|Clinical form|Communication form]",
     "Reason for this form|Details|Details (2)|Details (3)|Comments"},
    {"dictation", none, false, Page::note, HeadingStyle::none, "[Dictation {reference}|Dictated {printed}|]", "||"},
    // Seen in the unfamiliar part alone.
    {"homecoming", discharge_summary, true, Page::letter, HeadingStyle::starred, "[After the stay|Letter home]",
     "history:How it began; course:In our hands; finding_told:Tests along the way; medicine_prose:Tablets; plan:From "
     "here"},
    {"picture-account", imaging_report, true, Page::email, HeadingStyle::underlined,
     "[Picture account {reference}|Account of pictures]",
     "indication:What was asked; finding_sentence:What is there; history:Told by the patient; impression:In short"},
    {"opinion-sought", referral, true, Page::table, HeadingStyle::numbered,
     "[A patient for you|From us to {department}]",
     "history:Story so far; course:Tried already; finding_told:Pictures; medicine_line:Takes; cover_note:Paid by"},
    {"dose-card", medication_record, true, Page::note, HeadingStyle::starred, "[Card {reference}|Day card]",
     "medicine_line:Morning to night; administration:Had; history:Why; chitchat:About the patient"},
    {"settlement", billing_correspondence, true, Page::form, HeadingStyle::starred,
     "[Settlement {reference}|Sums and dates]",
     "charge_prose:Where we stand; course:What was done; charge_line:Sums; medicine_prose:Drugs"},
    {"memo", none, true, Page::form, HeadingStyle::underlined, "[Memo|Memo {reference}|Internal memo]",
     "Matter|Particulars|Of note|Besides"},
    {"telephone-record", none, true, Page::note, HeadingStyle::colon,
     "[Call of {today}|Telephone record|Spoken message, written down]", "Said|Asked about|Heard|Left open"},
    {"dossier-page", none, true, Page::table, HeadingStyle::capitals, "[Dossier page {#2-40}|Folder {reference}]",
     "Entry|Second entry|Third entry|Margin"}};

}  // namespace

std::span<const Family> families() { return kFamilies; }

std::string_view label(Category category) {
  constexpr std::string_view names[] = {"discharge_summary", "imaging_report",         "referral",
                                        "medication_record", "billing_correspondence", ""};
  return names[static_cast<int>(category)];
}

std::string_view shared_sections(Category category) {
  switch (category) {
    case discharge_summary:
      return "history:5 examination:3 course:7 laboratory:3 finding_told:4 medicine_change:3 medicine_prose:4 plan:5 "
             "chitchat:4 cover_note:2 nursing:1";
    case imaging_report:
      return "indication:4 technique:3 comparison:2 finding_sentence:8 impression:4 history:4 plan:2 chitchat:2 "
             "medicine_prose:2 course:2 cover_note:2";
    case referral:
      return "history:7 examination:4 laboratory:4 finding_told:5 medicine_prose:4 medicine_line:2 chitchat:4 course:4 "
             "plan:2 cover_note:2 appointment:2";
    case medication_record:
      return "medicine_line:5 medicine_change:4 administration:4 medicine_prose:4 medicine_check:4 history:4 "
             "chitchat:3 course:3 laboratory:2 cover_note:2 plan:2 nursing:2";
    case billing_correspondence:
      return "charge_prose:5 charge_line:4 history:4 course:5 finding_told:3 medicine_line:2 medicine_prose:2 "
             "cover_note:3 plan:2 appointment:2";
    case none:
      break;
  }
  return "";
}

}  // namespace attune::clinical
