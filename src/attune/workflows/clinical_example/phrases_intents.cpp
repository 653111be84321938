#include "attune/workflows/clinical_example/phrases.h"

namespace attune::clinical {
namespace {

// open_ and close_ are the sentences by which a document does what its category is for: it asks, tells that a stay is
// over, reads a picture, lays down doses, or speaks of money owed. Their words also stand in mentions
// (phrases_mentions.cpp).

constexpr std::string_view kOpenReferral[] = {
    "[I would|We would|I should] be grateful if you could [see|assess|review] this {age} year old {man} [with "
    "{symptom}|who has {problem}|in whom I suspect {problem}].",
    "[Please could you|Could you please|Kindly] [see|assess|advise on] {name}, {age}, who has had {symptom} for "
    "{#2-20} [weeks|months].",
    "Thank you for [agreeing to see|seeing|taking on] {name}, a {age} year old {man} with {symptom}.",
    "[I write to ask|We ask|I am asking] for your opinion on {name}, who has {symptom}[ and may have {problem}|].",
    "[I should value|We would welcome] your [opinion|help|advice] on {problem} in this {age} year old {man}.",
    "Request for {department} to [see|review] and advise: {symptom}[, possible {problem}|].",
    "[I am referring|We are referring|We refer] {name} to {department} for [assessment|an opinion|further care] of "
    "{symptom}.",
    "{name} needs [an appointment|to be seen] in {department} [soon|within two weeks|in your next free clinic] for "
    "{symptom}.",
    "[Reason for asking|Reason]: {symptom}. [Question|What we ask]: [is this|could this be] {problem}, and would "
    "{procedure} help?",
    "Please [accept|take on] {name} for {procedure}; {symptom} has not [settled|improved]."};
constexpr std::string_view kCloseReferral[] = {
    "[I would|We would] be glad of your [help|opinion|advice] and of an [early|urgent|] appointment.",
    "[Thank you|Many thanks] for [seeing|assessing] {him}; please let me know what you [advise|find|would do next].",
    "Please [send|offer] an appointment [to {him}|directly] and write back to us.",
    "[Would you|Could you] [arrange|consider] {procedure} if you agree?",
    "I look forward to [hearing what you think|your opinion|your reply].",
    "[Urgent|Soon|Routine] appointment requested. [Please reply to {doctor}.|]",
    "{He} knows that I have asked you to see {him}."};

constexpr std::string_view kOpenDischarge[] = {
    "{name} was admitted on {admit} with {symptom} and [went home|was discharged] on {discharge}.",
    "This {age} year old {man} was admitted [through the emergency department|from clinic|electively] on {admit} [with "
    "{symptom}|for {procedure}] and discharged on {discharge}.",
    "[Thank you for taking back|We return to you] the care of {name}, who [left|went home from] {ward} on {discharge}.",
    "{name} was under our care on {ward} from {admit} to {discharge}. [Main|Final] diagnosis: {problem}.",
    "[Admitted|Admission]: {admit}. [Discharged|Discharge]: {discharge}. [Final|Principal] diagnosis: {problem}.",
    "{He} has been discharged [home|to {his} family|to a nursing home|back to your care] after {#2-20} days on {ward}.",
    "[This is to tell you that|You will wish to know that] {name} has [gone home|been discharged] after treatment for "
    "{problem}.",
    "We discharged {name} on {discharge}, {#2-20} days after admission with {symptom}.",
    "Summary of the stay of {admit} to {discharge}: {problem}, treated with {treatment}[ and {procedure}|].",
    "{name} came in with {symptom} on {admit}; {he} was [fit|well enough] to leave on {discharge}."};
constexpr std::string_view kCloseDischarge[] = {
    "{He} [went|has gone] home in good condition with {#5-28} days of tablets.",
    "[Please would you|Could the surgery] check {his} bloods in {#1-4} weeks, now that {he} is home.",
    "[On|At] discharge {he} was [walking|comfortable|independent|afebrile].",
    "Discharged [with a copy of this summary|with district nurse support|in a stable state].",
    "We [have not|shall not have] kept {him} under follow-up after this stay.",
    "[Thank you for|Please go on with] {his} care at home.",
    "{He} left [the ward|{ward}] on {discharge} [by ambulance|with {his} family|on foot]."};

constexpr std::string_view kOpenImaging[] = {
    "[Examination|Study|Procedure]: {study}, {today}.",
    "{Study} [performed|done|obtained] on {today} [for|because of] {symptom}.",
    "{Study} {today}. {@finding}.",
    "[I have read|We have read|I have reviewed] the images of {study} of {today}. There is {@finding}.",
    "This {study} [shows|demonstrates] {@finding} and {@finding}.",
    "[Report of|Report on] {study} [made|acquired] on {today}. [Images adequate.|]",
    "The {study} of today was [read|reported] by {doctor}. There is {@finding}.",
    "Clinical question: {problem}? {Study} [with|without] contrast, {today}.",
    "{Study}: {@finding}; {@finding}.",
    "[Images|Films] of {today} [read|viewed] [with|without] earlier studies. {@finding}."};
constexpr std::string_view kCloseImaging[] = {
    "[Impression|Opinion|Conclusion]: {impression}",
    "[In summary|Overall], {@finding}.",
    "Reported by {doctor}, [radiologist|{role}], {today}.",
    "{impression} [Images reviewed by {doctor}.|]",
    "[Final report|Preliminary report], [read|verified] {today}.",
    "No [comment|opinion] can be given on [the bowel|small lesions|the lower leg] on this study."};

constexpr std::string_view kOpenMedication[] = {
    "[List|Record] of medicines [taken|prescribed|in use] on {today}.",
    "Medicines [reconciled|checked] on {today} by {doctor}; [changes below|each line confirmed with the patient].",
    "The medicines below are to be given on {ward} from {today}.",
    "{name} [is to take|should take] the following from {today}[ and nothing else|].",
    "[Doses|Medicines] given on {ward} on {today}, signed by the nurse.",
    "[Prescribed|Charted] for {name} on {today}: [give as written|see times].",
    "[Current|Active] medicines [as confirmed|as listed] on {today}. [Stopped lines are struck out.|]",
    "This [list|chart|record] replaces the one of {prior}. [Give|Take] only what stands here.",
    "[Medication|Drug] [review|history] taken on {today} by the [ward pharmacist|pharmacy technician|nurse].",
    "[Chart|Sheet] {#1-4} of {#4-6}: regular [medicines|doses], {ward}, week of {today}."};
constexpr std::string_view kCloseMedication[] = {
    "[Checked|Reconciled|Verified] by {doctor} at {time}.",
    "[Next|New] [chart|list|review] due {later}.",
    "[Prescriber|Pharmacist]: {doctor}. [Bleep|Pager] {#1000-8999}.",
    "Any medicine not on this [list|chart] is to be [withheld|queried].",
    "[All|Both] [lines|doses] signed. [None omitted.|One omitted, see code.]",
    "Bring this [list|sheet] [with you|to each visit] and [show it|give it] to the pharmacy."};

constexpr std::string_view kOpenBilling[] = {
    "[Our records show|There is] a balance of {money} for [care|services|treatment] on {prior}.",
    "Please pay {money} by {later} for {procedure} on {prior}.",
    "[We enclose|We submit|Attached is] our [claim|account|invoice] for the stay of {admit} to {discharge}, {money}.",
    "Your claim {reference} for {study} has been [paid in part|denied|returned|reduced to {money}].",
    "[We write|I write] about the unpaid [account|bill|invoice] {reference} of {money}.",
    "[Statement|Invoice|Account] {reference}: amount due {money}.",
    "[We appeal against|We ask you to review] your decision not to pay for {procedure}.",
    "We have [received|approved|refused] the claim of {hospital} for {drug} and {study}. [Reason code|Reason]: {code}.",
    "[Thank you for your payment of|We have received] {money}. The balance is {money}.",
    "[Charges|Fees] for {name}, stay from {admit} to {discharge}: {money}."};
constexpr std::string_view kCloseBilling[] = {
    "[Payment|The amount] is due [within {#14-60} days|by {later}].",
    "[Please|Kindly] send [payment|your cheque|a transfer] to the accounts office, quoting {reference}.",
    "Total {money}. [Thank you.|]",
    "If the [claim|account] has been [paid|settled], disregard this [letter|notice].",
    "[You may appeal|An appeal can be made] within {#30-180} days.",
    "[Please|We ask you to] pay the [balance|difference] of {money}.",
    "[Questions about this account|For billing questions]: {phone}."};

constexpr Table kTables[] = {{"open_referral", kOpenReferral},
                             {"close_referral", kCloseReferral},
                             {"open_discharge_summary", kOpenDischarge},
                             {"close_discharge_summary", kCloseDischarge},
                             {"open_imaging_report", kOpenImaging},
                             {"close_imaging_report", kCloseImaging},
                             {"open_medication_record", kOpenMedication},
                             {"close_medication_record", kCloseMedication},
                             {"open_billing_correspondence", kOpenBilling},
                             {"close_billing_correspondence", kCloseBilling}};

// Used by the templates that training never shows.
constexpr std::string_view kNewOpenReferral[] = {
    "May I [pass|send] {name} on to you? {He} has {symptom} and [we|I] have come to the end of what [we|I] can do "
    "here.",
    "[It would help us|We should be glad] to have {department} [take a look at|look after] {him}: {symptom}.",
    "Would you take {him} on for {symptom}? [We think of|I suspect] {problem}.",
    "I wonder whether your clinic could have {him} in [soon|before {later}]; {symptom} is getting worse.",
    "{He} has not been seen by {department} [yet|before], and I think {he} should be[, soon|].",
    "Your [view|thoughts] on {symptom} in this {man} of {age}, please.",
    "[We need|We are after] {department}'s [eyes on|view of] {name}: {symptom}, [cause unknown|perhaps {problem}]."};
constexpr std::string_view kNewCloseReferral[] = {
    "[Do|Please do] let us know [when|whether] you can [have|fit] {him} in.",
    "I leave it to you [whether|when] to [see|call] {him}.",
    "[We would go along with|We shall follow] whatever you advise.",
    "[May we hear|Please say] when {he} can come to you?"};
constexpr std::string_view kNewOpenDischarge[] = {
    "{name} is home again since {discharge}, after {#2-20} days [with us|on {ward}] for {problem}.",
    "{He} left us on {discharge}, [well|walking|in fair shape], having come in on {admit} with {symptom}.",
    "{His} time on {ward} is over: in on {admit} with {symptom}, out on {discharge}.",
    "[You will find {him} at home again|{He} is back with you now]; {he} spent {#2-20} nights here [for|because of] "
    "{problem}.",
    "[The stay|The episode] that began on {admit} [ended|closed] on {discharge}, {he} going [home|to {his} daughter].",
    "We handed {him} back to {his} family on {discharge} after {procedure}.",
    "[Now home|Gone home], {discharge}. In hospital since {admit}, {problem}."};
constexpr std::string_view kNewCloseDischarge[] = {
    "{He} is [in your hands|back in your care] from here on.", "[All lines out|Eating and walking] when {he} left us.",
    "[Nothing more|No more] to do on our side now that {he} is home.", "{He} took {#5-28} days of tablets home."};
constexpr std::string_view kNewOpenImaging[] = {
    "[What the pictures of today show|Seen on the pictures of {today}]: {@finding}.",
    "My reading of {study} made {today}: {@finding}.",
    "[Looked at|Viewed] today: {study}. {@finding}; {@finding}.",
    "On these [images|pictures] {@finding} can be made out.",
    "[Pictures|Images] taken {today}, [asked for because of {symptom}|question {problem}]. There is {@finding}.",
    "[Sonographic|Radiographic|Tomographic] [view|account], {today}. {@finding}."};
constexpr std::string_view kNewCloseImaging[] = {
    "[So, in one line|To sum up]: {@finding}.", "[Read|Looked at] by {doctor} [alone|with a second reader].",
    "Nothing else [of note|to see] on these pictures.", "[I would|One might] read this as {problem}."};
constexpr std::string_view kNewOpenMedication[] = {
    "What {name} [takes|is to take] from today, line by line.",
    "[Doses due and doses had|What was due and what was had] on {ward}, {today}.",
    "We went through the boxes with {him}; this is what {he} is to have and when.",
    "[Give as written|To be given as written]; sign each line.",
    "[The tablets below|All that stands below] [are|is] for {name} alone, from {today}.",
    "[Sheet|Card] of tablets and times, [renewed|written] {today}."};
constexpr std::string_view kNewCloseMedication[] = {"[Nothing|No tablet] beyond these lines without asking.",
                                                    "[Written|Renewed] by {doctor}; [throw away|tear up] the old card.",
                                                    "[Lines|Times] read back to {him} at {time}.",
                                                    "[Ask|Tell] the pharmacy before you change a line."};
constexpr std::string_view kNewOpenBilling[] = {
    "You still owe [us|{hospital}] {money} for the [days|care] from {admit} to {discharge}.",
    "We [can not meet|shall not be paying] {money} of what was asked for {procedure}.",
    "[Kindly|Please] settle what is left for {prior}: {money}.",
    "[May we ask|Can you tell us] what became of the {money} for {study}?",
    "The sum asked for {procedure} was wrong and is now {money}.",
    "[For|Towards] {study} and {drug} we [have put down|ask] {money}, [of which {money} is yours to pay|all of it met "
    "by {payer}]."};
constexpr std::string_view kNewCloseBilling[] = {
    "[Let us have|Send us] the {money} by {later}.", "[Once it is in|When you have paid] we shall close the file.",
    "[We stand by|We do not accept] the sum.", "[Tell|Ask] the cashier if you can not pay at once."};

constexpr Table kNewTables[] = {{"new_open_referral", kNewOpenReferral},
                                {"new_close_referral", kNewCloseReferral},
                                {"new_open_discharge_summary", kNewOpenDischarge},
                                {"new_close_discharge_summary", kNewCloseDischarge},
                                {"new_open_imaging_report", kNewOpenImaging},
                                {"new_close_imaging_report", kNewCloseImaging},
                                {"new_open_medication_record", kNewOpenMedication},
                                {"new_close_medication_record", kNewCloseMedication},
                                {"new_open_billing_correspondence", kNewOpenBilling},
                                {"new_close_billing_correspondence", kNewCloseBilling}};

}  // namespace

std::span<const Table> intent_tables() { return kTables; }
std::span<const Table> unfamiliar_intent_tables() { return kNewTables; }

}  // namespace attune::clinical
