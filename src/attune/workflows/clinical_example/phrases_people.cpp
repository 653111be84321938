#include "attune/workflows/clinical_example/phrases.h"

namespace attune::clinical {
namespace {

constexpr std::string_view kSurname[] = {
    "Abbott",    "Adeyemi", "Alvarez",   "Andersen", "Archer",   "Ashworth", "Bailey",    "Banerjee", "Barros",
    "Becker",    "Bennett", "Bianchi",   "Blake",    "Brennan",  "Calloway", "Castillo",  "Chandler", "Chen",
    "Clarke",    "Cordero", "Cooper",    "Cruz",     "Dalton",   "Das",      "Davies",    "Delgado",  "Dixon",
    "Dolan",     "Duarte",  "Ellis",     "Escobar",  "Evans",    "Farrell",  "Fernandez", "Finch",    "Flores",
    "Foster",    "Fuentes", "Gallagher", "Garcia",   "Gibson",   "Gomez",    "Grant",     "Greene",   "Gupta",
    "Haddad",    "Hale",    "Hansen",    "Harper",   "Hassan",   "Hayes",    "Herrera",   "Hobbs",    "Holloway",
    "Ibanez",    "Ingram",  "Ivanov",    "Jansen",   "Jarvis",   "Jimenez",  "Joshi",     "Kaplan",   "Kaur",
    "Keane",     "Kelly",   "Khan",      "Kowalski", "Lambert",  "Larsen",   "Lopez",     "Lowe",     "Lynch",
    "MacLeod",   "Malone",  "Marin",     "Mbeki",    "McGrath",  "Medina",   "Mehta",     "Mercer",   "Molina",
    "Moreno",    "Morgan",  "Murphy",    "Navarro",  "Nguyen",   "Novak",    "Nwosu",     "O'Connor", "Okafor",
    "Ortega",    "Osei",    "Padilla",   "Park",     "Patel",    "Pereira",  "Petrov",    "Phillips", "Pinto",
    "Price",     "Quinn",   "Ramos",     "Reid",     "Reyes",    "Rivera",   "Roberts",   "Rojas",    "Rossi",
    "Salazar",   "Sandhu",  "Santos",    "Schmidt",  "Serrano",  "Shah",     "Sharma",    "Silva",    "Simmons",
    "Slater",    "Soto",    "Stewart",   "Suarez",   "Tanaka",   "Taylor",   "Thorne",    "Torres",   "Tran",
    "Underhill", "Vargas",  "Vega",      "Walsh",    "Watkins",  "Weber",    "Whitfield", "Williams", "Wong",
    "Yilmaz",    "Young",   "Zamora",    "Zhang",    "Zielinski"};

constexpr std::string_view kHis[] = {
    "James", "Oliver", "George", "Arthur", "Samuel", "Rahul", "Miguel", "Carlos", "Jorge", "Luis",  "Peter", "Ahmed",
    "David", "Thomas", "Robert", "Walter", "Henry",  "Ivan",  "Kofi",   "Wei",    "Diego", "Pablo", "Frank", "Edward",
    "Brian", "Colin",  "Derek",  "Alan",   "Ernest", "Hugo",  "Mateo",  "Rafael", "Simon", "Tomas", "Leon",  "Victor"};
constexpr std::string_view kHer[] = {"Mary",   "Grace",  "Alice",  "Eleanor", "Priya",  "Lucia",   "Carmen",  "Elena",
                                     "Ana",    "Rosa",   "Fatima", "Ngozi",   "Susan",  "Barbara", "Joan",    "Dorothy",
                                     "Irene",  "Mei",    "Ingrid", "Clara",   "Marta",  "Pilar",   "Teresa",  "Ruth",
                                     "Helen",  "Janet",  "Linda",  "Nora",    "Olivia", "Sophia",  "Beatriz", "Ivy",
                                     "Amelia", "Hannah", "Yasmin", "Vera"};

constexpr std::string_view kStreet[] = {
    "Mill Lane",    "Station Road",   "Orchard Close", "High Street",   "Queen's Avenue", "Church Row",
    "Harbour View", "Maple Street",   "Oak Drive",     "Second Avenue", "Calle del Sol",  "Avenida Norte",
    "Pine Court",   "Willow Way",     "Bridge Street", "Cedar Road",    "Park Terrace",   "Elm Grove",
    "Calle Mayor",  "Lakeside Drive", "North Parade"};
constexpr std::string_view kTown[] = {
    "Aldermoor",    "Brinscombe",  "Calderwick", "Dunmere",  "Eastholme", "Fairbrook",  "Glenrock",   "Harrowfield",
    "Ironside",     "Kingsford",   "Lakeview",   "Mapleton", "Northgate", "Oakdale",    "Pinewood",   "Riverton",
    "Santa Elvira", "Stonebridge", "Thornbury",  "Valverde", "Westport",  "Villanueva", "Los Robles", "Cedar Falls"};

constexpr std::string_view kPayer[] = {"Northern Mutual",     "Beacon Health Plan", "Alliance Care",
                                       "Meridian Insurance",  "the regional fund",  "Union Benefit",
                                       "Harbor Health",       "Sanitas Plan",       "the welfare fund",
                                       "Crown Medical Cover", "Pioneer Assurance",  "Mutua General"};

constexpr std::string_view kDepartment[] = {"cardiology",
                                            "general surgery",
                                            "respiratory medicine",
                                            "gastroenterology",
                                            "neurology",
                                            "orthopaedics",
                                            "urology",
                                            "vascular surgery",
                                            "renal medicine",
                                            "rheumatology",
                                            "endocrinology",
                                            "haematology",
                                            "dermatology",
                                            "the pain clinic",
                                            "the memory clinic",
                                            "the heart failure team",
                                            "the chest clinic",
                                            "ophthalmology",
                                            "ear, nose and throat",
                                            "physiotherapy"};

constexpr std::string_view kWard[] = {
    "Ward 4",          "Ward 7B", "Ward 11", "the acute unit",     "Elm ward",
    "the stroke unit", "5 West",  "3 North", "the surgical floor", "the medical floor",
    "the day unit",    "bay C",   "room 212"};

constexpr std::string_view kRole[] = {"consultant",         "specialist registrar", "attending physician",
                                      "resident",           "staff nurse",          "ward pharmacist",
                                      "adjunct physician",  "medical secretary",    "clinical fellow",
                                      "nurse practitioner", "head of section",      "duty doctor"};

constexpr std::string_view kFooter[] = {
    "This document is confidential and is meant for the person named above.",
    "Page 1 of 1. Printed {printed}.",
    "If you are not the addressee, please return this paper to {hospital}.",
    "Dictated but not signed, to avoid delay.",
    "cc: patient; {pcp}; file",
    "Electronically signed by {doctor}, {role}.",
    "Ref {reference}. Please quote this number.",
    "Copy for the record. No reply is needed unless something is wrong.",
    "Transmitted by fax {printed}. [If pages are missing, call {phone}.|]",
    "{hospital} serves {town} and {town}.",
    "Checked by {doctor} on {today}.",
    "We hold your details in line with the law on privacy.",
    "Form {reference}/[2|3|4|5|7]. Keep in the notes.",
    "Our telephone lines are open from [8|9] to [4|5|6]. Switchboard {phone}.",
    "Typed by [the medical secretary|dictation service|{surname}] from a recording, [not proofread|proofread once].",
    "Unsigned copies are not valid."};

constexpr std::string_view kChitchat[] = {
    "{He} lives [alone|with {his} [wife|husband|daughter|son|partner|family]|in a residential home] in {town}.",
    "{He} [used to work|works|worked for {#8-35} years] as a "
    "[teacher|driver|farmer|cook|clerk|nurse|builder|tailor|fisherman|mechanic].",
    "{He} [smokes {#3-20} cigarettes a day|stopped smoking {#2-25} years ago|has never smoked] and drinks [little|no "
    "alcohol|{#2-20} units a week].",
    "{He} [walks with a stick|is independent|needs help with washing|drives|uses a frame|climbs two flights of stairs "
    "without stopping].",
    "{He} is a very pleasant {man}.",
    "[An interpreter was present|{His} [daughter|son|neighbour] came with {him}|{He} came alone].",
    "{He} asked [for a copy of this|that {his} [daughter|son|wife|husband] be told|what happens next].",
    "The telephone number on file is {phone}; [leave a message|mornings are best|ask for {surname}].",
    "[Allergies: none known.|No known drug allergies.|Allergic to {allergen} ([rash|swelling|vomiting]).]",
    "Weight {#48-112} [kg|kg on the ward scales], stable [since last year|over three months|by {his} own "
    "account].",
    "{He} [prefers letters in large print|has no email|would rather be phoned|can not hear well on the telephone]."};

constexpr std::string_view kSalutation[] = {
    "Dear {pcp},", "Dear Dr {surname},",      "Dear colleague,",      "Dear doctor,", "Dear Sir or Madam,",
    "Dear all,",   "To whom it may concern,", "Estimated colleague,", "Dear team,"};
constexpr std::string_view kValediction[] = {"Yours sincerely,\n{doctor}\n{role}",
                                             "Kind regards\n{doctor}",
                                             "Sincerely,\n{doctor}, {role}",
                                             "Best wishes,\n{doctor}",
                                             "With cordial greetings,\n{doctor}\n{role}",
                                             "{doctor}\n{hospital}",
                                             "Yours faithfully,\n{doctor}",
                                             "Signed: {doctor} ({role})",
                                             "Regards,\n{doctor}\n{phone}"};

constexpr std::string_view kBullet[] = {"", "", "- ", "* ", "+ ", "  "};

constexpr Table kTables[] = {{"bullet", kBullet},
                             {"surname", kSurname},
                             {"his_name", kHis},
                             {"her_name", kHer},
                             {"street", kStreet},
                             {"town", kTown},
                             {"payer", kPayer},
                             {"department", kDepartment},
                             {"ward", kWard},
                             {"role", kRole},
                             {"footer", kFooter},
                             {"chitchat", kChitchat},
                             {"salutation", kSalutation},
                             {"valediction", kValediction}};

}  // namespace

std::span<const Table> people_tables() { return kTables; }

}  // namespace attune::clinical
