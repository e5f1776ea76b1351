// Lists of tensors on GPUs: see tensor_list_ops.cpp. The lists are in host memory, their elements on the GPU, but those of
// int32 on the host.
#include "kernels/ops/state/tensor_list_ops.h"

#include <cstring>

#include "kernels/gpu/copy.h"
#include "kernels/gpu/gpu_kernel.h"
#include "kernels/gpu/parts.h"
#include "kernels/gpu/storage.h"
#include "kernels/ops/math/add_n.h"
#include "kernels/ops/state/tensor_list_arithmetic.h"

namespace troupe {
namespace {

Status zero_element(const ListElementArguments& arguments, DeviceContext& device) {
  return arguments.zeros ? gpu::fill_with(device, nullptr, *arguments.zeros) : Status();
}

Status join_elements(const ListParts& parts, DeviceContext& device) {
  std::vector<Tensor> elements, rows;
  for (const ListPart& part : parts) {
    elements.push_back(part.element);
    rows.push_back(part.output);
  }
  return gpu::join_tensors(device, elements, rows);
}

Status zero_elements(const ListZerosLikeArguments& arguments, DeviceContext& device) {
  for (Tensor zeros : arguments.zeros)
    if (zeros.memory() == MemoryKind::Device)
      TROUPE_RETURN_IF_FAILED(gpu::fill_with(device, nullptr, zeros));
    else
      std::memset(zeros.mutable_data(), 0, zeros.bytes());
  return {};
}

Status add_elements(const ListAddNArguments& arguments, DeviceContext& device) {
  for (const ListElementSum& wanted : arguments.sums) {
    const auto& [terms, result] = wanted;
    if (result.memory() != MemoryKind::Device) {
      add_on_host(wanted, device.pool());
      continue;
    }
    Tensor sum = result;
    AddNArguments addition{{}, &sum};
    for (const Tensor* const term : terms) addition.terms.push_back(term->data());
    TROUPE_RETURN_IF_FAILED(add_n_on_gpu(addition, device));
  }
  return {};
}

}  // namespace

void add_tensor_lists_on_gpu(OpLibrary& library) {
  const auto numbers = dtypes(gpu::MovedTypesAndIntegers{});
  auto numbers_and_lists = numbers;
  numbers_and_lists.push_back(DType::Variant);
  library.kernel(gpu_kernel("TensorListPopBack", check_list_pop_back, zero_element)
                     .on("element_dtype", numbers_and_lists));
  library.kernel(gpu_kernel("TensorListGetItem", check_list_get_item, zero_element)
                     .on("element_dtype", numbers_and_lists));
  library.kernel(gpu_kernel("TensorListStack", check_list_stack, join_elements).on("element_dtype", numbers));
  library.kernel(
      gpu_kernel("TensorListGather", check_list_gather, join_elements).on("element_dtype", numbers));
  for (const char* const op : {"TensorListConcat", "TensorListConcatV2"})
    library.kernel(gpu_kernel(op, check_list_concat, join_elements).on("element_dtype", numbers));
  library.kernel(gpu_kernel("ZerosLike", check_list_zeros_like, zero_elements).on("T", {DType::Variant}));
  library.kernel(gpu_kernel("AddN", check_list_add_n, add_elements).on("T", {DType::Variant}));
}

}  // namespace troupe
