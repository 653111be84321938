#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace attune {

/// How a graph is built and searched: more of any finds more of the true neighbours and takes longer (Malkov and
/// Yashunin 2018, section 4.1: M, efConstruction, ef).
struct GraphSizes {
  std::int64_t links = 16, build_breadth = 200;
  /// 0: twice the square root of the vectors, at least 200. Of 16,384, 65,536 and 131,072 random vectors of 64 values
  /// it found 0.96 of the 32 true neighbours; a constant 200 found 0.94 and 0.82 of the first two.
  std::int64_t search_breadth = 0;
};

/// A graph's links as numbers, for a file. Vectors have the numbers 0, 1, ...
struct GraphLinks {
  std::vector<std::int32_t> levels;  // [vectors] of each: it has links on level 0, and on levels 1 to this
  std::vector<std::int32_t> links;   // of each vector and level in turn: how many, then the numbers of its neighbours
  std::int64_t entry = -1;           // where searches begin: a vector of the highest level; -1: there is none
};

/// Finds the vectors of (nearly) largest inner product with a query without looking at all of them: a hierarchical
/// navigable small-world graph (Malkov and Yashunin 2018), hnswlib's. The same additions and removals in the same order
/// give the same graph and the same answers, whoever else searches meanwhile. Vectors are copied. Not for additions and
/// other calls at the same time.
class NeighbourGraph {
 public:
  NeighbourGraph(std::int64_t width, const GraphSizes& sizes);  // throws Error on sizes that make no graph
  /// With these links again: `vectors` begins the rows, one every `stride` values. Throws Error where the links are not
  /// those of a graph of so many vectors.
  NeighbourGraph(std::int64_t width, const GraphSizes& sizes, const GraphLinks& links, const float* vectors,
                 std::int64_t stride);
  ~NeighbourGraph();
  NeighbourGraph(NeighbourGraph&&) noexcept;
  NeighbourGraph& operator=(NeighbourGraph&&) noexcept;

  /// Returns the vector's number: 0, 1, ... in the order of the additions.
  std::int64_t add(const float* vector);
  /// It is no longer found. Its values stay, as a place that searches pass through, until the graph is dropped.
  void remove(std::int64_t number);

  std::int64_t added() const;
  std::int64_t removed() const;

  /// The numbers of at most best.size() vectors, best first, of equal ones the lower number first. Returns how many.
  std::int64_t nearest(const float* query, std::span<std::int64_t> best) const;

  /// Throws Error where vectors were removed: their places would be in the file.
  GraphLinks links() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace attune
