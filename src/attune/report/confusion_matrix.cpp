#include "attune/report/confusion_matrix.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "attune/base/error.h"
#include "attune/report/numbers.h"
#include "attune/report/svg.h"
#include "attune/report/text.h"

namespace attune::report {

namespace {

constexpr std::size_t most_with_numbers = 16;

struct Cell {
  std::int64_t count, row_total;
  bool right;
  double share() const { return row_total ? static_cast<double>(count) / static_cast<double>(row_total) : 0; }
};

void draw_cell(Svg& out, const Box& box, const Cell& cell, const std::string& tip, bool numbers) {
  const double opacity = cell.count ? 0.1 + 0.9 * cell.share() : 0;
  out.shade(box, cell.right ? "shade" : "wrong", opacity, tip);
  out.rect(box, "cell");
  if (!numbers || cell.count == 0) return;
  const std::string on = opacity > 0.55 ? " on" : "";
  const double x = box.x + box.width / 2, y = box.y + box.height / 2;
  const bool two_lines = box.height >= 34;
  out.text({x, two_lines ? y - 1 : y + 4}, with_thousands(cell.count), "value strong" + on, "middle");
  if (two_lines) out.text({x, y + 12}, percent(cell.share(), 0), "small" + on, "middle");
}

}  // namespace

std::string ConfusionMatrix::svg() const {
  const std::size_t n = labels.size();
  check(n > 0 && counts.size() == n, "drawing \"{}\": {} rows of counts for {} labels", title, counts.size(), n);
  for (const auto& row : counts)
    check(row.size() == n, "drawing \"{}\": a row has {} counts for {} labels", title, row.size(), n);

  const bool numbers = n <= most_with_numbers;
  double longest = 0;
  std::vector<std::string> names;
  for (const std::string& label : labels) {
    names.push_back(shortened(label, 26));
    longest = std::max(longest, text_width(names.back(), numbers ? 12 : 10));
  }
  const double left = longest + 44, support = numbers ? 64 : 0;
  const double cell_width = (width - left - support - 14) / static_cast<double>(n);
  const double cell_height = numbers ? std::clamp(cell_width * 0.62, 24.0, 54.0) : std::max(cell_width * 0.75, 10.0);
  const double top = 52, height = top + cell_height * static_cast<double>(n) + longest * 0.6 + 46;
  Svg out(width, height, {title, fmt::format("Confusion matrix over {} labels; rows are the true labels.", n)});
  out.text({14, 20}, title, "title");
  if (numbers) out.text({width - 14, top - 8}, "documents", "label", "end");
  const double bottom = top + cell_height * static_cast<double>(n);
  for (std::size_t t = 0; t < n; ++t) {
    const std::int64_t total = std::accumulate(counts[t].begin(), counts[t].end(), std::int64_t{0});
    const double y = top + cell_height * static_cast<double>(t);
    out.text({left - 8, y + cell_height / 2 + 4}, names[t], numbers ? "" : "small", "end");
    if (numbers) out.text({width - 14, y + cell_height / 2 + 4}, with_thousands(total), "tick", "end");
    for (std::size_t a = 0; a < n; ++a) {
      const Cell cell{counts[t][a], total, t == a};
      const std::string tip = fmt::format("truth {}, answer {}: {} ({} of the row)", labels[t], labels[a],
                                          counted(cell.count, "document"), percent(cell.share()));
      draw_cell(out, {left + cell_width * static_cast<double>(a), y, cell_width, cell_height}, cell, tip, numbers);
    }
    out.slanted_text({left + cell_width * (static_cast<double>(t) + 0.5) + 4, bottom + 14}, names[t],
                     numbers ? "" : "small");
  }
  out.upright_text({16, top + (bottom - top) / 2}, "True label", "label");
  out.text({left + (width - left - support) / 2, height - 10}, "Answer of the model", "label", "middle");
  return out.finish();
}

}  // namespace attune::report
