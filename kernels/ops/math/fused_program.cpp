// Reads the programs of _FusedElementwise: see fused_elementwise.cpp.
#include <algorithm>
#include <charconv>
#include <map>

#include "kernels/ops/math/fused_elementwise.h"

namespace troupe {
namespace {

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

/// Returns the name of the function that an op computes.
std::string_view function_of(std::string_view op) {
  return op == "AddV2" ? "Add" : op == "RealDiv" ? "Div" : op;
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

Result<FusedStep> step_of(std::string_view text, size_t operands) {
  const auto words = words_of(text);
  const std::string_view op = words.empty() ? std::string_view() : words[0];
  FusedStep step;
  step.function = function_of(op);
  step.costly = is_costly(op);
  if (const auto unary = unary_ops().find(op); unary != unary_ops().end()) {
    step.unary = unary->second;
  } else if (const auto binary = binary_ops().find(op); binary != binary_ops().end()) {
    step.is_binary = true;
    step.binary = binary->second;
  } else {
    return invalid_argument("the op '" + std::string(op) + "' is not elementwise");
  }
  const size_t wanted = step.is_binary ? 3 : 2;
  if (words.size() != wanted)
    return invalid_argument("it has " + std::to_string(words.size() - 1) + " operands, expected " +
                            std::to_string(wanted - 1));
  TROUPE_ASSIGN(step.a, operand_of(words[1], operands));
  step.b = step.a;
  if (step.is_binary) {
    TROUPE_ASSIGN(step.b, operand_of(words[2], operands));
  }
  return step;
}

/// Gives each result a block, which later results get again once nobody needs it.
void assign_blocks(FusedProgram& program) {
  const size_t count = program.steps.size();
  std::vector<size_t> last_use(count, 0);
  const auto result = [&](uint32_t operand) { return operand - program.args; };
  for (size_t i = 0; i < count; ++i)
    for (const uint32_t operand : {program.steps[i].a, program.steps[i].b})
      if (operand >= program.args) last_use[result(operand)] = i;
  std::vector<uint32_t> unused;
  for (size_t i = 0; i < count; ++i) {
    FusedStep& step = program.steps[i];
    if (unused.empty()) unused.push_back(program.blocks++);
    step.to = unused.back();
    unused.pop_back();
    for (size_t before = 0; before < i; ++before)
      if (last_use[before] == i) unused.push_back(program.steps[before].to);
  }
}

}  // namespace

Result<FusedProgram> parse_program(const std::vector<std::string>& steps, uint32_t args) {
  FusedProgram program;
  program.args = args;
  for (const std::string& text : steps) {
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

Result<FusedProgram> fused_program_of(const PrepareContext& context) {
  return parse_program(context.attr<std::vector<std::string>>("program"),
                       static_cast<uint32_t>(context.attr<int64_t>("num_args")));
}

// Arg i is a<i>, the result of step i is r<i>.
std::string source_of(const FusedProgram& program) {
  const auto operand = [&](uint32_t number) {
    return number < program.args ? "a" + std::to_string(number) + ".items[i]"
                                 : "r" + std::to_string(number - program.args);
  };
  std::string args, steps;
  for (uint32_t i = 0; i < program.args; ++i)
    args += "  const Four a" + std::to_string(i) + " = given.load(" + std::to_string(i) + ", first);\n";
  for (size_t i = 0; i < program.steps.size(); ++i) {
    const FusedStep& step = program.steps[i];
    steps += "    const float r" + std::to_string(i) + " = " + step.function + "()(" + operand(step.a) +
             (step.is_binary ? ", " + operand(step.b) : "") + ");\n";
  }
  return "TROUPE_ANY inline void program(const FourArguments& given, size_t call) {\n"
         "  const size_t first = call * Four::width;\n" +
         args + "  Four result;\n  for (int i = 0; i < Four::width; ++i) {\n" + steps +
         "    result.items[i] = r" + std::to_string(program.steps.size() - 1) +
         ";\n  }\n  given.store(first, result);\n}\n";
}

}  // namespace troupe
