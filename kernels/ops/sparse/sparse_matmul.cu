// SparseTensorDenseMatMul on GPUs: see sparse_matmul.cpp.
#include "kernels/ops/sparse/sparse_matmul.h"

#include "kernels/gpu/gpu_kernel.h"
#include "kernels/gpu/indices.h"
#include "kernels/gpu/sorted_rows.h"

namespace troupe {
namespace {

/// One index of each position; negative, which is reported, if it is outside its dimension.
struct IndexColumn {
  gpu::Indices indices;
  size_t column;
  int64_t size;
  gpu::FaultReport report;

  TROUPE_ANY int64_t operator()(size_t i) const {
    const int64_t index = indices(2 * i + column);
    if (index >= 0 && index < size) return index;
    report(index, size);
    return -1;
  }
};

/// Values of a times elements of b.
template <class T>
struct ProductTerms {
  const T *values, *b;
  IndexColumn inner;
  size_t inner_step, column_step;  ///< how far neighbours of b are apart

  TROUPE_ANY gpu::Wide<T> operator()(size_t i, size_t column) const {
    const int64_t at = inner(i);
    if (at < 0) return 0;
    return gpu::load(values[i]) * gpu::load(b[static_cast<size_t>(at) * inner_step + column * column_step]);
  }
};

Status compute_sparse_matmul(const SparseMatMulArguments& arguments, DeviceContext& device) {
  const SparseTensor& a = arguments.a;
  Tensor& product = arguments.product;
  if (product.elements() == 0) return {};
  TROUPE_RETURN_IF_FAILED(gpu::clear(device, product));
  const auto column = [&](size_t number) {
    return IndexColumn{
        gpu::Indices(a.indices), number, a.dims[number],
        gpu::fault_report(device, "a_indices has {}, which is outside a_shape: there the size is {}")};
  };
  const IndexColumn rows = column(arguments.adjoint_a ? 1 : 0), inner = column(arguments.adjoint_a ? 0 : 1);
  const auto row = static_cast<size_t>(product.shape()[1]), depth = static_cast<size_t>(inner.size);
  TROUPE_ASSIGN(const gpu::SortedRows order,
                gpu::sort_rows(device, a.count(), static_cast<size_t>(rows.size), rows));
  TROUPE_RETURN_IF_FAILED(
      gpu::for_type(gpu::AllFloats{}, product.dtype(), [&]<class T>(std::type_identity<T>) {
        const ProductTerms<T> terms{a.values.as<T>().data(), arguments.b.as<T>().data(), inner,
                                    arguments.adjoint_b ? 1 : row, arguments.adjoint_b ? depth : 1};
        return gpu::combine_sorted<gpu::Add, gpu::Wide<T>>(
            device, order, a.count(), static_cast<size_t>(rows.size), row, terms,
            gpu::ChangeRows<gpu::Later, T>{product.write<T>().data(), row});
      }));
  return gpu::check_fault(device);
}

}  // namespace

void add_sparse_matmul_on_gpu(OpLibrary& library) {
  library.kernel(gpu_kernel("SparseTensorDenseMatMul", check_sparse_matmul, compute_sparse_matmul)
                     .on("T", dtypes(gpu::AllFloats{})));
}

}  // namespace troupe
