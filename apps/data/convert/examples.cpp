#include "apps/data/convert/examples.h"

#include <map>
#include <optional>

#include "kernels/core/type_dispatch.h"
#include "kernels/ops/parsing/example_values.h"
#include "messages/protobuf/fields.h"

namespace troupe::data {
namespace {

/// The numbers of the kinds of lists in a Feature.
enum ListNumber : uint32_t { Bytes = 1, Floats = 2, Integers = 3 };

Status no_example() { return data_loss("the record is not an Example of TensorFlow"); }

Result<std::map<std::string_view, parsing::FeatureValues>> features_of(std::string_view record) {
  std::map<std::string_view, parsing::FeatureValues> features;
  bool is_sound = true;
  const bool is_whole = parsing::each_entry(record, parsing::OnlyField, [&](auto key, auto value) {
    const auto values = parsing::read_feature(value);
    is_sound = is_sound && values;
    if (values) features[key] = *values;
  });
  if (!is_whole || !is_sound) return no_example();
  return features;
}

Result<Tensor> column_of(const parsing::FeatureValues& values, std::string_view key) {
  const auto count = parsing::count_values(values);
  if (!count) return no_example();
  if (values.dtype == DType::Invalid || *count == 0)
    return data_loss("the feature '" + std::string(key) + "' of the first record has no values");
  std::vector<int64_t> dims = {0};
  if (*count != 1) dims.push_back(*count);
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims, values.dtype));
  return Tensor::allocate(values.dtype, shape);
}

int64_t elements_of_sample(const Tensor& column) {
  int64_t elements = 1;
  for (const int64_t dim : column.shape().dims().subspan(1)) elements *= dim;
  return elements;
}

Status write_feature(const std::map<std::string_view, parsing::FeatureValues>& features, Column& column,
                     int64_t row) {
  const auto found = features.find(column.name);
  if (found == features.end()) return data_loss("the feature '" + column.name + "' is missing");
  const int64_t count = elements_of_sample(column.values);
  const auto there = parsing::count_values(found->second);
  if (found->second.dtype != column.values.dtype() || there != count)
    return data_loss("the feature '" + column.name + "' has " + std::to_string(there.value_or(0)) +
                     " values of type " + std::string(name(found->second.dtype)) + ", the first record has " +
                     std::to_string(count) + " of type " + std::string(name(column.values.dtype())));
  return parsing::write_values(found->second, column.values, row * count, count) ? Status() : no_example();
}

Status write_example(std::string_view record, Dataset& samples, int64_t row) {
  TROUPE_ASSIGN(const auto features, features_of(record));
  for (Column& column : samples.mutable_columns())
    TROUPE_RETURN_IF_FAILED(write_feature(features, column, row));
  return {};
}

/// Returns the Feature of elements [first, first + count) of a column.
Result<std::string> feature_of(const Column& column, size_t first, size_t count) {
  using protobuf::append_bytes_field;
  std::string list, feature;
  const Tensor& values = column.values;
  if (values.dtype() == DType::String) {
    for (const std::string& text : values.as<std::string>().subspan(first, count))
      append_bytes_field(list, parsing::OnlyField, text);
    append_bytes_field(feature, Bytes, list);
    return feature;
  }
  std::string packed;
  uint32_t number = Integers;
  const bool is_known =
      with_type(Joined<WideRealTypes, TypeList<bool>>{}, values.dtype(), [&]<class T>(std::type_identity<T>) {
        for (const T value : values.as<T>().subspan(first, count)) {
          if constexpr (std::is_integral_v<T>) {
            protobuf::append_varint(packed, static_cast<uint64_t>(static_cast<int64_t>(value)));
          } else {
            const auto as_float = static_cast<float>(static_cast<ComputeType<T>>(value));
            packed.append(reinterpret_cast<const char*>(&as_float), sizeof as_float);
            number = Floats;
          }
        }
      });
  if (!is_known)
    return invalid_argument("column '" + column.name + "' has type " + std::string(name(values.dtype())) +
                            ", of which Examples have no values");
  append_bytes_field(list, parsing::OnlyField, packed);
  append_bytes_field(feature, number, list);
  return feature;
}

}  // namespace

Result<Dataset> columns_of_example(std::string_view record) {
  TROUPE_ASSIGN(const auto features, features_of(record));
  if (features.empty()) return data_loss("the Example has no features");
  std::vector<Column> columns;
  for (const auto& [key, values] : features) {
    TROUPE_ASSIGN(Tensor column, column_of(values, key));
    columns.push_back({std::string(key), std::move(column)});
  }
  return Dataset(std::move(columns));
}

Result<Dataset> parse_examples(std::span<const std::string> records, const Dataset& columns) {
  TROUPE_ASSIGN(Dataset samples, allocate_like(columns, static_cast<int64_t>(records.size())));
  for (size_t row = 0; row < records.size(); ++row)
    if (const Status status = write_example(records[row], samples, static_cast<int64_t>(row)); !status.ok())
      return Status(status.code(), "Example " + std::to_string(row) + ": " + status.text());
  return samples;
}

Result<std::string> to_example(const Dataset& samples, int64_t row) {
  using protobuf::append_bytes_field;
  std::string features;
  for (const Column& column : samples.columns()) {
    const auto count = static_cast<size_t>(elements_of_sample(column.values));
    TROUPE_ASSIGN(const std::string feature, feature_of(column, static_cast<size_t>(row) * count, count));
    std::string entry;
    append_bytes_field(entry, parsing::MapKey, column.name);
    append_bytes_field(entry, parsing::MapValue, feature);
    append_bytes_field(features, parsing::OnlyField, entry);
  }
  std::string example;
  append_bytes_field(example, parsing::OnlyField, features);
  return example;
}

}  // namespace troupe::data
