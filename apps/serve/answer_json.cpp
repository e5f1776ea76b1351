#include "apps/serve/answer_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "apps/text/json_tensor.h"
#include "messages/values/json_text.h"

namespace troupe::serve {

Status append_predictions(const ModelSignature& signature, std::span<const Tensor> outputs, bool by_rows,
                          std::string& to) {
  const bool has_one = outputs.size() == 1;
  if (!by_rows) {
    to += R"({"outputs":)";
    if (!has_one) to += '{';
    for (size_t k = 0; k < outputs.size(); ++k) {
      if (k != 0) to += ',';
      if (!has_one) to += json_line(signature.outputs[k].name) + ':';
      TROUPE_RETURN_IF_FAILED(append_json(outputs[k], to));
    }
    to += has_one ? "}" : "}}";
    return {};
  }
  std::vector<std::string> names;
  for (const ModelTensor& output : signature.outputs) names.push_back(json_line(output.name) + ':');
  to += R"({"predictions":[)";
  const int64_t rows = outputs.empty() ? 0 : outputs[0].shape()[0];
  for (int64_t row = 0; row < rows; ++row) {
    if (row != 0) to += ',';
    if (!has_one) to += '{';
    for (size_t k = 0; k < outputs.size(); ++k) {
      if (k != 0) to += ',';
      if (!has_one) to += names[k];
      TROUPE_RETURN_IF_FAILED(append_json_row(outputs[k], row, to));
    }
    if (!has_one) to += '}';
  }
  to += "]}";
  return {};
}

Status append_classes(const ModelSignature& signature, std::span<const Tensor> outputs,
                      std::span<const std::string> classes, std::string& to) {
  const auto found = std::ranges::find_if(signature.outputs, [](const ModelTensor& output) {
    return output.name.ends_with("probabilities") && output.dtype == DType::Float;
  });
  if (found == signature.outputs.end())
    return invalid_argument("the model does not classify: it has no output 'probabilities'");
  const Tensor& probabilities = outputs[static_cast<size_t>(found - signature.outputs.begin())];
  if (probabilities.shape().rank() != 2)
    return invalid_argument("the model does not classify: its probabilities are " +
                            probabilities.signature());
  const int64_t count = probabilities.shape()[1];
  const auto values = probabilities.as<float>();
  to += R"({"results":[)";
  for (int64_t row = 0; row < probabilities.shape()[0]; ++row) {
    to += row == 0 ? "[" : ",[";
    for (int64_t k = 0; k < count; ++k) {
      const auto number = static_cast<size_t>(k);
      to += k == 0 ? "[" : ",[";
      to += json_line(number < classes.size() ? classes[number] : std::to_string(k)) + ',';
      TROUPE_RETURN_IF_FAILED(append_json(Tensor::scalar(values[static_cast<size_t>(row * count + k)]), to));
      to += ']';
    }
    to += ']';
  }
  to += "]}";
  return {};
}

Status append_numbers(const ModelSignature& signature, std::span<const Tensor> outputs, std::string& to) {
  const bool fits = outputs.size() == 1 && is_floating(outputs[0].dtype()) && outputs[0].shape().rank() > 0 &&
                    outputs[0].elements() == outputs[0].shape()[0];
  if (!fits)
    return invalid_argument("signature '" + signature.name +
                            "' does not regress: it must have one output with a number for each row");
  to += R"({"results":)";
  TROUPE_RETURN_IF_FAILED(append_json(outputs[0].reshaped({outputs[0].elements()}), to));
  to += '}';
  return {};
}

}  // namespace troupe::serve
