#include "kernels/rows.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "graph/partial_shape.h"
#include "kernels/arguments.h"
#include "kernels/parallel.h"

namespace troupe {
namespace {

/// `bytes` is a constant where rows are short.
template <class Bytes>
void copy_rows(const std::byte* from, std::span<const int64_t> rows, Bytes bytes, std::byte* to) {
  for (const int64_t row : rows) {
    std::memcpy(to, from + static_cast<size_t>(row) * bytes, bytes);
    to += bytes;
  }
}

void copy_rows(const std::byte* from, std::span<const int64_t> rows, size_t bytes, std::byte* to) {
  switch (bytes) {
    case 1: return copy_rows(from, rows, std::integral_constant<size_t, 1>(), to);
    case 4: return copy_rows(from, rows, std::integral_constant<size_t, 4>(), to);
    case 8: return copy_rows(from, rows, std::integral_constant<size_t, 8>(), to);
    case 16: return copy_rows(from, rows, std::integral_constant<size_t, 16>(), to);
    case 64: return copy_rows(from, rows, std::integral_constant<size_t, 64>(), to);
    default: return copy_rows<size_t>(from, rows, bytes, to);
  }
}

}  // namespace

void take_rows(Pool& pool, const Tensor& from, std::span<const int64_t> rows, Tensor& to, size_t row) {
  const size_t bytes = row * size_of(from.dtype());
  if (bytes == 0) return;
  parallel_rows(pool, rows.size(), 2 * bytes, [&](size_t begin, size_t end) {
    if (from.dtype() != DType::String)
      return copy_rows(from.data(), rows.subspan(begin, end - begin), bytes,
                       to.mutable_data() + begin * bytes);
    for (size_t i = begin; i < end; ++i) copy_row(from, static_cast<size_t>(rows[i]), to, i, row);
  });
}

void copy_row(const Tensor& from, size_t from_row, Tensor& to, size_t to_row, size_t row) {
  if (from.dtype() == DType::String) {
    std::ranges::copy(from.as<std::string>().subspan(from_row * row, row),
                      to.write<std::string>().begin() + static_cast<int64_t>(to_row * row));
    return;
  }
  const size_t bytes = row * size_of(from.dtype());
  if (bytes != 0) std::memcpy(to.mutable_data() + to_row * bytes, from.data() + from_row * bytes, bytes);
}

Result<Dims> row_dims(std::span<const int64_t> data, std::span<const int64_t> numbers,
                      std::string_view data_name, std::string_view numbers_name) {
  bool fits = data.size() >= numbers.size();
  for (size_t i = 0; fits && i < numbers.size(); ++i)
    fits = data[i] == numbers[i] || data[i] == unknown_dim || numbers[i] == unknown_dim;
  if (fits) return Dims(data.subspan(numbers.size()));
  return invalid_argument(std::string(numbers_name) + " of shape " + partial(numbers).text() + " for " +
                          std::string(data_name) + " of shape " + partial(data).text());
}

}  // namespace troupe
