// The format lines: text files whose lines are the samples, in the column `text`. A sample is a string without the end of its
// line, "\n" or "\r\n". Empty lines are samples, too.
#include <algorithm>

#include "apps/data/format.h"
#include "apps/data/text_lines.h"

namespace troupe::data {
namespace {

class LineReader final : public RecordReader {
 public:
  explicit LineReader(std::shared_ptr<InputFile> file)
      : RecordReader("lines", {file}), lines_(std::move(file)) {
    schema_ = {{text_column, DType::String, {}}};
  }

  Result<Dataset> next(int64_t max_records) override {
    std::vector<std::string> texts;
    while (static_cast<int64_t>(texts.size()) < max_records) {
      TROUPE_ASSIGN(const auto line, lines_.next());
      if (!line) break;
      texts.emplace_back(line->substr(0, line->size() - (line->ends_with('\r') ? 1 : 0)));
    }
    TROUPE_ASSIGN(Tensor column,
                  Tensor::allocate(DType::String, Shape::vector(static_cast<int64_t>(texts.size()))));
    std::ranges::move(texts, column.write<std::string>().begin());
    return Dataset({{text_column, std::move(column)}});
  }

  Result<int64_t> skip(int64_t max_records) override {
    int64_t passed = 0;
    for (; passed < max_records; ++passed) {
      TROUPE_ASSIGN(const auto line, lines_.next());
      if (!line) break;
    }
    return passed;
  }

 private:
  ReaderPosition tell() const override {
    return {.record = lines_.row(), .offset = lines_.offset(), .row = lines_.row()};
  }
  Status seek(const ReaderPosition& position) override {
    TROUPE_RETURN_IF_FAILED(check_offset(position, lines_.file()));
    lines_.seek(position.offset, position.row);
    return {};
  }

  TextLines lines_;
};

Result<std::unique_ptr<RecordReader>> open_lines(Disk& disk, const SourceFile& file) {
  TROUPE_ASSIGN(auto input, InputFile::open(disk, file.path, file.compression));
  return std::unique_ptr<RecordReader>(std::make_unique<LineReader>(std::move(input)));
}

}  // namespace

Format lines_format() {
  return {.name = "lines",
          .open = open_lines,
          .labelled = [](const FormatOptions&) { return false; },
          .has_text = [](const FormatOptions&) { return true; }};
}

}  // namespace troupe::data
