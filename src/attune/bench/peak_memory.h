#pragma once

namespace attune::bench {

/// Gives unused memory back to the system and forgets how much this process had at most. Throws Error where the system
/// does not offer that (/proc/self/clear_refs).
void begin_peak_memory();

/// The most memory that this process had at a time since then, in MB (10^6 bytes): the program itself, its libraries
/// and all it keeps (VmHWM).
double peak_memory_mb();

}  // namespace attune::bench
