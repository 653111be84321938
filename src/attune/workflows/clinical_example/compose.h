#pragma once

#include <string>
#include <vector>

#include "attune/workflows/clinical_example/families.h"
#include "attune/workflows/clinical_example/grammar.h"

namespace attune::clinical {

/// What a document is to be.
struct Order {
  const Family* family = nullptr;
  Category category = Category::none;
  int tokens = 0;                    // how long, about
  std::vector<std::string> earlier;  // sections of the same patient's earlier documents, for copying forward
};

/// A document before it is laid out on its page.
struct Content {
  std::string title;                  // may be empty
  std::vector<std::string> sections;  // each with its heading; joined by blank lines
  std::vector<std::string> own;       // sections that later documents may copy forward
  bool brief = false;                 // a few lines: next to nothing stands around them
};

/// Words and marks of a text, counting long words twice or more, as a subword tokenizer would: for lengths alone.
int rough_tokens(std::string_view text);

/// Writes the content: the sentences of the category's act (open_, close_), sections of the family, and in many
/// documents passages that are copied from, quoted of, or mention a document of another category.
Content compose(const Order& order, const Grammar& grammar, const Facts& facts, RandomStream& random);

/// A document of no category: kind names its tables.
Content compose_unrelated(std::string_view kind, int tokens, const Grammar& grammar, const Facts& facts,
                          RandomStream& random);

/// The content on the family's page: letterhead, addressee, greeting, form fields, mail header, footer.
std::string lay_out(const Content& content, Page page, const Grammar& grammar, const Facts& facts,
                    RandomStream& random);

}  // namespace attune::clinical
