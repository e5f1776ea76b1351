// Rows combined by segments on GPUs: see unsorted_segments.cpp.
#include "kernels/ops/math/unsorted_segments.h"

#include <limits>

#include "kernels/gpu/copy.h"
#include "kernels/gpu/gpu_kernel.h"
#include "kernels/gpu/indices.h"
#include "kernels/gpu/sorted_rows.h"

namespace troupe {
namespace {

/// The segment of each row; negative for rows that are left out.
struct SegmentIds {
  gpu::Indices ids;
  int64_t segments;
  gpu::FaultReport report;

  TROUPE_ANY int64_t operator()(size_t i) const {
    const int64_t id = ids(i);
    if (id < segments) return id;
    report(id, segments);
    return -1;
  }
};

template <class F, class T>
Status combine_segments(const UnsortedSegmentsArguments& arguments, double neutral, DeviceContext& device) {
  Tensor& output = arguments.output;
  const int64_t segments = output.shape()[0];
  T start;
  gpu::store(start, static_cast<gpu::Wide<T>>(neutral));
  const Tensor value = Tensor::scalar(start);
  TROUPE_RETURN_IF_FAILED(gpu::fill_with(device, &value, output));
  const SegmentIds ids{gpu::Indices(arguments.segment_ids), segments,
                       gpu::fault_report(device, "segment_ids = {} is not below num_segments {}")};
  TROUPE_RETURN_IF_FAILED(gpu::combine_rows<F>(device, static_cast<size_t>(arguments.segment_ids.elements()),
                                               arguments.row, ids, arguments.data.as<T>().data(),
                                               static_cast<size_t>(segments), output.write<T>().data()));
  return gpu::check_fault(device);
}

/// Returns the greatest finite number of a floating type.
double greatest(DType dtype) {
  switch (dtype) {
    case DType::Half: return 65504;
    case DType::BFloat16: return 0x1.FEp127;
    case DType::Float: return std::numeric_limits<float>::max();
    default: return std::numeric_limits<double>::max();
  }
}

/// The result for a segment without rows is `neutral`, or the least (-1) or the greatest (1) finite number if `extreme` is not 0.
template <class F, int neutral, int extreme = 0>
Status compute_segments(const UnsortedSegmentsArguments& arguments, DeviceContext& device) {
  const DType dtype = arguments.data.dtype();
  const double start = extreme == 0 ? neutral : extreme * greatest(dtype);
  return gpu::for_type(gpu::AllFloats{}, dtype, [&]<class T>(std::type_identity<T>) {
    return combine_segments<F, T>(arguments, start, device);
  });
}

}  // namespace

void add_unsorted_segments_on_gpu(OpLibrary& library) {
  const auto add = [&](const char* op, auto compute) {
    library.kernel(gpu_kernel(op, check_unsorted_segments, compute).on("T", dtypes(gpu::AllFloats{})));
  };
  add("UnsortedSegmentMax", compute_segments<gpu::Maximum, 0, -1>);
  add("UnsortedSegmentMin", compute_segments<gpu::Minimum, 0, 1>);
  add("UnsortedSegmentProd", compute_segments<gpu::Mul, 1>);
  add("UnsortedSegmentSum", compute_segments<gpu::Add, 0>);
}

}  // namespace troupe
