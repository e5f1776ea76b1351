#include "kernels/gpu/copy.h"

#include <cstring>

#include "kernels/gpu/storage.h"
#include "kernels/gpu/transpose.h"
#include "kernels/gpu/units.h"

namespace troupe::gpu {
namespace {

/// A box of units.
struct Units {
  BoxCopy box;
  size_t bytes;  ///< the size of a unit

  size_t count() const {
    size_t n = 1;
    for (const auto& axis : box.axes) n *= static_cast<size_t>(axis.size);
    return n;
  }
  bool contiguous() const {
    return !box.axes.empty() && box.axes.back().from == 1 && box.axes.back().to == 1;
  }

  /// Returns whether two units can be moved as one.
  bool are_even(const std::byte* from, const std::byte* to) const {
    if (!contiguous() || box.axes.back().size % 2 != 0 || box.from_offset % 2 != 0 || box.to_offset % 2 != 0)
      return false;
    if (!is_aligned(from, 2 * bytes) || !is_aligned(to, 2 * bytes)) return false;
    return std::all_of(box.axes.begin(), box.axes.end() - 1,
                       [](const BoxCopy::Axis& axis) { return axis.from % 2 == 0 && axis.to % 2 == 0; });
  }
  void join_pairs() {
    bytes *= 2;
    box.from_offset /= 2;
    box.to_offset /= 2;
    for (auto* axis = box.axes.begin(); axis != box.axes.end() - 1; ++axis) {
      axis->from /= 2;
      axis->to /= 2;
    }
    box.axes.back().size /= 2;
  }
};

template <class T>
struct CopyUnits {
  const T* from;
  T* to;
  Strides<2> strides;

  TROUPE_ANY void operator()(size_t i) const {
    const auto offsets = strides(i);
    to[offsets.at[1]] = from[offsets.at[0]];
  }
};

template <class T>
Status copy_units(DeviceContext& device, const Units& units, const std::byte* from, std::byte* to) {
  const BoxCopy& box = units.box;
  const T* const first = reinterpret_cast<const T*>(from) + box.from_offset;
  T* const target = reinterpret_cast<T*>(to) + box.to_offset;
  if (const auto transposition = transposition_of(box))
    return transpose(device, *transposition, first, target);
  ShortList<Strides<2>::Axis> axes;
  for (const auto& axis : box.axes) axes.push_back({static_cast<size_t>(axis.size), {axis.from, axis.to}});
  TROUPE_ASSIGN(const auto strides, Strides<2>::make({axes.data(), axes.size()}));
  return each(device, units.count(), CopyUnits<T>{first, target, strides});
}

/// Sets n elements to the value at `from`, or if that is null to `value`.
template <class T>
struct FillElements {
  static constexpr size_t width = 16 / sizeof(T);
  T* to;
  size_t n;
  const T* from;
  T value;

  TROUPE_ANY void operator()(size_t call) const {
    const T element = from ? *from : value;
    const size_t first = call * width;
    if (first + width <= n) {
      Pack<T, width> pack;
      for (T& item : pack.items) item = element;
      *reinterpret_cast<Pack<T, width>*>(to + first) = pack;
    } else {
      for (size_t i = first; i < n; ++i) to[i] = element;
    }
  }
};

Status fill_elements(DeviceContext& device, Tensor& to, const std::byte* on_device,
                     const std::byte* on_host) {
  return with_stored(to.dtype(), [&]<class T>(std::type_identity<T>) {
    FillElements<T> fill{stored<T>(to), static_cast<size_t>(to.elements()),
                         reinterpret_cast<const T*>(on_device), T{}};
    if (on_host) std::memcpy(&fill.value, on_host, sizeof(T));
    return each(device, (fill.n + fill.width - 1) / fill.width, fill);
  });
}

}  // namespace

Status copy_box(DeviceContext& device, const BoxCopy& box, const Tensor& from, Tensor& to) {
  if (box.empty()) return {};
  Units units{box, size_of(to.dtype())};
  while (units.bytes < 16 && units.are_even(from.data(), to.data())) units.join_pairs();
  return with_unit(units.bytes, [&]<class T>(std::type_identity<T>) {
    return copy_units<T>(device, units, from.data(), to.mutable_data());
  });
}

Status copy_all(DeviceContext& device, const Tensor& from, Tensor& to) {
  const Dims all{to.elements()}, one{1};
  return copy_box(device, BoxCopy(all, {0, one}, {0, one}), from, to);
}

Status fill_from(DeviceContext& device, const Tensor& value, Tensor& to) {
  return fill_elements(device, to, value.data(), nullptr);
}

Status fill_with(DeviceContext& device, const Tensor* value, Tensor& to) {
  return fill_elements(device, to, nullptr, value ? value->data() : nullptr);
}

}  // namespace troupe::gpu
