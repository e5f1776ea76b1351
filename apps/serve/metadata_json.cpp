#include "apps/serve/metadata_json.h"

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>

#include "messages/values/json_text.h"

namespace troupe::serve {
namespace {

using Json = nlohmann::ordered_json;

/// Returns "INVALID_ARGUMENT" for Code::InvalidArgument.
std::string code_name(Code code) {
  if (code == Code::Ok) return "OK";
  std::string text;
  for (const char letter : name(code)) {
    if (std::isupper(static_cast<unsigned char>(letter)) && !text.empty()) text += '_';
    text += static_cast<char>(std::toupper(static_cast<unsigned char>(letter)));
  }
  return text;
}

std::string states_of(const std::map<int64_t, Status>& versions) {
  Json states = Json::array();
  for (auto version = versions.rbegin(); version != versions.rend(); ++version) {
    const auto& [number, status] = *version;
    states.push_back(
        {{"version", std::to_string(number)},
         {"state", status.ok() ? "AVAILABLE" : "END"},
         {"status", {{"error_code", code_name(status.code())}, {"error_message", status.text()}}}});
  }
  return json_line({{"model_version_status", states}});
}

std::string type_name(DType dtype) {
  std::string text = "DT_" + std::string(name(dtype));
  std::ranges::transform(text, text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

Json tensors_of(const std::vector<ModelTensor>& tensors) {
  Json result = Json::object();
  for (const ModelTensor& tensor : tensors) {
    Json dims = Json::array();
    if (tensor.shape.known_rank())
      for (const int64_t dim : tensor.shape.dims())
        dims.push_back({{"size", std::to_string(dim)}, {"name", ""}});
    result[tensor.name] = {{"dtype", type_name(tensor.dtype)},
                           {"tensor_shape", {{"dim", dims}, {"unknown_rank", !tensor.shape.known_rank()}}},
                           {"name", tensor.name}};
  }
  return result;
}

/// Returns the columns that the objects of requests may have.
Json columns_of(const runs::TableObjects& table) {
  Json list = Json::array();
  for (const auto& column : table.columns()) {
    list.push_back({{"name", column.name}, {"type", column.type}, {"may_be_missing", column.takes_gaps}});
    if (!column.values.empty()) list.back()["values"] = column.values;
  }
  return list;
}

}  // namespace

std::string states_json(const ServedModel& model) {
  std::map<int64_t, Status> versions = model.failures();
  for (const int64_t number : model.versions()) versions.insert_or_assign(number, Status());
  return states_of(versions);
}

std::string state_json(const Version& version) { return states_of({{version.number, Status()}}); }

std::string metadata_json(const std::string& model, const Version& version) {
  Json signatures = Json::object();
  for (const ModelSignature& signature : version.model.signatures())
    signatures[signature.name] = {{"inputs", tensors_of(signature.inputs)},
                                  {"outputs", tensors_of(signature.outputs)},
                                  {"method_name", signature.method}};
  Json result = {
      {"model_spec", {{"name", model}, {"signature_name", ""}, {"version", std::to_string(version.number)}}},
      {"metadata", {{"signature_def", {{"signature_def", signatures}}}}}};
  if (version.table && !version.table->columns().empty()) result["columns"] = columns_of(*version.table);
  return json_line(result);
}

}  // namespace troupe::serve
