// Random tensors on GPUs: each thread draws one group of numbers (kernels/ops/random/generator.h) with a function object,
//   void operator()(uint64_t index, Wide<T>* out)
// which draws the group_size<T> numbers of group `index`. Any thread may call the functions.
#pragma once

#include "kernels/gpu/map.h"
#include "kernels/gpu/storage.h"
#include "kernels/ops/random/generator.h"
#include "kernels/ops/random/random.h"

namespace troupe::gpu {

template <class Draw, class T>
struct DrawGroups {
  static constexpr size_t size = group_size<T>;
  Draw draw;
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
      draw(position / size, numbers);
      return store(out[call], numbers[position % size]);
    }
    draw(first + call, numbers);
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

/// Draws numbers of a distribution, which has a function
///   template <class T> static void draw(const Bits&, uint64_t index, Wide<T>* out)
template <class Distribution, class T, class Bits>
struct DrawFrom {
  Bits bits;
  TROUPE_ANY void operator()(uint64_t index, Wide<T>* out) const {
    Distribution::template draw<T>(bits, index, out);
  }
};

/// Fills the output with numbers.
template <class T, class Draw>
Status draw_numbers(DeviceContext& device, const Draw& draw, const DrawnRows& rows, std::span<T> out) {
  constexpr size_t size = group_size<T>;
  const uint64_t start = out.empty() ? 0 : rows.position(0);
  const bool grouped = rows.stride == 1 && start % size == 0 && is_aligned(out.data(), size * sizeof(T));
  const size_t calls = grouped ? (out.size() + size - 1) / size : out.size();
  return each(device, calls, DrawGroups<Draw, T>{draw, rows, out.data(), out.size(), start / size, grouped});
}

/// Fills a tensor with integers of 32 or 64 bits, which a Draw<T>{arguments...} draws as unsigned integers T.
template <template <class> class Draw, class... Arguments>
Status draw_integers(DeviceContext& device, Tensor& output, const Arguments&... arguments) {
  const auto n = static_cast<size_t>(output.elements());
  const auto draw = [&]<class T>(std::type_identity<T>) {
    return draw_numbers(device, Draw<T>{arguments...}, DrawnRows{}, std::span(stored<T>(output), n));
  };
  return size_of(output.dtype()) == 8 ? draw(std::type_identity<uint64_t>{})
                                      : draw(std::type_identity<uint32_t>{});
}

}  // namespace troupe::gpu
