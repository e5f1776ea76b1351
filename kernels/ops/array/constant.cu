// Fill, Empty and CheckNumerics on GPUs: see constant.cpp.
#include "kernels/ops/array/constant.h"

#include "kernels/gpu/copy.h"
#include "kernels/gpu/read_back_kernel.h"
#include "kernels/gpu/reduce.h"
#include "kernels/gpu/storage.h"

namespace troupe {
namespace {

Status compute_fill(const FillArguments& arguments, DeviceContext& device) {
  return gpu::fill_from(device, arguments.value, arguments.output);
}

Status compute_empty(const EmptyArguments& arguments, DeviceContext& device) {
  return gpu::fill_with(device, nullptr, arguments.output);
}

constexpr uint32_t has_inf = 1, has_nan = 2;

/// has_inf for each infinity, has_nan for each NaN, 0 for other elements.
template <class T>
struct NotFiniteSource {
  static constexpr size_t width = 16 / sizeof(T);
  const T* data;

  TROUPE_ANY static uint32_t of(const T& element) {
    const auto number = gpu::load(element);
    if (number != number) return has_nan;
    return number - number != 0 ? has_inf : 0;
  }
  TROUPE_ANY uint32_t operator()(size_t i) const { return of(data[i]); }
  TROUPE_ANY void read(size_t i, uint32_t* found) const {
    const auto pack = *gpu::packs<width>(data + i);
    for (size_t k = 0; k < width; ++k) found[k] = of(pack.items[k]);
  }
  bool aligned() const { return gpu::is_aligned(data, 16); }
};

struct AnyOf {
  TROUPE_ANY uint32_t neutral() const { return 0; }
  TROUPE_ANY uint32_t operator()(uint32_t a, uint32_t b) const { return a | b; }
};

struct MeasuredNumerics : CheckNumericsArguments {
  Tensor measured;  ///< a uint32 scalar: has_inf and has_nan
};

Result<MeasuredNumerics> check_measured_numerics(KernelContext& context) {
  TROUPE_ASSIGN(const auto arguments, check_check_numerics(context));
  TROUPE_ASSIGN(Tensor measured, context.scratch(DType::UInt32, Shape{}));
  return MeasuredNumerics{arguments, std::move(measured)};
}

Status find_not_finite(MeasuredNumerics& arguments, DeviceContext& device) {
  const Tensor& tensor = arguments.tensor;
  return gpu::for_type(gpu::AllFloats{}, tensor.dtype(), [&]<class T>(std::type_identity<T>) {
    return gpu::reduce_box<uint32_t>(device, gpu::Box{1, static_cast<size_t>(tensor.elements()), 1}, AnyOf(),
                                     NotFiniteSource<T>{tensor.as<T>().data()},
                                     gpu::PartialSink<uint32_t>{arguments.measured.write<uint32_t>().data()});
  });
}

Status refuse_not_finite(MeasuredNumerics& arguments, KernelContext& /*context*/) {
  const uint32_t found = arguments.measured.as<uint32_t>()[0];
  return not_finite(arguments.message, (found & has_inf) != 0, (found & has_nan) != 0);
}

// The output is the input.
void compute_nothing(const MeasuredNumerics& /*arguments*/, DeviceContext& /*device*/) {}

}  // namespace

void add_constant_on_gpu(OpLibrary& library) {
  const auto types = dtypes(gpu::MovedTypes{});
  library.kernel(gpu_kernel("Empty", check_empty, compute_empty).on("dtype", types));
  library.kernel(gpu_kernel("Fill", check_fill, compute_fill).on("T", types));
  library.kernel(measured_gpu_kernel("CheckNumerics", check_measured_numerics, find_not_finite,
                                     refuse_not_finite, compute_nothing)
                     .on("T", dtypes(gpu::AllFloats{})));
}

}  // namespace troupe
