// ArgMax and ArgMin on GPUs: see arg_reductions.cpp.
#include "kernels/ops/math/arg_reductions.h"

#include <limits>

#include "kernels/gpu/gpu_kernel.h"
#include "kernels/gpu/reduce.h"

namespace troupe {
namespace {

template <class V>
struct Candidate {
  V value;
  int64_t index;
};

/// The greatest value, the first of equal ones.
template <class V>
struct Better {
  TROUPE_ANY Candidate<V> neutral() const { return {-std::numeric_limits<V>::infinity(), INT64_MAX}; }
  TROUPE_ANY Candidate<V> operator()(const Candidate<V>& a, const Candidate<V>& b) const {
    return b.value > a.value || (b.value == a.value && b.index < a.index) ? b : a;
  }
};

/// The elements with their indices along the axis; with the opposite sign if the least is searched. A NaN is better than all others
/// if it is the first element, else worse.
template <class T, bool greatest>
struct Candidates {
  using V = gpu::Wide<T>;
  const T* data;
  gpu::Divider inner, length;

  TROUPE_ANY Candidate<V> operator()(size_t i) const {
    const size_t row = inner.quotient(i);
    const size_t index = row - length.quotient(row) * length.divisor();
    V value = gpu::load(data[i]);
    if (!greatest) value = -value;
    constexpr V infinity = std::numeric_limits<V>::infinity();
    if (value != value) value = index == 0 ? infinity : -infinity;
    return {value, static_cast<int64_t>(index)};
  }
};

template <class V, class Index>
struct IndexSink {
  Index* data;
  TROUPE_ANY void operator()(size_t output, const Candidate<V>& best) const {
    data[output] = static_cast<Index>(best.index);
  }
};

template <class T, class Index, bool greatest>
Status search(const ArgReductionArguments& arguments, DeviceContext& device) {
  using V = gpu::Wide<T>;
  const auto& [input, output, outer, length, inner] = arguments;
  if (output.elements() == 0) return {};
  return gpu::reduce_box<Candidate<V>>(
      device, gpu::Box{outer, length, inner}, Better<V>{},
      Candidates<T, greatest>{input.template as<T>().data(), gpu::Divider(inner), gpu::Divider(length)},
      IndexSink<V, Index>{arguments.output.write<Index>().data()});
}

template <bool greatest>
Status compute_arg_reduction(const ArgReductionArguments& arguments, DeviceContext& device) {
  return gpu::for_type(gpu::AllFloats{}, arguments.input.dtype(), [&]<class T>(std::type_identity<T>) {
    return arguments.output.dtype() == DType::Int32 ? search<T, int32_t, greatest>(arguments, device)
                                                    : search<T, int64_t, greatest>(arguments, device);
  });
}

}  // namespace

void add_arg_reductions_on_gpu(OpLibrary& library) {
  const auto types = dtypes(gpu::AllFloats{});
  library.kernel(gpu_kernel("ArgMax", check_arg_reduction, compute_arg_reduction<true>).on("T", types));
  library.kernel(gpu_kernel("ArgMin", check_arg_reduction, compute_arg_reduction<false>).on("T", types));
}

}  // namespace troupe
