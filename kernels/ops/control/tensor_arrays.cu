// TensorArrays on GPUs: see tensor_arrays.cpp. The arrays are on the host, their elements on the GPU.
#include "kernels/ops/control/tensor_arrays.h"

#include "kernels/gpu/copy.h"
#include "kernels/gpu/gpu_kernel.h"
#include "kernels/gpu/parts.h"
#include "kernels/gpu/storage.h"
#include "kernels/ops/control/tensor_array_gradients.h"
#include "kernels/ops/math/add_n.h"

namespace troupe {
namespace {

Status clear_flow(const ArrayFlow& made, DeviceContext& device) {
  return made.flow ? gpu::fill_with(device, nullptr, *made.flow) : Status();
}

/// Elements of several terms are added where they become parts of the output.
Status join_elements(const ElementParts& parts, DeviceContext& device) {
  std::vector<Tensor> terms, outputs;
  for (const auto& [element, part] : parts) {
    Tensor output = part;
    if (element.terms.size() < 2) {
      terms.push_back(element.terms.empty() ? Tensor() : element.terms[0]);
      outputs.push_back(output);
      continue;
    }
    TROUPE_RETURN_IF_FAILED(gpu::join_tensors(device, std::exchange(terms, {}), std::exchange(outputs, {})));
    AddNArguments addition{{}, &output};
    for (const Tensor& term : element.terms) addition.terms.push_back(term.data());
    TROUPE_RETURN_IF_FAILED(add_n_on_gpu(addition, device));
  }
  return gpu::join_tensors(device, terms, outputs);
}

}  // namespace

void add_tensor_arrays_on_gpu(OpLibrary& library) {
  const auto types = dtypes(gpu::MovedTypesAndIntegers{});
  for (const ArrayVersion& version : array_versions) {
    library.kernel(gpu_kernel(version.op(""), check_array_make, clear_flow).on("dtype", types));
    library.kernel(gpu_kernel(version.op("Read"), check_array_read, join_elements).on("dtype", types));
    library.kernel(gpu_kernel(version.op("Gather"), check_array_gather, join_elements).on("dtype", types));
    library.kernel(gpu_kernel(version.op("Concat"), check_array_concat, join_elements).on("dtype", types));
  }
  library.kernel(gpu_kernel("TensorArrayPack", check_array_gather, join_elements).on("dtype", types));
}

}  // namespace troupe
