// SparseSegmentSumGrad, SparseSegmentMeanGrad and SparseSegmentSqrtNGrad on GPUs: see sparse_segment_gradients.cpp.
#include "kernels/gpu/copy.h"
#include "kernels/gpu/gpu_kernel.h"
#include "kernels/gpu/indices.h"
#include "kernels/gpu/sorted_rows.h"
#include "kernels/ops/sparse/sparse_segments.h"

namespace troupe {
namespace {

/// The elements of an int32 or int64 tensor that are in [0, limit); others are negative, and reported.
struct Numbers {
  gpu::Indices numbers;
  int64_t limit;
  gpu::FaultReport report;

  TROUPE_ANY int64_t operator()(size_t i) const {
    const int64_t number = numbers(i);
    if (number >= 0 && number < limit) return number;
    report(number, limit);
    return -1;
  }
};

/// The gradient of the segment of each term, times the factor of the segment.
template <class T>
struct GradientTerms {
  const T* grad;
  Numbers ids;
  const uint32_t* counts;  ///< of the terms of each segment; null: not needed
  SegmentDivisor divisor;
  size_t row;

  TROUPE_ANY gpu::Wide<T> operator()(size_t i, size_t column) const {
    const int64_t id = ids(i);
    if (id < 0) return 0;
    const auto segment = static_cast<size_t>(id);
    return segment_factor<T>(divisor, counts ? counts[segment] : 1) * gpu::load(grad[segment * row + column]);
  }
};

struct One {
  TROUPE_ANY uint32_t operator()(size_t, size_t) const { return 1; }
};
struct StoreCount {
  uint32_t* counts;
  TROUPE_ANY void operator()(size_t segment, size_t, uint32_t count) const { counts[segment] = count; }
};

/// Returns how often each segment occurs in the ids; undefined for those that do not.
Result<BufferRef> counts_of(const SegmentGradientArguments& arguments, const Numbers& ids,
                            DeviceContext& device) {
  const auto n = static_cast<size_t>(arguments.segment_ids.elements()),
             segments = static_cast<size_t>(ids.limit);
  TROUPE_ASSIGN(BufferRef counts, gpu::scratch(device, segments * sizeof(uint32_t)));
  TROUPE_ASSIGN(const gpu::SortedRows order, gpu::sort_rows(device, n, segments, ids));
  TROUPE_RETURN_IF_FAILED((gpu::combine_sorted<gpu::Add, uint32_t>(
      device, order, n, segments, 1, One{}, StoreCount{reinterpret_cast<uint32_t*>(counts->data)})));
  return counts;
}

/// Adds the terms to the rows of the output, which are 0.
template <class T>
Status add_terms(const SegmentGradientArguments& arguments, const gpu::SortedRows& order,
                 const GradientTerms<T>& terms, DeviceContext& device) {
  const gpu::ChangeRows<gpu::Add, T> change{arguments.output->write<T>().data(), terms.row};
  return gpu::combine_sorted<gpu::Add, gpu::Wide<T>>(
      device, order, static_cast<size_t>(arguments.indices.elements()), static_cast<size_t>(arguments.rows),
      terms.row, terms, change);
}

struct SegmentGradientOnGpu {
  SegmentDivisor divisor;

  Status operator()(const SegmentGradientArguments& arguments, DeviceContext& device) const {
    const Tensor &index = arguments.indices, &segment_ids = arguments.segment_ids;
    Tensor& output = *arguments.output;
    TROUPE_RETURN_IF_FAILED(gpu::fill_with(device, nullptr, output));
    if (index.elements() == 0 || output.elements() == 0) return {};
    const Numbers indices{gpu::Indices(index), arguments.rows,
                          gpu::fault_report(device, "indices = {} is not in [0, {})")};
    const Numbers ids{gpu::Indices(segment_ids), arguments.grad.shape()[0],
                      gpu::fault_report(device, "segment_ids = {} is not in [0, {})")};
    BufferRef memory;
    if (divisor != SegmentDivisor::One) {
      TROUPE_ASSIGN(memory, counts_of(arguments, ids, device));
    }
    const auto* const counts = memory ? reinterpret_cast<const uint32_t*>(memory->data) : nullptr;
    TROUPE_ASSIGN(const gpu::SortedRows order, gpu::sort_rows(device, static_cast<size_t>(index.elements()),
                                                              static_cast<size_t>(arguments.rows), indices));
    const auto row = static_cast<size_t>(output.elements() / arguments.rows);
    TROUPE_RETURN_IF_FAILED(
        gpu::for_type(gpu::AllFloats{}, output.dtype(), [&]<class T>(std::type_identity<T>) {
          return add_terms(arguments, order,
                           GradientTerms<T>{arguments.grad.as<T>().data(), ids, counts, divisor, row},
                           device);
        }));
    return gpu::check_fault(device);
  }
};

}  // namespace

void add_sparse_segment_gradients_on_gpu(OpLibrary& library) {
  const auto add = [&](const char* op, SegmentDivisor divisor) {
    library.kernel(gpu_kernel(op, check_segment_gradient, SegmentGradientOnGpu{divisor})
                       .on("T", dtypes(gpu::AllFloats{})));
  };
  add("SparseSegmentMeanGrad", SegmentDivisor::Count);
  add("SparseSegmentSqrtNGrad", SegmentDivisor::RootOfCount);
  add("SparseSegmentSumGrad", SegmentDivisor::One);
}

}  // namespace troupe
