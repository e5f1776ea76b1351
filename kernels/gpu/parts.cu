#include "kernels/gpu/parts.h"

#include <algorithm>
#include <vector>

#include "kernels/gpu/copy.h"
#include "kernels/gpu/divider.h"
#include "kernels/gpu/units.h"

namespace troupe::gpu {
namespace {

constexpr size_t parts_at_once = 16;

/// Moves units between some parts and their columns of the whole.
template <class T, bool joins>
struct MoveParts {
  T* parts[parts_at_once];
  size_t ends[parts_at_once];  ///< the column behind each part, counted from the first of these parts
  T* whole;                    ///< the first of these columns
  size_t whole_row;            ///< the number of units of a row of the whole
  Divider width;               ///< the number of these columns

  TROUPE_ANY void operator()(size_t i) const {
    const size_t row = width.quotient(i), column = i - row * width.divisor();
    unsigned part = 0;
    while (column >= ends[part]) ++part;
    const size_t begin = part == 0 ? 0 : ends[part - 1];
    T& in_part = parts[part][row * (ends[part] - begin) + (column - begin)];
    T& in_whole = whole[row * whole_row + column];
    if constexpr (joins)
      in_whole = in_part;
    else
      in_part = in_whole;
  }
};

/// Returns the size of the units in which all rows can be moved.
size_t unit_of(size_t element, std::span<const Part> parts, const std::byte* whole) {
  size_t unit = element;
  const auto even = [&](const Part& part) {
    return part.row * element % (2 * unit) == 0 && is_aligned(part.data, 2 * unit);
  };
  while (unit < 16 && is_aligned(whole, 2 * unit) && std::ranges::all_of(parts, even)) unit *= 2;
  return unit;
}

template <bool joins, class T>
Status move_units(DeviceContext& device, size_t element, size_t rows, std::span<const Part> parts, T* whole) {
  const auto units_of = [&](const Part& part) { return part.row * element / sizeof(T); };
  size_t whole_row = 0, column = 0;
  for (const Part& part : parts) whole_row += units_of(part);
  while (!parts.empty()) {
    const auto some = parts.first(std::min(parts.size(), parts_at_once));
    MoveParts<T, joins> move{{}, {}, whole + column, whole_row, {}};
    size_t width = 0;
    for (size_t k = 0; k < some.size(); ++k) {
      move.parts[k] = reinterpret_cast<T*>(some[k].data);
      move.ends[k] = width += units_of(some[k]);
    }
    if (width != 0) {
      move.width = Divider(width);
      TROUPE_RETURN_IF_FAILED(each(device, rows * width, move));
    }
    column += width;
    parts = parts.subspan(some.size());
  }
  return {};
}

template <bool joins>
Status move_parts(DeviceContext& device, size_t element, size_t rows, std::span<const Part> parts,
                  std::byte* whole) {
  return with_unit(unit_of(element, parts, whole), [&]<class T>(std::type_identity<T>) {
    return move_units<joins>(device, element, rows, parts, reinterpret_cast<T*>(whole));
  });
}

}  // namespace

Status join_parts(DeviceContext& device, size_t element, size_t rows, std::span<const Part> parts,
                  std::byte* whole) {
  return move_parts<true>(device, element, rows, parts, whole);
}

Status join_tensors(DeviceContext& device, std::span<const Tensor> tensors, std::span<const Tensor> rows) {
  std::vector<Part> parts;
  Tensor first;  // of the rows to which `parts` are moved
  const auto move = [&]() -> Status {
    if (parts.empty()) return {};
    const Status moved = join_parts(device, size_of(first.dtype()), 1, parts, first.mutable_data());
    parts.clear();
    return moved;
  };
  for (size_t i = 0; i < rows.size(); ++i) {
    Tensor row = rows[i];
    if (row.elements() == 0) continue;
    if (!tensors[i].valid()) {
      TROUPE_RETURN_IF_FAILED(move());
      TROUPE_RETURN_IF_FAILED(fill_with(device, nullptr, row));
      continue;
    }
    if (parts.empty()) first = row;
    parts.push_back({const_cast<std::byte*>(tensors[i].data()),  // only read
                     static_cast<size_t>(row.elements())});
  }
  return move();
}

Status split_parts(DeviceContext& device, size_t element, size_t rows, std::span<const Part> parts,
                   const std::byte* whole) {
  return move_parts<false>(device, element, rows, parts, const_cast<std::byte*>(whole));  // only read
}

}  // namespace troupe::gpu
