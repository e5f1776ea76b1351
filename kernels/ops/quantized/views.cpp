#include "kernels/ops/quantized/views.h"

#include "kernels/core/parallel.h"

namespace troupe {

DType storage_of(DType dtype) {
  switch (dtype) {
    case DType::QInt8: return DType::Int8;
    case DType::QUInt8: return DType::UInt8;
    case DType::QInt16: return DType::Int16;
    case DType::QUInt16: return DType::UInt16;
    case DType::QInt32: return DType::Int32;
    default: return dtype;
  }
}

Tensor storage_view(const Tensor& tensor) {
  Tensor view(storage_of(tensor.dtype()), tensor.shape(), tensor.buffer(),
              static_cast<size_t>(tensor.data() - tensor.buffer()->data));
  view.set_completion(tensor.completion());
  return view;
}

Result<Tensor> distances_from(DeviceContext& device, const Tensor& steps, int32_t zero) {
  TROUPE_ASSIGN(Tensor distances, Tensor::allocate(DType::Int32, steps.shape(), device.memory()));
  const auto from = steps.as<QUInt8>();
  const auto to = distances.write<int32_t>();
  parallel_items(device.pool(), from.size(), 5, [&](size_t begin, size_t end) {
    for (size_t i = begin; i < end; ++i)
      to[i] = static_cast<int32_t>(uint32_t{from[i].value} - static_cast<uint32_t>(zero));
  });
  return distances;
}

}  // namespace troupe
