#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace attune {

/// A trie over bytes in one array (Aoe 1989, "double array"): a step is one look at memory. Node 0 is the root.
class ByteTrie {
 public:
  static constexpr std::int32_t root = 0, none = -1;

  ByteTrie() : nodes_(1) {}
  /// Keys with their values from 0. Empty keys are left out; of a key given twice the last value counts.
  explicit ByteTrie(std::vector<std::pair<std::string_view, std::int32_t>> entries);

  /// The node behind `node` for this byte, or none.
  std::int32_t child(std::int32_t node, char byte) const {
    const auto next = static_cast<std::uint32_t>(nodes_[static_cast<std::size_t>(node)].base) + label(byte);
    return next < nodes_.size() && nodes_[next].parent == node ? static_cast<std::int32_t>(next) : none;
  }

  /// The value of the key that ends at the node, or none.
  std::int32_t value(std::int32_t node) const { return nodes_[static_cast<std::size_t>(node)].value; }

  /// The node that `text` leads to, or none.
  std::int32_t walk(std::string_view text) const {
    std::int32_t node = root;
    for (std::size_t i = 0; i < text.size() && node != none; ++i) node = child(node, text[i]);
    return node;
  }

  /// The longest key that `text` begins with: its length and value; {0, none} where there is none.
  std::pair<std::size_t, std::int32_t> longest(std::string_view text) const {
    std::pair<std::size_t, std::int32_t> best{0, none};
    std::int32_t node = root;
    for (std::size_t i = 0; i < text.size() && (node = child(node, text[i])) != none; ++i)
      if (value(node) != none) best = {i + 1, value(node)};
    return best;
  }

 private:
  struct Node {
    std::int32_t base = 0, parent = none, value = none;
  };
  // Labels begin at 1, so that no child is the root.
  static std::uint32_t label(char byte) { return static_cast<std::uint32_t>(static_cast<unsigned char>(byte)) + 1; }

  std::size_t place(const std::vector<std::uint32_t>& labels);

  std::vector<Node> nodes_;
  std::size_t search_from_ = 1;  // while it is built: below it hardly anything is free
};

}  // namespace attune
