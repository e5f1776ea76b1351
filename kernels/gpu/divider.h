// Divider: division of indices by a number that is known before the kernel starts. A GPU has no instruction for division; two
// multiplications and a shift replace it for indices below 2^32. Larger indices are divided as usual. A plain value.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>

#include "kernels/gpu/any.h"

namespace troupe::gpu {

/// The method of Granlund and Montgomery, "Division by Invariant Integers using Multiplication" (1994), figure 4.1.
class Divider {
 public:
  Divider() = default;
  /// The divisor is not 0.
  explicit Divider(size_t divisor) : divisor_(divisor) {
    shift_ = divisor > 1 ? static_cast<uint32_t>(std::min<size_t>(std::bit_width(divisor - 1), 63)) : 0;
    if (shift_ > 32) return;
    const uint64_t power = uint64_t{1} << shift_;  // of two; the first that is not below the divisor
    multiplier_ = static_cast<uint32_t>(((power - divisor) << 32) / divisor + 1);
  }

  TROUPE_ANY size_t divisor() const { return divisor_; }
  TROUPE_ANY size_t quotient(size_t n) const {
    if (n >> 32 != 0) return n / divisor_;
    return ((uint64_t{multiplier_} * n >> 32) + n) >> shift_;
  }

 private:
  size_t divisor_ = 1;
  uint32_t multiplier_ = 1, shift_ = 0;
};

}  // namespace troupe::gpu
