// PureFunction: a function of a graph's library that is computed at once and outside steps, by one thread: all of its ops have
// kernels for the CPU and no effects. Immutable; any thread may compute it.
#pragma once

#include <span>
#include <vector>

#include "kernels/core/kernel.h"

namespace troupe {

class PureFunction {
 public:
  /// Fails with InvalidArgument, naming op and node, if the function has an op that has an effect, draws random numbers, belongs
  /// to a loop or a condition, or calls a function. `library` must outlive this object.
  static Result<PureFunction> prepare(Function function, const OpLibrary& library);

  const Function& function() const { return function_; }
  /// Returns the results. `arguments` are in the memory of `device`, a CPU. Fails with InvalidArgument if number or dtypes of the
  /// arguments are not those of the function, and as its kernels do, naming op and node.
  Result<std::vector<Tensor>> compute(std::span<const Tensor> arguments, DeviceContext& device) const;

 private:
  PureFunction(Function function, const OpLibrary& library)
      : function_(std::move(function)), library_(&library) {}

  Function function_;
  const OpLibrary* library_;
};

}  // namespace troupe
