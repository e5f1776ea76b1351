#include "kernels/gpu/gemm.h"

#include "kernels/gpu/gpu_kernel.h"
#include "kernels/gpu/launch.h"
#include "kernels/gpu/memory.h"
#include "kernels/gpu/numbers.h"

#if defined(__CUDACC__)
#include "kernels/gpu/blas_plan.h"
#endif

namespace troupe::gpu {
namespace {

/// Adds the bias and applies ReLU to rows that follow each other `width` elements apart, of all matrices of a batch.
template <class T>
struct Finish {
  T* c;
  const T* bias;
  bool relu;
  int64_t rows, columns, width, step;

  TROUPE_ANY void operator()(size_t i) const {
    const auto at = static_cast<int64_t>(i);
    const int64_t column = at % columns, row = at / columns % rows, matrix = at / columns / rows;
    T& element = c[matrix * step + row * width + column];
    Wide<T> value = load(element);
    if (bias) value += load(bias[column]);
    store(element, relu && value < 0 ? Wide<T>(0) : value);
  }
};

template <class T>
Status finish(DeviceContext& device, const Product& product) {
  if (!product.bias && !product.relu) return {};
  const Finish<T> body{reinterpret_cast<T*>(product.c),
                       reinterpret_cast<const T*>(product.bias),
                       product.relu,
                       product.rows,
                       product.columns,
                       product.width_c(),
                       product.step_c};
  return each(device, static_cast<size_t>(product.batch * product.rows * product.columns), body);
}

/// What the host computes in place of cuBLASLt, and GPUs where there is nothing to sum: element i of all products.
template <class T, class C>
struct PlainProduct {
  Product product;

  TROUPE_ANY void operator()(size_t i) const {
    const auto at = static_cast<int64_t>(i);
    const int64_t column = at % product.columns, row = at / product.columns % product.rows,
                  matrix = at / product.columns / product.rows;
    const T* const a = reinterpret_cast<const T*>(product.a) + matrix * product.step_a;
    const T* const b = reinterpret_cast<const T*>(product.b) + matrix * product.step_b;
    C& c = reinterpret_cast<C*>(product.c)[matrix * product.step_c + row * product.width_c() + column];
    Wide<T> sum = 0;
    for (int64_t k = 0; k < product.inner; ++k)
      sum += load(a[product.transpose_a ? k * product.width_a() + row : row * product.width_a() + k]) *
             load(b[product.transpose_b ? column * product.width_b() + k : k * product.width_b() + column]);
    store(c, product.adds ? load(c) + sum : sum);
  }
};

/// If all matrices of a batch are multiplied by the same b, their rows are rows of one matrix.
Product merged(Product product) {
  const bool one_after_the_other = product.step_a == product.rows * product.width_a() &&
                                   product.step_c == product.rows * product.width_c();
  if (product.batch == 1 || product.step_b != 0 || product.transpose_a || !one_after_the_other)
    return product;
  product.rows *= product.batch;
  product.batch = 1;
  product.step_a = product.step_c = 0;
  return product;
}

template <class T>
Status multiply_plainly(DeviceContext& device, const Product& product) {
  const auto elements = static_cast<size_t>(product.batch * product.rows * product.columns);
  if (product.wide) return each(device, elements, PlainProduct<T, Wide<T>>{product});
  TROUPE_RETURN_IF_FAILED(each(device, elements, PlainProduct<T, T>{product}));
  return finish<T>(device, product);
}

#if defined(__CUDACC__)
template <class T>
Status multiply_by_blas(DeviceContext& device, GpuQueue& queue, const Product& product) {
  TROUPE_ASSIGN(void* const library, queue.blas());
  CudaBlas& blas = *static_cast<CudaBlas*>(library);
  const std::lock_guard lock(blas.mutex);
  TROUPE_ASSIGN(const BlasPlan* plan, plan_of(blas, product, queue.tf32()));
  if (plan->works()) return plan->run(blas, device, product);
  Product alone = product;  // without what follows it, which cuBLASLt does not do for every type and size
  alone.bias = nullptr;
  alone.relu = false;
  TROUPE_ASSIGN(plan, plan_of(blas, alone, queue.tf32()));
  if (!plan->works()) return multiply_plainly<T>(device, product);
  TROUPE_RETURN_IF_FAILED(plan->run(blas, device, alone));
  return finish<T>(device, product);
}
#endif

}  // namespace

Status multiply(DeviceContext& device, const Product& given) {
  if (given.batch == 0 || given.rows == 0 || given.columns == 0) return {};
  const Product product = merged(given);
  return for_type(AllFloats{}, product.dtype, [&]<class T>(std::type_identity<T>) {
#if defined(__CUDACC__)
    if (GpuQueue* const queue = device.queue(); queue && product.inner != 0)
      return multiply_by_blas<T>(device, *queue, product);
#endif
    return multiply_plainly<T>(device, product);
  });
}

}  // namespace troupe::gpu
