// Elementwise work on floats, four elements at a time: what _FusedElementwise reads and writes, interpreted or compiled. Plain
// values. This file becomes part of sources that are compiled at run time (kernels/gpu/compiled.h).
#pragma once

#include "kernels/gpu/any.h"
#include "kernels/gpu/math_names.h"

namespace troupe::gpu {

/// Neighbouring elements, which one instruction loads or stores.
struct Four {
  static constexpr int width = 4;
  alignas(16) float items[width];
};

struct FourArguments {
  static constexpr unsigned most = 64;
  const float* args[most];
  bool scalar[most];  ///< the arg has one element, which belongs to all of the output
  float* out;         ///< may be the memory of an arg that is no scalar
  size_t n;           ///< elements of the output
  bool aligned;       ///< all tensors are aligned to sixteen bytes

  TROUPE_ANY size_t calls() const { return (n + Four::width - 1) / Four::width; }

  /// Returns the elements of an arg from `first` on; zeros behind the end.
  TROUPE_ANY Four load(unsigned arg, size_t first) const {
    const float* const from = args[arg];
    if (scalar[arg]) return {{*from, *from, *from, *from}};
    if (has_four(first)) return *reinterpret_cast<const Four*>(from + first);
    Four part = {};
    for (int i = 0; i < Four::width && first + i < n; ++i) part.items[i] = from[first + i];
    return part;
  }
  TROUPE_ANY void store(size_t first, const Four& result) const {
    if (has_four(first)) {
      *reinterpret_cast<Four*>(out + first) = result;
    } else {
      for (int i = 0; i < Four::width && first + i < n; ++i) out[first + i] = result.items[i];
    }
  }

 private:
  TROUPE_ANY bool has_four(size_t first) const { return aligned && first + Four::width <= n; }
};

}  // namespace troupe::gpu
