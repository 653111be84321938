#include "attune/bench/peak_memory.h"

#include <malloc.h>

#include <fstream>
#include <string>

#include "attune/base/error.h"
#include "attune/tensor/storage.h"

namespace attune::bench {

void begin_peak_memory() {
  release_unused_memory();
#ifdef __GLIBC__
  malloc_trim(0);
#endif
  std::ofstream file("/proc/self/clear_refs");
  file << "5";  // sets VmHWM to what is resident now (proc(5))
  file.flush();
  check(static_cast<bool>(file), "measuring memory: /proc/self/clear_refs is not writable here");
}

double peak_memory_mb() {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.starts_with("VmHWM:")) return std::stod(line.substr(6)) * 1024e-6;
  fail("measuring memory: /proc/self/status has no VmHWM here");
}

}  // namespace attune::bench
