// From files to data sets (dataset.h): read, join, split, shape and cast.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "apps/data/dataset.h"
#include "apps/data/formats/csv.h"
#include "apps/data/formats/idx.h"

namespace troupe::data {
namespace {

constexpr uint64_t max_file_bytes = uint64_t{1} << 36;
constexpr uint64_t split_stream = 2;  // of permutation()

/// Rows of `parts` one after the other; the parts are of one dtype, and of one shape but for the rows.
Result<Tensor> concatenate(std::vector<Tensor> parts) {
  if (parts.size() == 1) return std::move(parts.front());
  int64_t rows = 0;
  for (const auto& part : parts) rows += part.shape()[0];
  std::vector<int64_t> dims(parts.front().shape().dims().begin(), parts.front().shape().dims().end());
  dims[0] = rows;
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims, parts.front().dtype()));
  TROUPE_ASSIGN(Tensor all, Tensor::allocate(parts.front().dtype(), shape));
  std::byte* to = all.mutable_data();
  for (const auto& part : parts) {
    std::memcpy(to, part.data(), part.bytes());
    to += part.bytes();
  }
  return all;
}

Result<Samples> read_idx(Disk& disk, const Options& options, const std::string& file,
                         const std::string* label_file) {
  Samples samples;
  TROUPE_ASSIGN(const auto bytes, read_file(disk, file, max_file_bytes));
  TROUPE_ASSIGN(samples.features, parse_idx_features(bytes, file, options.scale));
  if (!label_file) return samples;
  TROUPE_ASSIGN(const auto label_bytes, read_file(disk, *label_file, max_file_bytes));
  TROUPE_ASSIGN(samples.labels, parse_idx_labels(label_bytes, *label_file));
  if (samples.labels.elements() != samples.features.shape()[0])
    return data_loss(*label_file + ": " + std::to_string(samples.labels.elements()) + " labels for the " +
                     std::to_string(samples.features.shape()[0]) + " samples of " + file);
  return samples;
}

/// Float when an input asks for labels of a floating type: a cast must not come too late for the fraction.
DType label_type(const Options& options) {
  const bool floating = std::any_of(options.inputs.begin(), options.inputs.end(), [](const Input& input) {
    return input.from == label_column && is_floating(input.cast);
  });
  return floating ? DType::Float : DType::Int32;
}

Result<Samples> read_all(Disk& disk, const Options& options, std::span<const std::string> files,
                         std::span<const std::string> label_files) {
  std::vector<Tensor> features, labels;
  for (size_t i = 0; i < files.size(); ++i) {
    const auto read = [&]() -> Result<Samples> {
      if (options.format == Format::Idx)
        return read_idx(disk, options, files[i], i < label_files.size() ? &label_files[i] : nullptr);
      TROUPE_ASSIGN(const auto text, read_file(disk, files[i], max_file_bytes));
      return parse_csv(text, files[i], options, label_type(options));
    };
    TROUPE_ASSIGN(Samples samples, read());
    if (!features.empty() && samples.features.shape()[1] != features.front().shape()[1])
      return data_loss(files[i] + ": " + std::to_string(samples.features.shape()[1]) +
                       " features a sample, " + files[0] + " has " +
                       std::to_string(features.front().shape()[1]));
    features.push_back(std::move(samples.features));
    if (samples.labels.valid()) labels.push_back(std::move(samples.labels));
  }
  Samples all;
  TROUPE_ASSIGN(all.features, concatenate(std::move(features)));
  if (labels.empty()) return all;
  TROUPE_ASSIGN(all.labels, concatenate(std::move(labels)));
  return all;
}

template <class From, class To>
Result<Tensor> cast_to(const Tensor& tensor, const std::string& name) {
  TROUPE_ASSIGN(Tensor out, Tensor::allocate(dtype_of<To>, tensor.shape()));
  const auto from = tensor.as<From>();
  const auto to = out.template write<To>();
  for (size_t i = 0; i < from.size(); ++i) {
    if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>)
      if (std::trunc(from[i]) != from[i] ||
          std::abs(from[i]) >= static_cast<From>(std::numeric_limits<To>::max()))
        return data_loss("input " + name + ": element " + std::to_string(i) + " is " +
                         std::to_string(from[i]) + ", which is no " +
                         std::string(troupe::name(dtype_of<To>)));
    to[i] = static_cast<To>(from[i]);
  }
  return out;
}

template <class From>
Result<Tensor> cast_from(const Tensor& tensor, const Input& input) {
  switch (input.cast) {
    case DType::Float: return cast_to<From, float>(tensor, input.name);
    case DType::Double: return cast_to<From, double>(tensor, input.name);
    case DType::Int32: return cast_to<From, int32_t>(tensor, input.name);
    case DType::Int64: return cast_to<From, int64_t>(tensor, input.name);
    default:
      return invalid_argument("input " + input.name + ": it cannot be cast to " +
                              std::string(name(input.cast)));
  }
}

Result<Tensor> make_input(const Samples& samples, const Input& input) {
  const bool is_label = input.from == label_column;
  Tensor values = is_label ? samples.labels : samples.features;
  if (!values.valid() || (!is_label && input.from != feature_column))
    return invalid_argument("input " + input.name + ": the data has no column '" + input.from + "'");
  if (input.shape) {
    std::vector<int64_t> dims = {values.shape()[0]};
    dims.insert(dims.end(), input.shape->begin(), input.shape->end());
    TROUPE_ASSIGN(const Shape shape, Shape::make(dims, values.dtype()));
    if (shape.elements() != values.elements())
      return invalid_argument("input " + input.name + ": shape " + text_of(*input.shape) +
                              " does not hold the " + std::to_string(values.elements() / values.shape()[0]) +
                              " values of a sample");
    values = values.reshaped(shape);
  }
  if (values.dtype() == input.cast) return values;
  return values.dtype() == DType::Float ? cast_from<float>(values, input) : cast_from<int32_t>(values, input);
}

Result<Dataset> make_dataset(Disk& disk, const Options& options, std::span<const std::string> files,
                             std::span<const std::string> label_files) {
  TROUPE_ASSIGN(const Samples samples, read_all(disk, options, files, label_files));
  std::vector<Column> columns;
  for (const auto& input : all_inputs(options)) {
    TROUPE_ASSIGN(Tensor values, make_input(samples, input));
    columns.push_back({input.name, std::move(values)});
  }
  return Dataset(std::move(columns));
}

/// Holds out round(samples * fraction), at least one and never all; both parts keep the order of the files.
Result<TrainAndValid> split(const Dataset& all, double fraction, uint64_t seed) {
  const int64_t samples = all.samples();
  if (samples < 2) return invalid_argument("one sample cannot be split for validation");
  const int64_t held_out =
      std::clamp<int64_t>(std::llround(static_cast<double>(samples) * fraction), 1, samples - 1);
  auto order = permutation(samples, seed, split_stream, 0);
  std::sort(order.begin(), order.begin() + held_out);
  std::sort(order.begin() + held_out, order.end());
  TROUPE_ASSIGN(Dataset valid, all.select(std::span(order).first(static_cast<size_t>(held_out))));
  TROUPE_ASSIGN(Dataset train, all.select(std::span(order).subspan(static_cast<size_t>(held_out))));
  return TrainAndValid{std::move(train), std::move(valid)};
}

}  // namespace

Result<TrainAndValid> load(Disk& disk, const Options& options, uint64_t seed) {
  TROUPE_ASSIGN(Dataset train, make_dataset(disk, options, options.train, options.train_labels));
  if (options.valid_split > 0) return split(train, options.valid_split, seed);
  if (options.valid.empty()) return TrainAndValid{std::move(train), {}};
  TROUPE_ASSIGN(Dataset valid, make_dataset(disk, options, options.valid, options.valid_labels));
  for (size_t i = 0; i < valid.columns().size(); ++i) {
    const Tensor &to_train = train.columns()[i].values, &to_validate = valid.columns()[i].values;
    if (!std::ranges::equal(to_train.shape().dims().subspan(1), to_validate.shape().dims().subspan(1)))
      return data_loss(options.valid.front() + ": samples of " + to_validate.signature() +
                       ", those to train on are " + to_train.signature());
  }
  return TrainAndValid{std::move(train), std::move(valid)};
}

}  // namespace troupe::data
