// Ops that move elements on GPUs: see copies.h.
#include "kernels/ops/array/copies.h"

#include <vector>

#include "kernels/gpu/copy.h"
#include "kernels/gpu/parts.h"
#include "kernels/gpu/storage.h"

namespace troupe {
namespace {

Status copy_box(const BoxCopyArguments& arguments, DeviceContext& device) {
  const auto& [from, to, box, fills, background] = arguments;
  if (!to) return {};
  if (fills) TROUPE_RETURN_IF_FAILED(gpu::fill_with(device, background, *to));
  return gpu::copy_box(device, box, *from, *to);
}

gpu::Part part_of(const Tensor& tensor, std::byte* data, size_t rows) {
  return {data, static_cast<size_t>(tensor.elements()) / rows};
}

Status concat(const ConcatArguments& arguments, DeviceContext& device) {
  const auto& [values, output, rows] = arguments;
  if (output.elements() == 0) return {};
  std::vector<gpu::Part> parts;
  for (const Slot& value : values)
    parts.push_back(part_of(value.tensor, const_cast<std::byte*>(value.tensor.data()), rows));  // only read
  return gpu::join_parts(device, size_of(output.dtype()), rows, parts, output.mutable_data());
}

Status split(const SplitArguments& arguments, DeviceContext& device) {
  const auto& [value, outputs, rows] = arguments;
  if (value.elements() == 0) return {};
  std::vector<gpu::Part> parts;
  for (Tensor& output : outputs) parts.push_back(part_of(output, output.mutable_data(), rows));
  return gpu::split_parts(device, size_of(value.dtype()), rows, parts, value.data());
}

struct BoxOp {
  const char* name;
  Result<BoxCopyArguments> (*check)(KernelContext&);
};

}  // namespace

void add_copies_on_gpu(OpLibrary& library) {
  const auto types = dtypes(gpu::MovedTypes{}), with_integers = dtypes(gpu::MovedTypesAndIntegers{});
  const BoxOp for_shapes[] = {
      {"Slice", check_slice}, {"StridedSlice", check_strided_slice}, {"Tile", check_tile}};
  for (const auto& [name, check] : for_shapes)
    library.kernel(gpu_kernel(name, check, copy_box).on("T", types));
  const BoxOp for_data[] = {{"BroadcastTo", check_broadcast_to},
                            {"ConjugateTranspose", check_transpose},
                            {"DepthToSpace", check_space_depth},
                            {"Diag", check_diag},
                            {"DiagPart", check_diag_part},
                            {"Pad", check_pad},
                            {"PadV2", check_pad},
                            {"Reverse", check_reverse},
                            {"ReverseV2", check_reverse},
                            {"SpaceToDepth", check_space_depth},
                            {"StridedSliceGrad", check_strided_slice_grad},
                            {"Transpose", check_transpose}};
  for (const auto& [name, check] : for_data)
    library.kernel(gpu_kernel(name, check, copy_box).on("T", with_integers));
  for (const char* op : {"Concat", "ConcatV2"})
    library.kernel(gpu_kernel(op, check_concat, concat).on("T", types));
  library.kernel(gpu_kernel("Pack", check_pack, concat).on("T", types));
  library.kernel(gpu_kernel("Split", check_split, split).on("T", types));
  library.kernel(gpu_kernel("SplitV", check_split_v, split).on("T", types));
  library.kernel(gpu_kernel("Unpack", check_unpack, split).on("T", types));
}

}  // namespace troupe
