// Measures the limits of the machine: copying, filling and reading memory, and multiply-adds in registers. Times are CPU times of
// the calling thread, so that other processes disturb little. One thread; sizes are in bytes, times in seconds.
#pragma once

#include <cstddef>
#include <vector>

namespace troupe::bench {

/// Returns the CPU time of this thread.
double thread_seconds();

/// Measures the least time in which one block of memory can be read and another written. The smaller size is copied, and the rest
/// is filled or read.
class MemoryFloor {
 public:
  MemoryFloor(size_t read, size_t written);
  /// Makes one pass over the memory, which has been touched before.
  void pass();
  /// Returns the median time of passes that take about `seconds` in total.
  double measure(double seconds);

 private:
  std::vector<char> from_, to_;
};

/// Returns the single-precision FLOP/s of a core: multiply-adds per second times two, with the widest vectors and operands in
/// registers.
double fma_rate();

}  // namespace troupe::bench
