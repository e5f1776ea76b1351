// SparseSegmentSum, SparseSegmentMean, SparseSegmentSqrtN and ...WithNumSegments on GPUs: see sparse_segments.cpp.
#include "kernels/ops/sparse/sparse_segments.h"

#include "kernels/core/arguments.h"
#include "kernels/gpu/gpu_kernel.h"
#include "kernels/gpu/indices.h"
#include "kernels/gpu/segments.h"

namespace troupe {
namespace {

/// The segment of each term; negative, which is reported, if that is wrong.
struct AscendingIds {
  gpu::Indices ids;
  int64_t segments;
  gpu::FaultReport descends, exceeds;

  TROUPE_ANY int64_t operator()(size_t i) const {
    const int64_t id = ids(i), before = i == 0 ? 0 : ids(i - 1);
    if (id < before)
      descends(id, before);
    else if (id >= segments)
      exceeds(id, segments);
    else
      return id;
    return -1;
  }
};

/// Elements of the rows that are chosen; 0, which is reported, if there is no such row.
template <class T>
struct ChosenRows {
  const T* data;
  gpu::Indices indices;
  int64_t rows;
  size_t row;
  gpu::FaultReport report;

  TROUPE_ANY gpu::Wide<T> operator()(size_t i, size_t column) const {
    const int64_t index = indices(i);
    if (index >= 0 && index < rows) return gpu::load(data[static_cast<size_t>(index) * row + column]);
    report(index, rows);
    return 0;
  }
};

Result<gpu::SortedRows> segments_of_terms(const SparseSegmentsArguments& arguments, DeviceContext& device) {
  const Tensor& ids = arguments.segment_ids;
  const auto segments = static_cast<size_t>(arguments.segments);
  if (arguments.counts_ids) return gpu::upload_rows(device, integers(ids), segments);
  return gpu::find_rows(
      device, static_cast<size_t>(ids.elements()), segments,
      AscendingIds{
          gpu::Indices(ids), arguments.segments,
          gpu::fault_report(device,
                            "segment_ids = {} is less than {}; the ids must be in ascending order from 0 on"),
          gpu::fault_report(device, "segment_ids = {} is not below num_segments {}")});
}

template <class T>
Status combine_rows(const SparseSegmentsArguments& arguments, const gpu::SortedRows& ids,
                    SegmentDivisor divisor, DeviceContext& device) {
  const auto row = static_cast<size_t>(arguments.output.elements() / arguments.segments);
  const ChosenRows<T> terms{arguments.data.as<T>().data(), gpu::Indices(arguments.indices),
                            arguments.data.shape()[0], row,
                            gpu::fault_report(device, "indices = {} is not in [0, {})")};
  const auto n = static_cast<size_t>(arguments.segment_ids.elements());
  return gpu::combine_segments<gpu::Add, T>(device, ids, n, terms, divisor, 0, arguments.output);
}

struct SparseSegmentsOnGpu {
  SegmentDivisor divisor;

  Status operator()(const SparseSegmentsArguments& arguments, DeviceContext& device) const {
    if (arguments.output.elements() == 0) return {};
    TROUPE_ASSIGN(const gpu::SortedRows ids, segments_of_terms(arguments, device));
    TROUPE_RETURN_IF_FAILED(gpu::for_type(
        gpu::AllFloats{}, arguments.data.dtype(),
        [&]<class T>(std::type_identity<T>) { return combine_rows<T>(arguments, ids, divisor, device); }));
    return gpu::check_fault(device);
  }
};

}  // namespace

void add_sparse_segments_on_gpu(OpLibrary& library) {
  const auto add = [&](const std::string& name, SegmentDivisor divisor) {
    for (const std::string& op : {name, name + "WithNumSegments"})
      library.kernel(gpu_kernel(op, check_sparse_segments, SparseSegmentsOnGpu{divisor})
                         .on("T", dtypes(gpu::AllFloats{})));
  };
  add("SparseSegmentMean", SegmentDivisor::Count);
  add("SparseSegmentSqrtN", SegmentDivisor::RootOfCount);
  add("SparseSegmentSum", SegmentDivisor::One);
}

}  // namespace troupe
