#pragma once

#include <span>
#include <string_view>

namespace attune::clinical {

/// The five categories, in the order of their labels.
enum class Category { discharge_summary, imaging_report, referral, medication_record, billing_correspondence, none };
inline constexpr int kCategories = 5;
std::string_view label(Category category);

/// How the page looks around the text.
enum class Page { letter, form, email, fax, note, table };
/// How a section is announced.
enum class HeadingStyle { capitals, colon, inline_colon, numbered, underlined, starred, none };

/// A template family: the papers that one office prints or one habit of writing makes.
struct Family {
  std::string_view name;
  Category category;  // none: papers of every category are written on it
  bool unfamiliar;    // stands in the unfamiliar part alone
  Page page;
  HeadingStyle heading;
  std::string_view titles;  // production; may become empty
  /// For one category: "section:Heading; section:Heading", in order. For a shared family: headings that say nothing,
  /// "A|B|C".
  std::string_view parts;
};
std::span<const Family> families();

/// For a shared family: which sections a document of the category may hold, with their weights, "history:6 course:8".
std::string_view shared_sections(Category category);

}  // namespace attune::clinical
