// CheckNumerics and _CheckFinite on GPUs: see numerics.cpp.
#include "kernels/ops/array/numerics.h"

#include <algorithm>

#include "graph/passes/partition/check_finite.h"
#include "kernels/gpu/read_back_kernel.h"
#include "kernels/gpu/reduce.h"
#include "kernels/gpu/storage.h"

namespace troupe {
namespace {

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

/// Writes has_inf and has_nan of all elements of a tensor to `found`, in the memory of the device.
Status find_not_finite(const Tensor& tensor, uint32_t* found, DeviceContext& device) {
  return gpu::for_type(gpu::AllFloats{}, tensor.dtype(), [&]<class T>(std::type_identity<T>) {
    return gpu::reduce_box<uint32_t>(device, gpu::Box{1, static_cast<size_t>(tensor.elements()), 1}, AnyOf(),
                                     NotFiniteSource<T>{tensor.as<T>().data()},
                                     gpu::PartialSink<uint32_t>{found});
  });
}

NotFinite read_found(uint32_t found) { return {(found & has_inf) != 0, (found & has_nan) != 0}; }

/// Arguments of a check, and for each tensor that it looks at what it finds there.
template <class Arguments>
struct Measured : Arguments {
  Tensor measured;  ///< uint32: has_inf and has_nan
};

Result<Measured<CheckNumericsArguments>> check_measured_numerics(KernelContext& context) {
  TROUPE_ASSIGN(const auto arguments, check_check_numerics(context));
  TROUPE_ASSIGN(Tensor measured, context.scratch(DType::UInt32, Shape{}));
  return Measured<CheckNumericsArguments>{arguments, std::move(measured)};
}

Status measure_numerics(Measured<CheckNumericsArguments>& arguments, DeviceContext& device) {
  return find_not_finite(arguments.tensor, arguments.measured.write<uint32_t>().data(), device);
}

Status refuse_not_finite(Measured<CheckNumericsArguments>& arguments, KernelContext& /*context*/) {
  return not_finite(arguments.message, read_found(arguments.measured.as<uint32_t>()[0]));
}

Result<Measured<CheckFiniteArguments>> check_measured_finite(KernelContext& context) {
  TROUPE_ASSIGN(auto arguments, check_check_finite(context));
  const auto count = static_cast<int64_t>(arguments.inputs.size()) + 1;
  TROUPE_ASSIGN(Tensor measured, context.scratch(DType::UInt32, Shape{count}));
  return Measured<CheckFiniteArguments>{std::move(arguments), std::move(measured)};
}

Status measure_finite(Measured<CheckFiniteArguments>& arguments, DeviceContext& device) {
  uint32_t* found = arguments.measured.write<uint32_t>().data();
  TROUPE_RETURN_IF_FAILED(find_not_finite(arguments.tensor, found, device));
  for (const Tensor* input : arguments.inputs)
    TROUPE_RETURN_IF_FAILED(find_not_finite(*input, ++found, device));
  return {};
}

Status refuse_first_not_finite(Measured<CheckFiniteArguments>& arguments, KernelContext& /*context*/) {
  const auto found = arguments.measured.as<uint32_t>();
  const bool excused = std::ranges::any_of(found.subspan(1), [](uint32_t input) { return input != 0; });
  return found[0] == 0 || excused ? Status() : first_not_finite(arguments.node, read_found(found[0]));
}

// The output is the input.
template <class Arguments>
void compute_nothing(const Measured<Arguments>& /*arguments*/, DeviceContext& /*device*/) {}

}  // namespace

void add_numerics_on_gpu(OpLibrary& library) {
  library.kernel(measured_gpu_kernel("CheckNumerics", check_measured_numerics, measure_numerics,
                                     refuse_not_finite, compute_nothing<CheckNumericsArguments>)
                     .on("T", dtypes(gpu::AllFloats{})));
  library.kernel(measured_gpu_kernel(std::string(check_finite_op), check_measured_finite, measure_finite,
                                     refuse_first_not_finite, compute_nothing<CheckFiniteArguments>)
                     .on("T", dtypes(gpu::AllFloats{})));
}

}  // namespace troupe
