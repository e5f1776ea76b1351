#include "actors/checkpoint/safetensors.h"

#include <algorithm>

#include "actors/checkpoint/flat_json.h"
#include "messages/values/json_text.h"

namespace troupe {
namespace {

constexpr uint64_t largest_header = uint64_t{64} << 20;
constexpr const char* metadata = "__metadata__";  // the only key of a header that is not a tensor

constexpr std::pair<std::string_view, DType> dtypes[] = {
    {"F64", DType::Double}, {"F32", DType::Float},     {"F16", DType::Half},   {"BF16", DType::BFloat16},
    {"I64", DType::Int64},  {"I32", DType::Int32},     {"I16", DType::Int16},  {"I8", DType::Int8},
    {"U8", DType::UInt8},   {"U16", DType::UInt16},    {"U32", DType::UInt32}, {"U64", DType::UInt64},
    {"BOOL", DType::Bool},  {"C64", DType::Complex64},
};

std::string_view name_in_format(DType dtype) {
  for (const auto& [name, known] : dtypes)
    if (known == dtype) return name;
  return {};
}

/// A tensor and its range of bytes after the header.
struct Place {
  TensorEntry entry;
  uint64_t begin = 0, end = 0;
};

Result<Shape> read_shape(const Json& json, DType dtype) {
  if (!json.is_array()) return data_loss("it has no shape");
  std::vector<int64_t> dims;
  for (const auto& dim : json) {
    if (!dim.is_number_unsigned() || dim.get<uint64_t>() > INT64_MAX)
      return data_loss("its shape is not a list of whole numbers");
    dims.push_back(dim.get<int64_t>());
  }
  return Shape::make(dims, dtype);
}

Result<Place> read_place(const std::string& name, const Json& json) {
  Place place;
  place.entry.name = name;
  TROUPE_ASSIGN(const std::string dtype, text_member(json, "dtype"));
  for (const auto& [known, value] : dtypes)
    if (dtype == known) place.entry.dtype = value;
  if (place.entry.dtype == DType::Invalid) return data_loss("its dtype is unknown");
  TROUPE_ASSIGN(place.entry.shape, read_shape(json.value("shape", Json()), place.entry.dtype));
  const Json range = json.value("data_offsets", Json());
  if (!range.is_array() || range.size() != 2 || !range[0].is_number_unsigned() ||
      !range[1].is_number_unsigned())
    return data_loss("'data_offsets' is missing or not a pair of whole numbers");
  place.begin = range[0].get<uint64_t>();
  place.end = range[1].get<uint64_t>();
  const uint64_t bytes = place.entry.bytes();
  if (place.end < place.begin || place.end - place.begin != bytes)
    return data_loss("it has " + std::to_string(bytes) + " bytes, but its range is [" +
                     std::to_string(place.begin) + ", " + std::to_string(place.end) + ")");
  return place;
}

Status check_name(const std::string& name, const Json& taken) {
  if (name == metadata)
    return invalid_argument("a tensor cannot be saved as " + name + ", which safetensors reserves");
  if (taken.contains(name)) return invalid_argument("two tensors have the name " + name);
  return {};
}

}  // namespace

Result<std::string> safetensors_header(std::span<const TensorEntry> tensors) {
  Json json = Json::object();
  uint64_t offset = 0;
  for (const TensorEntry& tensor : tensors) {
    TROUPE_RETURN_IF_FAILED(check_name(tensor.name, json));
    const auto dtype = name_in_format(tensor.dtype);
    if (dtype.empty())
      return unimplemented(tensor.name + " is " + std::string(name(tensor.dtype)) +
                           ", a dtype that safetensors files cannot contain");
    const uint64_t end = offset + tensor.bytes();
    json[tensor.name] = {{"dtype", dtype}, {"shape", tensor.shape.dims()}, {"data_offsets", {offset, end}}};
    offset = end;
  }
  TROUPE_ASSIGN(std::string text, strict_json_line(json));
  text.append((8 - text.size() % 8) % 8, ' ');  // aligns the bytes of the tensors
  if (text.size() > largest_header)
    return resource_exhausted("the header would have " + std::to_string(text.size()) +
                              " bytes, more than the allowed " + std::to_string(largest_header) +
                              ": the file has too many tensors");
  std::string header(safetensors_prefix, '\0');
  for (size_t i = 0; i < header.size(); ++i) header[i] = static_cast<char>(text.size() >> (8 * i));
  return header + text;
}

Result<uint64_t> safetensors_header_length(std::string_view prefix, uint64_t file_bytes) {
  if (prefix.size() < safetensors_prefix || file_bytes < safetensors_prefix)
    return data_loss("the file ends before its header");
  uint64_t length = 0;
  for (size_t i = 0; i < safetensors_prefix; ++i)
    length |= uint64_t{static_cast<uint8_t>(prefix[i])} << (8 * i);
  if (length > file_bytes - safetensors_prefix) return data_loss("the file ends within its header");
  if (length > largest_header)
    return data_loss("the header has " + std::to_string(length) + " bytes, more than the allowed " +
                     std::to_string(largest_header));
  return length;
}

Result<std::vector<TensorEntry>> read_safetensors_header(std::string_view header, uint64_t data_bytes) {
  auto json = parse_flat_json(header);
  if (!json) return data_loss("the header: " + json.status().text());
  std::vector<Place> places;
  for (const auto& [name, value] : json->items()) {
    if (name == metadata) continue;
    auto place = read_place(name, value);
    if (!place) return data_loss(name + ": " + place.status().text());
    places.push_back(std::move(*place));
  }
  std::ranges::sort(places, {}, [](const Place& place) { return std::pair(place.begin, place.end); });
  std::vector<TensorEntry> entries;
  uint64_t next = 0;
  for (Place& place : places) {
    if (place.begin != next || place.end > data_bytes)
      return data_loss(place.entry.name + " leaves a gap, overlaps, or ends after the file");
    next = place.end;
    entries.push_back(std::move(place.entry));
  }
  if (next != data_bytes) return data_loss("there are bytes after the last tensor");
  return entries;
}

}  // namespace troupe
