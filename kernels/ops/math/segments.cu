// SegmentSum, SegmentMean, SegmentProd, SegmentMax and SegmentMin on GPUs: see segments.cpp.
#include "kernels/ops/math/segments.h"

#include "kernels/core/arguments.h"
#include "kernels/gpu/gpu_kernel.h"
#include "kernels/gpu/segments.h"

namespace troupe {
namespace {

/// The result for a segment without rows is `neutral`.
template <class Combine>
struct SegmentsOnGpu {
  SegmentDivisor divisor = SegmentDivisor::One;
  int neutral = 0;

  Status operator()(const SegmentsArguments& arguments, DeviceContext& device) const {
    Tensor& output = arguments.output;
    if (output.elements() == 0) return {};
    const Dims ids = integers(arguments.segment_ids);
    TROUPE_ASSIGN(const gpu::SortedRows rows,
                  gpu::upload_rows(device, ids, static_cast<size_t>(arguments.segments)));
    const auto row = static_cast<size_t>(output.elements() / arguments.segments);
    return gpu::for_type(gpu::AllFloats{}, output.dtype(), [&]<class T>(std::type_identity<T>) {
      const gpu::RowElements<T> terms{arguments.data.as<T>().data(), row};
      return gpu::combine_segments<Combine, T>(device, rows, ids.size(), terms, divisor, neutral, output);
    });
  }
};

}  // namespace

void add_segments_on_gpu(OpLibrary& library) {
  const auto add = [&](const char* op, auto compute) {
    library.kernel(gpu_kernel(op, check_segments, compute).on("T", dtypes(gpu::AllFloats{})));
  };
  add("SegmentMax", SegmentsOnGpu<gpu::Maximum>{});
  add("SegmentMean", SegmentsOnGpu<gpu::Add>{.divisor = SegmentDivisor::Count});
  add("SegmentMin", SegmentsOnGpu<gpu::Minimum>{});
  add("SegmentProd", SegmentsOnGpu<gpu::Mul>{.neutral = 1});
  add("SegmentSum", SegmentsOnGpu<gpu::Add>{});
}

}  // namespace troupe
