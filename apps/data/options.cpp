#include "apps/data/options.h"

#include <algorithm>

namespace troupe::data {

std::vector<std::string_view> columns(const Options& options) {
  const auto format = find_format(options.format);
  const bool labelled = !format || (format->label_files ? !options.train_labels.empty()
                                                        : format->labelled(options.format_options));
  if (labelled) return {feature_column, label_column};
  return {feature_column};
}

std::vector<Input> all_inputs(const Options& options) {
  std::vector<Input> inputs = options.inputs;
  for (const auto column : columns(options))
    if (std::none_of(inputs.begin(), inputs.end(), [&](const Input& input) { return input.from == column; }))
      inputs.push_back({std::string(column), std::string(column), {}, DType::Invalid});
  const auto format = find_format(options.format);
  const DType features = format ? format->features : DType::Float;
  for (auto& input : inputs)
    if (input.cast == DType::Invalid) input.cast = input.from == feature_column ? features : DType::Int32;
  return inputs;
}

}  // namespace troupe::data
