// What tests of sessions on GPUs share: a runtime with a graph, and what compares its results with those of a CPU. One thread.
#pragma once

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>
#include <string>

#include "graph/build/scope.h"
#include "graph/build/shape_context.h"
#include "kernels/constructors.h"
#include "tests/support/gpu/gpu_runtime.h"

namespace troupe::test {

inline constexpr const char* gpu_name = "/job:localhost/replica:0/task:0/device:GPU:0";
inline constexpr const char* cpu_name = "/job:localhost/replica:0/task:0/device:CPU:0";

/// Counts the nodes with this op that ran on the device, in a profiled step.
inline size_t ran_on(const std::vector<DeviceProfile>& devices, std::string_view op,
                     std::string_view device) {
  size_t count = 0;
  for (const DeviceProfile& profile : devices)
    if (profile.device == device)
      for (const NodeProfile& node : profile.nodes) count += node.op == op;
  return count;
}

struct Machine {
  explicit Machine(int gpus, size_t memory = 0) : runtime(options(gpus, memory)), graph(runtime.ops()) {}
  static RuntimeOptions options(int gpus, size_t memory) {
    RuntimeOptions options = with_gpus(gpus);
    options.gpu_memory = memory;
    return options;
  }

  Output variable(const char* name, const Tensor& initial) {
    const Output variable = scope.with_name(name).add_one(
        "VariableV2", {}, {{"dtype", initial.dtype()}, {"shape", PartialShape(initial.shape())}});
    initializers.push_back(assign(scope, variable, scope.constant(initial)));
    return variable;
  }
  Session open() {
    Session session = runtime.session(graph);
    session.run({scope.group(initializers)});
    return session;
  }

  Runtime runtime;
  Graph graph;
  const Scope scope{graph};
  std::vector<Output> initializers;
};

/// Returns options for a runtime with a GPU and an op whose output is its input; when its kernel runs, it calls `work`.
inline RuntimeOptions with_op(const std::string& name, const std::function<void()>& work) {
  RuntimeOptions options = with_gpus(1);
  options.extensions.ops = [before = options.extensions.ops, name, work](OpLibrary& library) {
    if (before) before(library);
    library.op(OpDefBuilder(name).input("x: float").output("y: float").shape(unchanged_shape));
    library.kernel(kernel_on("GPU", name, [work](const PrepareContext&) {
      const auto run = [work](KernelContext& context) {
        work();
        context.set_output(0, context.input(0));
        return Status();
      };
      return Result<std::unique_ptr<Kernel>>(std::make_unique<HostKernel<decltype(run)>>(run));
    }));
  };
  return options;
}

inline Tensor ramp(const Shape& shape, float scale) {
  Tensor tensor = value_or_throw(Tensor::allocate(DType::Float, shape));
  for (size_t i = 0; float& value : tensor.write<float>())
    value = scale * (static_cast<float>(i++ * 7 % 11) - 5.0f);
  return tensor;
}

inline bool close(const Tensor& a, const Tensor& b) {
  return std::ranges::equal(a.as<float>(), b.as<float>(),
                            [](float x, float y) { return std::abs(x - y) <= 1e-5f * (1 + std::abs(y)); });
}

}  // namespace troupe::test
