// Several elementwise ops in one pass over memory, made by the pass graph/passes/fuse/fuse.h in place of their nodes:
//   _FusedElementwise(args)    the result of the last step of `program`
// Each step is "OP operand" or "OP operand operand", where OP is an elementwise op of TensorFlow. Operands 0 to num_args - 1 are
// the args, those behind them the results of the steps, in order. The args are scalars and tensors of one shape, of float. Each
// element gets the bits that the ops would give it one by one.
#include "kernels/ops/math/fused_elementwise.h"

#include <optional>

#include "graph/build/shape_context.h"
#include "kernels/core/parallel.h"

namespace troupe {
namespace {

/// Elements of a step that are computed at a time: they stay in the first-level cache.
constexpr size_t block = 512;

class Compute {
 public:
  explicit Compute(FusedProgram program) : program_(std::move(program)) {
    for (const FusedStep& step : program_.steps)
      loops_.push_back(step.is_binary ? Loops{nullptr, vector_loop(step.binary, DType::Float)}
                                      : Loops{vector_loop(step.unary, DType::Float), nullptr});
  }

  void operator()(const FusedElementwiseArguments& arguments, DeviceContext& device) const {
    parallel_items(device.pool(), arguments.n, cost(), [&](size_t begin, size_t end) {
      std::vector<float> memory(program_.blocks * block);
      std::vector<Operand> operands(program_.args + program_.steps.size());
      for (size_t at = begin; at < end; at += block)
        run(arguments, at, std::min(block, end - at), memory.data(), operands);
    });
  }

 private:
  struct Loops {
    UnaryLoop unary;  ///< one of the two is set
    BinaryLoop binary;
  };
  struct Operand {
    const float* data;
    size_t step;  ///< 0 for a scalar, else 1
  };

  /// In bytes moved, as parallel_items() counts: a costly function takes as long as moving some 32 bytes.
  size_t cost() const {
    size_t bytes = (program_.args + 1) * sizeof(float);
    for (const FusedStep& step : program_.steps) bytes += step.costly ? 32 : 2;
    return bytes;
  }

  void run(const FusedElementwiseArguments& arguments, size_t at, size_t count, float* memory,
           std::vector<Operand>& operands) const {
    for (size_t i = 0; i < program_.args; ++i) {
      const FusedElementwiseArguments::Input& input = arguments.inputs[i];
      operands[i] = {input.scalar ? input.data : input.data + at, input.scalar ? size_t{0} : 1};
    }
    for (size_t i = 0; i < program_.steps.size(); ++i) {
      const FusedStep& step = program_.steps[i];
      const Operand a = operands[step.a], b = operands[step.b];
      const bool last = i + 1 == program_.steps.size(), scalar = a.step == 0 && b.step == 0;
      float* const to = last ? arguments.out + at : memory + step.to * block;
      const size_t n = scalar ? 1 : count;
      if (step.is_binary)
        loops_[i].binary(a.data, a.step, b.data, b.step, to, n);
      else
        loops_[i].unary(a.data, to, n);
      if (scalar && last) std::fill_n(to + 1, count - 1, *to);
      operands[program_.args + i] = {to, scalar ? size_t{0} : 1};
    }
  }

  const FusedProgram program_;
  std::vector<Loops> loops_;
};

Status fused_shape(ShapeContext& context) {
  PartialShape shape = context.input(0);
  for (size_t i = 1; i < context.inputs(); ++i) {
    if (context.input(i).has_rank(0)) continue;
    if (shape.has_rank(0)) {
      shape = context.input(i);
      continue;
    }
    TROUPE_ASSIGN(shape, shape.known_rank() && context.input(i).known_rank() ? merge(shape, context.input(i))
                                                                             : PartialShape());
  }
  context.set_output(0, std::move(shape));
  return {};
}

}  // namespace

Result<FusedElementwiseArguments> check_fused_elementwise(KernelContext& context) {
  const auto count = static_cast<size_t>(context.node().attrs.get<int64_t>("num_args"));
  size_t whole = 0;
  for (size_t i = 1; i < count; ++i)
    if (context.input(i).shape().rank() > context.input(whole).shape().rank()) whole = i;
  const Shape shape = context.input(whole).shape();
  FusedElementwiseArguments arguments;
  std::optional<size_t> reused;
  for (size_t i = 0; i < count; ++i) {
    const Tensor& input = context.input(i);
    const bool scalar = input.shape().rank() == 0;
    if (!scalar && input.shape() != shape)
      return invalid_argument("args " + std::to_string(whole) + " and " + std::to_string(i) +
                              " have the shapes " + shape.text() + " and " + input.shape().text() +
                              "; they must have the same shape or be scalars");
    arguments.inputs.push_back({input.as<float>().data(), scalar});
    if (!scalar && input.unique()) reused = i;
  }
  TROUPE_ASSIGN(Tensor* const output, reused ? context.forward(*reused, 0, shape) : context.output(0, shape));
  arguments.out = output->write<float>().data();
  arguments.n = static_cast<size_t>(shape.elements());
  return arguments;
}

void add_fused_elementwise_ops(OpLibrary& library) {
  library.op(OpDefBuilder("_FusedElementwise")
                 .input("args: num_args * T")
                 .output("output: T")
                 .attr("T: {float}")
                 .attr("num_args: int >= 1")
                 .attr("program: list(string)")
                 .shape(fused_shape));
  library.kernel(kernel_on("CPU", "_FusedElementwise",
                           [](const PrepareContext& context) -> Result<std::unique_ptr<Kernel>> {
                             TROUPE_ASSIGN(FusedProgram program, fused_program_of(context));
                             return make_kernel(check_fused_elementwise, Compute(std::move(program)));
                           }));
}

}  // namespace troupe
