#include "kernels/loops/strided_copy.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "kernels/loops/vector_loops.h"

namespace troupe {
namespace {

constexpr int64_t block_bytes = 256 << 10;  ///< the number of bytes that one chunk of the pool moves

using Axis = BoxCopy::Axis;
using Axes = ShortList<Axis>;

// The types of elements for the copying loops: plain elements by size, and strings.
template <size_t Size>
struct Plain {
  static constexpr size_t size = Size;
  static void copy(const std::byte* from, std::byte* to) { std::memcpy(to, from, Size); }
  static void copy_run(const std::byte* from, std::byte* to, int64_t count) {
    const size_t bytes = static_cast<size_t>(count) * Size;
    if (bytes < piece || bytes > 16 * piece) return (void)std::memcpy(to, from, bytes);
    for (size_t i = 0; i + piece < bytes; i += piece) std::memcpy(to + i, from + i, piece);
    // The last piece may overlap the one before.
    std::memcpy(to + bytes - piece, from + bytes - piece, piece);
  }

 private:
  /// Short runs are copied in pieces of this size, through registers and without a call.
  static constexpr size_t piece = 16;
};

struct Strings {
  static constexpr size_t size = sizeof(std::string);
  static void copy(const std::byte* from, std::byte* to) {
    *reinterpret_cast<std::string*>(to) = *reinterpret_cast<const std::string*>(from);
  }
  static void copy_run(const std::byte* from, std::byte* to, int64_t count) {
    std::copy_n(reinterpret_cast<const std::string*>(from), count, reinterpret_cast<std::string*>(to));
  }
};

template <class Element, class Stride>
void copy_strided(const std::byte* from, std::byte* to, int64_t count, Stride stride, int64_t to_stride) {
  constexpr auto size = static_cast<int64_t>(Element::size);
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) Element::copy(from + i * stride * size, to + i * to_stride * size);
}

/// Copies a line; the usual strides are compile-time constants.
template <class Element>
void copy_line(const std::byte* from, std::byte* to, const Axis& axis) {
  if (axis.to != 1) return copy_strided<Element>(from, to, axis.size, axis.from, axis.to);
  switch (axis.from) {
    case 0: return copy_strided<Element>(from, to, axis.size, std::integral_constant<int64_t, 0>(), 1);
    case 1: return Element::copy_run(from, to, axis.size);
    case 2: return copy_strided<Element>(from, to, axis.size, std::integral_constant<int64_t, 2>(), 1);
    case -1: return copy_strided<Element>(from, to, axis.size, std::integral_constant<int64_t, -1>(), 1);
    default: return copy_strided<Element>(from, to, axis.size, axis.from, 1);
  }
}

/// Copies a rectangle that is contiguous along `rows` in `from` and along `columns` in `to`.
template <class Element>
void copy_transposed(const std::byte* from, std::byte* to, const Axis& rows, const Axis& columns) {
  if (const TransposeLoop loop = std::is_same_v<Element, Strings> ? nullptr : transpose_loop(Element::size))
    return loop(from, columns.from, to, rows.to, static_cast<size_t>(rows.size),
                static_cast<size_t>(columns.size));
  constexpr auto size = static_cast<int64_t>(Element::size);
  for (int64_t r = 0; r < rows.size; ++r)
    for (int64_t c = 0; c < columns.size; ++c)
      Element::copy(from + (r + c * columns.from) * size, to + (r * rows.to + c) * size);
}

/// Walks the outer axes for lines [begin, end) and calls inner(from, to) with the offsets of each line, in elements.
template <class Inner>
void for_each_line(std::span<const Axis> outer, int64_t begin, int64_t end, const Inner& inner) {
  Dims index(outer.size());
  int64_t from = 0, to = 0, rest = begin;
  for (size_t i = outer.size(); i-- > 0;) {
    index[i] = rest % outer[i].size;
    rest /= outer[i].size;
    from += index[i] * outer[i].from;
    to += index[i] * outer[i].to;
  }
  for (int64_t line = begin; line < end; ++line) {
    inner(from, to);
    for (size_t i = outer.size(); i-- > 0;) {
      from += outer[i].from;
      to += outer[i].to;
      if (++index[i] < outer[i].size) break;
      from -= outer[i].from * outer[i].size;
      to -= outer[i].to * outer[i].size;
      index[i] = 0;
    }
  }
}

/// Moves the axis along which `from` is contiguous next to the last axis, so that both form a rectangle. Returns false if there
/// is no such axis.
bool make_rectangle(Axes& axes) {
  if (axes.size() < 2 || axes.back().to != 1 || axes.back().from == 0 || axes.back().from == 1) return false;
  const auto run =
      std::find_if(axes.begin(), axes.end() - 1, [](const Axis& axis) { return axis.from == 1; });
  if (run == axes.end() - 1) return false;
  std::rotate(run, run + 1, axes.end() - 1);
  return true;
}

int64_t product(std::span<const Axis> axes) {
  int64_t result = 1;
  for (const Axis& axis : axes) result *= axis.size;
  return result;
}

template <class Element>
void copy_box(Pool& pool, Axes axes, const std::byte* from, std::byte* to) {
  constexpr auto size = static_cast<int64_t>(Element::size);
  if (axes.empty()) return Element::copy(from, to);
  const bool rectangle = make_rectangle(axes);
  if (axes.size() == (rectangle ? 2u : 1u)) {  // a single line or rectangle is cut along its longest axis
    Axis& cut = axes.front();
    const int64_t line = product({axes.data() + 1, axes.size() - 1}) * size;
    const int64_t some = std::max<int64_t>(block_bytes / line, 1);
    const auto block = static_cast<size_t>((some + 63) / 64 * 64);  // whole tiles
    return pool.blocks(static_cast<size_t>(cut.size), block, [&](size_t begin, size_t end) {
      const auto first = static_cast<int64_t>(begin);
      const Axis part{static_cast<int64_t>(end) - first, cut.from, cut.to};
      const std::byte* part_from = from + first * cut.from * size;
      std::byte* part_to = to + first * cut.to * size;
      rectangle ? copy_transposed<Element>(part_from, part_to, part, axes[1])
                : copy_line<Element>(part_from, part_to, part);
    });
  }
  const size_t inner = rectangle ? 2 : 1;
  const std::span<const Axis> outer(axes.data(), axes.size() - inner),
      last(axes.data() + outer.size(), inner);
  const auto block = static_cast<size_t>(std::max<int64_t>(block_bytes / (product(last) * size), 1));
  pool.blocks(static_cast<size_t>(product(outer)), block, [&](size_t begin, size_t end) {
    for_each_line(outer, static_cast<int64_t>(begin), static_cast<int64_t>(end),
                  [&](int64_t from_at, int64_t to_at) {
                    if (rectangle)
                      copy_transposed<Element>(from + from_at * size, to + to_at * size, last[0], last[1]);
                    else
                      copy_line<Element>(from + from_at * size, to + to_at * size, last[0]);
                  });
  });
}

}  // namespace

Dims strides_of(std::span<const int64_t> dims) {
  Dims strides(dims.size());
  int64_t stride = 1;
  for (size_t i = dims.size(); i-- > 0; stride *= dims[i]) strides[i] = stride;
  return strides;
}

BoxCopy::BoxCopy(std::span<const int64_t> dims, const Layout& from, const Layout& to)
    : from_offset(from.offset), to_offset(to.offset) {
  for (size_t i = 0; i < dims.size(); ++i) {
    const Axis axis{dims[i], from.strides[i], to.strides[i]};
    if (axis.size == 1) continue;
    if (!axes.empty()) {
      Axis& last = axes.back();
      if (last.from == axis.from * axis.size && last.to == axis.to * axis.size) {
        last = {last.size * axis.size, axis.from, axis.to};
        continue;
      }
    }
    axes.push_back(axis);
  }
}

void strided_copy(Pool& pool, const BoxCopy& box, const Tensor& from, Tensor& to) {
  if (box.empty()) return;
  const auto size = static_cast<int64_t>(size_of(from.dtype()));
  const std::byte* source = from.data() + box.from_offset * size;
  std::byte* target = to.mutable_data() + box.to_offset * size;
  if (from.dtype() == DType::String) return copy_box<Strings>(pool, box.axes, source, target);
  switch (size) {
    case 1: return copy_box<Plain<1>>(pool, box.axes, source, target);
    case 2: return copy_box<Plain<2>>(pool, box.axes, source, target);
    case 4: return copy_box<Plain<4>>(pool, box.axes, source, target);
    case 8: return copy_box<Plain<8>>(pool, box.axes, source, target);
    default: return copy_box<Plain<16>>(pool, box.axes, source, target);
  }
}

void strided_copy(Pool& pool, std::span<const int64_t> dims, const Tensor& from, const Layout& from_layout,
                  Tensor& to, const Layout& to_layout) {
  strided_copy(pool, BoxCopy(dims, from_layout, to_layout), from, to);
}

void fill(Pool& pool, Tensor& to, const Tensor* value) {
  if (to.dtype() == DType::String) {
    auto elements = to.write<std::string>();
    std::fill(elements.begin(), elements.end(), value ? value->as<std::string>()[0] : std::string());
    return;
  }
  const size_t size = size_of(to.dtype());
  const std::byte* element = value ? value->data() : nullptr;
  const bool zero =
      !element || std::all_of(element, element + size, [](std::byte byte) { return byte == std::byte{0}; });
  std::byte* data = to.mutable_data();
  pool.blocks(to.bytes(), block_bytes, [&](size_t begin, size_t end) {
    if (zero) {
      std::memset(data + begin, 0, end - begin);
      return;
    }
    // Fills by doubling: one element, then two, four, ... copied from the start of the block.
    const size_t bytes = end - begin;
    std::memcpy(data + begin, element, size);
    for (size_t done = size; done < bytes; done *= 2)
      std::memcpy(data + begin + done, data + begin, std::min(done, bytes - done));
  });
}

}  // namespace troupe
