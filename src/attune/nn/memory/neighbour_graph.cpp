// The one source that includes hnswlib. Its own SIMD is chosen while compiling, and reads a few bytes beyond its memory
// to prefetch: left out, since distances, where the time goes, are our own kernel's, chosen at run time.
#include "attune/nn/memory/neighbour_graph.h"

#define NO_MANUAL_VECTORIZATION
#include <hnswlib/hnswlib.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "attune/base/error.h"
#include "attune/base/random.h"
#include "attune/kernels/cpu/nearest.h"

namespace attune {

namespace {

/// Smaller is nearer. What is no number is farthest: queues and sorts need an order.
float distance(const void* a, const void* b, const void* width) {
  const float product = kernels::inner_product(static_cast<const float*>(a), static_cast<const float*>(b),
                                               *static_cast<const std::int64_t*>(width));
  return std::isnan(product) ? std::numeric_limits<float>::infinity() : -product;
}

class InnerProducts : public hnswlib::SpaceInterface<float> {
 public:
  explicit InnerProducts(std::int64_t width) : width_(width) {}
  std::size_t get_data_size() override { return static_cast<std::size_t>(width_) * sizeof(float); }
  hnswlib::DISTFUNC<float> get_dist_func() override { return distance; }
  void* get_dist_func_param() override { return &width_; }

 private:
  std::int64_t width_;
};

constexpr int highest_level = 32;

/// The level that a vector is drawn for: geometric, with mean 1 / ln(links) (Malkov and Yashunin 2018, section 4.1). It
/// depends on the vector's number alone, so that a graph which was saved goes on as it would have.
int level_of(std::int64_t number, std::int64_t links) {
  RandomStream random(RandomKey{.seed = 1}.at("neighbour graph").at(static_cast<std::uint64_t>(number)));
  const double level = -std::log(1 - random.uniform()) / std::log(static_cast<double>(links));
  return std::min(highest_level, static_cast<int>(level));
}

}  // namespace

struct NeighbourGraph::State {
  State(std::int64_t width, const GraphSizes& s, std::int64_t room)
      : space(width),
        sizes(s),
        graph(&space, static_cast<std::size_t>(room), static_cast<std::size_t>(s.links),
              static_cast<std::size_t>(s.build_breadth)) {
    graph.mult_ = 0;  // its own levels are all 0: ours are given
  }

  InnerProducts space;
  GraphSizes sizes;
  hnswlib::HierarchicalNSW<float> graph;
};

NeighbourGraph::NeighbourGraph(std::int64_t width, const GraphSizes& sizes) {
  check(width >= 1 && sizes.links >= 2 && sizes.links <= 512 && sizes.build_breadth >= 1 && sizes.search_breadth >= 0,
        "a graph of neighbours: width {}, {} links, breadths {} and {}: expected 2 to 512 links and sizes above 0",
        width, sizes.links, sizes.build_breadth, sizes.search_breadth);
  state_ = std::make_unique<State>(width, sizes, 256);
}
NeighbourGraph::~NeighbourGraph() = default;
NeighbourGraph::NeighbourGraph(NeighbourGraph&&) noexcept = default;
NeighbourGraph& NeighbourGraph::operator=(NeighbourGraph&&) noexcept = default;

std::int64_t NeighbourGraph::added() const { return static_cast<std::int64_t>(state_->graph.cur_element_count); }
std::int64_t NeighbourGraph::removed() const { return static_cast<std::int64_t>(state_->graph.num_deleted_); }

std::int64_t NeighbourGraph::add(const float* vector) {
  auto& graph = state_->graph;
  const std::int64_t number = added();
  if (graph.cur_element_count == graph.max_elements_) graph.resizeIndex(graph.max_elements_ * 2);
  graph.addPoint(vector, static_cast<hnswlib::labeltype>(number), level_of(number, state_->sizes.links));
  return number;
}

void NeighbourGraph::remove(std::int64_t number) {
  check(0 <= number && number < added() && !state_->graph.isMarkedDeleted(static_cast<hnswlib::tableint>(number)),
        "vector {} is not in the graph", number);
  state_->graph.markDelete(static_cast<hnswlib::labeltype>(number));
}

std::int64_t NeighbourGraph::nearest(const float* query, std::span<std::int64_t> best) const {
  const std::int64_t wanted = std::min<std::int64_t>(static_cast<std::int64_t>(best.size()), added() - removed());
  if (wanted == 0) return 0;
  std::int64_t breadth = state_->sizes.search_breadth;
  if (breadth == 0) breadth = std::max<std::int64_t>(200, std::llround(2 * std::sqrt(static_cast<double>(added()))));
  auto found =
      state_->graph.searchKnn(query, static_cast<std::size_t>(std::max(wanted, breadth)));  // the farthest on top
  std::vector<std::pair<float, hnswlib::labeltype>> all;
  for (; !found.empty(); found.pop()) all.push_back(found.top());
  std::sort(all.begin(), all.end());
  const std::int64_t count = std::min<std::int64_t>(wanted, static_cast<std::int64_t>(all.size()));
  for (std::int64_t i = 0; i < count; ++i)
    best[static_cast<std::size_t>(i)] = static_cast<std::int64_t>(all[static_cast<std::size_t>(i)].second);
  return count;
}

GraphLinks NeighbourGraph::links() const {
  auto& graph = state_->graph;
  check(removed() == 0, "a graph from which vectors were removed is not written: build it again from those that stay");
  GraphLinks out;
  if (added() > 0) out.entry = static_cast<std::int64_t>(graph.enterpoint_node_);
  for (hnswlib::tableint i = 0; i < graph.cur_element_count; ++i) {
    out.levels.push_back(graph.element_levels_[i]);
    for (int level = 0; level <= graph.element_levels_[i]; ++level) {
      hnswlib::linklistsizeint* list = graph.get_linklist_at_level(i, level);
      const std::size_t count = graph.getListCount(list);
      out.links.push_back(static_cast<std::int32_t>(count));
      for (std::size_t n = 1; n <= count; ++n) out.links.push_back(static_cast<std::int32_t>(list[n]));
    }
  }
  return out;
}

NeighbourGraph::NeighbourGraph(std::int64_t width, const GraphSizes& sizes, const GraphLinks& links,
                               const float* vectors, std::int64_t stride)
    : NeighbourGraph(width, sizes) {
  const auto count = static_cast<std::int64_t>(links.levels.size());
  state_ = std::make_unique<State>(width, sizes, std::max<std::int64_t>(256, count));
  if (count == 0) {
    check(links.links.empty() && links.entry == -1, "the links are those of vectors that are not there");
    return;
  }
  int highest = 0;
  for (std::int32_t level : links.levels) {
    check(0 <= level && level <= highest_level, "a vector's level is {}: expected 0 to {}", level, highest_level);
    highest = std::max(highest, level);
  }
  check(0 <= links.entry && links.entry < count && links.levels[static_cast<std::size_t>(links.entry)] == highest,
        "vector {} is where searches begin, and it is not one of the highest level", links.entry);
  auto& graph = state_->graph;
  std::memset(graph.data_level0_memory_, 0, static_cast<std::size_t>(count) * graph.size_data_per_element_);
  std::size_t at = 0;
  for (std::int64_t i = 0; i < count; ++i) {
    const auto id = static_cast<hnswlib::tableint>(i);
    const int level = links.levels[static_cast<std::size_t>(i)];
    std::memcpy(graph.getDataByInternalId(id), vectors + i * stride, static_cast<std::size_t>(width) * sizeof(float));
    graph.setExternalLabel(id, static_cast<hnswlib::labeltype>(i));
    graph.label_lookup_[static_cast<hnswlib::labeltype>(i)] = id;
    if (level > 0) {
      const std::size_t bytes = graph.size_links_per_element_ * static_cast<std::size_t>(level) + 1;
      graph.linkLists_[i] = static_cast<char*>(std::calloc(bytes, 1));
      if (!graph.linkLists_[i]) throw std::bad_alloc();
    }
    graph.element_levels_[static_cast<std::size_t>(i)] = level;
    graph.cur_element_count = static_cast<std::size_t>(i) + 1;  // from here on it is freed with the graph
    for (int l = 0; l <= level; ++l) {
      check(at < links.links.size(), "the links end before those of vector {}", i);
      const std::int32_t neighbours = links.links[at++];
      check(0 <= neighbours && neighbours <= (l == 0 ? 2 : 1) * sizes.links &&
                static_cast<std::size_t>(neighbours) <= links.links.size() - at,
            "vector {} has {} links on level {}", i, neighbours, l);
      hnswlib::linklistsizeint* list = graph.get_linklist_at_level(id, l);
      graph.setListCount(list, static_cast<unsigned short>(neighbours));
      for (std::int32_t n = 0; n < neighbours; ++n) {
        const std::int32_t other = links.links[at++];
        check(0 <= other && other < count && other != i && links.levels[static_cast<std::size_t>(other)] >= l,
              "vector {} is linked to vector {} on level {}, which is not there", i, other, l);
        list[n + 1] = static_cast<hnswlib::linklistsizeint>(other);
      }
    }
  }
  check(at == links.links.size(), "{} numbers follow the links of the last vector", links.links.size() - at);
  graph.enterpoint_node_ = static_cast<hnswlib::tableint>(links.entry);
  graph.maxlevel_ = highest;
}

}  // namespace attune
