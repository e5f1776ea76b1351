// ModelFunction: one signature of a model, compiled for one device: the subgraph between its inputs and outputs after all passes,
// as a prepared plan. Immutable, but for the number of calls, with which random numbers change; any number of threads may run it at
// the same time. A call runs on the thread of its caller, which threads of the device's pool help.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "devices/device.h"
#include "kernels/core/state.h"
#include "kernels/runtime/cancellation.h"
#include "kernels/runtime/prepared_plan.h"

namespace troupe::inference {

class ModelTables;

class ModelFunction {
 public:
  /// Compiles the function. `state` provides the cells of its variables, whose values are read by each call, and `tables` its
  /// lookup tables. `device` and `tables` must outlive the result. `image_elements` is as in LoadOptions. Fails with Unimplemented,
  /// naming node and op, if an op needs a session, and with the failures of the passes and of kernels.
  static Result<ModelFunction> make(const Graph& graph, const std::vector<Output>& inputs,
                                    const std::vector<Output>& outputs, const OpLibrary& library,
                                    Device& device, StateTable& state, const ModelTables& tables,
                                    int64_t image_elements);

  /// Computes the outputs. Ops that draw random numbers draw others in each call, the same ones in call number i of each function
  /// made of the same graph. Fails as PreparedPlan's steps do, and with Cancelled if `cancellation`, which may be null, is
  /// cancelled meanwhile; `inputs` must be as many as in make() (asserted).
  Result<std::vector<Tensor>> run(std::span<const Tensor> inputs, const Cancellation* cancellation) const;

 private:
  ModelFunction() = default;
  /// Returns what the kernels of the next call may know about it.
  StepInfo next_call() const;

  std::shared_ptr<const PreparedPlan> plan_;  ///< null if every output is an input
  const ModelTables* tables_ = nullptr;
  std::vector<std::string> seeded_;  ///< the random nodes with seeds of their own
  /// The number of calls that have begun.
  std::unique_ptr<std::atomic<uint64_t>> calls_ = std::make_unique<std::atomic<uint64_t>>(0);
  std::vector<size_t> feeds_;  ///< the inputs that the plan reads, in its order
  /// For each output: the input that it is, or nothing, then it is the next result of the plan.
  std::vector<std::optional<size_t>> same_as_;
};

}  // namespace troupe::inference
