// Loads a model and lists what it takes and yields; then computes its outputs for a sample of zeros. It links the inference
// library, troupe::inference, which needs neither a cluster nor a trainer.
//
//   predict FOLDER        of a run, a checkpoint, or a saved model: runs/digits/001
#include <troupe/inference.h>

#include <cstdio>
#include <cstring>

namespace {

void print(const char* what, const std::vector<troupe::ModelTensor>& tensors) {
  for (const troupe::ModelTensor& tensor : tensors)
    std::printf("%s %s: %s%s\n", what, tensor.name.c_str(), std::string(name(tensor.dtype)).c_str(),
                tensor.shape.text().c_str());
}

/// Returns one sample of zeros, or of empty strings. The rows of a ragged input have one element, as its splits say.
troupe::Tensor zeros(const troupe::ModelTensor& input) {
  if (input.name.ends_with("_splits")) return troupe::Tensor::vector<int64_t>({0, 1});
  std::vector<int64_t> dims(input.shape.dims().begin(), input.shape.dims().end());
  for (int64_t& dim : dims)
    if (dim == troupe::unknown_dim) dim = 1;
  auto tensor = value_or_throw(
      troupe::Tensor::allocate(input.dtype, value_or_throw(troupe::Shape::make(dims, input.dtype))));
  if (input.dtype != troupe::DType::String) std::memset(tensor.mutable_data(), 0, tensor.bytes());
  return tensor;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2) {
    std::fprintf(stderr, "usage: predict FOLDER\n");
    return 2;
  }
  const troupe::Model model = troupe::load(argv[1]);
  const troupe::ModelSignature& signature = model.signature();
  print("takes", signature.inputs);
  print("yields", signature.outputs);
  std::vector<troupe::Tensor> inputs;
  for (const troupe::ModelTensor& input : signature.inputs) inputs.push_back(zeros(input));
  const auto outputs = model.run(inputs);
  for (size_t i = 0; i < outputs.size(); ++i)
    std::printf("%s = %s\n", signature.outputs[i].name.c_str(), outputs[i].signature().c_str());
} catch (const troupe::Error& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return error.exit_code();
}
