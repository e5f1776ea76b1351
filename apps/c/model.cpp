#include "apps/inference/model.h"

#include <algorithm>
#include <map>

#include "apps/c/calls.h"
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

troupe::LoadOptions load_options(const troupe_model_options& from) {
  troupe::LoadOptions options;
  options.threads = from.threads;
  options.memory = from.memory;
  options.image_elements = from.image_elements;
  if (from.tag_count > 0) options.tags = texts(from.tags, from.tag_count, "tags");
  return options;
}

std::map<std::string, troupe::Tensor> named_inputs(const char* const* names,
                                                   const troupe_tensor* const* inputs, size_t count) {
  const auto given = texts(names, count, "input_names");
  auto values = tensors(inputs, count, "inputs");
  std::map<std::string, troupe::Tensor> named;
  for (size_t i = 0; i < count; ++i)
    if (!named.emplace(given[i], std::move(values[i])).second)
      throw troupe::Error(troupe::invalid_argument("input '" + given[i] + "' is given twice"));
  return named;
}

/// Throws Error(InvalidArgument), naming the outputs of the signature, if it has no such output.
void check_output(const troupe::ModelSignature& signature, const std::string& name) {
  if (std::ranges::find(signature.outputs, name, &troupe::ModelTensor::name) != signature.outputs.end())
    return;
  std::string known_names;
  for (const troupe::ModelTensor& output : signature.outputs)
    known_names += (known_names.empty() ? "" : ", ") + output.name;
  throw troupe::Error(troupe::invalid_argument("signature '" + signature.name + "' has no output '" + name +
                                               "'; it yields " +
                                               (known_names.empty() ? "none" : known_names)));
}

}  // namespace

troupe_code troupe_model_load(const char* path, const troupe_model_options* options, troupe_model** model) {
  return guarded([&] {
    const std::string folder = text(path, "path");
    auto& result = needed(model, "model");
    result = new troupe_model{troupe::load(folder, load_options(known(options)))};
  });
}

void troupe_model_destroy(troupe_model* model) { delete model; }

troupe_code troupe_model_source(const troupe_model* model, const char** source) {
  return guarded([&] { needed(source, "source") = needed(model, "model").value.source().c_str(); });
}

troupe_code troupe_model_signature_count(const troupe_model* model, size_t* count) {
  return guarded([&] { needed(count, "count") = needed(model, "model").value.signatures().size(); });
}

troupe_code troupe_model_signature(const troupe_model* model, size_t index, const char** name) {
  return guarded([&] {
    needed(name, "name") =
        element(needed(model, "model").value.signatures(), index, "signature").name.c_str();
  });
}

troupe_code troupe_model_method(const troupe_model* model, const char* signature, const char** method) {
  return guarded([&] { needed(method, "method") = signature_of(model, signature).method.c_str(); });
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

troupe_code troupe_model_prepare(const troupe_model* model, const char* signature) {
  return guarded([&] { needed(model, "model").value.prepare(signature_of(model, signature).name); });
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

troupe_code troupe_model_run_named(const troupe_model* model, const char* signature,
                                   const char* const* input_names, const troupe_tensor* const* inputs,
                                   size_t input_count, const char* const* output_names,
                                   troupe_tensor** results, size_t result_count) {
  return guarded([&] {
    const troupe::ModelSignature& found = signature_of(model, signature);
    const auto named = named_inputs(input_names, inputs, input_count);
    const auto wanted = texts(output_names, result_count, "output_names");
    for (const std::string& name : wanted) check_output(found, name);
    const auto stored = array(results, result_count, "results");
    const auto outputs = model->value.run(named, found.name);
    std::vector<troupe::Tensor> values;
    for (const std::string& name : wanted) values.push_back(outputs.at(name));
    hand_over(std::move(values), stored);
  });
}
