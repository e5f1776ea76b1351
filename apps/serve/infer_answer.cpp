#include "apps/serve/infer_answer.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "apps/serve/infer_types.h"
#include "apps/text/json_tensor.h"
#include "messages/values/json_text.h"

namespace troupe::serve {
namespace {

using TextLength = uint32_t;  // before each text in binary data

Status check_output(const ModelTensor& output, const Tensor& value) {
  if (datatype_of(value.dtype()).empty())
    return unimplemented("output '" + output.name + "' is " + value.signature() +
                         ", of which the Open Inference Protocol has no values");
  if (value.dtype() != DType::String) return {};
  constexpr size_t longest = std::numeric_limits<TextLength>::max();
  for (const std::string& text : value.as<std::string>())
    if (text.size() > longest)
      return unimplemented("output '" + output.name + "' has a text of " + std::to_string(text.size()) +
                           " bytes; at most " + std::to_string(longest) + " are allowed");
  return {};
}

size_t binary_size(const Tensor& value) {
  if (value.dtype() != DType::String) return value.bytes();
  size_t bytes = 0;
  for (const std::string& text : value.as<std::string>()) bytes += sizeof(TextLength) + text.size();
  return bytes;
}

void append_bytes(const void* bytes, size_t count, std::string& to) {
  if (count > 0) to.append(static_cast<const char*>(bytes), count);
}

void append_binary(const Tensor& value, std::string& to) {
  if (value.dtype() != DType::String) return append_bytes(value.data(), value.bytes(), to);
  for (const std::string& text : value.as<std::string>()) {
    const auto length = static_cast<TextLength>(text.size());
    append_bytes(&length, sizeof(length), to);
    to += text;
  }
}

/// Appends the object of an output, with its elements unless these are binary.
Status append_output(const std::string& name, const Tensor& value, bool is_binary, std::string& to) {
  to += R"({"name":)" + json_line(name) + R"(,"datatype":")";
  to.append(datatype_of(value.dtype())).append(R"(","shape":)" + value.shape().text());
  if (is_binary) {
    to += R"(,"parameters":{"binary_data_size":)" + std::to_string(binary_size(value)) + '}';
  } else {
    to += R"(,"data":)";
    TROUPE_RETURN_IF_FAILED(append_json(value.reshaped({value.elements()}), to));
  }
  to += '}';
  return {};
}

}  // namespace

Result<InferAnswer> infer_answer(const std::string& model, int64_t version, const ModelSignature& signature,
                                 std::span<const Tensor> outputs, const WantedAnswer& wanted) {
  InferAnswer answer;
  std::string& to = answer.body;
  to = R"({"model_name":)" + json_line(model) + R"(,"model_version":")" + std::to_string(version) + '"';
  if (wanted.id) to += R"(,"id":)" + json_line(*wanted.id);
  to += R"(,"outputs":[)";
  bool is_first = true;
  for (const auto& [number, is_binary] : wanted.outputs) {
    if (!std::exchange(is_first, false)) to += ',';
    TROUPE_RETURN_IF_FAILED(check_output(signature.outputs[number], outputs[number]));
    TROUPE_RETURN_IF_FAILED(append_output(signature.outputs[number].name, outputs[number], is_binary, to));
  }
  to += "]}";
  if (std::ranges::none_of(wanted.outputs, &WantedOutput::is_binary)) return answer;
  answer.json_length = to.size();
  for (const auto& [number, is_binary] : wanted.outputs)
    if (is_binary) append_binary(outputs[number], to);
  return answer;
}

}  // namespace troupe::serve
