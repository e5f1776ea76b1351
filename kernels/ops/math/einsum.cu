// Einsum on GPUs: see einsum.cpp.
#include "kernels/ops/math/einsum.h"

#include "kernels/gpu/copy.h"
#include "kernels/gpu/gemm.h"
#include "kernels/gpu/gpu_kernel.h"
#include "kernels/gpu/memory.h"

namespace troupe {
namespace {

/// What the contraction needs of a GPU.
struct GpuMachine {
  DeviceContext& device;
  DType dtype;

  Result<Tensor> allocate(const Dims& dims) {
    TROUPE_ASSIGN(const Shape shape, Shape::make(dims, dtype));
    return Tensor::allocate(dtype, shape, device.memory());
  }
  Result<Tensor> ones(int64_t n) {
    TROUPE_ASSIGN(Tensor tensor, allocate({n}));
    TROUPE_ASSIGN(Tensor one, Tensor::allocate(dtype, Shape()));
    with_type(gpu::AllFloats{}, dtype,
              [&]<class T>(std::type_identity<T>) { one.write<T>()[0] = static_cast<T>(1.0f); });
    TROUPE_RETURN_IF_FAILED(gpu::fill_with(device, &one, tensor));
    return tensor;
  }
  Status clear(Tensor& tensor) { return gpu::clear(device, tensor); }
  Status copy(const BoxCopy& box, const Tensor& from, Tensor& to) {
    return gpu::copy_box(device, box, from, to);
  }
  Status multiply(int64_t count, const einsum_op::Matrices& a, const einsum_op::Matrices& b,
                  Tensor& products) {
    gpu::Product product{.dtype = dtype, .rows = a.rows, .columns = b.columns, .inner = a.columns};
    product.a = a.view.tensor.data();
    product.b = b.view.tensor.data();
    product.c = products.mutable_data();
    product.transpose_a = a.transposed;
    product.transpose_b = b.transposed;
    product.batch = count;
    product.step_a = a.rows * a.columns;
    product.step_b = b.rows * b.columns;
    product.step_c = a.rows * b.columns;
    return gpu::multiply(device, product);
  }
};

Status compute_einsum(const einsum_op::Arguments& arguments, DeviceContext& device) {
  if (arguments.output.elements() == 0) return {};
  return einsum_op::Contraction<GpuMachine>({device, arguments.output.dtype()}, arguments).run();
}

}  // namespace

void add_einsum_on_gpu(OpLibrary& library) {
  library.kernel(gpu_kernel("Einsum", einsum_op::check, compute_einsum).on("T", dtypes(gpu::AllFloats{})));
}

}  // namespace troupe
