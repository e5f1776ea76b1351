#include "apps/data/formats/idx.h"

#include <cstring>
#include <vector>

namespace troupe::data {
namespace {

enum class Element : uint8_t {
  UInt8 = 0x08,
  Int8 = 0x09,
  Int16 = 0x0b,
  Int32 = 0x0c,
  Float = 0x0d,
  Double = 0x0e
};

size_t size_of(Element element) {
  switch (element) {
    case Element::UInt8:
    case Element::Int8: return 1;
    case Element::Int16: return 2;
    case Element::Int32:
    case Element::Float: return 4;
    case Element::Double: return 8;
  }
  return 0;
}

template <class T>
T read_big_endian(const char* bytes) {
  char reversed[sizeof(T)];
  for (size_t i = 0; i < sizeof(T); ++i) reversed[i] = bytes[sizeof(T) - 1 - i];
  T value;
  std::memcpy(&value, reversed, sizeof(T));
  return value;
}

struct IdxFile {
  Element element{};
  std::vector<int64_t> dims;
  std::string_view elements;  ///< as many as the dims say

  int64_t count() const { return static_cast<int64_t>(elements.size() / size_of(element)); }
};

Result<IdxFile> parse_header(std::string_view bytes, const std::string& file) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(bytes[i]); };
  if (bytes.size() >= 2 && byte(0) == 0x1f && byte(1) == 0x8b)
    return data_loss(file + ": compressed with gzip; unpack it first: gunzip " + file);
  if (bytes.size() < 4 || byte(0) != 0 || byte(1) != 0)
    return data_loss(file + ": no IDX file: it must begin with two zero bytes");
  IdxFile idx{static_cast<Element>(byte(2)), {}, {}};
  const size_t rank = byte(3), header = 4 + 4 * rank, element = size_of(idx.element);
  if (element == 0)
    return data_loss(file + ": element type " + std::to_string(byte(2)) + " is no type of IDX");
  if (rank == 0) return data_loss(file + ": rank 0");
  if (bytes.size() < header)
    return data_loss(file + ": " + std::to_string(bytes.size()) + " bytes, but a header of rank " +
                     std::to_string(rank) + " has " + std::to_string(header));
  idx.elements = bytes.substr(header);
  uint64_t needed = element;
  for (size_t i = 0; i < rank; ++i) {
    idx.dims.push_back(read_big_endian<uint32_t>(bytes.data() + 4 + 4 * i));
    const auto dim = static_cast<uint64_t>(idx.dims.back());
    needed = dim == 0 ? 0 : needed > UINT64_MAX / dim ? UINT64_MAX : needed * dim;
    if (needed == 0) break;
  }
  if (needed == 0) return data_loss(file + ": no samples in it");
  if (needed != idx.elements.size())
    return data_loss(file + ": sizes " + text_of(idx.dims) + " need " +
                     (needed == UINT64_MAX ? "more than 2^64" : std::to_string(needed)) + " bytes, " +
                     std::to_string(idx.elements.size()) + " follow the header");
  return idx;
}

template <class Stored, class Out>
void convert(const IdxFile& idx, std::span<Out> out, Out scale) {
  for (size_t i = 0; i < out.size(); ++i)
    out[i] = static_cast<Out>(read_big_endian<Stored>(idx.elements.data() + i * sizeof(Stored))) * scale;
}

}  // namespace

Result<Tensor> parse_idx_features(std::string_view bytes, const std::string& file, double scale) {
  TROUPE_ASSIGN(const IdxFile idx, parse_header(bytes, file));
  const int64_t samples = idx.dims.front();
  TROUPE_ASSIGN(const Shape shape,
                Shape::make(std::vector<int64_t>{samples, idx.count() / samples}, DType::Float));
  TROUPE_ASSIGN(Tensor out, Tensor::allocate(DType::Float, shape));
  const auto values = out.write<float>();
  const auto factor = static_cast<float>(scale);
  switch (idx.element) {
    case Element::UInt8: convert<uint8_t>(idx, values, factor); break;
    case Element::Int8: convert<int8_t>(idx, values, factor); break;
    case Element::Int16: convert<int16_t>(idx, values, factor); break;
    case Element::Int32: convert<int32_t>(idx, values, factor); break;
    case Element::Float: convert<float>(idx, values, factor); break;
    case Element::Double: convert<double>(idx, values, factor); break;
  }
  return out;
}

Result<Tensor> parse_idx_labels(std::string_view bytes, const std::string& file) {
  TROUPE_ASSIGN(const IdxFile idx, parse_header(bytes, file));
  if (idx.dims.size() != 1)
    return data_loss(file + ": labels of shape " + text_of(idx.dims) + "; they must be of rank 1");
  TROUPE_ASSIGN(Tensor out, Tensor::allocate(DType::Int32, Shape::vector(idx.dims.front())));
  const auto values = out.write<int32_t>();
  switch (idx.element) {
    case Element::UInt8: convert<uint8_t>(idx, values, 1); break;
    case Element::Int8: convert<int8_t>(idx, values, 1); break;
    case Element::Int16: convert<int16_t>(idx, values, 1); break;
    case Element::Int32: convert<int32_t>(idx, values, 1); break;
    default: return data_loss(file + ": labels of a floating type; they must be integers");
  }
  return out;
}

}  // namespace troupe::data
