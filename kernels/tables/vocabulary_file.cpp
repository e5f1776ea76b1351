#include "kernels/tables/vocabulary_file.h"

#include <algorithm>
#include <string_view>
#include <variant>
#include <vector>

#include "kernels/core/text.h"
#include "messages/records/record_stream.h"

namespace troupe {
namespace {

template <class T>
bool parse(std::string_view text, T& value) {
  return parse_number(text, value);
}
bool parse(std::string_view text, std::string& value) {
  value = text;
  return true;
}

/// The keys, or the values, as they are read.
class Column {
 public:
  Column(std::string_view what, int64_t column, int64_t first_number, DType dtype)
      : what_(what), column_(column), first_number_(first_number), dtype_(dtype) {}

  Status begin() {
    const auto needs = [&](bool right, std::string_view wanted) {
      if (right) return Status();
      return invalid_argument("the " + what_ + "s are " + std::string(name(dtype_)) + ", but " +
                              (column_ == VocabularyFile::whole_line    ? "whole lines are "
                               : column_ == VocabularyFile::line_number ? "line numbers are "
                                                                        : "columns are ") +
                              std::string(wanted));
    };
    const bool is_key = what_ == "key", is_string = dtype_ == DType::String;
    const bool is_integer = dtype_ == DType::Int32 || dtype_ == DType::Int64;
    if (column_ == VocabularyFile::line_number)
      TROUPE_RETURN_IF_FAILED(needs(dtype_ == DType::Int64, "int64"));
    if (column_ == VocabularyFile::whole_line)
      TROUPE_RETURN_IF_FAILED(
          needs(is_string || (is_key && is_integer), is_key ? "strings or integers" : "strings"));
    switch (dtype_) {
      case DType::Int32: values_ = std::vector<int32_t>(); return {};
      case DType::Int64: values_ = std::vector<int64_t>(); return {};
      case DType::Float: values_ = std::vector<float>(); return {};
      case DType::Double: values_ = std::vector<double>(); return {};
      case DType::String: values_ = std::vector<std::string>(); return {};
      default: return needs(false, "int32, int64, float, double or strings");
    }
  }

  Status add(std::string_view line, std::span<const std::string_view> parts, int64_t number) {
    if (column_ == VocabularyFile::line_number) {
      std::get<std::vector<int64_t>>(values_).push_back(
          static_cast<int64_t>(static_cast<uint64_t>(number) + static_cast<uint64_t>(first_number_)));
      return {};
    }
    const std::string_view text =
        column_ == VocabularyFile::whole_line ? line : parts[static_cast<size_t>(column_)];
    const bool parsed = std::visit([&](auto& values) { return parse(text, values.emplace_back()); }, values_);
    if (parsed) return {};
    return invalid_argument("the " + what_ + " " + quoted(text) + " in line " + std::to_string(number) +
                            " is not a valid " + std::string(name(dtype_)));
  }

  Result<Tensor> finish() {
    return std::visit(
        []<class T>(std::vector<T>& values) -> Result<Tensor> {
          TROUPE_ASSIGN(Tensor tensor,
                        Tensor::allocate(dtype_of<T>, Shape::vector(static_cast<int64_t>(values.size()))));
          std::ranges::move(values, tensor.write<T>().begin());
          return tensor;
        },
        values_);
  }

 private:
  const std::string what_;
  const int64_t column_, first_number_;
  const DType dtype_;
  std::variant<std::vector<int32_t>, std::vector<int64_t>, std::vector<float>, std::vector<double>,
               std::vector<std::string>>
      values_;
};

void split(std::string_view line, char delimiter, std::vector<std::string_view>& parts) {
  parts.clear();
  for (size_t begin = 0; begin <= line.size();) {
    const size_t end = std::min(line.find(delimiter, begin), line.size());
    parts.push_back(line.substr(begin, end - begin));
    begin = end + 1;
  }
}

Status read_lines(RecordStream& lines, const VocabularyFile& file, Column& keys, Column& values) {
  const int64_t columns = std::max(file.key_column, file.value_column) + 1;
  std::string line;
  std::vector<std::string_view> parts;
  int64_t number = 0;
  for (; number != file.lines; ++number) {
    TROUPE_ASSIGN(const auto record, lines.next());
    if (!record) break;
    line = *record;
    std::erase(line, '\r');  // as TensorFlow does, wherever they are
    if (line.empty()) return invalid_argument("line " + std::to_string(number) + " is empty");
    if (columns > 0) split(line, file.delimiter, parts);
    if (columns > static_cast<int64_t>(parts.size()) && columns > 0)
      return invalid_argument("Invalid number of columns: line " + std::to_string(number) + " has " +
                              std::to_string(parts.size()) + ", but needs " + std::to_string(columns));
    TROUPE_RETURN_IF_FAILED(keys.add(line, parts, number));
    TROUPE_RETURN_IF_FAILED(values.add(line, parts, number));
  }
  if (file.lines < 0 || number == file.lines) return {};
  return invalid_argument("Invalid vocab_size: the file has " + std::to_string(number) + " lines, but " +
                          std::to_string(file.lines) + " are to be read");
}

}  // namespace

Result<std::pair<Tensor, Tensor>> read_vocabulary(Disk& disk, const VocabularyFile& file, DType key,
                                                  DType value) {
  Column keys("key", file.key_column, file.first_number, key);
  Column values("value", file.value_column, file.first_number, value);
  TROUPE_RETURN_IF_FAILED(keys.begin());
  TROUPE_RETURN_IF_FAILED(values.begin());
  TROUPE_ASSIGN(auto source, open_source(disk, file.path, Compression::None));
  const auto lines = text_lines(std::move(source), 0);
  if (const Status status = read_lines(*lines, file, keys, values); !status.ok())
    return Status(status.code(), file.path + ": " + status.text());
  std::pair<Tensor, Tensor> result;
  TROUPE_ASSIGN(result.first, keys.finish());
  TROUPE_ASSIGN(result.second, values.finish());
  return result;
}

}  // namespace troupe
