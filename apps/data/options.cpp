#include "apps/data/options.h"

#include <algorithm>

namespace troupe::data {

std::vector<std::string_view> columns(const Options& options) {
  const auto format = find_format(options.format);
  const bool labelled = !format || (format->label_files ? !options.train_labels.empty()
                                                        : format->labelled(options.format_options));
  std::vector<std::string_view> all = {feature_column};
  if (labelled) all.emplace_back(label_column);
  if (format && format->has_text(options.format_options)) all.emplace_back(text_column);
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
  for (auto& input : inputs)
    if (input.cast == DType::Invalid)
      input.cast = input.from == feature_column ? features
                   : input.from == text_column  ? DType::String
                                                : DType::Int32;
  return inputs;
}

}  // namespace troupe::data
