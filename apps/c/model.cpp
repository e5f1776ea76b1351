#include "apps/inference/model.h"

#include "apps/c/handles.h"
#include "apps/c/model.h"

struct troupe_model {
  troupe::Model value;
};

using namespace troupe::
    c;  // NOLINT(google-build-using-namespace): the functions below belong to no namespace

namespace {

const troupe::ModelSignature& signature_of(const troupe_model* model, const char* signature) {
  const troupe::Model& found = needed(model, "model").value;
  return signature ? found.signature(signature) : found.signature();
}

troupe_model_tensor described(const troupe::ModelTensor& tensor) {
  const troupe::PartialShape& shape = tensor.shape;
  return {tensor.name.c_str(), dtype_of(tensor.dtype),
          shape.known_rank() ? static_cast<int32_t>(shape.rank()) : -1, shape.dims().data()};
}

}  // namespace

troupe_code troupe_model_load(const char* path, size_t threads, troupe_model** model) {
  return guarded([&] {
    const std::string folder = text(path, "path");
    auto& result = needed(model, "model");
    result = new troupe_model{troupe::load(folder, {.threads = threads})};
  });
}

void troupe_model_destroy(troupe_model* model) { delete model; }

troupe_code troupe_model_signature_count(const troupe_model* model, size_t* count) {
  return guarded([&] { needed(count, "count") = needed(model, "model").value.signatures().size(); });
}

troupe_code troupe_model_signature(const troupe_model* model, size_t index, const char** name) {
  return guarded([&] {
    needed(name, "name") =
        element(needed(model, "model").value.signatures(), index, "signature").name.c_str();
  });
}

troupe_code troupe_model_counts(const troupe_model* model, const char* signature, size_t* inputs,
                                size_t* outputs) {
  return guarded([&] {
    const troupe::ModelSignature& found = signature_of(model, signature);
    auto& input_count = needed(inputs, "inputs");
    needed(outputs, "outputs") = found.outputs.size();
    input_count = found.inputs.size();
  });
}

troupe_code troupe_model_input(const troupe_model* model, const char* signature, size_t index,
                               troupe_model_tensor* input) {
  return guarded([&] {
    needed(input, "input") = described(element(signature_of(model, signature).inputs, index, "input"));
  });
}

troupe_code troupe_model_output(const troupe_model* model, const char* signature, size_t index,
                                troupe_model_tensor* output) {
  return guarded([&] {
    needed(output, "output") = described(element(signature_of(model, signature).outputs, index, "output"));
  });
}

troupe_code troupe_model_run(const troupe_model* model, const char* signature,
                             const troupe_tensor* const* inputs, size_t input_count, troupe_tensor** results,
                             size_t result_count) {
  return guarded([&] {
    const troupe::ModelSignature& found = signature_of(model, signature);
    if (result_count != found.outputs.size())
      throw troupe::Error(troupe::invalid_argument(
          "signature '" + found.name + "' has " + std::to_string(found.outputs.size()) +
          " outputs, but there is room for " + std::to_string(result_count)));
    const auto stored = array(results, result_count, "results");
    hand_over(model->value.run(tensors(inputs, input_count, "inputs"), found.name), stored);
  });
}
