// GRUBlockCell and GRUBlockCellGrad on GPUs: see gru_block.cpp.
#include "kernels/ops/nn/gru_block.h"

#include "kernels/gpu/coordinates.h"
#include "kernels/gpu/gemm.h"
#include "kernels/gpu/gpu_kernel.h"
#include "kernels/gpu/launch.h"
#include "kernels/gpu/parts.h"

namespace troupe {
namespace {

template <class Body>
struct ByColumns {
  gpu::Divider columns;
  Body body;

  TROUPE_ANY void operator()(size_t i) const {
    const size_t column = gpu::split(columns, i);
    body(i, column);
  }
};

/// Computes on a GPU (gru_block.h).
struct Gpu {
  const GruArguments& arguments;
  DeviceContext& device;

  Status join(const float* x, const float* h, float* xh) const {
    const auto part = [](const float* from, size_t row) {
      return gpu::Part{reinterpret_cast<std::byte*>(const_cast<float*>(from)), row};  // only read
    };
    const gpu::Part parts[] = {part(x, arguments.sizes.inputs), part(h, arguments.sizes.cells)};
    return gpu::join_parts(device, sizeof(float), arguments.sizes.batch, parts,
                           reinterpret_cast<std::byte*>(xh));
  }
  Status multiply(const float* a, const float* weights, size_t columns, bool transposed, float* to) const {
    const auto row = static_cast<int64_t>(arguments.row()), width = static_cast<int64_t>(columns);
    gpu::Product product{.dtype = DType::Float,
                         .rows = static_cast<int64_t>(arguments.sizes.batch),
                         .columns = transposed ? row : width,
                         .inner = transposed ? width : row};
    product.a = reinterpret_cast<const std::byte*>(a);
    product.b = reinterpret_cast<const std::byte*>(weights);
    product.c = reinterpret_cast<std::byte*>(to);
    product.transpose_b = transposed;
    return gpu::multiply(device, product);
  }
  template <class Body>
  Status each(size_t columns, const Body& body) const {
    if (columns == 0) return {};
    return gpu::each(device, arguments.sizes.batch * columns, ByColumns<Body>{gpu::Divider(columns), body});
  }
};

Status compute_gru_cell(const GruArguments& arguments, DeviceContext& device) {
  const size_t batch = arguments.sizes.batch, cells = arguments.sizes.cells;
  if (batch * cells == 0) return {};
  TROUPE_ASSIGN(const BufferRef scratch,
                gpu::scratch(device, batch * (arguments.row() + 2 * cells) * sizeof(float)));
  return gru_cell(arguments, Gpu{arguments, device}, reinterpret_cast<float*>(scratch->data));
}

Status compute_gru_gradient(const GruArguments& arguments, DeviceContext& device) {
  const size_t size = arguments.sizes.batch * arguments.row();
  if (size == 0) return {};
  TROUPE_ASSIGN(const BufferRef scratch, gpu::scratch(device, 2 * size * sizeof(float)));
  return gru_gradient(arguments, Gpu{arguments, device}, reinterpret_cast<float*>(scratch->data));
}

}  // namespace

void add_gru_block_on_gpu(OpLibrary& library) {
  library.kernel(gpu_kernel("GRUBlockCell", check_gru_cell, compute_gru_cell));
  library.kernel(gpu_kernel("GRUBlockCellGrad", check_gru_gradient, compute_gru_gradient));
}

}  // namespace troupe
