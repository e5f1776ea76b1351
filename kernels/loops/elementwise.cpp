#include "kernels/loops/elementwise.h"

#include "graph/build/shape_context.h"
#include "kernels/core/parallel.h"
#include "kernels/loops/cast.h"

namespace troupe {
namespace {

constexpr size_t narrow_block = 512;  ///< the number of elements that are widened at a time

/// Returns the loop of a function for the dtypes of a node.
template <class Loop, class LoopOf>
WidenedLoop<Loop> loop_for(const PrepareContext& context, LoopOf loop_of) {
  const DType input = context.input_dtype(0), output = context.node.output_types[0].dtype;
  WidenedLoop<Loop> result{loop_of(compute_dtype(input)), size_of(input), size_of(output)};
  if (is_narrow(input)) result.widen = cast_loop(input, DType::Float);
  if (is_narrow(output)) result.narrow = cast_loop(DType::Float, output);
  return result;
}

struct UnaryStep : WidenedLoop<UnaryLoop> {
  void operator()(const std::byte* x, std::byte* y, size_t n) const {
    if (!widen) return loop(x, y, n);
    float wide[narrow_block];
    for (size_t i = 0; i < n; i += narrow_block) {
      const size_t m = std::min(narrow_block, n - i);
      std::byte* const to = y + i * output_bytes;
      widen(x + i * input_bytes, wide, m);
      loop(wide, narrow ? static_cast<void*>(wide) : to, m);
      if (narrow) narrow(wide, to, m);
    }
  }
};

struct UnaryCompute {
  UnaryStep step;
  size_t cost;

  UnaryCompute(UnaryStep unary, Cost kind)
      : step(unary), cost((unary.input_bytes + unary.output_bytes) * static_cast<size_t>(kind)) {}

  void operator()(const UnaryArguments& arguments, DeviceContext& device) const {
    if (arguments.n == 1) return step(arguments.x, arguments.y, 1);
    parallel_items(device.pool(), arguments.n, cost, [&](size_t begin, size_t end) {
      step(arguments.x + begin * step.input_bytes, arguments.y + begin * step.output_bytes, end - begin);
    });
  }
};

/// The arguments of a binary op, and input 1 whose elements are checked.
struct GuardedArguments : BinaryArguments {
  const Tensor& second;
};
struct GuardedCheck : BinaryCheck {
  Result<GuardedArguments> operator()(KernelContext& context) const {
    TROUPE_ASSIGN(auto arguments, BinaryCheck::operator()(context));
    return GuardedArguments{std::move(arguments), context.input(1)};
  }
};
struct GuardedCompute : BinaryCompute {
  SecondCheck check;

  Status operator()(const GuardedArguments& arguments, DeviceContext& device) const {
    if (arguments.n != 0) TROUPE_RETURN_IF_FAILED(check(arguments.second));
    BinaryCompute::operator()(arguments, device);
    return {};
  }
};

/// Returns every dtype for which there is a loop; the narrow floats use the loop of float.
template <class LoopOf>
std::vector<DType> served(LoopOf loop_of) {
  std::vector<DType> result;
  for (int64_t number = 1; dtype_from_number(number).ok(); ++number) {
    const auto dtype = static_cast<DType>(number);
    if (loop_of(compute_dtype(dtype))) result.push_back(dtype);
  }
  return result;
}

KernelDef two_input_kernel(std::string op, BinaryLoopOf loop_of, Cost cost, BinaryCheck check,
                           SecondCheck second = nullptr) {
  check.keeps_second = second != nullptr;
  KernelDef def =
      kernel_on("CPU", std::move(op), [=](const PrepareContext& context) -> Result<std::unique_ptr<Kernel>> {
        const BinaryCompute compute(context, loop_of, cost);
        return second ? make_kernel(GuardedCheck{check}, GuardedCompute{compute, second})
                      : make_kernel(check, compute);
      });
  return std::move(def).inexpensive().on("T", served(loop_of));
}

}  // namespace

Result<UnaryArguments> check_unary(KernelContext& context) {
  const Tensor& input = context.input(0);
  const auto n = static_cast<size_t>(input.elements());
  const std::byte* const x = input.data();
  TROUPE_ASSIGN(Tensor* const output, context.forward(0, 0, input.shape()));
  return UnaryArguments{x, output->mutable_data(), n};
}

Result<BinaryArguments> BinaryCheck::operator()(KernelContext& context) const {
  const Tensor &a = context.input(0), &b = context.input(1);
  BinaryArguments arguments;  // without braces, which would first set all of its bytes to zero
  arguments.a = a.data();
  arguments.b = b.data();
  if (shape_of || a.shape() != b.shape()) {
    if (!broadcasts)
      return invalid_argument("the inputs have shapes " + a.shape().text() + " and " + b.shape().text() +
                              "; they must have the same shape");
    Result<Shape> second = shape_of ? shape_of(context) : b.shape();
    if (!second) return second.status();
    TROUPE_ASSIGN(arguments.broadcast, Broadcast<2>::make({a.shape().dims(), second->dims()},
                                                          context.node().output_types[0].dtype));
  }
  const Shape& shape = arguments.broadcast ? arguments.broadcast->shape() : a.shape();
  arguments.n = static_cast<size_t>(shape.elements());
  // The output may use the memory of an input only if it has as many elements.
  const auto fits = [&](const Tensor& input) {
    return input.unique() && input.elements() == shape.elements();
  };
  TROUPE_ASSIGN(Tensor* const output, fits(a)                    ? context.forward(0, 0, shape)
                                      : !keeps_second && fits(b) ? context.forward(1, 0, shape)
                                                                 : context.output(0, shape));
  arguments.out = output->mutable_data();
  return arguments;
}

BinaryCompute::BinaryCompute(const PrepareContext& context, BinaryLoopOf loop_of, Cost cost)
    : loop_(loop_for<BinaryLoop>(context, loop_of)),
      cost_((2 * loop_.input_bytes + loop_.output_bytes) * static_cast<size_t>(cost)) {}

void BinaryCompute::operator()(const BinaryArguments& arguments, DeviceContext& device) const {
  if (arguments.broadcast) return run_broadcast(arguments, device.pool());
  if (arguments.n == 1) return step(arguments.a, 1, arguments.b, 1, arguments.out, 1);
  parallel_items(device.pool(), arguments.n, cost_, [&](size_t begin, size_t end) {
    step(arguments.a + begin * loop_.input_bytes, 1, arguments.b + begin * loop_.input_bytes, 1,
         arguments.out + begin * loop_.output_bytes, end - begin);
  });
}

void BinaryCompute::run_broadcast(const BinaryArguments& arguments, Pool& pool) const {
  const Broadcast<2>& broadcast = *arguments.broadcast;
  const auto steps = broadcast.inner().steps;
  parallel_items(pool, arguments.n, cost_, [&](size_t begin, size_t end) {
    broadcast.walk(begin, end, [&](const auto& from, size_t at, size_t count) {
      step(arguments.a + from[0] * loop_.input_bytes, steps[0], arguments.b + from[1] * loop_.input_bytes,
           steps[1], arguments.out + at * loop_.output_bytes, count);
    });
  });
}

void BinaryCompute::step(const std::byte* a, size_t step_a, const std::byte* b, size_t step_b, std::byte* out,
                         size_t n) const {
  const auto& [loop, input_bytes, output_bytes, widen, narrow] = loop_;
  if (!widen) return loop(a, step_a, b, step_b, out, n);
  float wide_a[narrow_block], wide_b[narrow_block], result[narrow_block];
  for (size_t i = 0; i < n; i += narrow_block) {
    const size_t m = std::min(narrow_block, n - i);
    std::byte* const to = out + i * output_bytes;
    widen(a + i * step_a * input_bytes, wide_a, step_a == 0 ? 1 : m);
    widen(b + i * step_b * input_bytes, wide_b, step_b == 0 ? 1 : m);
    loop(wide_a, step_a, wide_b, step_b, narrow ? static_cast<void*>(result) : to, m);
    if (narrow) narrow(result, to, m);
  }
}

KernelDef unary_kernel(std::string op, UnaryLoopOf loop_of, Cost cost) {
  KernelDef def =
      kernel_on("CPU", std::move(op), [=](const PrepareContext& context) -> Result<std::unique_ptr<Kernel>> {
        return make_kernel(check_unary, UnaryCompute(UnaryStep{loop_for<UnaryLoop>(context, loop_of)}, cost));
      });
  return std::move(def).inexpensive().on("T", served(loop_of));
}

KernelDef binary_kernel(std::string op, BinaryLoopOf loop_of, Cost cost, SecondCheck check) {
  return two_input_kernel(std::move(op), loop_of, cost, {}, check);
}

KernelDef binary_kernel(std::string op, BinaryLoopOf loop_of, SecondShapeOf shape_of) {
  return two_input_kernel(std::move(op), loop_of, Cost::Arithmetic, {.shape_of = shape_of});
}

KernelDef paired_kernel(std::string op, BinaryLoopOf loop_of, Cost cost) {
  return two_input_kernel(std::move(op), loop_of, cost, {.broadcasts = false});
}

Status same_shapes(ShapeContext& context) {
  TROUPE_ASSIGN(auto shape, merge(context.input(0), context.input(1)));
  context.set_output(0, std::move(shape));
  return {};
}

}  // namespace troupe
