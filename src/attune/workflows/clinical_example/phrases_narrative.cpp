#include "attune/workflows/clinical_example/phrases.h"

namespace attune::clinical {
namespace {

constexpr std::string_view kHistory[] = {
    "{He} has had {symptom} for {#2-20} [days|weeks|months].",
    "The [problem|trouble|complaint] began [suddenly|gradually|after a meal|after a fall|on waking] {#2-14} "
    "[days|weeks] ago.",
    "There is a background of {comorbidity} and {comorbidity}.",
    "{He} also has {comorbidity}.",
    "[No|No recent] [fever|weight loss|travel|trauma|vomiting][ or night sweats| or change in bladder habit|].",
    "It is [worse|better] [at night|on exertion|lying flat|after food|in the morning] and [keeps {him} from "
    "sleep|stops {him} working|is tolerable].",
    "{He} was [first|last] seen for this at {hospital} in {month}.",
    "[Simple measures|Rest|{Treatment}|Two courses of antibiotics] [did not help|only partly helped|helped for a "
    "while].",
    "Past history: {comorbidity}; {comorbidity}; {comorbidity}.",
    "{He} had {procedure} in {#2004-2023}[ without problems| complicated by a wound infection|].",
    "In the family there is [heart disease|bowel cancer|diabetes|nothing of note|stroke at an early age].",
    "{He} describes {symptom}, [coming and going|constant|worse each week], [rated {#3-9} out of 10|hard to place|with "
    "nausea].",
    "{Problem} was [first suspected|diagnosed|found by chance] in {month} {#2012-2023}.",
    "[There was|There has been] an episode of {symptom} on {someday} that settled [by itself|with rest|overnight].",
    "{He} [denies|reports|is unsure about] [palpitations|blood in the stool|visual change|numbness|a cough].",
    "Known to have {problem}[, {comorbidity}|] and {comorbidity}.",
    "{He} [takes little exercise|used to run|swims weekly] and [sleeps poorly|sleeps well]."};

constexpr std::string_view kExamination[] = {
    "On examination {he} was [comfortable|in pain|pale|alert|drowsy], {vital}, {vital}.",
    "{Vital}; {vital}; {vital}.",
    "[Chest|Abdomen|Heart sounds|Joints] [unremarkable|normal|as expected].",
    "There [was|is] tenderness [in the right upper quadrant|over the spine|of the calf|at the joint line][ without "
    "guarding|].",
    "[Reduced|Normal|Coarse] breath sounds at the [left|right] base.",
    "Power [4|5]/5 [throughout|in the left arm|at the ankle]; reflexes [present|brisk|symmetrical].",
    "[No|Mild|Pitting] oedema to the [ankles|knees].",
    "Gait [steady|antalgic|broad based]. Skin [intact|warm|dry]."};

constexpr std::string_view kLaboratory[] = {
    "{Result}, {result}, {result}.",
    "Blood tests: {result}; {result}.",
    "{Result} [rising to|falling to|stable at the time of] {result}.",
    "[Urine|Blood|Sputum] culture [grew nothing|pending|grew a coliform|negative at {#2-5} days].",
    "The ECG [showed sinus rhythm|was normal|showed atrial fibrillation at {#70-130}].",
    "Laboratory results of {prior}: {result}, {result}, {result}, {result}.",
    "Last {result} (reference [given|on request])."};

constexpr std::string_view kCourse[] = {
    "{He} was [started on|given|treated with] {treatment} and {drug}.",
    "{Treatment} was [started|given from {prior}|changed to {drug}].",
    "[On day {#2-9}|The next morning|Two days later|By the weekend] {he} was [better|eating|able to walk|free of "
    "pain|afebrile].",
    "{He} [underwent|had] {procedure} on {prior}[ under general anaesthetic| without complication|; blood loss "
    "{#20-600} ml|].",
    "[Recovery|The post-operative course] was [uneventful|slow|complicated by {complication}].",
    "{He} was seen by [the physiotherapist|{department}|the dietitian|the pain team|the social worker], who advised "
    "[exercises|a raised toilet seat|more protein|no change|support at home].",
    "[Intravenous fluids|Antibiotics|Drains|Lines] were [stopped|weaned|removed] after {#1-6} days.",
    "An episode of {complication} was [managed with {drug}|self-limiting|discussed with {department}].",
    "The team [agreed|thought|explained to the family] that {problem} was the [likely|main|underlying] cause.",
    "{He} spent {#1-6} nights on {ward} and was moved to {ward}.",
    "At [{ward}|the weekend] {he} had {vital}, {vital}.",
    "The wound was [clean|dry|reviewed twice]; clips [out on {someday}|to stay]."};
constexpr std::string_view kComplication[] = {"urinary retention",
                                              "delirium",
                                              "a chest infection",
                                              "low potassium",
                                              "nausea",
                                              "a wound haematoma",
                                              "fast atrial fibrillation",
                                              "acute kidney injury",
                                              "a fall without injury",
                                              "low blood pressure"};

constexpr std::string_view kPlan[] = {
    "[Repeat|Check] [bloods|renal function|blood pressure|weight] in {#1-8} weeks.",
    "[Review|Clinic|Appointment] in {department} in {#2-12} weeks[, to be posted|; date {later}|].",
    "[Avoid|No] [heavy lifting|driving|anti-inflammatory tablets] for {#2-8} weeks.",
    "[Return|Call] if there is [fever|bleeding|worse pain|breathlessness].",
    "[Continue|Keep on] [{treatment}|{medicine} {frequency}].",
    "[Await|Chase] [histology|cultures|{study}|the {department} opinion].",
    "[Weight loss|Smoking cessation|Exercises|A low salt diet] [advised|discussed|encouraged].",
    "[Remove|Take out] sutures on {later}.",
    "Consider {procedure} if {symptom} [returns|persists|gets worse].",
    "[Nothing further|No action] [from our side|is planned] [at present|]."};

constexpr std::string_view kNursing[] = {
    "[Slept well|Unsettled night|Sat out for lunch|Walked to the bathroom with one].",
    "[Pain score|Score] {#0-8}/10 [at rest|on moving].",
    "[Diet and fluids|Fluids] taken. [Bowels open|Catheter draining {#200-1900} ml].",
    "[Family|{His} [daughter|son|sister]] [visited|phoned|updated].",
    "{Vital}. [Doctor informed.|No concerns.|Repeat in 4 hours.]",
    "[Dressing|Cannula|Drain] [changed|removed|intact].",
    "[Pressure areas|Heels|Skin] [intact|red but blanching|checked every {#2-6} hours]."};

constexpr std::string_view kAppointment[] = {
    "[Clinic|Appointment|Visit] [booked|offered|arranged] for {later} at {#8-16}:[00|15|30|45], [floor "
    "{#1-5}|{ward}|main building].",
    "[Transport|An interpreter|A hoist|Parking] [needed|not needed|has been booked].",
    "{He} can be [reached|rung] on {phone}.", "[Preferred|Usual] site: {hospital}.",
    "[Next of kin|Contact]: {surname}, {phone}."};

constexpr Table kTables[] = {{"history", kHistory}, {"examination", kExamination},   {"laboratory", kLaboratory},
                             {"course", kCourse},   {"complication", kComplication}, {"plan", kPlan},
                             {"nursing", kNursing}, {"appointment", kAppointment}};

}  // namespace

std::span<const Table> narrative_tables() { return kTables; }

}  // namespace attune::clinical
