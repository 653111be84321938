#include "attune/workflows/clinical_example/phrases.h"

namespace attune::clinical {
namespace {

// Documents of no category. Each kind has a first line and sentences or lines that follow in any order.
constexpr std::string_view kMenuTitle[] = {
    "[Menu|Meals|Patient menu] for [Monday|Tuesday|Wednesday|Thursday|Friday|the week of {today}]",
    "{hospital} kitchens: [lunch and supper|today's meals]"};
constexpr std::string_view kMenu[] = {
    "[Lunch|Supper|Breakfast]: [tomato|leek|lentil|chicken] soup, [baked cod|roast chicken|vegetable lasagne|beef "
    "stew|rice and beans|omelette], [peas|carrots|salad|cabbage]",
    "[Dessert|Pudding]: [apple crumble|yoghurt|rice pudding|fruit|jelly|flan]",
    "[Soft|Low salt|Vegetarian|Halal|Diabetic] [option|choice] marked with a [star|leaf]",
    "[Tick|Circle] your choice before [{#9-11} am|noon] and leave the card on the tray",
    "Tea and coffee are served at [10|3|7] [o'clock|each day]",
    "[Price for visitors|Guest meal] {fee}"};
constexpr std::string_view kNoticeTitle[] = {"IT notice: [planned|urgent] [downtime|maintenance] on {later}",
                                             "[Service desk|Information systems] announcement {reference}"};
constexpr std::string_view kNotice[] = {
    "[The record system|E-mail|The imaging archive|The pharmacy system] will be [unavailable|slow|read only] from "
    "{time} to {time}.",
    "[Save your work|Log out|Restart your machine] before {time}.",
    "[Use paper charts|Use the downtime forms|Call the desk] until you hear that the system is back.",
    "Passwords [expire|must be changed] every {#30-90} days; do not [share|write down] yours.",
    "[Do not open|Report] messages that ask you to [pay an invoice|confirm your account].",
    "[The new release|Version {#3-12}] adds [a discharge screen|faster image viewing|a field for allergies|referral "
    "templates].",
    "Questions: extension {#1000-8999}."};
constexpr std::string_view kRotaTitle[] = {"[Rota|Duty list|On call list] for {department}, week of {today}",
                                           "[Nursing|Medical] roster {ward}"};
constexpr std::string_view kRota[] = {"[Mon|Tue|Wed|Thu|Fri|Sat|Sun] [early|late|night|long day]: {surname}, {surname}",
                                      "{surname} [annual leave|study leave|sick] [until {later}|all week]",
                                      "[Swap|Change] agreed: {surname} for {surname} on {someday}",
                                      "Bleep {#1000-8999} [registrar|house officer|porter]",
                                      "[Handover|Board round] at {time} in the seminar room"};
constexpr std::string_view kMinutesTitle[] = {
    "Minutes of the [discharge planning|medicines safety|radiology users|finance] [group|committee], {today}",
    "[Notes|Minutes] of the {department} meeting"};
constexpr std::string_view kMinutes[] = {
    "[Present|Apologies]: {surname}, {surname}, {surname}.",
    "{surname} [reported|explained] that [discharges before noon|referral times|drug errors|unpaid claims|scan waits] "
    "[rose|fell] to {#8-92}%.",
    "It was [agreed|decided] to [audit|review|change] [the discharge letter|the chart|the referral form|the billing "
    "codes] [by {later}|].",
    "Action: {surname} to [write|report|ask finance|draft a policy].",
    "The [last minutes were|budget was] accepted.",
    "[Any other business|Next meeting]: {later}, {time}.",
    "[There was|We had] a long talk about [beds|parking|staffing|the new scanner]."};
constexpr std::string_view kNewsTitle[] = {"{hospital} [news|bulletin], [spring|summer|autumn|winter] issue",
                                           "Staff newsletter {month}"};
constexpr std::string_view kNews[] = {
    "[Congratulations to|We welcome|We say goodbye to] {surname} of {department}.",
    "The [choir|running club|garden] meets on [Mondays|Thursdays] at {time}.",
    "A [cake sale|concert|fair] raised {money} for [the scanner appeal|the children's ward].",
    "[Flu vaccination|Hand washing] [week|day] starts on {later}.",
    "Our volunteers [read to|sit with|visit] patients on {ward}.",
    "[Recipe|Quiz|Crossword] on page {#2-8}."};
constexpr std::string_view kSurveyTitle[] = {"[Tell us how we did|Patient experience survey] {reference}",
                                             "Your views on your [visit|stay|scan]"};
constexpr std::string_view kSurvey[] = {
    "How [likely are you to|would you] recommend {ward}? 1 2 3 4 5",
    "Were you [told about your medicines|seen on time|given a copy of your letter]? [Yes / No|Yes No Not sure]",
    "Was the [cost|bill|discharge|food] explained to you? Yes / No", "What [could we do better|did you like]? ........",
    "Your answers are [anonymous|not kept with your record]."};
constexpr std::string_view kParkingTitle[] = {"[Parking|Car park] at {hospital}: [new charges|changes] from {later}"};
constexpr std::string_view kParking[] = {"[Level|Row] {#1-5} is [closed|for staff only|for blue badges].",
                                         "[Up to|Over] {#1-6} hours: {fee}.",
                                         "[Pay at the machine|Pay by phone] before you leave.",
                                         "Permits [end|are renewed] on {later}; ask {surname}, extension {#1000-8999}.",
                                         "[Buses leave|The shuttle leaves] every {#10-40} minutes from {street}."};
constexpr std::string_view kVacancyTitle[] = {
    "Vacancy {reference}: [staff nurse|radiographer|ward clerk|pharmacy technician|billing officer]"};
constexpr std::string_view kVacancy[] = {
    "[We seek|We are looking for] a [kind|careful|experienced] colleague for {ward}[ or {department}|].",
    "[Pay|Salary] {money} [a month|by experience]. {#20-40} hours.",
    "[You will|Duties:] [prepare discharges|answer the telephone|give medicines|book scans|check claims].",
    "[Apply|Write] to {surname} by {later}.", "[Training|A uniform|Parking] is [given|included|not included]."};
constexpr std::string_view kRepairTitle[] = {"[Works order|Maintenance sheet] {reference}"};
constexpr std::string_view kRepair[] = {
    "[Infusion pump|Bed|Lift|Scanner table|Fridge|Sink] on {ward}: [tested|repaired|condemned|part ordered] {someday}.",
    "Serial {reference}, next [test|service] {later}.",
    "[Leak|Noise|Loose cable|Alarm] reported by {surname} at {time}.", "[Parts|Labour] {money}.",
    "[Cleared|Handed back] to the ward by {surname}."};
constexpr std::string_view kConsentTitle[] = {"[Invitation to|Information about] a study of {problem}"};
constexpr std::string_view kConsent[] = {
    "You are [free|not obliged] to take part and may [leave|stop] at any time.",
    "[We would ask|The study asks] you for [a blood sample|two scans|a diary] over {#2-24} months.",
    "Your care [will not change|stays the same] if you say no.",
    "[The sponsor|The ethics committee] is {payer}; approval {reference}.",
    "Half of those who join take {drug}, the others [a dummy tablet|the usual care].",
    "[Travel|Parking] costs up to {fee} are paid back."};

constexpr Table kTables[] = {{"title_menu", kMenuTitle},
                             {"menu", kMenu},
                             {"title_it_notice", kNoticeTitle},
                             {"it_notice", kNotice},
                             {"title_rota", kRotaTitle},
                             {"rota", kRota},
                             {"title_minutes", kMinutesTitle},
                             {"minutes", kMinutes},
                             {"title_newsletter", kNewsTitle},
                             {"newsletter", kNews},
                             {"title_survey", kSurveyTitle},
                             {"survey", kSurvey},
                             {"title_parking", kParkingTitle},
                             {"parking", kParking},
                             {"title_vacancy", kVacancyTitle},
                             {"vacancy", kVacancy},
                             {"title_works_order", kRepairTitle},
                             {"works_order", kRepair},
                             {"title_study_invitation", kConsentTitle},
                             {"study_invitation", kConsent}};

}  // namespace

std::span<const Table> unrelated_tables() { return kTables; }

}  // namespace attune::clinical
