#include "attune/bench/measurement.h"

#include <fmt/core.h>

#include "attune/base/json_values.h"

namespace attune::bench {

std::string json_line(const Measurement& m) {
  nlohmann::ordered_json line;
  line["bench"] = m.bench;
  line["case"] = m.name;
  line["threads"] = m.threads;
  line["value"] = m.value;
  line["unit"] = m.unit;
  line["limit"] = m.limit;
  return line.dump();
}

std::string text_header() {
  return fmt::format("{:<38} {:>7} {:>10} {:>10} {:>6}  {}", "case", "threads", "value", "limit", "of it", "unit");
}

std::string text_line(const Measurement& m) {
  const double reached = m.unit == "MB" || m.unit == "ms" || m.unit == "times" ? m.limit / m.value : m.value / m.limit;
  return fmt::format("{:<38} {:>7} {:>10.1f} {:>10.1f} {:>5.0f}%  {}", m.name, m.threads, m.value, m.limit,
                     m.limit > 0 ? 100 * reached : 0.0, m.unit);
}

}  // namespace attune::bench
