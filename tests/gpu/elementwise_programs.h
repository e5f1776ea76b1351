// Programs of _FusedElementwise with every function.
#pragma once

#include <string>
#include <vector>

#include "kernels/ops/math/fused_elementwise.h"

namespace troupe::test {

using ProgramText = std::vector<std::string>;

/// Returns the sum of every function of one operand of arg 0, with one arg.
inline ProgramText all_unary_functions() {
  ProgramText program{"Abs 0"};
  size_t sum = 1;
  for (const char* name : {"Ceil",    "Elu",  "Erf",        "Exp",      "Expm1", "Floor",  "Log",
                           "Log1p",   "Neg",  "Reciprocal", "Relu",     "Relu6", "Rsqrt",  "Selu",
                           "Sigmoid", "Sign", "Softplus",   "Softsign", "Sqrt",  "Square", "Tanh"}) {
    program.push_back(std::string(name) + " 0");
    program.push_back("Add " + std::to_string(sum) + ' ' + std::to_string(program.size()));
    sum = program.size();
  }
  return program;
}

/// Returns the sum of every function of two operands of args 0 and 1, with two args.
inline ProgramText all_binary_functions() {
  ProgramText program{"AddV2 0 1"};
  size_t sum = 2;
  for (const char* name : {"Div", "EluGrad", "Maximum", "Minimum", "Mul", "ReciprocalGrad", "Relu6Grad",
                           "ReluGrad", "RsqrtGrad", "SeluGrad", "SigmoidGrad", "SoftplusGrad", "SoftsignGrad",
                           "SqrtGrad", "SquaredDifference", "Sub", "TanhGrad"}) {
    program.push_back(std::string(name) + " 0 1");
    program.push_back("Add " + std::to_string(sum) + ' ' + std::to_string(program.size() + 1));
    sum = program.size() + 1;
  }
  return program;
}

}  // namespace troupe::test
