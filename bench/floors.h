// What the machine can do, measured beside what we do: copying, filling and reading memory, and multiply-adds in registers. CPU time of
// the calling thread, so that a busy machine disturbs little. One thread; sizes in bytes, times in seconds.
#pragma once

#include <cstddef>
#include <vector>

namespace troupe::bench {

/// CPU time of this thread.
double thread_seconds();

/// The least time in which some memory can be read and other memory written: as much as both have is copied, the rest filled or read.
class MemoryFloor {
 public:
  MemoryFloor(size_t read, size_t written);
  /// One pass over memory that was touched before.
  void pass();
  /// Median of passes that take about `seconds` together.
  double measure(double seconds);

 private:
  std::vector<char> from_, to_;
};

/// Single-precision multiply-adds a core does per second, times two (FLOP/s): the widest vectors, from registers to registers.
double fma_rate();

}  // namespace troupe::bench
