// Cast(x): x in dtype DstT; every pair of numbers and bool. How each pair converts stands at cast_loop
// (cast.h).
#include "kernels/cast.h"

#include <cmath>
#include <limits>

#include "graph/gradients.h"
#include "graph/shape_context.h"
#include "kernels/all_ops.h"
#include "kernels/parallel.h"
#include "kernels/type_dispatch.h"

namespace troupe {
namespace {

template <class T>
inline constexpr bool is_stored_only = std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>;

/// The nearest integer of type T towards zero; NaN is 0.
template <class T, class Float>
T saturated(Float x) {
  constexpr auto above =
      static_cast<Float>(2) * static_cast<Float>(std::numeric_limits<T>::max() / 2 + 1);  // max + 1, exactly
  if (std::isnan(x)) return T{0};
  if (x >= above) return std::numeric_limits<T>::max();
  if (x <= static_cast<Float>(std::numeric_limits<T>::lowest())) return std::numeric_limits<T>::lowest();
  return static_cast<T>(x);
}

template <class To, class From>
To converted(From x) {
  if constexpr (std::is_same_v<To, From>) {
    return x;
  } else if constexpr (is_stored_only<From>) {
    return converted<To>(static_cast<float>(x));
  } else if constexpr (is_stored_only<To>) {
    return To(converted<float>(x));
  } else if constexpr (is_complex_type<From> && is_complex_type<To>) {
    using Part = typename To::value_type;
    return To(static_cast<Part>(x.real()), static_cast<Part>(x.imag()));
  } else if constexpr (std::is_same_v<To, bool>) {
    return x != From{};
  } else if constexpr (is_complex_type<From>) {
    return converted<To>(x.real());
  } else if constexpr (is_complex_type<To>) {
    return To(static_cast<typename To::value_type>(x));
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    return saturated<To>(x);
  } else {
    return static_cast<To>(x);
  }
}

template <class From, class To>
void loop(const void* input, void* output, size_t n) {
  const From* x = static_cast<const From*>(input);
  To* y = static_cast<To*>(output);
#pragma GCC ivdep
  for (size_t i = 0; i < n; ++i) y[i] = converted<To>(x[i]);
}

Status run_cast(KernelContext& context) {
  const Tensor& input = context.input(0);
  if (input.dtype() == context.node().output_types[0].dtype) {
    context.set_output(0, input);
    return {};
  }
  TROUPE_ASSIGN(Tensor* const output, context.output(0, input.shape()));
  convert(context.device().pool(), input, *output);
  return {};
}

/// Flows back between types that carry gradients.
void cast_gradient(GradientContext& context) {
  const auto from = context.attr<DType>("SrcT");
  if (is_differentiable(from) && is_differentiable(context.attr<DType>("DstT")))
    context.set(0, context.scope().add_one("Cast", {context.gradient()}, {{"DstT", from}}));
}

}  // namespace

UnaryLoop cast_loop(DType from, DType to) {
  UnaryLoop result = vector_cast_loop(from, to);
  if (result) return result;
  with_type(PlainTypes{}, from, [&]<class From>(std::type_identity<From>) {
    with_type(PlainTypes{}, to, [&]<class To>(std::type_identity<To>) { result = loop<From, To>; });
  });
  return result;
}

void convert(Pool& pool, const Tensor& from, Tensor& to) {
  const UnaryLoop loop = cast_loop(from.dtype(), to.dtype());
  const size_t from_bytes = size_of(from.dtype()), to_bytes = size_of(to.dtype());
  parallel_items(pool, static_cast<size_t>(from.elements()), from_bytes + to_bytes,
                 [&](size_t begin, size_t end) {
                   loop(from.data() + begin * from_bytes, to.mutable_data() + begin * to_bytes, end - begin);
                 });
}

void add_cast(OpLibrary& library) {
  library.op(OpDefBuilder("Cast")
                 .input("x: SrcT")
                 .output("y: DstT")
                 .attr("SrcT: type")
                 .attr("DstT: type")
                 .constructor("cast(x, dtype: DstT)")
                 .shape(unchanged_shape)
                 .gradient(cast_gradient));
  library.kernel(cpu_kernel("Cast", run_cast)
                     .on("SrcT", dtypes(PlainTypes{}))
                     .on("DstT", dtypes(PlainTypes{}))
                     .inexpensive());
}

}  // namespace troupe
