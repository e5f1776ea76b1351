// The format idx, which MNIST uses: a magic number with element type and rank, the dimensions in big-endian order, then the
// elements. Images and labels are in separate files.
#include "apps/data/array_reader.h"
#include "apps/data/formats/idx_types.h"

namespace troupe::data {
namespace {

constexpr uint64_t max_header = 4 + 4 * 255;

/// Returns how many bytes the elements need, or UINT64_MAX if the number is larger.
uint64_t bytes_of(const StoredArray& array) {
  uint64_t needed = size_of(array.dtype);
  for (const int64_t size : array.dims) {
    if (size == 0) return 0;
    const auto dim = static_cast<uint64_t>(size);
    needed = needed > UINT64_MAX / dim ? UINT64_MAX : needed * dim;
  }
  return needed;
}

Result<StoredArray> parse_header(const std::shared_ptr<InputFile>& input, const char* column) {
  TROUPE_ASSIGN(const std::string head, input->text(0, max_header));
  const std::string& file = input->path();
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(head[i]); };
  if (head.size() < 4 || byte(0) != 0 || byte(1) != 0)
    return data_loss(file + ": not an IDX file: the first two bytes must be zero");
  const size_t rank = byte(3), header = 4 + 4 * rank;
  StoredArray array{column, input, file, idx_type_of(byte(2)), {}, header, true};
  if (array.dtype == DType::Invalid)
    return data_loss(file + ": unknown element type " + std::to_string(byte(2)));
  if (head.size() < header)
    return data_loss(file + ": the file has " + std::to_string(head.size()) +
                     " bytes, but a header of rank " + std::to_string(rank) + " needs " +
                     std::to_string(header));
  for (size_t at = 4; at < header; at += 4)
    array.dims.push_back(int64_t{byte(at)} << 24 | byte(at + 1) << 16 | byte(at + 2) << 8 | byte(at + 3));
  TROUPE_ASSIGN(const uint64_t size, input->size());
  const uint64_t needed = bytes_of(array), there = size - header;
  if (rank != 0 && needed != there)
    return data_loss(file + ": shape " + text_of(array.dims) + " needs " +
                     (needed == UINT64_MAX ? "more than 2^64" : std::to_string(needed)) + " bytes, but " +
                     std::to_string(there) + " follow the header");
  return array;
}

Result<std::unique_ptr<RecordReader>> open_idx(Disk& disk, const SourceFile& file) {
  std::vector<StoredArray> arrays;
  TROUPE_ASSIGN(const auto images, InputFile::open(disk, file.path, file.compression));
  TROUPE_ASSIGN(arrays.emplace_back(), parse_header(images, feature_column));
  if (!file.labels.empty()) {
    TROUPE_ASSIGN(const auto labels, InputFile::open(disk, file.labels, file.compression));
    TROUPE_ASSIGN(arrays.emplace_back(), parse_header(labels, label_column));
    if (!is_integer(arrays.back().dtype))
      return data_loss(file.labels + ": labels have type " + std::string(name(arrays.back().dtype)) +
                       "; expected integers");
  }
  return read_arrays("idx", std::move(arrays));
}

}  // namespace

Format idx_format() { return {.name = "idx", .open = open_idx, .label_files = true}; }

}  // namespace troupe::data
