// Bincount and DenseBincount on GPUs: see bincount.cpp.
#include "kernels/ops/math/bincount.h"

#include "kernels/gpu/gpu_kernel.h"
#include "kernels/gpu/indices.h"
#include "kernels/gpu/memory.h"
#include "kernels/gpu/sorted_rows.h"

namespace troupe {
namespace {

/// The bin of each number, counted over all rows; negative for numbers that count nowhere.
struct BinOf {
  gpu::Indices numbers;
  int64_t size;
  gpu::Divider row;
  gpu::FaultReport report;

  TROUPE_ANY int64_t operator()(size_t i) const {
    const int64_t number = numbers(i);
    if (number < 0) report(number, 0);
    if (number < 0 || number >= size) return -1;
    return static_cast<int64_t>(row.quotient(i)) * size + number;
  }
};

template <class T>
struct Weights {
  const T* weights;
  TROUPE_ANY T operator()(size_t i, size_t) const { return weights ? weights[i] : T{1}; }
};

template <class T>
struct StoreBin {
  T* bins;
  bool binary;
  TROUPE_ANY void operator()(size_t bin, size_t, T total) const { bins[bin] = binary ? T{1} : total; }
};

template <class T>
Status count(const BincountArguments& arguments, const gpu::SortedRows& order, DeviceContext& device) {
  const T* const weights =
      arguments.weights ? reinterpret_cast<const T*>(arguments.weights->data()) : nullptr;
  return gpu::combine_sorted<gpu::Add, T>(
      device, order, static_cast<size_t>(arguments.numbers.elements()), arguments.rows * arguments.size, 1,
      Weights<T>{weights},
      StoreBin<T>{reinterpret_cast<T*>(arguments.bins.mutable_data()), arguments.binary});
}

Status compute_bincount(const BincountArguments& arguments, DeviceContext& device) {
  const Tensor& numbers = arguments.numbers;
  TROUPE_RETURN_IF_FAILED(gpu::clear(device, arguments.bins));
  const auto n = static_cast<size_t>(numbers.elements());
  if (n == 0) return {};
  const BinOf rule{gpu::Indices(numbers), static_cast<int64_t>(arguments.size),
                   gpu::Divider(n / arguments.rows),
                   gpu::fault_report(device, "a number to count = {} is negative")};
  TROUPE_ASSIGN(const gpu::SortedRows order,
                gpu::sort_rows(device, n, arguments.rows * arguments.size, rule));
  // Sums of integers wrap around, so they are those of unsigned integers.
  using Sums = TypeList<float, double, uint32_t, uint64_t>;
  const DType dtype = arguments.bins.dtype();
  const DType sums = dtype == DType::Int32 ? DType::UInt32 : dtype == DType::Int64 ? DType::UInt64 : dtype;
  TROUPE_RETURN_IF_FAILED(gpu::for_type(
      Sums{}, sums, [&]<class T>(std::type_identity<T>) { return count<T>(arguments, order, device); }));
  return gpu::check_fault(device);
}

}  // namespace

void add_bincount_on_gpu(OpLibrary& library) {
  for (const char* op : {"Bincount", "DenseBincount"})
    library.kernel(gpu_kernel(op, check_bincount, compute_bincount)
                       .on("T", {DType::Float, DType::Double, DType::Int32, DType::Int64}));
}

}  // namespace troupe
