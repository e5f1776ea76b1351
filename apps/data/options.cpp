#include "apps/data/options.h"

#include <algorithm>

#include "apps/data/file_patterns.h"

namespace troupe::data {
namespace {

/// Returns the column of the files of which an input is made.
const std::string& origin_of(const Options& options, const Input& input) {
  const bool is_of_series = input.from == label_column && options.has_label_of_series();
  return is_of_series ? options.window->label : input.from;
}

}  // namespace

bool has_arrays(const Options& options) { return !arrays_of(options.format_options).empty(); }

std::vector<std::string_view> columns(const Options& options) {
  const auto format = find_format(options.format);
  const bool labelled =
      !format || options.has_label_of_series() ||
      (format->label_files ? !options.train_labels.empty() : format->labelled(options.format_options));
  std::vector<std::string_view> all;
  for (const TableColumn& column : options.columns) all.emplace_back(column.name);
  if (options.columns.empty() && !has_arrays(options)) all.emplace_back(feature_column);
  if (has_arrays(options))
    for (const std::string& array :
         std::get<std::vector<std::string>>(options.format_options.at(arrays_option)))
      all.emplace_back(array);
  if (labelled) all.emplace_back(label_column);
  if (options.columns.empty() && format && format->has_text(options.format_options))
    all.emplace_back(text_column);
  return all;
}

std::vector<Input> all_inputs(const Options& options) {
  std::vector<Input> inputs = options.inputs;
  const auto format = find_format(options.format);
  const bool has_text = format && format->has_text(options.format_options);
  for (const auto column : columns(options))
    if (!(has_text && column == feature_column) &&
        std::none_of(inputs.begin(), inputs.end(), [&](const Input& input) { return input.from == column; }))
      inputs.push_back({std::string(column), std::string(column), {}, DType::Invalid});
  const DType features = format ? format->features : DType::Float;
  for (auto& input : inputs) {
    if (input.cast != DType::Invalid) continue;
    const std::string& origin = origin_of(options, input);
    const bool is_of_series = origin != input.from;
    const auto column = std::ranges::find(options.columns, origin, &TableColumn::name);
    input.cast = column != options.columns.end() ? (is_of_series ? column->label_dtype() : column->dtype())
                 : origin == feature_column || (has_arrays(options) && origin != label_column) ? features
                 : input.from == text_column                                                   ? DType::String
                                                                                               : DType::Int32;
  }
  return inputs;
}

DType scaled_type(DType cast) { return cast == DType::Float ? DType::Float : DType::Double; }

DType read_type(const Options& options, std::string_view column, DType otherwise) {
  std::optional<DType> type;
  for (const Input& input : all_inputs(options)) {
    if (input.from != column) continue;
    const bool is_scaled = column == feature_column && options.scale != 1 && input.cast != DType::String;
    const DType wanted = is_scaled ? scaled_type(input.cast) : input.cast;
    if (wanted == DType::String) return wanted;
    if (!type || *type == wanted)
      type = wanted;
    else
      type = is_integer(*type) && is_integer(wanted) ? DType::Int64 : DType::Double;
  }
  return type.value_or(otherwise);
}

std::string label_input(const Options& options) {
  const auto inputs = all_inputs(options);
  const auto label = std::ranges::find(inputs, label_column, &Input::from);
  return label == inputs.end() ? std::string() : label->name;
}

std::optional<std::vector<int64_t>> known_shape(const Options& options, const Input& input) {
  constexpr int64_t unknown = -1;
  if (input.shape) return *input.shape;
  if (has_arrays(options) && input.from != label_column) return {};
  const std::string& origin = origin_of(options, input);
  if (const auto parts = parts_of_label(options.format_options); origin == label_column && !parts.empty())
    return std::vector{has_pattern(parts) ? unknown : static_cast<int64_t>(parts.size())};
  const auto column = std::ranges::find(options.columns, origin, &TableColumn::name);
  if (column != options.columns.end())
    return column->is_vector() ? std::vector{column->width().value_or(unknown)} : std::vector<int64_t>();
  const bool is_vector = origin == feature_column && input.cast != DType::String;
  return is_vector ? std::vector{unknown} : std::vector<int64_t>();
}

}  // namespace troupe::data
