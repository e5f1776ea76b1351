// FlushDenormals: makes a thread treat denormal floats (below about 1e-38) as zeros. Arithmetic on denormals is up to
// a hundred times slower than on other numbers, which would slow down a training whose gradients approach zero. As in
// TensorFlow, all threads that compute do so. On processors other than x86-64 and AArch64 this class does nothing.
#pragma once

#include <cstdint>

namespace troupe {

/// While it lives, the calling thread reads and writes zeros in place of denormal floats.
/// Then the thread's setting is restored. Must be destroyed on the thread that made it.
class FlushDenormals {
 public:
  FlushDenormals();
  ~FlushDenormals();
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

 private:
  const uint64_t saved_;  ///< the thread's floating-point control register
};

/// The opposite, for functions of the program on a thread that computes: while it lives, that thread computes with denormals.
class KeepDenormals {
 public:
  KeepDenormals();
  ~KeepDenormals();
  KeepDenormals(const KeepDenormals&) = delete;
  KeepDenormals& operator=(const KeepDenormals&) = delete;

 private:
  const uint64_t saved_;
};

}  // namespace troupe
