// FlushDenormals: how threads treat denormal floats (below about 1e-38) while they compute. Arithmetic on them is up to a hundred
// times slower than on other numbers, so a training whose gradients approach zero would slow down. As in TensorFlow, threads that
// compute read and write zeros in their place. On processors other than x86-64 and AArch64 this does nothing.
#pragma once

#include <cstdint>

namespace troupe {

/// While it lives, the calling thread reads and writes zeros in place of denormal floats. Afterwards the thread's setting is as
/// it was before. Belongs to the thread that made it.
class FlushDenormals {
 public:
  FlushDenormals();
  ~FlushDenormals();
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

 private:
  const uint64_t before_;  ///< the thread's floating-point control register
};

}  // namespace troupe
