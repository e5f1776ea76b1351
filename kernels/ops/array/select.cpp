// Select(condition, t, e): t where the condition is true, e elsewhere. t and e have the same type and shape. The condition has that
// shape, too, or is a scalar that decides for all elements, or a vector that decides for each row (dimension 0) of t and e.
// SelectV2(condition, t, e): the same, where t and e have the same type and all three inputs broadcast as in NumPy.
#include "kernels/ops/array/select.h"

#include "graph/build/gradients.h"
#include "graph/build/shape_context.h"
#include "kernels/constructors.h"
#include "kernels/core/parallel.h"
#include "kernels/core/type_dispatch.h"
#include "kernels/loops/vector_loops.h"
#include "kernels/ops/broadcast_gradients.h"

namespace troupe {
namespace {

Status select_shape(ShapeContext& context) {
  TROUPE_ASSIGN(auto shape, merge(context.input(1), context.input(2)));
  const PartialShape& condition = context.input(0);
  if (condition.known_rank() && shape.known_rank() && condition.rank() != 0) {
    const bool rows = condition.rank() == 1 && shape.rank() > 1;
    TROUPE_ASSIGN(auto merged, merge(condition, rows ? PartialShape::vector(shape[0]) : shape));
    if (!rows) shape = std::move(merged);
  }
  context.set_output(0, std::move(shape));
  return {};
}

/// Returns the number of elements for which each element of the condition decides.
Result<size_t> elements_per_condition(const Tensor& condition, const Tensor& t) {
  if (condition.shape().is_scalar()) return static_cast<size_t>(t.elements());
  if (condition.shape() == t.shape()) return size_t{1};
  if (condition.shape().rank() == 1 && t.shape().rank() > 1 && condition.shape()[0] == t.shape()[0])
    return t.shape()[0] == 0 ? size_t{1} : static_cast<size_t>(t.elements() / t.shape()[0]);
  return invalid_argument(
      "condition has shape " + condition.shape().text() + " and t is " + t.signature() +
      "; condition must be a scalar, have the shape of t, or have one element for each row of t");
}

template <class T>
void choose(const bool* condition, const T* t, const T* e, T* out, size_t n) {
  if constexpr (std::is_integral_v<T>)
    if (const SelectLoop loop = select_loop(sizeof(T))) return loop(condition, t, e, out, n);
  for (size_t i = 0; i < n; ++i) out[i] = condition[i] ? t[i] : e[i];
}

Status select_v2_shape(ShapeContext& context) {
  TROUPE_ASSIGN(auto shape, broadcast(context.input(1), context.input(2)));
  TROUPE_ASSIGN(shape, broadcast(context.input(0), shape));
  context.set_output(0, std::move(shape));
  return {};
}

template <bool RepeatsT, bool RepeatsE, class T>
void choose_run(const bool* condition, const T* t, const T* e, T* out, size_t n) {
  for (size_t i = 0; i < n; ++i) out[i] = condition[i] ? t[RepeatsT ? 0 : i] : e[RepeatsE ? 0 : i];
}

/// A line of a broadcast; a step of 0 repeats the first element of that input.
template <class T>
void choose_line(const Broadcast<3>::Offsets& steps, const bool* condition, const T* t, const T* e, T* out,
                 size_t n) {
  if (steps[0] == 0) {
    const T* const from = *condition ? t : e;
    if (steps[*condition ? 1 : 2] != 0)
      std::copy_n(from, n, out);
    else
      std::fill_n(out, n, *from);
  } else if (steps[1] != 0 && steps[2] != 0) {
    choose(condition, t, e, out, n);
  } else if (steps[1] != 0) {
    choose_run<false, true>(condition, t, e, out, n);
  } else if (steps[2] != 0) {
    choose_run<true, false>(condition, t, e, out, n);
  } else {
    choose_run<true, true>(condition, t, e, out, n);
  }
}

/// The addresses of the elements of the inputs and the output.
template <class T>
struct SelectSides {
  const bool* condition;
  const T *t, *e;
  T* out;
};

template <class T>
void select(Pool& pool, const SelectSides<T>& sides, const SelectArguments& arguments) {
  const size_t n = arguments.per_condition;
  parallel_rows(pool, static_cast<size_t>(arguments.condition.elements()), 3 * sizeof(T) * n,
                [&](size_t begin, size_t end) {
                  const auto [condition, t, e, out] = sides;
                  if (n == 1)
                    return choose(condition + begin, t + begin, e + begin, out + begin, end - begin);
                  for (size_t i = begin; i < end; ++i)
                    std::copy_n((condition[i] ? t : e) + i * n, n, out + i * n);
                });
}

template <class T>
void select(Pool& pool, const SelectSides<T>& sides, const Broadcast<3>& broadcast) {
  parallel_items(pool, static_cast<size_t>(broadcast.shape().elements()), 3 * sizeof(T),
                 [&](size_t begin, size_t end) {
                   broadcast.walk(begin, end, [&](const auto& from, size_t at, size_t n) {
                     choose_line(broadcast.inner().steps, sides.condition + from[0], sides.t + from[1],
                                 sides.e + from[2], sides.out + at, n);
                   });
                 });
}

/// If one element of the condition decides for all, the output is that input, if it has the shape of the output.
void measure_select(SelectArguments& arguments, DeviceContext&) {
  if (!arguments.condition.shape().is_scalar()) return;
  const Tensor& side = arguments.condition.as<bool>()[0] ? arguments.t : arguments.e;
  if (side.shape() == arguments.shape()) arguments.chosen = &side;
}

void compute_select(const SelectArguments& arguments, DeviceContext& device) {
  if (arguments.chosen) return;
  with_storage(arguments.t.dtype(), [&]<class T>(std::type_identity<T>) {
    const SelectSides<T> sides{arguments.condition.as<bool>().data(),
                               reinterpret_cast<const T*>(arguments.t.data()),
                               reinterpret_cast<const T*>(arguments.e.data()),
                               reinterpret_cast<T*>(arguments.output->mutable_data())};
    if (arguments.broadcast) return select(device.pool(), sides, *arguments.broadcast);
    select(device.pool(), sides, arguments);
  });
}

// ---- Gradients

void select_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const Output gradient = context.gradient(), zeros = zeros_like(scope, gradient);
  context.set(1, where(scope, context.input(0), gradient, zeros));
  context.set(2, where(scope, context.input(0), zeros, gradient));
}

void select_v2_gradient(GradientContext& context) {
  const Scope& scope = context.scope();
  const Output condition = context.input(0), gradient = context.gradient();
  const Output to_t = where_v2(scope, condition, gradient, 0), to_e = where_v2(scope, condition, 0, gradient);
  context.set(1, summed_to_shape_of(scope, to_t, context.input(1)));
  context.set(2, summed_to_shape_of(scope, to_e, context.input(2)));
}

}  // namespace

Result<SelectArguments> check_select(KernelContext& context) {
  const Tensor &condition = context.input(0), &t = context.input(1), &e = context.input(2);
  if (t.shape() != e.shape())
    return invalid_argument("t is " + t.signature() + " and e is " + e.signature() +
                            "; they must have the same shape");
  TROUPE_ASSIGN(const size_t per_condition, elements_per_condition(condition, t));
  return SelectArguments{condition, t, e, per_condition};
}

Result<SelectArguments> check_select_v2(KernelContext& context) {
  const Tensor &condition = context.input(0), &t = context.input(1), &e = context.input(2);
  SelectArguments arguments{condition, t, e};
  if (condition.shape() == t.shape() && t.shape() == e.shape()) return arguments;
  TROUPE_ASSIGN(
      arguments.broadcast,
      Broadcast<3>::make({condition.shape().dims(), t.shape().dims(), e.shape().dims()}, t.dtype()));
  return arguments;
}

Status allocate_select(SelectArguments& arguments, KernelContext& context) {
  if (arguments.chosen) {
    context.set_output(0, *arguments.chosen);
    return {};
  }
  TROUPE_ASSIGN(arguments.output, context.output(0, arguments.shape()));
  return {};
}

void add_select(OpLibrary& library) {
  library.op(OpDefBuilder("Select")
                 .input("condition: bool")
                 .input("t: T")
                 .input("e: T")
                 .output("output: T")
                 .attr("T: type")
                 .constructor("where(condition, x: t, y: e)")
                 .shape(select_shape)
                 .gradient(select_gradient));
  library.op(OpDefBuilder("SelectV2")
                 .input("condition: bool")
                 .input("t: T")
                 .input("e: T")
                 .output("output: T")
                 .attr("T: type")
                 .constructor("where_v2(condition, x: t, y: e)")
                 .shape(select_v2_shape)
                 .gradient(select_v2_gradient));
  const auto kernel = [](const char* name, auto check) {
    return measured_cpu_kernel(name, check, measure_select, allocate_select, compute_select).inexpensive();
  };
  library.kernel(kernel("Select", check_select));
  library.kernel(kernel("SelectV2", check_select_v2));
}

}  // namespace troupe
