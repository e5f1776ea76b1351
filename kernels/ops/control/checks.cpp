// Checks (features.md U7): ops that exist to fail.
//   Assert(condition, data...)   has no output. Unless the scalar `condition` is true, it fails with InvalidArgument and shows the
//                                first `summarize` elements of each of `data`
// Not differentiable. The inputs are in host memory, where the text of the error is made.
#include <algorithm>
#include <charconv>

#include "graph/build/shape_context.h"
#include "kernels/core/kernel.h"
#include "kernels/core/type_dispatch.h"

namespace troupe {
namespace {

template <class T>
std::string element_text(const T& value) {
  if constexpr (std::is_same_v<T, std::string>) {
    return value;
  } else if constexpr (std::is_same_v<T, bool>) {
    return value ? "1" : "0";
  } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    return element_text(static_cast<float>(value));
  } else if constexpr (std::is_floating_point_v<T> || std::is_integral_v<T>) {
    char digits[32];
    return {digits, std::to_chars(digits, digits + sizeof digits, value).ptr};
  } else {
    return '(' + element_text(value.real()) + ',' + element_text(value.imag()) + ')';
  }
}

/// Returns "[1 2 3...]": at most `max_elements` elements, all of them if that is negative.
std::string summary(const Tensor& tensor, int64_t max_elements) {
  std::string text = "[";
  with_type(Joined<PlainTypes, TypeList<std::string>>{}, tensor.dtype(), [&]<class T>(std::type_identity<T>) {
    const auto elements = tensor.as<T>();
    const size_t shown =
        max_elements < 0 ? elements.size() : std::min(elements.size(), static_cast<size_t>(max_elements));
    for (size_t i = 0; i < shown; ++i) text += (i == 0 ? "" : " ") + element_text(elements[i]);
    if (shown < elements.size()) text += "...";
  });
  return text + ']';
}

Status run_assert(KernelContext& context) {
  const Tensor& condition = context.input(0);
  if (!condition.shape().is_scalar())
    return invalid_argument("condition must be a scalar, but its shape is " + condition.shape().text());
  if (condition.item<bool>()) return {};
  const auto max_elements = context.node().attrs.get<int64_t>("summarize");
  std::string text = "assertion failed:";
  for (size_t i = 1; i < context.inputs(); ++i) text += ' ' + summary(context.input(i), max_elements);
  return invalid_argument(std::move(text));
}

}  // namespace

void add_check_ops(OpLibrary& library) {
  library.op(OpDefBuilder("Assert")
                 .host_input("condition: bool")
                 .host_input("data: T")
                 .attr("T: list(type) >= 1")
                 .attr("summarize: int = 3")
                 .constructor("assert_that(condition, data, summarize)")
                 .effect(Effect::Guard)
                 .shape(no_output_shape)
                 .not_differentiable());
  library.kernel(host_kernel("Assert", run_assert).inexpensive());
}

}  // namespace troupe
