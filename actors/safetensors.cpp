#include "actors/safetensors.h"

#include <algorithm>
#include <array>

#include <nlohmann/json.hpp>

namespace troupe {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::pair<std::string_view, DType> dtypes[] = {
    {"F64", DType::Double}, {"F32", DType::Float},  {"F16", DType::Half},  {"BF16", DType::BFloat16},
    {"I64", DType::Int64},  {"I32", DType::Int32},  {"I16", DType::Int16}, {"I8", DType::Int8},
    {"U8", DType::UInt8},   {"U16", DType::UInt16}, {"BOOL", DType::Bool},
};

std::string_view name_in_format(DType dtype) {
  for (const auto& [name, known] : dtypes)
    if (known == dtype) return name;
  return {};
}

Status damaged(std::string what) { return data_loss("safetensors: " + std::move(what)); }

/// Where one tensor lies, as the header says.
struct Entry {
  std::string name;
  DType dtype = DType::Invalid;
  Shape shape;
  uint64_t begin = 0, end = 0;
};

Result<Entry> read_entry(const std::string& name, const Json& json) {
  Entry entry;
  entry.name = name;
  if (!json.is_object() || !json.contains("dtype") || !json.contains("shape") ||
      !json.contains("data_offsets"))
    return damaged("the entry of " + name + " is incomplete");
  const auto& dtype = json["dtype"];
  for (const auto& [known, value] : dtypes)
    if (dtype.is_string() && dtype.get_ref<const std::string&>() == known) entry.dtype = value;
  if (entry.dtype == DType::Invalid) return damaged(name + " has an unknown dtype");
  std::vector<int64_t> dims;
  for (const auto& dim : json["shape"]) {
    if (!dim.is_number_unsigned() || dim.get<uint64_t>() > INT64_MAX)
      return damaged(name + " has a faulty shape");
    dims.push_back(dim.get<int64_t>());
  }
  auto shape = Shape::make(dims, entry.dtype);
  if (!shape) return damaged(name + ": " + shape.status().text());
  entry.shape = std::move(*shape);
  const auto& range = json["data_offsets"];
  if (!range.is_array() || range.size() != 2 || !range[0].is_number_unsigned() ||
      !range[1].is_number_unsigned())
    return damaged(name + " has a faulty range");
  entry.begin = range[0].get<uint64_t>();
  entry.end = range[1].get<uint64_t>();
  const uint64_t bytes = static_cast<uint64_t>(entry.shape.elements()) * size_of(entry.dtype);
  if (entry.end < entry.begin || entry.end - entry.begin != bytes)
    return damaged(name + " of " + std::to_string(bytes) + " bytes has a range of another length");
  return entry;
}

}  // namespace

Result<std::string> safetensors_header(std::span<const NamedTensor> tensors) {
  Json json = Json::object();
  uint64_t offset = 0;
  for (const auto& [name, tensor] : tensors) {
    const auto dtype = name_in_format(tensor.dtype());
    if (dtype.empty())
      return unimplemented(name + " is " + std::string(troupe::name(tensor.dtype())) +
                           ", which safetensors lacks");
    json[name] = {{"dtype", dtype},
                  {"shape", tensor.shape().dims()},
                  {"data_offsets", {offset, offset + tensor.bytes()}}};
    offset += tensor.bytes();
  }
  std::string text = json.dump(-1, ' ', true);
  text.append((8 - text.size() % 8) % 8, ' ');  // the bytes begin aligned
  std::string header(8, '\0');
  for (size_t i = 0; i < 8; ++i) header[i] = static_cast<char>(text.size() >> (8 * i));
  return header + text;
}

Result<std::vector<NamedTensor>> read_safetensors(std::string_view file) {
  if (file.size() < 8) return damaged("the file ends before its header");
  uint64_t length = 0;
  for (size_t i = 0; i < 8; ++i) length |= uint64_t{static_cast<uint8_t>(file[i])} << (8 * i);
  if (length > file.size() - 8) return damaged("the file ends within its header");
  const Json json = Json::parse(file.substr(8, length), nullptr, false);
  if (!json.is_object()) return damaged("the header is no JSON object");
  const std::string_view data = file.substr(8 + length);
  std::vector<NamedTensor> result;
  uint64_t next = 0;
  for (const auto& [name, value] : json.items()) {
    if (name == "__metadata__") continue;
    TROUPE_ASSIGN(const Entry entry, read_entry(name, value));
    if (entry.begin != next || entry.end > data.size())
      return damaged(name + " leaves a gap, overlaps, or ends after the file");
    next = entry.end;
    TROUPE_ASSIGN(Tensor tensor, Tensor::allocate(entry.dtype, entry.shape));
    std::copy_n(reinterpret_cast<const std::byte*>(data.data()) + entry.begin, tensor.bytes(),
                tensor.mutable_data());
    result.emplace_back(name, std::move(tensor));
  }
  if (next != data.size()) return damaged("bytes after the last tensor");
  return result;
}

}  // namespace troupe
