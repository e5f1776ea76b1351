#include "kernels/loops/elementwise.h"

#include "graph/build/shape_context.h"
#include "kernels/core/parallel.h"
#include "kernels/loops/broadcast.h"
#include "kernels/loops/cast.h"

namespace troupe {
namespace {

constexpr size_t narrow_block = 512;  ///< elements widened at a time

/// The loop of a function for one dtype, with the widening it needs.
template <class Loop>
struct Widened {
  Loop loop = nullptr;
  size_t input_bytes = 0, output_bytes = 0;
  UnaryLoop widen = nullptr, narrow = nullptr;  ///< null: not needed

  Widened(Loop function, DType input, DType output)
      : loop(function), input_bytes(size_of(input)), output_bytes(size_of(output)) {
    if (is_narrow(input)) widen = cast_loop(input, DType::Float);
    if (is_narrow(output)) narrow = cast_loop(DType::Float, output);
  }
};

struct UnaryStep : Widened<UnaryLoop> {
  using Widened::Widened;

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

struct BinaryStep : Widened<BinaryLoop> {
  using Widened::Widened;

  void operator()(const std::byte* a, size_t step_a, const std::byte* b, size_t step_b, std::byte* out,
                  size_t n) const {
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
};

class UnaryKernel final : public Kernel {
 public:
  UnaryKernel(UnaryStep step, Cost cost)
      : step_(step), cost_((step.input_bytes + step.output_bytes) * static_cast<size_t>(cost)) {}

  Outcome run(KernelContext& context) const override {
    const Tensor& input = context.input(0);
    const auto n = static_cast<size_t>(input.elements());
    const std::byte* const x = input.data();
    auto output = context.forward(0, 0, input.shape());
    if (!output) return output.status();
    std::byte* const y = (*output)->mutable_data();
    if (n == 1)
      step_(x, y, 1);
    else
      parallel_items(context.device().pool(), n, cost_, [&](size_t begin, size_t end) {
        step_(x + begin * step_.input_bytes, y + begin * step_.output_bytes, end - begin);
      });
    return Status{};
  }

 private:
  UnaryStep step_;
  size_t cost_;
};

class BinaryKernel final : public Kernel {
 public:
  BinaryKernel(BinaryStep step, Cost cost, BinaryCheck check, bool broadcasts, SecondShapeOf shape_of)
      : step_(step), check_(check), shape_of_(shape_of),
        cost_((2 * step.input_bytes + step.output_bytes) * static_cast<size_t>(cost)),
        broadcasts_(broadcasts) {}

  Outcome run(KernelContext& context) const override {
    const Tensor &a = context.input(0), &b = context.input(1);
    if (shape_of_) {
      const auto shape = shape_of_(context);
      return shape ? run_broadcast(context, a, b.reshaped(*shape)) : shape.status();
    }
    if (a.shape() == b.shape()) return run_paired(context, a, b);
    if (broadcasts_) return run_broadcast(context, a, b);
    return invalid_argument("inputs of shapes " + a.shape().text() + " and " + b.shape().text() +
                            " must have the same shape");
  }

 private:
  Status run_paired(KernelContext& context, const Tensor& a, const Tensor& b) const {
    const auto n = static_cast<size_t>(a.elements());
    if (check_ && n != 0) TROUPE_RETURN_IF_FAILED(check_(a, b));
    const std::byte *const from_a = a.data(), *const from_b = b.data();
    TROUPE_ASSIGN(Tensor* const output, context.forward(a.unique() ? 0 : 1, 0, a.shape()));
    std::byte* const out = output->mutable_data();
    if (n == 1) {
      step_(from_a, 1, from_b, 1, out, 1);
      return {};
    }
    parallel_items(context.device().pool(), n, cost_, [&](size_t begin, size_t end) {
      step_(from_a + begin * step_.input_bytes, 1, from_b + begin * step_.input_bytes, 1,
            out + begin * step_.output_bytes, end - begin);
    });
    return {};
  }

  Status run_broadcast(KernelContext& context, const Tensor& a, const Tensor& b) const {
    TROUPE_ASSIGN(const auto broadcast, Broadcast<2>::make({a.shape().dims(), b.shape().dims()},
                                                           context.node().output_types[0].dtype));
    const auto n = static_cast<size_t>(broadcast.shape().elements());
    if (check_ && n != 0) TROUPE_RETURN_IF_FAILED(check_(a, b));
    const std::byte *const from_a = a.data(), *const from_b = b.data();
    // Only an input of as many elements is read where it is written.
    const auto fits = [&](const Tensor& input) {
      return input.unique() && input.elements() == broadcast.shape().elements();
    };
    TROUPE_ASSIGN(Tensor* const output, fits(a)   ? context.forward(0, 0, broadcast.shape())
                                        : fits(b) ? context.forward(1, 0, broadcast.shape())
                                                  : context.output(0, broadcast.shape()));
    std::byte* const out = output->mutable_data();
    const auto steps = broadcast.inner().steps;
    parallel_items(context.device().pool(), n, cost_, [&](size_t begin, size_t end) {
      broadcast.walk(begin, end, [&](const auto& from, size_t at, size_t count) {
        step_(from_a + from[0] * step_.input_bytes, steps[0], from_b + from[1] * step_.input_bytes, steps[1],
              out + at * step_.output_bytes, count);
      });
    });
    return {};
  }

  BinaryStep step_;
  BinaryCheck check_;
  SecondShapeOf shape_of_;
  size_t cost_;
  bool broadcasts_;
};

/// Every dtype for which there is a loop; the narrow floats come with float.
template <class LoopOf>
std::vector<DType> served(LoopOf loop_of) {
  std::vector<DType> result;
  for (int64_t number = 1; dtype_from_number(number).ok(); ++number) {
    const auto dtype = static_cast<DType>(number);
    if (loop_of(is_narrow(dtype) ? DType::Float : dtype)) result.push_back(dtype);
  }
  return result;
}

template <class Step, class LoopOf>
Step step_for(const PrepareContext& context, LoopOf loop_of) {
  const DType input = context.input_dtype(0), output = context.node.output_types[0].dtype;
  return Step(loop_of(is_narrow(input) ? DType::Float : input), input, output);
}

KernelDef two_input_kernel(std::string op, BinaryLoopOf loop_of, Cost cost, BinaryCheck check,
                           bool broadcasts, SecondShapeOf shape_of = nullptr) {
  KernelDef def{std::move(op),
                "CPU",
                {},
                {},
                {},
                true,
                [=](const PrepareContext& context) -> Result<std::unique_ptr<Kernel>> {
                  return std::unique_ptr<Kernel>(std::make_unique<BinaryKernel>(
                      step_for<BinaryStep>(context, loop_of), cost, check, broadcasts, shape_of));
                }};
  return std::move(def).on("T", served(loop_of));
}

}  // namespace

KernelDef unary_kernel(std::string op, UnaryLoopOf loop_of, Cost cost) {
  KernelDef def{std::move(op),
                "CPU",
                {},
                {},
                {},
                true,
                [=](const PrepareContext& context) -> Result<std::unique_ptr<Kernel>> {
                  return std::unique_ptr<Kernel>(
                      std::make_unique<UnaryKernel>(step_for<UnaryStep>(context, loop_of), cost));
                }};
  return std::move(def).on("T", served(loop_of));
}

KernelDef binary_kernel(std::string op, BinaryLoopOf loop_of, Cost cost, BinaryCheck check) {
  return two_input_kernel(std::move(op), loop_of, cost, check, true);
}

KernelDef binary_kernel(std::string op, BinaryLoopOf loop_of, SecondShapeOf shape_of) {
  return two_input_kernel(std::move(op), loop_of, Cost::Arithmetic, nullptr, true, shape_of);
}

KernelDef paired_kernel(std::string op, BinaryLoopOf loop_of, Cost cost) {
  return two_input_kernel(std::move(op), loop_of, cost, nullptr, false);
}

Status same_shapes(ShapeContext& context) {
  TROUPE_ASSIGN(auto shape, merge(context.input(0), context.input(1)));
  context.set_output(0, std::move(shape));
  return {};
}

}  // namespace troupe
