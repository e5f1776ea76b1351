#include "apps/serve/infer_metadata.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "apps/serve/infer_types.h"
#include "messages/values/json_text.h"

namespace troupe::serve {
namespace {

using Json = nlohmann::ordered_json;

Json description_of(const std::vector<ModelTensor>& tensors) {
  Json list = Json::array();
  for (const ModelTensor& tensor : tensors) {
    Json shape = tensor.shape.known_rank() ? Json(tensor.shape.dims()) : Json::array({unknown_dim});
    list.push_back(
        {{"name", tensor.name}, {"datatype", datatype_of(tensor.dtype)}, {"shape", std::move(shape)}});
  }
  return list;
}

}  // namespace

std::string server_description() {
  return json_line(
      {{"name", "troupe"}, {"version", TROUPE_VERSION}, {"extensions", Json::array({"binary_tensor_data"})}});
}

std::string model_description(const ServedModel& model, const Version& version) {
  Json versions = Json::array();
  for (const int64_t number : model.versions()) versions.push_back(std::to_string(number));
  const auto& all = version.model.signatures();
  const auto predict = std::ranges::find(all, Model::predict, &ModelSignature::name);
  const ModelSignature& signature = predict == all.end() ? all.front() : *predict;
  return json_line({{"name", model.name()},
                    {"versions", std::move(versions)},
                    {"platform", "troupe_model"},
                    {"inputs", description_of(signature.inputs)},
                    {"outputs", description_of(signature.outputs)}});
}

std::string readiness(const ServedModel& model) {
  return json_line({{"name", model.name()}, {"ready", true}});
}

}  // namespace troupe::serve
