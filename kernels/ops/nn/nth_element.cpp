// NthElement(input, n): of each row of `input`, which is one along its last dimension, the element that would be at index n if the
// row were sorted; with `reverse` sorted from the greatest on. NaN comes after all numbers in both orders. Real types. Fails with
// InvalidArgument for a scalar input and for an n outside [0, columns). A row of n elements costs O(n).
#include <algorithm>
#include <cmath>

#include "graph/build/gradients.h"
#include "graph/build/shape_context.h"
#include "kernels/constructors.h"
#include "kernels/core/arguments.h"
#include "kernels/core/checked_kernel.h"
#include "kernels/core/parallel.h"
#include "kernels/core/type_dispatch.h"

namespace troupe {
namespace {

Status check_n(int64_t n, int64_t columns) {
  if (n >= 0 && (columns == unknown_dim || n < columns)) return {};
  return invalid_argument(
      "n is " + std::to_string(n) + "; it must be in [0, " +
      (columns == unknown_dim ? std::string("columns of input") : std::to_string(columns)) + ")");
}

Status nth_element_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(context.with_rank(1, 0).status());
  const PartialShape& input = context.input(0);
  if (!input.known_rank()) return {};
  if (input.rank() == 0) return invalid_argument("input is a scalar; it must have at least one dimension");
  if (const auto n = constant_integer(context, 1)) TROUPE_RETURN_IF_FAILED(check_n(*n, input.dims().back()));
  context.set_output(0, partial(input.dims().first(input.rank() - 1)));
  return {};
}

struct NthElementArguments {
  const Tensor& input;
  Tensor& values;
  size_t columns, n;
  bool reverse;
};

Result<NthElementArguments> check_nth_element(KernelContext& context) {
  const Tensor &input = context.input(0), &n = context.input(1);
  if (input.shape().is_scalar())
    return invalid_argument("input is a scalar; it must have at least one dimension");
  if (!n.shape().is_scalar()) return invalid_argument("n of shape " + n.shape().text() + " is not a scalar");
  const auto dims = input.shape().dims();
  const int64_t wanted = integers(n)[0];
  TROUPE_RETURN_IF_FAILED(check_n(wanted, dims.back()));
  TROUPE_ASSIGN(const Shape shape, Shape::make(dims.first(dims.size() - 1), input.dtype()));
  TROUPE_ASSIGN(Tensor* const values, context.output(0, shape));
  return NthElementArguments{input, *values, static_cast<size_t>(dims.back()), static_cast<size_t>(wanted),
                             context.node().attrs.get<bool>("reverse")};
}

template <class C>
bool comes_before(C a, C b, bool reverse) {
  if constexpr (std::is_floating_point_v<C>)
    if (std::isnan(a) || std::isnan(b)) return !std::isnan(a);
  return reverse ? a > b : a < b;
}

template <class T>
void find_rows(const NthElementArguments& arguments, size_t begin, size_t end) {
  using C = ComputeType<T>;
  const size_t columns = arguments.columns;
  const T* const input = arguments.input.as<T>().data();
  T* const values = arguments.values.write<T>().data();
  std::vector<C> row(columns);
  for (size_t i = begin; i < end; ++i) {
    std::transform(input + i * columns, input + (i + 1) * columns, row.begin(),
                   [](T value) { return static_cast<C>(value); });
    const auto nth = row.begin() + static_cast<ptrdiff_t>(arguments.n);
    std::nth_element(row.begin(), nth, row.end(),
                     [&](C a, C b) { return comes_before(a, b, arguments.reverse); });
    values[i] = T(*nth);
  }
}

void compute_nth_element(const NthElementArguments& arguments, DeviceContext& device) {
  const auto rows = static_cast<size_t>(arguments.values.elements());
  with_type(RealTypes{}, arguments.input.dtype(), [&]<class T>(std::type_identity<T>) {
    parallel_rows(device.pool(), rows, 8 * arguments.columns * sizeof(T),
                  [&](size_t begin, size_t end) { find_rows<T>(arguments, begin, end); });
  });
}

/// The gradient of a row is shared by all of its elements that equal the output.
void nth_element_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const Output input = context.input(0);
  const Output is_equal = cast(scope, equal(scope, expand_dims(scope, context.output(0), -1), input),
                               scope.dtype(context.gradient()));
  const Output count = sum(scope, is_equal, -1, true);
  context.set(0, mul(scope, div(scope, is_equal, count), expand_dims(scope, context.gradient(), -1)));
}

}  // namespace

void add_nth_element(OpLibrary& library) {
  library.op(OpDefBuilder("NthElement")
                 .input("input: T")
                 .host_input("n: int32")
                 .output("values: T")
                 .attr("reverse: bool = false")
                 .attr("T: realnumbertype")
                 .constructor("nth_element(input, n, reverse)")
                 .shape(nth_element_shape)
                 .gradient(nth_element_gradient));
  library.kernel(
      cpu_kernel("NthElement", check_nth_element, compute_nth_element).on("T", dtypes(RealTypes{})));
}

}  // namespace troupe
