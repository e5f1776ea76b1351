// _FusedElementwise on GPUs: see fused_elementwise.cpp. Each thread runs the whole program for four elements. For large tensors the
// program is compiled when it runs first; else, and where there is no compiler, the GPU interprets it. Both give the same bits.
#include "kernels/ops/math/fused_elementwise.h"

#include "kernels/gpu/compiled.h"
#include "kernels/gpu/function_switch.h"
#include "kernels/gpu/gpu_kernel.h"
#include "kernels/gpu/map.h"

namespace troupe {
namespace {

using gpu::Four;
using gpu::FourArguments;

/// Elements from which on a program is worth compiling, which takes some 50 ms.
constexpr size_t large = size_t{1} << 16;

/// A FusedProgram as a GPU gets it. The limits are beyond what the pass that fuses makes: 48 steps, none of which is useless, have
/// at most 49 args and 25 results at a time.
struct Program {
  static constexpr size_t max_steps = 48, max_args = FourArguments::most, max_blocks = 26;
  struct Step {
    bool is_binary;
    uint8_t function;  ///< the number of the VectorUnary or VectorBinary
    uint8_t a, b;      ///< args, or max_args + the block of a result
    uint8_t to;
  };

  Step steps[max_steps];
  unsigned count = 0, args = 0;
};

Result<Program> program_of(const FusedProgram& from) {
  if (from.steps.size() > Program::max_steps || from.args > Program::max_args ||
      from.blocks > Program::max_blocks)
    return unimplemented("a GPU takes a program of up to " + std::to_string(Program::max_steps) + " steps, " +
                         std::to_string(Program::max_args) + " args and " +
                         std::to_string(Program::max_blocks) + " results at a time");
  const auto operand = [&](uint32_t number) {
    return static_cast<uint8_t>(number < from.args ? number
                                                   : Program::max_args + from.steps[number - from.args].to);
  };
  Program program;
  program.args = from.args;
  for (const FusedStep& step : from.steps)
    program.steps[program.count++] = {
        step.is_binary, static_cast<uint8_t>(step.is_binary ? uint8_t(step.binary) : uint8_t(step.unary)),
        operand(step.a), operand(step.b), static_cast<uint8_t>(step.to)};
  return program;
}

struct OneOperand {
  Four& x;
  template <class F>
  TROUPE_ANY void operator()(F f) const {
    for (float& item : x.items) item = f(item);
  }
};
struct TwoOperands {
  Four& a;
  const Four& b;
  template <class F>
  TROUPE_ANY void operator()(F f) const {
    for (int i = 0; i < Four::width; ++i) a.items[i] = f(a.items[i], b.items[i]);
  }
};

struct Interpret {
  Program program;
  FourArguments arguments;

  TROUPE_ANY void operator()(size_t call) const {
    const size_t first = call * Four::width;
    Four results[Program::max_blocks];
    Four result = {};
    for (unsigned i = 0; i < program.count; ++i) {
      const Program::Step& step = program.steps[i];
      result = operand(step.a, first, results);
      if (step.is_binary)
        gpu::with_function(VectorBinary{step.function}, TwoOperands{result, operand(step.b, first, results)});
      else
        gpu::with_function(VectorUnary{step.function}, OneOperand{result});
      results[step.to] = result;
    }
    arguments.store(first, result);
  }

 private:
  TROUPE_ANY Four operand(unsigned number, size_t first, const Four* results) const {
    return number < Program::max_args ? arguments.load(number, first) : results[number - Program::max_args];
  }
};

struct FusedOnGpu {
  Program program;
  std::string source;

  Status operator()(const FusedElementwiseArguments& given, DeviceContext& device) const {
    FourArguments arguments{{}, {}, given.out, given.n, gpu::is_aligned(given.out, sizeof(Four))};
    for (size_t i = 0; i < program.args; ++i) {
      const auto& [data, scalar] = given.inputs[i];
      arguments.args[i] = data;
      arguments.scalar[i] = scalar;
      arguments.aligned = arguments.aligned && (scalar || gpu::is_aligned(data, sizeof(Four)));
    }
    if (given.n >= large) {
      TROUPE_ASSIGN(const bool ran, gpu::run_compiled(device, source, arguments));
      if (ran) return {};
    }
    return gpu::each(device, arguments.calls(), Interpret{program, arguments});
  }
};

Result<std::unique_ptr<Kernel>> prepare_fused(const PrepareContext& context) {
  TROUPE_ASSIGN(const FusedProgram fused, fused_program_of(context));
  TROUPE_ASSIGN(const Program program, program_of(fused));
  return make_kernel(check_fused_elementwise, FusedOnGpu{program, gpu::compiled_source(source_of(fused))});
}

}  // namespace

void add_fused_elementwise_on_gpu(OpLibrary& library) {
  library.kernel(kernel_on("GPU", "_FusedElementwise", prepare_fused));
}

}  // namespace troupe
