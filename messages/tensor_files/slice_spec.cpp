#include <charconv>

#include "messages/tensor_files/tensor_slice.h"

namespace troupe {
namespace {

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::optional<int64_t> number(std::string_view text) {
  int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  return error == std::errc{} && at == end && !text.empty() ? std::optional(value) : std::nullopt;
}

/// Reads "0,5" or "-" and appends it to the slice. Returns what is wrong, or nothing.
std::string append_extent(std::string_view text, TensorSlice& slice) {
  int64_t start = 0, length = TensorSlice::all;
  if (text != "-") {
    const size_t comma = text.find(',');
    const auto first = number(text.substr(0, comma)),
               second = comma == std::string_view::npos ? std::nullopt : number(text.substr(comma + 1));
    if (!first || !second) return "'" + std::string(text) + "' is neither a start and a length nor '-'";
    if (*first < 0 || *second <= 0)
      return "'" + std::string(text) + "' has a negative start, or a length that is not positive";
    start = *first;
    length = *second;
  }
  slice.start.push_back(start);
  slice.length.push_back(length);
  return {};
}

}  // namespace

Result<SliceSpec> SliceSpec::parse(std::string_view text, DType dtype) {
  const auto wrong = [&](const std::string& what) {
    return invalid_argument("the slice '" + std::string(text) +
                            "' is not of the form '10 20 0,5:-': " + what);
  };
  std::vector<std::string_view> parts = split(text, ' ');
  if (parts.size() < 2) return wrong("it has no shape, or no slice after the shape");
  SliceSpec spec;
  for (const std::string_view extent : split(parts.back(), ':'))
    if (const std::string what = append_extent(extent, spec.slice); !what.empty()) return wrong(what);
  parts.pop_back();
  std::vector<int64_t> dims;
  for (const std::string_view part : parts) {
    const auto dim = number(part);
    if (!dim) return wrong("'" + std::string(part) + "' is not a dimension");
    dims.push_back(*dim);
  }
  TROUPE_ASSIGN(spec.shape, Shape::make(dims, dtype));
  const auto range = spec.slice.within(spec.shape);
  if (!range) return wrong("the slice lies outside the shape " + spec.shape.text());
  TROUPE_ASSIGN(spec.slice_shape, Shape::make(range->length, dtype));
  return spec;
}

}  // namespace troupe
