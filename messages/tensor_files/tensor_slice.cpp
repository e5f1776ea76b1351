#include "messages/tensor_files/tensor_slice.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

namespace troupe {
namespace {

// The functions write_number(), write_string() and write_signed() implement OrderedCode, whose bytes compare as the values do.

/// Writes the number of significant bytes, then these bytes, the highest first.
void write_number(uint64_t value, std::string& out) {
  const auto bytes = static_cast<int>((std::bit_width(value) + 7) / 8);
  out += static_cast<char>(bytes);
  for (int i = bytes - 1; i >= 0; --i) out += static_cast<char>(value >> (8 * i));
}

/// Writes 0xff after each zero byte, zero after each byte 0xff, and the bytes 0 and 1 at the end.
void write_string(std::string_view text, std::string& out) {
  for (const char c : text) {
    out += c;
    if (c == '\0') out += '\xff';
    if (c == '\xff') out += '\0';
  }
  out += '\0';
  out += '\1';
}

/// Writes the number in two's complement, the highest byte first, with seven bits of the number per byte. The leading bits, one for
/// each byte, are ones; they are inverted if the number is negative.
void write_signed(int64_t value, std::string& out) {
  const auto magnitude = static_cast<uint64_t>(value < 0 ? ~value : value);
  const auto bytes = static_cast<size_t>(std::bit_width(magnitude) / 7 + 1);
  std::array<uint8_t, 10> code{};
  code.fill(value < 0 ? 0xff : 0);
  for (size_t i = 0; i < sizeof value; ++i)
    code[code.size() - 1 - i] = static_cast<uint8_t>(static_cast<uint64_t>(value) >> (8 * i));
  uint8_t* const first = code.data() + code.size() - bytes;
  const uint32_t ones = 0xffffu << (16 - bytes) & 0xffffu;
  first[0] ^= static_cast<uint8_t>(ones >> 8);
  if (bytes > 1) first[1] ^= static_cast<uint8_t>(ones);
  out.append(reinterpret_cast<const char*>(first), bytes);
}

/// Returns the common part of two slices that overlap.
TensorSlice intersection(const TensorSlice& a, const TensorSlice& b) {
  TensorSlice common = a;
  for (size_t i = 0; i < a.start.size(); ++i) {
    common.start[i] = std::max(a.start[i], b.start[i]);
    common.length[i] = std::min(a.start[i] + a.length[i], b.start[i] + b.length[i]) - common.start[i];
  }
  return common;
}

/// Returns the index, among the elements of a slice, of the element at `position` of the tensor.
int64_t offset_in(const TensorSlice& slice, const std::vector<int64_t>& position) {
  int64_t offset = 0;
  for (size_t i = 0; i < position.size(); ++i)
    offset = offset * slice.length[i] + position[i] - slice.start[i];
  return offset;
}

/// Moves `position` to the next row of the slice (a row runs along the last dimension). Returns false after the last row.
bool next_row(const TensorSlice& slice, std::vector<int64_t>& position) {
  for (size_t i = position.size(); i-- > 1;) {
    const size_t dim = i - 1;
    if (++position[dim] < slice.start[dim] + slice.length[dim]) return true;
    position[dim] = slice.start[dim];
  }
  return false;
}

void copy_elements(const Tensor& from, int64_t first, Tensor& to, int64_t at, int64_t count) {
  if (from.dtype() == DType::String) {
    std::copy_n(from.as<std::string>().begin() + first, count, to.write<std::string>().begin() + at);
    return;
  }
  const auto size = static_cast<int64_t>(size_of(from.dtype()));
  std::copy_n(from.data() + first * size, count * size, to.mutable_data() + at * size);
}

}  // namespace

TensorSlice TensorSlice::whole(const Shape& shape) {
  return {std::vector<int64_t>(shape.rank()), {shape.dims().begin(), shape.dims().end()}};
}

std::optional<TensorSlice> TensorSlice::within(const Shape& shape) const {
  if (start.size() != shape.rank() || length.size() != shape.rank()) return std::nullopt;
  TensorSlice slice = *this;
  for (size_t i = 0; i < shape.rank(); ++i) {
    if (length[i] == all && start[i] == 0) slice.length[i] = shape[i];
    if (slice.start[i] < 0 || slice.length[i] < 0 || slice.start[i] > shape[i] ||
        slice.length[i] > shape[i] - slice.start[i])
      return std::nullopt;
  }
  return slice;
}

int64_t TensorSlice::elements() const {
  return std::accumulate(length.begin(), length.end(), int64_t{1}, std::multiplies<>());
}

std::string TensorSlice::text() const {
  std::string text;
  for (size_t i = 0; i < start.size(); ++i)
    text.append(i == 0 ? "" : ":")
        .append(std::to_string(start[i]))
        .append(",")
        .append(std::to_string(length[i]));
  return text;
}

bool overlap(const TensorSlice& a, const TensorSlice& b) {
  for (size_t i = 0; i < a.start.size(); ++i)
    if (std::max(a.start[i], b.start[i]) >= std::min(a.start[i] + a.length[i], b.start[i] + b.length[i]))
      return false;
  return true;
}

Status check_cover(std::span<const TensorSlice> slices, const Shape& shape) {
  int64_t elements = 0;
  for (size_t i = 0; i < slices.size(); ++i) {
    for (const TensorSlice& other : slices.first(i))
      if (overlap(other, slices[i]))
        return data_loss("its parts " + other.text() + " and " + slices[i].text() + " overlap");
    elements += slices[i].elements();
  }
  if (elements == shape.elements()) return {};
  return data_loss("its parts hold " + std::to_string(elements) + " of its " +
                   std::to_string(shape.elements()) + " elements");
}

void copy_slice(const Tensor& from, const TensorSlice& held, Tensor& to, const TensorSlice& wanted) {
  if (!overlap(held, wanted)) return;
  const TensorSlice common = intersection(held, wanted);
  const int64_t row = common.length.empty() ? 1 : common.length.back();
  std::vector<int64_t> position = common.start;
  do copy_elements(from, offset_in(held, position), to, offset_in(wanted, position), row);
  while (next_row(common, position));
}

std::string slice_key(std::string_view name, const TensorSlice& slice) {
  std::string key;
  write_number(0, key);
  write_string(name, key);
  write_number(slice.start.size(), key);
  for (size_t i = 0; i < slice.start.size(); ++i) {
    write_signed(slice.start[i], key);
    write_signed(slice.length[i], key);
  }
  return key;
}

std::string variable_of(std::string_view slice_key) {
  constexpr std::string_view end("\0\1", 2);
  const std::string_view rest = slice_key.substr(1);
  return std::string(rest.substr(0, rest.find(end)));
}

}  // namespace troupe
