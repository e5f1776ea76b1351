// How many numbers a sequence has. Pure functions; any thread may call them.
#pragma once

#include <cmath>
#include <string>

#include "kernels/core/type_dispatch.h"
#include "messages/values/status.h"

namespace troupe {

/// Returns the number of elements. Fails with InvalidArgument if delta is 0 or leads away from limit, or if the number does not
/// fit int64.
template <class T>
Result<int64_t> range_size(T start, T limit, T delta) {
  const ComputeType<T> from(start), to(limit), by(delta);
  const auto text = [&] {
    return "start " + std::to_string(from) + ", limit " + std::to_string(to) + ", delta " +
           std::to_string(by);
  };
  if (!(by > 0 || by < 0)) return invalid_argument(text() + ": delta must not be 0");
  if (by > 0 ? from > to : from < to) return invalid_argument(text() + ": delta leads away from limit");
  if constexpr (std::is_integral_v<T>) {
    const auto gap = delta > 0 ? static_cast<uint64_t>(limit) - static_cast<uint64_t>(start)
                               : static_cast<uint64_t>(start) - static_cast<uint64_t>(limit);
    const auto step = delta > 0 ? static_cast<uint64_t>(delta) : uint64_t{0} - static_cast<uint64_t>(delta);
    const uint64_t size = gap / step + (gap % step != 0 ? 1 : 0);
    if (size > INT64_MAX) return invalid_argument(text() + ": too many elements");
    return static_cast<int64_t>(size);
  } else {
    const auto steps = static_cast<ComputeType<T>>(T(static_cast<ComputeType<T>>(T(to - from)) / by));
    const double size = std::ceil(std::abs(double{steps}));
    if (!(size < 0x1p62)) return invalid_argument(text() + ": too many elements");
    return static_cast<int64_t>(size);
  }
}

}  // namespace troupe
