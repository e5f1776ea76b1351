#include "apps/data/windows.h"

#include <algorithm>
#include <set>

namespace troupe::data {
namespace {

struct Series {
  Dataset samples;
  Window window;
  std::string label;
  std::vector<int64_t> begins;  ///< of all stretches

  /// Returns the stretches that begin at these samples.
  Result<Dataset> at(std::span<const int64_t> firsts) const {
    const auto count = static_cast<int64_t>(firsts.size());
    std::vector<Column> columns;
    for (const Column& column : samples.columns()) {
      const bool is_label = column.name == label;
      const Tensor& values = column.values;
      std::vector<int64_t> dims(values.shape().dims().begin(), values.shape().dims().end());
      dims[0] = is_label ? count : count * window.length;
      TROUPE_ASSIGN(const Shape rows, Shape::make(dims, values.dtype()));
      TROUPE_ASSIGN(Tensor copied, Tensor::allocate(values.dtype(), rows));
      for (int64_t i = 0; i < count; ++i) {
        const int64_t begin = firsts[static_cast<size_t>(i)], last = begin + window.length - 1;
        if (is_label)
          copy_row(values, last + window.ahead, copied, i);
        else
          copy_rows(values.rows(begin, last + 1), copied, i * window.length);
      }
      if (!is_label) {
        dims.insert(dims.begin(), count);
        dims[1] = window.length;
        TROUPE_ASSIGN(const Shape shape, Shape::make(dims, values.dtype()));
        copied = copied.reshaped(shape);
      }
      columns.push_back({column.name, std::move(copied)});
    }
    return Dataset(std::move(columns));
  }
};

class WindowBatches final : public Batches {
 public:
  WindowBatches(std::shared_ptr<const Series> series, Dataset begins, int64_t batch, uint64_t seed,
                bool shuffle)
      : Batches(begins.samples(), batch), series_(std::move(series)),
        begins_(std::move(begins), batch, seed, shuffle) {}

  Result<Dataset> at(uint64_t step) override {
    TROUPE_ASSIGN(const Dataset begins, begins_.at(step));
    return series_->at(begins.columns()[0].values.as<int64_t>());
  }

 private:
  std::shared_ptr<const Series> series_;
  MemoryBatches begins_;
};

class WindowSet final : public SampleSet {
 public:
  WindowSet(std::shared_ptr<const Series> series, Dataset columns)
      : series_(std::move(series)), columns_(std::move(columns)) {}
  int64_t samples() const override { return static_cast<int64_t>(series_->begins.size()); }
  const Dataset& columns() const override { return columns_; }
  std::unique_ptr<Batches> batches(int64_t batch, uint64_t seed, bool shuffle) const override {
    Dataset all({{"begin", Tensor::vector<int64_t>(series_->begins)}});
    return std::make_unique<WindowBatches>(series_, std::move(all), batch, seed, shuffle);
  }

 private:
  std::shared_ptr<const Series> series_;
  Dataset columns_;  ///< with one stretch
};

/// Returns what to do, for an error, if a series is in several places; else nothing.
std::string advice_on_order(const Dataset& samples, const std::vector<SampleRange>& all,
                            const Window& window) {
  if (window.series.empty()) return {};
  const auto names = samples.find(window.series)->as<std::string>();
  std::set<std::string_view> known;
  for (const SampleRange& series : all)
    if (const std::string& name = names[static_cast<size_t>(series.begin)]; !known.insert(name).second)
      return "; a series is rows below each other with the same '" + window.series + "', but '" + name +
             "' is in several places: sort the rows by '" + window.series + "'";
  return {};
}

}  // namespace

Result<std::vector<SampleRange>> series_of(const Dataset& samples, const Window& window) {
  if (window.series.empty()) return std::vector{SampleRange{0, samples.samples()}};
  const Tensor* const names = samples.find(window.series);
  if (!names || names->dtype() != DType::String || names->shape().rank() != 1)
    return invalid_argument("data.window.series: '" + window.series + "' is " +
                            (names ? names->signature() : "no column") + "; expected a column of text");
  std::vector<SampleRange> series;
  const auto texts = names->as<std::string>();
  for (int64_t i = 0; i < samples.samples(); ++i) {
    const auto at = static_cast<size_t>(i);
    if (i == 0 || texts[at] != texts[at - 1]) series.push_back({i, i});
    series.back().end = i + 1;
  }
  return series;
}

Result<std::shared_ptr<const SampleSet>> windows(const SampleSet& samples, const Window& window,
                                                 const std::string& label) {
  TROUPE_ASSIGN(const auto kept, kept_in_memory(samples));
  TROUPE_ASSIGN(const auto all, series_of(kept->columns(), window));
  const auto shared = std::make_shared<Series>(Series{kept->columns(), window, label, {}});
  int64_t longest = 0;
  for (const SampleRange& series : all) {
    longest = std::max(longest, series.end - series.begin);
    for (int64_t i = series.begin; i + window.length + window.ahead <= series.end; ++i)
      shared->begins.push_back(i);
  }
  if (shared->begins.empty())
    return invalid_argument("data.window: a stretch of " + std::to_string(window.length) +
                            " samples and the label " + std::to_string(window.ahead) +
                            " ahead need a series of " + std::to_string(window.length + window.ahead) +
                            " samples; found " + std::to_string(longest) +
                            advice_on_order(kept->columns(), all, window));
  TROUPE_ASSIGN(Dataset columns, shared->at(std::span(shared->begins).first(1)));
  return std::shared_ptr<const SampleSet>(std::make_shared<WindowSet>(shared, std::move(columns)));
}

}  // namespace troupe::data
