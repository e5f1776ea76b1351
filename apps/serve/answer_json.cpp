#include "apps/serve/answer_json.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "apps/text/json_tensor.h"
#include "messages/values/json_text.h"

namespace troupe::serve {
namespace {

/// Fails unless an output has one row for each instance.
Status check_rows(const ModelTensor& output, const Tensor& value, int64_t instances) {
  if (value.shape().rank() > 0 && value.shape()[0] == instances) return {};
  return invalid_argument("output '" + output.name + "' is " + value.signature() +
                          ", but the number of instances is " + std::to_string(instances));
}

/// As in TensorFlow Serving, outputs whose names say so are bytes.
Texts texts_of(const ModelTensor& output) {
  return output.name.ends_with("_bytes") ? Texts::Bytes : Texts::Text;
}

Status append_rows(const ModelSignature& signature, std::span<const Tensor> outputs, int64_t instances,
                   std::string& to) {
  std::vector<std::string> names;
  for (size_t k = 0; k < outputs.size(); ++k) {
    Status status = check_rows(signature.outputs[k], outputs[k], instances);
    if (!status.ok())
      return invalid_argument(status.text() +
                              "; a request with \"inputs\" instead of \"instances\" returns it whole");
    names.push_back(json_line(signature.outputs[k].name) + ':');
  }
  const bool has_one = outputs.size() == 1;
  to += R"({"predictions":[)";
  for (int64_t row = 0; row < instances; ++row) {
    if (row != 0) to += ',';
    if (!has_one) to += '{';
    for (size_t k = 0; k < outputs.size(); ++k) {
      if (k != 0) to += ',';
      if (!has_one) to += names[k];
      TROUPE_RETURN_IF_FAILED(append_json_row(outputs[k], row, to, texts_of(signature.outputs[k])));
    }
    if (!has_one) to += '}';
  }
  to += "]}";
  return {};
}

Status append_columns(const ModelSignature& signature, std::span<const Tensor> outputs, std::string& to) {
  const bool has_one = outputs.size() == 1;
  to += R"({"outputs":)";
  if (!has_one) to += '{';
  for (size_t k = 0; k < outputs.size(); ++k) {
    if (k != 0) to += ',';
    if (!has_one) to += json_line(signature.outputs[k].name) + ':';
    TROUPE_RETURN_IF_FAILED(append_json(outputs[k], to, texts_of(signature.outputs[k])));
  }
  to += has_one ? "}" : "}}";
  return {};
}

}  // namespace

Status append_predictions(const ModelSignature& signature, std::span<const Tensor> outputs,
                          std::optional<int64_t> instances, std::string& to) {
  return instances ? append_rows(signature, outputs, *instances, to) : append_columns(signature, outputs, to);
}

Status append_classes(const ModelSignature& signature, std::span<const Tensor> outputs, int64_t instances,
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
  TROUPE_RETURN_IF_FAILED(check_rows(*found, probabilities, instances));
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

Status append_numbers(const ModelSignature& signature, std::span<const Tensor> outputs, int64_t instances,
                      std::string& to) {
  const bool fits = outputs.size() == 1 && is_floating(outputs[0].dtype()) && outputs[0].shape().rank() > 0 &&
                    outputs[0].elements() == outputs[0].shape()[0];
  if (!fits)
    return invalid_argument("signature '" + signature.name +
                            "' does not regress: it must have one output with a number for each row");
  TROUPE_RETURN_IF_FAILED(check_rows(signature.outputs[0], outputs[0], instances));
  to += R"({"results":)";
  TROUPE_RETURN_IF_FAILED(append_json(outputs[0].reshaped({outputs[0].elements()}), to));
  to += '}';
  return {};
}

}  // namespace troupe::serve
