#include "actors/services/saver/remap_work.h"

#include <algorithm>
#include <unordered_map>

#include "messages/records/record_stream.h"
#include "messages/tensor_files/bundle.h"

namespace troupe {
namespace {

// ---- Matrices

/// Returns by the old numbers the new ones. Negative old numbers are left out.
Result<std::unordered_map<int64_t, int64_t>> inverse(std::span<const int64_t> old_of, const char* what) {
  std::unordered_map<int64_t, int64_t> new_of;
  for (size_t i = 0; i < old_of.size(); ++i) {
    if (old_of[i] < 0) continue;
    const auto [at, fresh] = new_of.try_emplace(old_of[i], static_cast<int64_t>(i));
    if (!fresh)
      return unimplemented(std::string("old ") + what + ' ' + std::to_string(old_of[i]) +
                           " is to become both " + what + ' ' + std::to_string(at->second) + " and " +
                           std::to_string(i));
  }
  return new_of;
}

Status check_size(const Tensor& remapping, int64_t expected, const char* input, const char* attr) {
  if (remapping.elements() == expected) return {};
  return invalid_argument(std::string(input) + " has " + std::to_string(remapping.elements()) +
                          " elements, but " + attr + " is " + std::to_string(expected));
}

Status check_stored(const MatrixRequest& request, const BundleEntry& entry) {
  const std::string what = "'" + request.name + "' of " + request.prefix + " is " +
                           std::string(name(entry.dtype)) + entry.shape.text();
  if (entry.dtype != DType::Float || entry.shape.rank() != 2)
    return invalid_argument(what + ", but must be a matrix of floats");
  if (request.column_of.elements() == 0 && entry.shape[1] != request.columns)
    return invalid_argument(what + ", but without col_remapping it must have num_cols = " +
                            std::to_string(request.columns) + " columns");
  return {};
}

/// The elements of a vector that are not negative.
int64_t present(std::span<const int64_t> old_of) {
  return std::ranges::count_if(old_of, [](int64_t old) { return old >= 0; });
}

/// Fails unless there is one initial value for each element that the checkpoint does not have. So the matrix is not larger than
/// what was given and what is stored.
Status check_initial(const MatrixRequest& request, const Shape& matrix) {
  const int64_t rows = present(request.row_of.as<int64_t>());
  const int64_t columns =
      request.column_of.elements() == 0 ? request.columns : present(request.column_of.as<int64_t>());
  const int64_t stored = rows * columns;  // not more than all elements
  if (matrix.elements() - stored == request.initial.elements()) return {};
  return invalid_argument("initializing_values has " + std::to_string(request.initial.elements()) +
                          " elements, but " + std::to_string(stored) + " of the " +
                          std::to_string(matrix.elements()) +
                          " elements come from the checkpoint, and each other one takes a value");
}

/// Copies the elements of an old row to their columns.
void place_row(std::span<const float> old_row, const std::unordered_map<int64_t, int64_t>& new_column_of,
               bool same_columns, float* row) {
  if (same_columns) {
    std::ranges::copy(old_row, row);
    return;
  }
  for (const auto& [old_column, column] : new_column_of)
    row[column] = old_row[static_cast<size_t>(old_column)];
}

void place_initial(const MatrixRequest& request, std::span<float> matrix) {
  const auto rows = request.row_of.as<int64_t>(), columns = request.column_of.as<int64_t>();
  const float* next = request.initial.as<float>().data();
  const auto width = static_cast<size_t>(request.columns);
  for (size_t i = 0; i < rows.size(); ++i)
    for (size_t j = 0; j < width; ++j)
      if (rows[i] < 0 || (!columns.empty() && columns[j] < 0)) matrix[i * width + j] = *next++;
}

Status check_columns(std::span<const int64_t> columns, const Shape& stored) {
  for (const int64_t column : columns)
    if (column >= stored[1])
      return invalid_argument("col_remapping has column " + std::to_string(column) +
                              ", but the checkpoint has the matrix " + stored.text());
  return {};
}

// ---- Vocabularies

/// Returns the lines of a file, without their ends. `limit` is the number of lines that count; -1: all.
Result<std::vector<std::string>> read_lines(Disk& disk, const std::string& file, int64_t limit) {
  TROUPE_ASSIGN(auto source, open_source(disk, file, Compression::None));
  const auto records = text_lines(std::move(source), 0);
  std::vector<std::string> lines;
  while (static_cast<int64_t>(lines.size()) != limit) {
    TROUPE_ASSIGN(const auto line, records->next());
    if (!line) break;
    if (line->empty())
      return invalid_argument(file + ": line " + std::to_string(lines.size()) + ", counted from 0, is empty");
    lines.emplace_back(*line);
  }
  if (limit < 0 || static_cast<int64_t>(lines.size()) == limit) return lines;
  return invalid_argument(file + " has " + std::to_string(lines.size()) + " lines, but old_vocab_size is " +
                          std::to_string(limit));
}

}  // namespace

Result<Tensor> load_remapped_matrix(Disk& disk, const MatrixRequest& request, const TensorReading& reading) {
  const auto rows = request.row_of.as<int64_t>(), columns = request.column_of.as<int64_t>();
  TROUPE_RETURN_IF_FAILED(check_size(request.row_of, request.rows, "row_remapping", "num_rows"));
  if (!columns.empty())
    TROUPE_RETURN_IF_FAILED(check_size(request.column_of, request.columns, "col_remapping", "num_cols"));
  TROUPE_RETURN_IF_FAILED(inverse(rows, "row").status());
  TROUPE_ASSIGN(const auto new_column_of, inverse(columns, "column"));
  TROUPE_ASSIGN(const Bundle bundle, Bundle::open(disk, request.prefix, reading));
  TROUPE_ASSIGN(const BundleEntry* const entry, bundle.find(request.name));
  TROUPE_RETURN_IF_FAILED(check_stored(request, *entry));
  TROUPE_RETURN_IF_FAILED(check_columns(columns, entry->shape));
  TROUPE_ASSIGN(const Shape shape, Shape::make(std::vector<int64_t>{request.rows, request.columns}, f32));
  TROUPE_RETURN_IF_FAILED(check_initial(request, shape));

  int64_t first = 0, last = -1;  // the old rows that are read
  for (const int64_t old : rows) {
    if (old < 0) continue;
    first = last < 0 ? old : std::min(first, old);
    last = std::max(last, old);
  }
  const auto width = static_cast<size_t>(entry->shape[1]);
  Tensor stored;
  if (last >= 0) {
    if (last >= entry->shape[0])
      return invalid_argument("row_remapping has row " + std::to_string(last) +
                              ", but the checkpoint has the matrix " + entry->shape.text());
    TROUPE_ASSIGN(stored, bundle.read(request.name, {{first, 0}, {last - first + 1, entry->shape[1]}}));
  }
  TROUPE_ASSIGN(Tensor matrix, Tensor::allocate(f32, shape, *reading.memory));
  const auto elements = matrix.write<float>();
  for (size_t i = 0; i < rows.size(); ++i)
    if (rows[i] >= 0)
      place_row(stored.as<float>().subspan(static_cast<size_t>(rows[i] - first) * width, width),
                new_column_of, columns.empty(), elements.data() + i * static_cast<size_t>(request.columns));
  place_initial(request, elements);
  return matrix;
}

Result<RemappedVocabulary> remap_vocabulary(Disk& disk, const VocabularyRequest& request) {
  TROUPE_ASSIGN(const auto lines, read_lines(disk, request.new_file, -1));
  if (request.first > static_cast<int64_t>(lines.size()) ||
      request.count > static_cast<int64_t>(lines.size()) - request.first)
    return invalid_argument(request.new_file + " has " + std::to_string(lines.size()) +
                            " lines, fewer than " + std::to_string(request.count) + " from line " +
                            std::to_string(request.first) + " on");
  TROUPE_ASSIGN(const auto old_lines, read_lines(disk, request.old_file, request.old_size));
  std::unordered_map<std::string_view, int64_t> old_of;
  for (size_t i = 0; i < old_lines.size(); ++i)
    if (!old_of.try_emplace(old_lines[i], static_cast<int64_t>(i)).second)
      return invalid_argument(request.old_file + " has '" + old_lines[i] + "' twice");
  TROUPE_ASSIGN(const Shape shape, Shape::make(std::vector<int64_t>{request.count}, i64));
  TROUPE_ASSIGN(Tensor found, Tensor::allocate(i64, shape));
  int32_t present = 0;
  for (int64_t i = 0; i < request.count; ++i) {
    const auto at = old_of.find(lines[static_cast<size_t>(request.first + i)]);
    found.write<int64_t>()[static_cast<size_t>(i)] = at == old_of.end() ? -1 : at->second;
    present += at == old_of.end() ? 0 : 1;
  }
  return RemappedVocabulary{found, Tensor::scalar(present)};
}

}  // namespace troupe
