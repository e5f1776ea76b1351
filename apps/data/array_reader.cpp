#include "apps/data/array_reader.h"

#include <algorithm>

#include "apps/data/arrays/npy.h"

namespace troupe::data {
namespace {

/// Says how samples have several numbers that are to be predicted, which cannot be labels.
std::string advice_on_labels(std::string_view format) {
  if (format == "npy") return "; format npz takes several arrays of any shape: data.arrays";
  if (format != "npz") return {};
  return "; an array with several numbers for each sample is listed in data.arrays, as features are, and the "
         "loss names it; then data.label is \"none\" or names another array. data.inputs.label.shape does "
         "not "
         "make it a label";
}

Status check(std::string_view format, const std::vector<StoredArray>& arrays) {
  for (const StoredArray& array : arrays) {
    if (array.dims.empty())
      return data_loss(array.name + ": the array has rank 0; its first dimension must count the samples");
    if (std::count(array.dims.begin() + 1, array.dims.end(), 0) != 0)
      return data_loss(array.name + ": shape " + text_of(array.dims) + ": a sample has no elements");
    if (is_complex(array.dtype))
      return data_loss(array.name + ": samples have type " + std::string(name(array.dtype)) +
                       "; expected bools, integers or floats");
    if (array.column == label_column && array.dims.size() != 1)
      return data_loss(array.name + ": labels have shape " + text_of(array.dims) +
                       "; expected rank 1, a number for each sample" + advice_on_labels(format));
    if (const StoredArray& first = arrays.front(); array.dims[0] != first.dims[0])
      return data_loss(array.name + ": " + std::to_string(array.dims[0]) +
                       (array.column == label_column ? " labels" : " rows") + " for the " +
                       std::to_string(first.dims[0]) + " samples of " + first.name);
    TROUPE_RETURN_IF_FAILED(Shape::make(array.dims, array.dtype).status());
  }
  return {};
}

std::vector<std::shared_ptr<InputFile>> files_of(const std::vector<StoredArray>& arrays) {
  std::vector<std::shared_ptr<InputFile>> files;
  for (const StoredArray& array : arrays)
    if (files.empty() || files.back() != array.file) files.push_back(array.file);
  return files;
}

class ArrayReader final : public RecordReader {
 public:
  ArrayReader(std::string_view format, std::vector<StoredArray> arrays)
      : RecordReader(format, files_of(arrays)), arrays_(std::move(arrays)) {
    for (const StoredArray& array : arrays_)
      schema_.push_back({array.column, array.dtype, {array.dims.begin() + 1, array.dims.end()}});
  }

  std::optional<int64_t> records() const override { return arrays_.front().dims[0]; }

  Result<Dataset> next(int64_t max_records) override {
    const int64_t rows = std::min(max_records, *records() - row_);
    std::vector<Column> columns;
    for (const StoredArray& array : arrays_) {
      TROUPE_ASSIGN(Tensor values, read(array, rows));
      columns.push_back({array.column, std::move(values)});
    }
    row_ += rows;
    return Dataset(std::move(columns));
  }

  Result<int64_t> skip(int64_t max_records) override {
    const int64_t rows = std::min(max_records, *records() - row_);
    row_ += rows;
    return rows;
  }

 private:
  Result<Tensor> read(const StoredArray& array, int64_t rows) const {
    std::vector<int64_t> dims = array.dims;
    dims[0] = rows;
    TROUPE_ASSIGN(const Shape shape, Shape::make(dims, array.dtype));
    TROUPE_ASSIGN(Tensor values, Tensor::allocate(array.dtype, shape));
    const uint64_t row_bytes = rows == 0 ? 0 : values.bytes() / static_cast<uint64_t>(rows);
    const uint64_t begin = array.offset + row_bytes * static_cast<uint64_t>(row_);
    TROUPE_RETURN_IF_FAILED(array.file->read(begin, {values.mutable_data(), values.bytes()}));
    if (array.dtype == DType::Bool) TROUPE_RETURN_IF_FAILED(check_bools(array, values, begin));
    if (array.big_endian) swap_bytes(values);
    return values;
  }

  static Status check_bools(const StoredArray& array, const Tensor& values, uint64_t begin) {
    const std::span bytes(values.data(), values.bytes());
    const auto at = std::ranges::find_if(bytes, [](std::byte b) { return b > std::byte{1}; });
    if (at == bytes.end()) return {};
    return data_loss(array.name + ": the bool at byte " +
                     std::to_string(begin + static_cast<uint64_t>(at - bytes.begin())) +
                     " is neither 0 nor 1");
  }

  ReaderPosition tell() const override { return {.record = static_cast<uint64_t>(row_)}; }
  Status seek(const ReaderPosition& position) override {
    if (position.record > static_cast<uint64_t>(*records()) || position.offset != 0 || position.row != 0)
      return invalid_argument(arrays_.front().name + ": the position '" + to_text(position) +
                              "' lies outside its " + std::to_string(*records()) + " records");
    row_ = static_cast<int64_t>(position.record);
    return {};
  }

  std::vector<StoredArray> arrays_;
  int64_t row_ = 0;  ///< the next row
};

}  // namespace

Result<std::unique_ptr<RecordReader>> read_arrays(std::string_view format, std::vector<StoredArray> arrays) {
  for (StoredArray& array : arrays)  // labels may be a column, as Keras's are
    if (array.column == label_column && array.dims.size() == 2 && array.dims[1] == 1) array.dims.pop_back();
  TROUPE_RETURN_IF_FAILED(check(format, arrays));
  return std::unique_ptr<RecordReader>(std::make_unique<ArrayReader>(format, std::move(arrays)));
}

Result<StoredArray> npy_array(std::shared_ptr<InputFile> file, uint64_t offset, uint64_t bytes,
                              const std::string& column, const std::string& name) {
  TROUPE_ASSIGN(const std::string head, file->text(offset, std::min<uint64_t>(bytes, max_npy_header)));
  TROUPE_ASSIGN(NpyHeader header, parse_npy_header(head, name));
  TROUPE_RETURN_IF_FAILED(check_elements(header, bytes - header.bytes, name));
  if (header.columns_first && header.dims.size() > 1)
    return unimplemented(
        name +
        ": the array is in column-major order, which is not supported; save numpy.ascontiguousarray(array)");
  return StoredArray{column,           std::move(file),        name,
                     header.dtype,     std::move(header.dims), offset + header.bytes,
                     header.big_endian};
}

}  // namespace troupe::data
