// Computes each element of a tensor from the matching elements of up to three others, on a GPU. Neighbouring elements are loaded
// and stored together, sixteen bytes at a time, where the shapes and the addresses allow. Any thread may call these functions.
#pragma once

#include <algorithm>
#include <utility>

#include "kernels/gpu/launch.h"
#include "kernels/gpu/numbers.h"
#include "kernels/gpu/strides.h"

namespace troupe::gpu {

/// Elements that one instruction loads or stores.
template <class T, size_t Width>
struct alignas(sizeof(T) * Width) Pack {
  T items[Width];
};

/// Return elements as packs, for which they are aligned.
template <size_t Width, class T>
TROUPE_ANY const Pack<T, Width>* packs(const T* elements) {
  return reinterpret_cast<const Pack<T, Width>*>(elements);
}
template <size_t Width, class T>
TROUPE_ANY Pack<T, Width>* packs(T* elements) {
  return reinterpret_cast<Pack<T, Width>*>(elements);
}

/// Returns numbers as they are stored.
template <class T, size_t Width>
TROUPE_ANY Pack<T, Width> packed(const Wide<T> (&values)[Width]) {
  Pack<T, Width> pack;
  for (size_t k = 0; k < Width; ++k) store(pack.items[k], values[k]);
  return pack;
}

/// Returns whether packs of `bytes` bytes can lie at this address.
inline bool is_aligned(const void* address, size_t bytes) {
  return reinterpret_cast<uintptr_t>(address) % bytes == 0;
}

/// out[i] = f(in[0][...], in[1][...], ...), where the strides say which elements belong to element i. R and T are the types of the
/// elements in memory; f computes with their Wide types. The output may be the memory of an input with as many elements.
template <class F, class R, class... T>
class Mapped {
 public:
  static constexpr size_t sides = sizeof...(T);
  static constexpr size_t width = 16 / std::max({sizeof(R), sizeof(T)...});

  Mapped(F f, size_t n, R* out, const Strides<sides>& strides, const T*... in)
      : f_(f), n_(n), out_(out), in_{in...}, strides_(strides),
        packed_(strides.in_lines_of(width) && is_aligned(out, sizeof(R) * width) &&
                (is_aligned(in, sizeof(T) * width) && ...)) {}

  /// Returns how often the function object is to be called.
  size_t calls() const { return packed_ ? (n_ + width - 1) / width : n_; }

  TROUPE_ANY void operator()(size_t call) const {
    if (!packed_) return one(call, std::make_index_sequence<sides>());
    const size_t first = call * width;
    if (first + width <= n_) return pack(first, std::make_index_sequence<sides>());
    for (size_t i = first; i < n_; ++i) one(i, std::make_index_sequence<sides>());
  }

 private:
  template <size_t... Side>
  TROUPE_ANY void one(size_t i, std::index_sequence<Side...>) const {
    const auto offsets = strides_(i);
    store(out_[i], f_(load(static_cast<const T*>(in_[Side])[offsets.at[Side]])...));
  }
  template <size_t... Side>
  TROUPE_ANY void pack(size_t first, std::index_sequence<Side...>) const {
    const auto offsets = strides_(first);
    compute(first, loaded(static_cast<const T*>(in_[Side]) + offsets.at[Side], strides_.inner_step(Side))...);
  }
  template <class E>
  TROUPE_ANY static Pack<E, width> loaded(const E* from, ptrdiff_t step) {
    if (step != 0) return *reinterpret_cast<const Pack<E, width>*>(from);
    Pack<E, width> repeated;
    for (E& item : repeated.items) item = *from;
    return repeated;
  }
  TROUPE_ANY void compute(size_t first, const Pack<T, width>&... x) const {
    Pack<R, width> y;
    for (size_t i = 0; i < width; ++i) store(y.items[i], f_(load(x.items[i])...));
    *reinterpret_cast<Pack<R, width>*>(out_ + first) = y;
  }

  F f_;
  size_t n_;
  R* out_;
  const void* in_[sides];
  Strides<sides> strides_;
  bool packed_;
};

/// Computes out[i] = f(in...) for n elements, with broadcasting.
template <class F, class R, class... T>
Status map_strided(DeviceContext& device, const F& f, size_t n, R* out, const Strides<sizeof...(T)>& strides,
                   const T*... in) {
  const Mapped<F, R, T...> mapped(f, n, out, strides, in...);
  return each(device, mapped.calls(), mapped);
}
/// Computes out[i] = f(in[i]...) for n elements.
template <class F, class R, class... T>
Status map(DeviceContext& device, const F& f, size_t n, R* out, const T*... in) {
  return map_strided(device, f, n, out, Strides<sizeof...(T)>::dense(n), in...);
}

}  // namespace troupe::gpu
