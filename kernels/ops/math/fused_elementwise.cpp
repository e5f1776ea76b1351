// Several elementwise ops in one pass over memory, made by the pass graph/passes/fuse.h in place of their nodes:
//   _FusedElementwise(args)    the result of the last step of `program`
// Each step is "OP operand" or "OP operand operand", where OP is an elementwise op of TensorFlow. Operands 0 to num_args - 1 are
// the args, those behind them the results of the steps, in order. The args are scalars and tensors of one shape, of float. Each
// element gets the bits that the ops would give it one by one.
#include <charconv>
#include <map>

#include "graph/build/shape_context.h"
#include "kernels/core/checked_kernel.h"
#include "kernels/core/dims.h"
#include "kernels/core/parallel.h"
#include "kernels/loops/vector_loops.h"

namespace troupe {
namespace {

/// Elements of a step that are computed at a time: they stay in the first-level cache.
constexpr size_t block = 512;

// ---- Programs

struct Step {
  UnaryLoop unary = nullptr;  ///< one of the two loops is set
  BinaryLoop binary = nullptr;
  uint32_t a = 0, b = 0;  ///< operands
  uint32_t to = 0;        ///< the block of memory for the result
  bool costly = false;
};

struct Program {
  std::vector<Step> steps;
  uint32_t args = 0;
  uint32_t blocks = 0;  ///< how many blocks of memory the results need
};

const std::map<std::string_view, VectorUnary>& unary_ops() {
  using enum VectorUnary;
  static const std::map<std::string_view, VectorUnary> ops = {{"Abs", Abs},
                                                              {"Ceil", Ceil},
                                                              {"Elu", Elu},
                                                              {"Erf", Erf},
                                                              {"Exp", Exp},
                                                              {"Expm1", Expm1},
                                                              {"Floor", Floor},
                                                              {"Log", Log},
                                                              {"Log1p", Log1p},
                                                              {"Neg", Neg},
                                                              {"Reciprocal", Reciprocal},
                                                              {"Relu", Relu},
                                                              {"Relu6", Relu6},
                                                              {"Rsqrt", Rsqrt},
                                                              {"Selu", Selu},
                                                              {"Sigmoid", Sigmoid},
                                                              {"Sign", Sign},
                                                              {"Softplus", Softplus},
                                                              {"Softsign", Softsign},
                                                              {"Sqrt", Sqrt},
                                                              {"Square", Square},
                                                              {"Tanh", Tanh}};
  return ops;
}

const std::map<std::string_view, VectorBinary>& binary_ops() {
  using enum VectorBinary;
  static const std::map<std::string_view, VectorBinary> ops = {{"Add", Add},
                                                               {"AddV2", Add},
                                                               {"Div", Div},
                                                               {"EluGrad", EluGrad},
                                                               {"Maximum", Maximum},
                                                               {"Minimum", Minimum},
                                                               {"Mul", Mul},
                                                               {"RealDiv", Div},
                                                               {"ReciprocalGrad", ReciprocalGrad},
                                                               {"Relu6Grad", Relu6Grad},
                                                               {"ReluGrad", ReluGrad},
                                                               {"RsqrtGrad", RsqrtGrad},
                                                               {"SeluGrad", SeluGrad},
                                                               {"SigmoidGrad", SigmoidGrad},
                                                               {"SoftplusGrad", SoftplusGrad},
                                                               {"SoftsignGrad", SoftsignGrad},
                                                               {"SqrtGrad", SqrtGrad},
                                                               {"SquaredDifference", SquaredDifference},
                                                               {"Sub", Sub},
                                                               {"TanhGrad", TanhGrad}};
  return ops;
}

bool is_costly(std::string_view op) {
  static constexpr std::string_view costly[] = {"Elu",  "Erf",     "Exp",      "Expm1",        "Log", "Log1p",
                                                "Selu", "Sigmoid", "Softplus", "SoftplusGrad", "Tanh"};
  return std::ranges::find(costly, op) != std::end(costly);
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    words.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return words;
}

/// Reads an operand, which must be less than `limit`.
Result<uint32_t> operand_of(std::string_view word, size_t limit) {
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size() || value >= limit)
    return invalid_argument("the operand '" + std::string(word) + "' is not a number below " +
                            std::to_string(limit));
  return value;
}

Result<Step> step_of(std::string_view text, size_t operands) {
  const auto words = words_of(text);
  const std::string_view op = words.empty() ? std::string_view() : words[0];
  Step step;
  step.costly = is_costly(op);
  if (const auto unary = unary_ops().find(op); unary != unary_ops().end())
    step.unary = vector_loop(unary->second, DType::Float);
  else if (const auto binary = binary_ops().find(op); binary != binary_ops().end())
    step.binary = vector_loop(binary->second, DType::Float);
  else
    return invalid_argument("the op '" + std::string(op) + "' is not elementwise");
  const size_t wanted = step.unary ? 2 : 3;
  if (words.size() != wanted)
    return invalid_argument("it has " + std::to_string(words.size() - 1) + " operands, expected " +
                            std::to_string(wanted - 1));
  TROUPE_ASSIGN(step.a, operand_of(words[1], operands));
  step.b = step.a;
  if (step.binary) {
    TROUPE_ASSIGN(step.b, operand_of(words[2], operands));
  }
  return step;
}

/// Gives each result a block, which later results get again once nobody needs it.
void assign_blocks(Program& program) {
  const size_t count = program.steps.size();
  std::vector<size_t> last_use(count, 0);
  const auto result = [&](uint32_t operand) { return operand - program.args; };
  for (size_t i = 0; i < count; ++i)
    for (const uint32_t operand : {program.steps[i].a, program.steps[i].b})
      if (operand >= program.args) last_use[result(operand)] = i;
  std::vector<uint32_t> unused;
  for (size_t i = 0; i < count; ++i) {
    Step& step = program.steps[i];
    if (unused.empty()) unused.push_back(program.blocks++);
    step.to = unused.back();
    unused.pop_back();
    for (size_t before = 0; before < i; ++before)
      if (last_use[before] == i) unused.push_back(program.steps[before].to);
  }
}

Result<Program> program_of(const PrepareContext& context) {
  Program program;
  program.args = static_cast<uint32_t>(context.attr<int64_t>("num_args"));
  for (const std::string& text : context.attr<std::vector<std::string>>("program")) {
    auto step = step_of(text, program.args + program.steps.size());
    if (!step)
      return invalid_argument("step " + std::to_string(program.steps.size()) + " of program, '" + text +
                              "': " + step.status().message());
    program.steps.push_back(*step);
  }
  if (program.steps.empty()) return invalid_argument("program has no steps");
  assign_blocks(program);
  return program;
}

// ---- Running them

struct Arguments {
  struct Input {
    const float* data;
    bool scalar;
  };
  ShortList<Input> inputs;
  float* out;
  size_t n;
};

/// Finds the shape that the args have, except for scalars.
class Check {
 public:
  Result<Arguments> operator()(KernelContext& context) const {
    const auto count = static_cast<size_t>(context.node().attrs.get<int64_t>("num_args"));
    size_t whole = 0;
    for (size_t i = 1; i < count; ++i)
      if (context.input(i).shape().rank() > context.input(whole).shape().rank()) whole = i;
    const Shape shape = context.input(whole).shape();
    Arguments arguments;
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
    TROUPE_ASSIGN(Tensor* const output,
                  reused ? context.forward(*reused, 0, shape) : context.output(0, shape));
    arguments.out = output->write<float>().data();
    arguments.n = static_cast<size_t>(shape.elements());
    return arguments;
  }
};

class Compute {
 public:
  explicit Compute(Program program) : program_(std::move(program)) {}

  void operator()(const Arguments& arguments, DeviceContext& device) const {
    parallel_items(device.pool(), arguments.n, cost(), [&](size_t begin, size_t end) {
      std::vector<float> memory(program_.blocks * block);
      std::vector<Operand> operands(program_.args + program_.steps.size());
      for (size_t at = begin; at < end; at += block)
        run(arguments, at, std::min(block, end - at), memory.data(), operands);
    });
  }

 private:
  struct Operand {
    const float* data;
    size_t step;  ///< 0 for a scalar, else 1
  };

  /// In bytes moved, as parallel_items() counts: a costly function takes as long as moving some 32 bytes.
  size_t cost() const {
    size_t bytes = (program_.args + 1) * sizeof(float);
    for (const Step& step : program_.steps) bytes += step.costly ? 32 : 2;
    return bytes;
  }

  void run(const Arguments& arguments, size_t at, size_t count, float* memory,
           std::vector<Operand>& operands) const {
    for (size_t i = 0; i < program_.args; ++i) {
      const Arguments::Input& input = arguments.inputs[i];
      operands[i] = {input.scalar ? input.data : input.data + at, input.scalar ? size_t{0} : 1};
    }
    for (size_t i = 0; i < program_.steps.size(); ++i) {
      const Step& step = program_.steps[i];
      const Operand a = operands[step.a], b = operands[step.b];
      const bool last = i + 1 == program_.steps.size(), scalar = a.step == 0 && b.step == 0;
      float* const to = last ? arguments.out + at : memory + step.to * block;
      const size_t n = scalar ? 1 : count;
      if (step.unary)
        step.unary(a.data, to, n);
      else
        step.binary(a.data, a.step, b.data, b.step, to, n);
      if (scalar && last) std::fill_n(to + 1, count - 1, *to);
      operands[program_.args + i] = {to, scalar ? size_t{0} : 1};
    }
  }

  const Program program_;
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
                             TROUPE_ASSIGN(Program program, program_of(context));
                             return make_kernel(Check(), Compute(std::move(program)));
                           }));
}

}  // namespace troupe
