#include "apps/data/cache/stored_samples.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

namespace troupe::data {
namespace {

static_assert(std::endian::native == std::endian::little, "numbers in files are little-endian");

constexpr std::string_view magic = "troupe samples 1";
constexpr DType stored_types[] = {DType::Float, DType::Double, DType::Half,  DType::BFloat16,
                                  DType::Int8,  DType::Int16,  DType::Int32, DType::Int64,
                                  DType::UInt8, DType::UInt16, DType::Bool,  DType::String};

template <class T>
void put(std::string& to, T number) {
  to.append(reinterpret_cast<const char*>(&number), sizeof number);
}
void put_text(std::string& to, std::string_view text) {
  put(to, static_cast<uint64_t>(text.size()));
  to += text;
}

/// Takes values from the front of bytes. After a failure, which ok() tells, the values are empty.
class Taker {
 public:
  explicit Taker(std::string_view bytes) : bytes_(bytes) {}

  bool ok() const { return ok_; }
  size_t left() const { return bytes_.size(); }
  std::string_view take(uint64_t size) {
    ok_ = ok_ && size <= bytes_.size();
    if (!ok_) return {};
    const std::string_view taken = bytes_.substr(0, size);
    bytes_.remove_prefix(size);
    return taken;
  }
  template <class T>
  T number() {
    T value{};
    if (const auto taken = take(sizeof value); ok_) std::memcpy(&value, taken.data(), sizeof value);
    return value;
  }
  std::string_view text() { return take(number<uint64_t>()); }

 private:
  std::string_view bytes_;
  bool ok_ = true;
};

int32_t to_number(DType dtype) { return static_cast<int32_t>(dtype); }

Status damaged() { return data_loss("the bytes are not those of samples"); }

Result<Column> parse_column(Taker& bytes) {
  const std::string_view name = bytes.text();
  const auto number = bytes.number<int32_t>();
  const auto* const stored = std::ranges::find(stored_types, number, to_number);
  std::vector<int64_t> dims = {0};
  for (auto rank = bytes.number<uint32_t>(); rank > 0 && bytes.ok(); --rank)
    dims.push_back(bytes.number<int64_t>());
  if (!bytes.ok() || stored == std::end(stored_types)) return damaged();
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims, *stored));
  TROUPE_ASSIGN(Tensor values, Tensor::allocate(*stored, shape));
  return Column{std::string(name), std::move(values)};
}

/// Returns the number of elements of one sample, or nothing if there are more than could be stored.
std::optional<uint64_t> elements_of_sample(const Tensor& values) {
  uint64_t elements = 1;
  for (const int64_t dim : values.shape().dims().subspan(1)) {
    const auto size = static_cast<uint64_t>(dim);
    if (size != 0 && elements > UINT32_MAX / size) return {};
    elements *= size;
  }
  return elements;
}

Status fill_strings(Taker& bytes, Tensor& values) {
  for (std::string& text : values.write<std::string>()) text = bytes.text();
  return bytes.ok() ? Status() : damaged();
}

Status fill(Taker& bytes, Tensor& values) {
  if (values.dtype() == DType::String) return fill_strings(bytes, values);
  const std::string_view stored = bytes.take(values.bytes());
  if (!bytes.ok()) return damaged();
  const auto is_no_bool = [](char byte) { return static_cast<uint8_t>(byte) > 1; };
  if (values.dtype() == DType::Bool && std::ranges::any_of(stored, is_no_bool)) return damaged();
  if (!stored.empty()) std::memcpy(values.mutable_data(), stored.data(), stored.size());
  return {};
}

}  // namespace

std::string to_bytes(const CacheHeader& header) {
  std::string bytes(magic);
  put(bytes, header.samples);
  put_text(bytes, header.key);
  put(bytes, static_cast<uint32_t>(header.columns.columns().size()));
  for (const Column& column : header.columns.columns()) {
    const auto dims = column.values.shape().dims().subspan(1);
    put_text(bytes, column.name);
    put(bytes, to_number(column.values.dtype()));
    put(bytes, static_cast<uint32_t>(dims.size()));
    for (const int64_t dim : dims) put(bytes, dim);
  }
  return bytes;
}

Result<CacheHeader> parse_cache_header(std::string_view bytes) {
  Taker rest(bytes);
  if (rest.take(magic.size()) != magic) return damaged();
  CacheHeader header;
  header.samples = rest.number<uint64_t>();
  header.key = rest.text();
  std::vector<Column> columns;
  for (auto count = rest.number<uint32_t>(); count > 0 && rest.ok(); --count) {
    TROUPE_ASSIGN(columns.emplace_back(), parse_column(rest));
  }
  if (!rest.ok() || rest.left() != 0) return damaged();
  header.columns = Dataset(std::move(columns));
  return header;
}

std::string to_bytes(const Dataset& samples) {
  std::string bytes;
  put(bytes, static_cast<uint32_t>(samples.samples()));
  for (const Column& column : samples.columns()) {
    const Tensor& values = column.values;
    if (values.dtype() == DType::String)
      for (const std::string& text : values.as<std::string>()) put_text(bytes, text);
    else if (values.bytes() != 0)
      bytes.append(reinterpret_cast<const char*>(values.data()), values.bytes());
  }
  return bytes;
}

Result<Dataset> parse_samples(std::string_view bytes, const Dataset& columns) {
  Taker rest(bytes);
  const auto samples = rest.number<uint32_t>();
  for (const Column& column : columns.columns()) {
    const auto elements = elements_of_sample(column.values);
    const size_t least =
        column.values.dtype() == DType::String ? sizeof(uint64_t) : size_of(column.values.dtype());
    if (!elements || (*elements != 0 && samples > rest.left() / *elements / least)) return damaged();
  }
  TROUPE_ASSIGN(Dataset parsed, allocate_like(columns, samples));
  for (Column& column : parsed.mutable_columns()) TROUPE_RETURN_IF_FAILED(fill(rest, column.values));
  return rest.ok() && rest.left() == 0 ? Result<Dataset>(std::move(parsed)) : damaged();
}

size_t bytes_of_sample(const Dataset& samples, int64_t row) {
  size_t bytes = 0;
  for (const Column& column : samples.columns()) {
    const Tensor values = column.values.rows(row, row + 1);
    if (values.dtype() == DType::String)
      for (const std::string& text : values.as<std::string>()) bytes += sizeof(uint64_t) + text.size();
    else
      bytes += values.bytes();
  }
  return bytes;
}

}  // namespace troupe::data
