#include "apps/data/arrays/npy.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <numeric>
#include <optional>
#include <vector>

namespace troupe::data {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr size_t alignment = 64;  // the alignment of the elements in the file

struct TypeName {
  DType dtype;
  std::string_view text;
};
constexpr TypeName type_names[] = {
    {DType::Bool, "|b1"},      {DType::Int8, "|i1"},       {DType::UInt8, "|u1"},  {DType::Int16, "<i2"},
    {DType::UInt16, "<u2"},    {DType::UInt32, "<u4"},     {DType::UInt64, "<u8"}, {DType::Int32, "<i4"},
    {DType::Int64, "<i8"},     {DType::Half, "<f2"},       {DType::Float, "<f4"},  {DType::Double, "<f8"},
    {DType::Complex64, "<c8"}, {DType::Complex128, "<c16"}};

/// Returns the text after a key of the header, which is a Python dictionary, up to the end of the header.
std::optional<std::string_view> value_of(std::string_view dictionary, std::string_view key) {
  const size_t at = dictionary.find("'" + std::string(key) + "'");
  if (at == std::string_view::npos) return std::nullopt;
  const size_t colon = dictionary.find(':', at);
  if (colon == std::string_view::npos) return std::nullopt;
  const size_t begin = dictionary.find_first_not_of(' ', colon + 1);
  return begin == std::string_view::npos ? std::nullopt : std::optional(dictionary.substr(begin));
}

/// Parses the dimensions at the beginning of the text, a Python tuple such as "(2, 3, )".
std::optional<std::vector<int64_t>> dims_of(std::string_view text) {
  if (!text.starts_with('(')) return std::nullopt;
  std::vector<int64_t> dims;
  for (text.remove_prefix(1);;) {
    text.remove_prefix(std::min(text.find_first_not_of(" ,"), text.size()));
    if (text.starts_with(')')) return dims;
    int64_t dim = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), dim);
    if (error != std::errc()) return std::nullopt;
    dims.push_back(dim);
    text.remove_prefix(static_cast<size_t>(end - text.data()));
  }
}

/// Returns the type; `big_endian` says whether the highest byte of a number comes first.
Result<DType> dtype_of_text(std::string_view text, const std::string& file, bool& big_endian) {
  const std::string_view quoted = text.substr(0, text.find('\'', 1));
  const std::string_view name = quoted.substr(std::min<size_t>(1, quoted.size()));
  big_endian = name.starts_with('>');
  for (const TypeName& known : type_names)
    if (name == known.text || (big_endian && name.substr(1) == known.text.substr(1))) return known.dtype;
  return unimplemented(file + ": arrays of type '" + std::string(name) + "' are not supported");
}

/// Returns the dictionary of a header, which follows its length.
template <class Length>
Result<std::string_view> dictionary_of(std::string_view rest, const std::string& file) {
  Length length = 0;
  if (rest.size() < sizeof length) return data_loss(file + ": the file ends within the header");
  std::memcpy(&length, rest.data(), sizeof length);
  rest.remove_prefix(sizeof length);
  if (rest.size() < length) return data_loss(file + ": the file ends within the header");
  return rest.substr(0, length);
}

/// Converts from column-major to row-major order.
void reorder(const Tensor& from, Tensor& to) {
  const auto dims = to.shape().dims();
  const size_t size = size_of(to.dtype());
  std::vector<int64_t> at(dims.size(), 0);
  std::byte* out = to.mutable_data();
  for (int64_t i = 0; i < to.elements(); ++i, out += size) {
    int64_t offset = 0;
    for (size_t axis = dims.size(); axis-- > 0;) offset = offset * dims[axis] + at[axis];
    std::memcpy(out, from.data() + static_cast<size_t>(offset) * size, size);
    for (size_t axis = dims.size(); axis-- > 0 && ++at[axis] == dims[axis];) at[axis] = 0;
  }
}

bool bools_are_sound(const Tensor& tensor) {
  return tensor.dtype() != DType::Bool || std::all_of(tensor.data(), tensor.data() + tensor.bytes(),
                                                      [](std::byte b) { return b <= std::byte{1}; });
}

}  // namespace

void swap_bytes(Tensor& tensor) {
  const size_t size = size_of(tensor.dtype()) / (is_complex(tensor.dtype()) ? 2 : 1);
  if (size == 1) return;
  std::byte* const begin = tensor.mutable_data();
  for (std::byte* at = begin; at != begin + tensor.bytes(); at += size) std::reverse(at, at + size);
}

Result<NpyHeader> parse_npy_header(std::string_view bytes, const std::string& file) {
  if (!bytes.starts_with(magic) || bytes.size() < magic.size() + 2)
    return data_loss(file + ": not a .npy file: its first bytes are not \\x93NUMPY and a version");
  const char version = bytes[magic.size()];
  if (version < 1 || version > 3)
    return unimplemented(file + ": version " + std::to_string(version) +
                         " of the .npy format is not supported; allowed: 1 to 3");
  const std::string_view rest = bytes.substr(magic.size() + 2);
  TROUPE_ASSIGN(const auto dictionary,
                version == 1 ? dictionary_of<uint16_t>(rest, file) : dictionary_of<uint32_t>(rest, file));
  const auto descr = value_of(dictionary, "descr"), order = value_of(dictionary, "fortran_order"),
             shape = value_of(dictionary, "shape");
  if (!descr || !order || !shape) return data_loss(file + ": the header lacks descr, fortran_order or shape");
  NpyHeader header;
  TROUPE_ASSIGN(header.dtype, dtype_of_text(*descr, file, header.big_endian));
  header.columns_first = order->starts_with("True");
  auto dims = dims_of(*shape);
  if (!dims) return data_loss(file + ": the shape in the header cannot be read");
  header.dims = std::move(*dims);
  header.bytes = static_cast<size_t>(dictionary.data() + dictionary.size() - bytes.data());
  return header;
}

Status check_elements(const NpyHeader& header, uint64_t bytes, const std::string& file) {
  const auto shape = Shape::make(header.dims, header.dtype);
  if (!shape) return data_loss(file + ": " + shape.status().text());
  const uint64_t needed = static_cast<uint64_t>(shape->elements()) * size_of(header.dtype);
  if (needed == bytes) return {};
  return data_loss(file + ": shape " + shape->text() + " of " + std::string(name(header.dtype)) + " needs " +
                   std::to_string(needed) + " bytes, but " + std::to_string(bytes) + " follow the header");
}

Result<Tensor> read_npy(std::string_view bytes, const std::string& file) {
  TROUPE_ASSIGN(const NpyHeader header, parse_npy_header(bytes, file));
  const std::string_view elements = bytes.substr(header.bytes);
  TROUPE_RETURN_IF_FAILED(check_elements(header, elements.size(), file));
  TROUPE_ASSIGN(const Shape shape, Shape::make(header.dims, header.dtype));
  TROUPE_ASSIGN(Tensor tensor, Tensor::allocate(header.dtype, shape));
  if (!elements.empty()) std::memcpy(tensor.mutable_data(), elements.data(), elements.size());
  if (header.big_endian) swap_bytes(tensor);
  if (!bools_are_sound(tensor)) return data_loss(file + ": a bool is neither 0 nor 1");
  if (!header.columns_first || shape.rank() < 2) return tensor;
  TROUPE_ASSIGN(Tensor rows, Tensor::allocate(header.dtype, shape));
  reorder(tensor, rows);
  return rows;
}

Result<std::string> npy_header(DType dtype, std::span<const int64_t> dims) {
  const DType stored = dtype == DType::BFloat16 ? DType::UInt16 : dtype;
  const auto* const type = std::ranges::find(type_names, stored, &TypeName::dtype);
  if (type == std::end(type_names))
    return invalid_argument(
        dtype == DType::String
            ? "no arrays of strings are written to files of NumPy; .csv and .jsonl files hold them"
            : "NumPy has no arrays of " + std::string(name(dtype)));
  std::string shape;
  for (const int64_t dim : dims) shape += std::to_string(dim) + ", ";
  if (dims.size() > 1) shape.resize(shape.size() - 2);
  std::string header =
      "{'descr': '" + std::string(type->text) + "', 'fortran_order': False, 'shape': (" + shape + "), }";
  constexpr size_t before = magic.size() + 4;
  header.resize((before + header.size() + 1 + alignment - 1) / alignment * alignment - before - 1, ' ');
  header += '\n';
  const auto length = static_cast<uint16_t>(header.size());
  std::string bytes(magic);
  bytes += {'\1', '\0', static_cast<char>(length & 0xff), static_cast<char>(length >> 8)};
  return bytes + header;
}

Result<std::string> write_npy(const Tensor& tensor) {
  TROUPE_ASSIGN(std::string bytes, npy_header(tensor.dtype(), tensor.shape().dims()));
  if (tensor.bytes() != 0) bytes.append(reinterpret_cast<const char*>(tensor.data()), tensor.bytes());
  return bytes;
}

Result<Tensor> as_bfloat16(const Tensor& bits) {
  if (bits.dtype() != DType::UInt16)
    return invalid_argument("bfloat16 must be stored as uint16, found " + bits.signature());
  return Tensor(DType::BFloat16, bits.shape(), bits.buffer());
}

}  // namespace troupe::data
