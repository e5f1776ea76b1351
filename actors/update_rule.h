// Update rules: how an op changes variables, prepared once when a partition is registered, and named by a number in the Update
// messages of each step. Kept by the device's site.
#pragma once

#include <memory>

#include "kernels/kernel.h"
#include "kernels/prepared_plan.h"

namespace troupe {

struct UpdateRule {
  std::shared_ptr<const PreparedPlan> plan;  ///< keeps the node alive
  const Node* node = nullptr;
  std::unique_ptr<Kernel> kernel;
};

}  // namespace troupe
