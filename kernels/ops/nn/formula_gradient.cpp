#include "kernels/ops/nn/formula_gradient.h"

namespace troupe {

void differentiate_formula(GradientContext& context, size_t count, const Formula& formula) {
  const Scope& scope = context.scope();
  std::vector<Output> inputs;  // copies: what they come from may depend on each other
  std::vector<Gradient> given;
  for (size_t i = 0; i < count; ++i) inputs.push_back(scope.add_one("Identity", {context.input(i)}));
  const std::vector<Output> outputs = formula(inputs);
  for (size_t i = 0; i < count; ++i) given.push_back(context.gradient(i));
  const std::vector<Gradient> found = gradients(scope, outputs, inputs, given);
  for (size_t i = 0; i < count; ++i)
    if (std::holds_alternative<Output>(found[i])) context.set(i, std::get<Output>(found[i]));
}

}  // namespace troupe
