#pragma once

#include <span>
#include <string_view>

namespace attune::clinical {

/// The phrases that one slot of the grammar may become; the notation is described in grammar.h.
struct Table {
  std::string_view slot;
  std::span<const std::string_view> phrases;
};

std::span<const Table> people_tables();             // names, places, insurers
std::span<const Table> medicine_tables();           // drugs, doses, conditions, results
std::span<const Table> imaging_tables();            // techniques, findings, impressions, by part of the body
std::span<const Table> narrative_tables();          // history, examination, course, plan
std::span<const Table> medication_tables();         // lists of medicines, administrations, changes
std::span<const Table> billing_tables();            // charges, codes, claims
std::span<const Table> intent_tables();             // what a document does: the sentences that decide its category
std::span<const Table> unfamiliar_intent_tables();  // the same acts in words that the training part joins otherwise
std::span<const Table> mention_tables();    // another document's act, told, denied or promised; marks of a quotation
std::span<const Table> unrelated_tables();  // documents of no category

/// One clinical problem with what belongs to it, so that a document hangs together.
struct Condition {
  std::string_view problem, symptom, department, procedure, drug;
  std::string_view region;  // chest, abdomen, head, neck, spine, limb, vessel, heart: picks the imaging tables
  std::string_view study;
};
std::span<const Condition> conditions();

}  // namespace attune::clinical
