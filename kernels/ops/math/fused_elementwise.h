// _FusedElementwise: its program, the check on the host, and the arguments that it returns to the compute function of each type of
// device (kernels/core/checked_kernel.h). Any thread may call these functions.
#pragma once

#include <string>
#include <vector>

#include "kernels/core/checked_kernel.h"
#include "kernels/core/dims.h"
#include "kernels/loops/vector_loops.h"

namespace troupe {

/// One function of one or two operands. Operands below FusedProgram::args are args, those behind them the results of the steps.
struct FusedStep {
  bool is_binary = false;
  VectorUnary unary = {};  ///< the function, if it has one operand
  VectorBinary binary = {};
  std::string function;   ///< the name of its functor in kernels/gpu/functions.h
  uint32_t a = 0, b = 0;  ///< operands; equal if there is one
  uint32_t to = 0;        ///< the block of memory for the result
  bool costly = false;    ///< the function takes as long as moving some 32 bytes
};

struct FusedProgram {
  std::vector<FusedStep> steps;  ///< at least one; the last gives the output
  uint32_t args = 0;
  uint32_t blocks = 0;  ///< how many blocks of memory the results need
};

/// Reads the steps of a program with some args. Fails with InvalidArgument, naming the step, if one is not understood.
Result<FusedProgram> parse_program(const std::vector<std::string>& steps, uint32_t args);
/// Reads the attributes of a node. Fails as parse_program() does.
Result<FusedProgram> fused_program_of(const PrepareContext& context);

/// Returns the program as C++, for a kernel that is compiled at run time (kernels/gpu/compiled.h).
std::string source_of(const FusedProgram& program);

struct FusedElementwiseArguments {
  struct Input {
    const float* data;
    bool scalar;
  };
  ShortList<Input> inputs;
  float* out;  ///< may be the memory of an input that is no scalar
  size_t n;
};

/// Finds the shape that the args have, except for scalars. Fails with InvalidArgument if they have several.
Result<FusedElementwiseArguments> check_fused_elementwise(KernelContext& context);

}  // namespace troupe
