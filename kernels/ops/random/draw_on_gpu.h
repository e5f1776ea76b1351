// Random tensors on GPUs: each thread draws one group of numbers (kernels/ops/random/generator.h). A distribution has
//   template <class T> static void draw(const Philox&, uint64_t index, Number<T>* out)
// which draws the group_size<T> numbers of group `index`. Any thread may call the functions.
#pragma once

#include "kernels/gpu/map.h"
#include "kernels/ops/random/generator.h"
#include "kernels/ops/random/random.h"

namespace troupe::gpu {

template <class Distribution, class T>
struct DrawGroups {
  static constexpr size_t size = group_size<T>;
  Philox philox;
  DrawnRows rows;
  T* out;
  size_t n;
  /// The number of the group with which the output begins.
  uint64_t first;
  /// The output consists of whole groups, one after the other; else each call draws one number.
  bool grouped;

  TROUPE_ANY void operator()(size_t call) const {
    Wide<T> numbers[size];
    if (!grouped) {
      const uint64_t position = rows.position(call);
      Distribution::template draw<T>(philox, position / size, numbers);
      return store(out[call], numbers[position % size]);
    }
    Distribution::template draw<T>(philox, first + call, numbers);
    const size_t begin = call * size;
    if (begin + size <= n) {
      Pack<T, size> pack;
      for (size_t i = 0; i < size; ++i) store(pack.items[i], numbers[i]);
      *reinterpret_cast<Pack<T, size>*>(out + begin) = pack;
    } else {
      for (size_t i = 0; begin + i < n; ++i) store(out[begin + i], numbers[i]);
    }
  }
};

/// Fills the output with numbers of a distribution.
template <class Distribution, class T>
Status draw_numbers(DeviceContext& device, const Philox& philox, const DrawnRows& rows, std::span<T> out) {
  constexpr size_t size = group_size<T>;
  const uint64_t start = out.empty() ? 0 : rows.position(0);
  const bool grouped = rows.stride == 1 && start % size == 0 && is_aligned(out.data(), size * sizeof(T));
  const size_t calls = grouped ? (out.size() + size - 1) / size : out.size();
  return each(device, calls,
              DrawGroups<Distribution, T>{philox, rows, out.data(), out.size(), start / size, grouped});
}

}  // namespace troupe::gpu
