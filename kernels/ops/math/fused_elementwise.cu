// _FusedElementwise on GPUs: see fused_elementwise.cpp. Each thread runs the whole program for four elements.
#include "kernels/ops/math/fused_elementwise.h"

#include "kernels/gpu/function_switch.h"
#include "kernels/gpu/gpu_kernel.h"
#include "kernels/gpu/map.h"

namespace troupe {
namespace {

constexpr size_t width = 4;  ///< elements of a thread
using Four = gpu::Pack<float, width>;

/// A FusedProgram as a GPU gets it. The limits are beyond what the pass that fuses makes: 48 steps, none of which is useless, have
/// at most 49 args and 25 results at a time.
struct Program {
  static constexpr size_t max_steps = 48, max_args = 64, max_blocks = 26;
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
    for (size_t i = 0; i < width; ++i) a.items[i] = f(a.items[i], b.items[i]);
  }
};

struct RunProgram {
  Program program;
  const float* args[Program::max_args];
  bool scalar[Program::max_args];
  float* out;
  size_t n;
  bool aligned;  ///< four elements may be loaded and stored at once

  TROUPE_ANY void operator()(size_t call) const {
    const size_t first = call * width;
    const bool whole = aligned && first + width <= n;
    Four results[Program::max_blocks];
    Four result = {};
    for (unsigned i = 0; i < program.count; ++i) {
      const Program::Step& step = program.steps[i];
      result = operand(step.a, first, whole, results);
      if (step.is_binary)
        gpu::with_function(VectorBinary{step.function},
                           TwoOperands{result, operand(step.b, first, whole, results)});
      else
        gpu::with_function(VectorUnary{step.function}, OneOperand{result});
      results[step.to] = result;
    }
    if (whole) {
      *reinterpret_cast<Four*>(out + first) = result;
    } else {
      for (size_t i = 0; i < width && first + i < n; ++i) out[first + i] = result.items[i];
    }
  }

 private:
  TROUPE_ANY Four operand(unsigned number, size_t first, bool whole, const Four* results) const {
    if (number >= Program::max_args) return results[number - Program::max_args];
    const float* const from = args[number];
    if (scalar[number]) return {{*from, *from, *from, *from}};
    if (whole) return *reinterpret_cast<const Four*>(from + first);
    Four part = {};
    for (size_t i = 0; i < width && first + i < n; ++i) part.items[i] = from[first + i];
    return part;
  }
};

struct FusedOnGpu {
  Program program;

  Status operator()(const FusedElementwiseArguments& arguments, DeviceContext& device) const {
    RunProgram run{program, {}, {}, arguments.out, arguments.n, gpu::is_aligned(arguments.out, sizeof(Four))};
    for (size_t i = 0; i < program.args; ++i) {
      const auto& [data, scalar] = arguments.inputs[i];
      run.args[i] = data;
      run.scalar[i] = scalar;
      run.aligned = run.aligned && (scalar || gpu::is_aligned(data, sizeof(Four)));
    }
    return gpu::each(device, (arguments.n + width - 1) / width, run);
  }
};

Result<std::unique_ptr<Kernel>> prepare_fused(const PrepareContext& context) {
  TROUPE_ASSIGN(const FusedProgram fused, fused_program_of(context));
  TROUPE_ASSIGN(const Program program, program_of(fused));
  return make_kernel(check_fused_elementwise, FusedOnGpu{program});
}

}  // namespace

void add_fused_elementwise_on_gpu(OpLibrary& library) {
  library.kernel(kernel_on("GPU", "_FusedElementwise", prepare_fused));
}

}  // namespace troupe
