// Kernels made of two functions. The check runs on the host and is the same for every type of device: it validates dtypes,
// shapes, attributes and the values of host inputs, allocates the outputs, and returns the arguments, a plain struct. It never
// reads the elements of tensors in device memory. The compute function belongs to one type of device: it takes the arguments
// and the DeviceContext, and returns a Status, or nothing if it cannot fail. A second type of device registers its own compute
// function with the same check (kernel_on), in a separate file beside the first. A compute function that returns nothing is not
// called if no output has an element, so that no compute function meets a shape with huge dimensions and no elements.
//
// Where the shape of an output depends on the elements of inputs (Unique, Where), the device measures first: see
// make_measured_kernel.
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "kernels/core/kernel.h"

namespace troupe {
namespace detail {

/// Calls a function that returns a Status or nothing, and returns its Status or Ok.
template <class Function, class... Arguments>
Status status_of(const Function& function, Arguments&&... arguments) {
  if constexpr (std::is_void_v<std::invoke_result_t<const Function&, Arguments...>>) {
    function(std::forward<Arguments>(arguments)...);
    return {};
  } else {
    return function(std::forward<Arguments>(arguments)...);
  }
}

/// Returns whether the node has outputs and none of them has an element.
inline bool has_only_empty_outputs(KernelContext& context) {
  const std::span<const Tensor> outputs = context.outputs();
  return !outputs.empty() && std::ranges::all_of(outputs, [](const Tensor& output) {
    return output.valid() && output.elements() == 0;
  });
}

/// Returns whether the compute function need not be called, now that the outputs are allocated.
template <class Compute, class Arguments>
bool leaves_out(const Compute& /*compute*/, const Arguments& /*arguments*/, KernelContext& context) {
  return std::is_void_v<std::invoke_result_t<const Compute&, const Arguments&, DeviceContext&>> &&
         has_only_empty_outputs(context);
}

/// The type of the arguments that a check returns in its Result.
template <class Check>
using ArgumentsOf =
    std::decay_t<decltype(std::declval<std::invoke_result_t<const Check&, KernelContext&>&>().value())>;

/// The work that remains for the device after the check. The kernel must outlive it.
template <class Arguments, class Compute>
class ComputeWork final : public DeviceWork {
 public:
  ComputeWork(Arguments arguments, const Compute& function)
      : arguments_(std::move(arguments)), compute_(function) {}
  Status compute(DeviceContext& device) override { return status_of(compute_, arguments_, device); }

 private:
  const Arguments arguments_;
  const Compute& compute_;
};

template <class Check, class Compute>
class CheckedKernel final : public Kernel {
 public:
  CheckedKernel(Check checks, Compute computes) : check_(std::move(checks)), compute_(std::move(computes)) {}

  Status run(KernelContext& context) const override {
    const auto arguments = check_(context);
    if (!arguments) return arguments.status();
    if (leaves_out(compute_, *arguments, context)) return {};
    return status_of(compute_, *arguments, context.device());
  }

  Result<std::unique_ptr<DeviceWork>> check(KernelContext& context) const override {
    TROUPE_ASSIGN(auto arguments, check_(context));
    if (leaves_out(compute_, arguments, context)) return std::unique_ptr<DeviceWork>();
    return std::unique_ptr<DeviceWork>(
        std::make_unique<ComputeWork<ArgumentsOf<Check>, Compute>>(std::move(arguments), compute_));
  }

 private:
  const Check check_;
  const Compute compute_;
};

/// The functions of a kernel that measures first.
template <class Check, class Measure, class Allocate, class Compute>
struct MeasuredFunctions {
  using Arguments = ArgumentsOf<Check>;

  Check check;
  Measure measure;
  Allocate allocate;
  Compute compute;
};

/// What remains for the device after the check of a kernel with such functions, which must outlive it: it measures, then computes.
template <class Functions, class Work>
class MeasureWork : public Work {
 public:
  using Arguments = typename Functions::Arguments;

  MeasureWork(Arguments arguments, const Functions& functions)
      : arguments_(std::move(arguments)), functions_(functions) {}

  Status compute(DeviceContext& device) final { return status_of(functions_.measure, arguments_, device); }

  Result<std::unique_ptr<DeviceWork>> next(KernelContext& context) final {
    TROUPE_RETURN_IF_FAILED(functions_.allocate(arguments_, context));
    if (leaves_out(functions_.compute, arguments_, context)) return std::unique_ptr<DeviceWork>();
    using Remaining = ComputeWork<Arguments, decltype(functions_.compute)>;
    return std::unique_ptr<DeviceWork>(
        std::make_unique<Remaining>(std::move(arguments_), functions_.compute));
  }

 protected:
  Arguments arguments_;

 private:
  const Functions& functions_;
};

template <class Functions>
class MeasuredKernel final : public Kernel {
 public:
  explicit MeasuredKernel(Functions functions) : functions_(std::move(functions)) {}

  Status run(KernelContext& context) const override {
    TROUPE_ASSIGN(auto arguments, functions_.check(context));
    TROUPE_RETURN_IF_FAILED(status_of(functions_.measure, arguments, context.device()));
    TROUPE_RETURN_IF_FAILED(functions_.allocate(arguments, context));
    if (leaves_out(functions_.compute, arguments, context)) return {};
    return status_of(functions_.compute, std::as_const(arguments), context.device());
  }

  Result<std::unique_ptr<DeviceWork>> check(KernelContext& context) const override {
    TROUPE_ASSIGN(auto arguments, functions_.check(context));
    return std::unique_ptr<DeviceWork>(
        std::make_unique<MeasureWork<Functions, DeviceWork>>(std::move(arguments), functions_));
  }

 private:
  const Functions functions_;
};

}  // namespace detail

/// Returns a kernel whose check(KernelContext&) returns a Result<Arguments>, and whose compute(const Arguments&,
/// DeviceContext&) returns a Status or nothing. The arguments may refer to the inputs and outputs of the context, which stay in
/// place until the work has ended, and to members of the kernel.
template <class Check, class Compute>
std::unique_ptr<Kernel> make_kernel(Check check, Compute compute) {
  return std::make_unique<detail::CheckedKernel<Check, Compute>>(std::move(check), std::move(compute));
}

/// Returns a kernel whose output shapes depend on the elements of inputs. After the check, measure(Arguments&, DeviceContext&)
/// finds the sizes on the device and stores them in the arguments, allocate(Arguments&, KernelContext&) allocates the outputs
/// on the host, and compute(const Arguments&, DeviceContext&) fills them. Measure and compute return a Status or nothing.
template <class Check, class Measure, class Allocate, class Compute>
std::unique_ptr<Kernel> make_measured_kernel(Check check, Measure measure, Allocate allocate,
                                             Compute compute) {
  using Functions = detail::MeasuredFunctions<Check, Measure, Allocate, Compute>;
  return std::make_unique<detail::MeasuredKernel<Functions>>(
      Functions{std::move(check), std::move(measure), std::move(allocate), std::move(compute)});
}

/// Return the kernel of an op on one type of device, for a check and a compute function that need no preparation.
template <class Check, class Compute>
KernelDef kernel_on(std::string device_type, std::string op, Check check, Compute compute) {
  return kernel_on(std::move(device_type), std::move(op), [=](const PrepareContext&) {
    return Result<std::unique_ptr<Kernel>>(make_kernel(check, compute));
  });
}
template <class Check, class Compute>
KernelDef cpu_kernel(std::string op, Check check, Compute compute) {
  return kernel_on("CPU", std::move(op), std::move(check), std::move(compute));
}

/// Return the kernel of an op whose outputs are allocated after measuring.
template <class Check, class Measure, class Allocate, class Compute>
KernelDef measured_kernel_on(std::string device_type, std::string op, Check check, Measure measure,
                             Allocate allocate, Compute compute) {
  return kernel_on(std::move(device_type), std::move(op), [=](const PrepareContext&) {
    return Result<std::unique_ptr<Kernel>>(make_measured_kernel(check, measure, allocate, compute));
  });
}
template <class Check, class Measure, class Allocate, class Compute>
KernelDef measured_cpu_kernel(std::string op, Check check, Measure measure, Allocate allocate,
                              Compute compute) {
  return measured_kernel_on("CPU", std::move(op), check, measure, allocate, compute);
}

/// Return the kernel of an op whose check is constructed from the PrepareContext of each node.
template <class Check, class Compute>
KernelDef kernel_on(std::string device_type, std::string op, Compute compute) {
  return kernel_on(std::move(device_type), std::move(op), [=](const PrepareContext& context) {
    return Result<std::unique_ptr<Kernel>>(make_kernel(Check(context), compute));
  });
}
template <class Check, class Compute>
KernelDef cpu_kernel(std::string op, Compute compute) {
  return kernel_on<Check>("CPU", std::move(op), std::move(compute));
}

}  // namespace troupe
