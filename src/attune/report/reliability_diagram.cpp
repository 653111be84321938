#include "attune/report/reliability_diagram.h"

#include <fmt/core.h>

#include <algorithm>

#include "attune/base/error.h"
#include "attune/report/frame.h"
#include "attune/report/numbers.h"

namespace attune::report {

std::string ReliabilityDiagram::svg() const {
  std::int64_t total = 0, most = 0;
  for (const Bin& bin : bins) total += bin.documents, most = std::max(most, bin.documents);
  check(total > 0, "drawing \"{}\": no bin holds a document", title);
  Svg out(
      width, height,
      {title, fmt::format("Share of right answers by stated confidence, {} bins, {} documents, expected calibration "
                          "error {}.",
                          bins.size(), total, percent(ece))});
  const double top = 40, counts_height = 54;
  const double area_height = height - top - 48 - counts_height - 14;
  const Frame frame{{62, top, width - 62 - 24, area_height}, {0, 1}, {0, 1}};
  const Box counts{frame.area.x, top + area_height + 14, frame.area.width, counts_height};
  out.text({14, 20}, title, "title");
  for (const Tick& tick : ticks(frame.y(), Unit::percent, 5)) {
    out.line({frame.area.x, frame.y()(tick.at)}, {frame.area.x + frame.area.width, frame.y()(tick.at)}, "grid");
    out.text({frame.area.x - 7, frame.y()(tick.at) + 4}, tick.label, "tick", "end");
  }
  for (const Bin& bin : bins) {
    if (bin.documents == 0) continue;
    const double left = frame.x()(bin.low) + 0.5, wide = frame.x()(bin.high) - frame.x()(bin.low) - 1;
    const std::string tip = fmt::format("confidence {}: {} right, {}", range(bin.low, bin.high, 2),
                                        percent(bin.accuracy), counted(bin.documents, "document"));
    const double right_y = frame.y()(bin.accuracy), stated_y = frame.y()(bin.confidence);
    out.rect({left, right_y, wide, frame.y()(0) - right_y}, "c0 bar", tip);
    out.rect({left, std::min(right_y, stated_y), wide, std::max(1.0, std::abs(right_y - stated_y))}, "gap", tip);
    const double tall = counts.height * static_cast<double>(bin.documents) / static_cast<double>(most);
    out.rect({left, counts.y + counts.height - tall, wide, tall}, "c6 bar", tip);
  }
  out.line(frame.at(0, 0), frame.at(1, 1), "reference");
  out.line(frame.at(0, 0), frame.at(1, 0), "axis");
  out.upright_text({16, frame.area.y + area_height / 2}, "Share that was right", "label");
  const double bottom = counts.y + counts.height;
  out.line({counts.x, bottom}, {counts.x + counts.width, bottom}, "axis");
  out.text({counts.x - 7, counts.y + 9}, with_thousands(most), "tick", "end");
  out.text({counts.x - 7, bottom + 3}, "0", "tick", "end");
  out.text({counts.x + 6, counts.y + 12}, "documents in each bin", "small");
  for (const Tick& tick : ticks(frame.x(), Unit::percent, 5))
    out.text({frame.x()(tick.at), bottom + 17}, tick.label, "tick", "middle");
  out.text({counts.x + counts.width / 2, bottom + 36}, "Confidence that the model stated", "label", "middle");
  out.text({frame.area.x + 10, frame.area.y + 18}, "ECE " + percent(ece), "strong");
  out.rect({frame.area.x + 10, frame.area.y + 27, 11, 11}, "c0 bar");
  out.text({frame.area.x + 26, frame.area.y + 36}, "was right", "small");
  out.rect({frame.area.x + 10, frame.area.y + 43, 11, 11}, "gap");
  out.text({frame.area.x + 26, frame.area.y + 52}, "gap to stated", "small");
  return out.finish();
}

}  // namespace attune::report
