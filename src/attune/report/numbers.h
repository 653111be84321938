#pragma once

#include <cstdint>
#include <string>

namespace attune::report {

/// Numbers as people read them. One that is not finite is an en dash in all of these.
std::string fixed(double value, int decimals = 3);              // "0.831"
std::string percent(double fraction, int decimals = 1);         // 0.0213 -> "2.1 %"
std::string with_thousands(std::int64_t value);                 // "12,345"
std::string range(double low, double high, int decimals = 3);   // "0.79 to 0.87"
std::string short_number(double value);                         // 12500 -> "12.5k", 0.00031 -> "3.1e-04"
std::string counted(std::int64_t n, const std::string& thing);  // "1 document", "3,014 documents"

}  // namespace attune::report
