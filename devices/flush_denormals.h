// FlushDenormals: makes a thread treat denormal floats (below about 1e-38) as zeros. Arithmetic on denormals is up to
// a hundred times slower than on other numbers, which would slow down a training whose gradients approach zero. As in
// TensorFlow, all threads that compute do so. On processors other than x86-64 and AArch64 this class does nothing.
#pragma once

#include <cstdint>

namespace troupe {

namespace detail {

/// Sets how the calling thread treats denormals, and restores the thread's setting when it is destroyed, on the same thread.
class DenormalMode {
 public:
  explicit DenormalMode(bool flushes);
  ~DenormalMode();
  DenormalMode(const DenormalMode&) = delete;
  DenormalMode& operator=(const DenormalMode&) = delete;

 private:
  const uint64_t saved_;  ///< the thread's floating-point control register
};

}  // namespace detail

/// While it lives, the calling thread reads and writes zeros in place of denormal floats.
/// Then the thread's setting is restored. Must be destroyed on the thread that made it.
class FlushDenormals : detail::DenormalMode {
 public:
  FlushDenormals() : DenormalMode(true) {}
};

/// The opposite, for functions of the program on a thread that computes: while it lives, that thread computes with denormals.
class KeepDenormals : detail::DenormalMode {
 public:
  KeepDenormals() : DenormalMode(false) {}
};

}  // namespace troupe
