// A Kernel computes one op on one type of device. It is prepared once per node and device and const afterwards: concurrent
// steps run the same one. It is a pure function of its inputs; everything that it writes comes from its context. Kernels know
// neither CAF nor the graph around their node. Equal inputs must give equal bits for any number of threads, so work is cut by
// shape only.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "devices/device.h"
#include "graph/build/graph.h"
#include "kernels/core/slot.h"
#include "kernels/core/unlocked_phase.h"

#pragma GCC visibility push(default)
namespace troupe {

/// Returns whether a random node has a seed of its own (attribute `seed` or `seed2`), so that its numbers do not depend on the
/// seed of the session.
bool has_own_seeds(const Node& node);

/// How often each node ran in earlier steps of the session, by node name. Nodes that never ran may be missing.
using EarlierRuns = std::unordered_map<std::string, uint64_t>;

/// What a kernel may know about its step. `round` is the training round of the saved state; steps outside training (training ==
/// false) use random streams of their own.
struct StepInfo {
  uint64_t session = 0;
  uint64_t ordinal = 0;
  uint64_t seed = 0;
  uint64_t round = 0;
  int64_t shard = -1;  ///< the logical shard that the step computes; -1: none in particular
  UnlockedPhase unlocked = {};
  bool training = false;
  bool profiled = false;                                 ///< whether the step records a StepProfile
  std::shared_ptr<const EarlierRuns> earlier_runs = {};  ///< for random nodes with seeds of their own
  /// If non-null, long kernels read it between blocks and stop once it is true.
  const std::atomic<bool>* cancelled = nullptr;
};

/// KernelContext: one execution of one node. It lives for that execution; the thread that runs the kernel uses it.
class KernelContext {
 public:
  KernelContext(const Node& node, Slot* inputs, size_t input_count, Tensor* outputs, DeviceContext& device,
                const StepInfo& step, uint64_t frame_key)
      : node_(node), inputs_(inputs), outputs_(outputs), device_(device), step_(step), frame_key_(frame_key),
        input_count_(input_count) {}

  const Node& node() const { return node_; }
  size_t inputs() const { return input_count_; }
  const Tensor& input(size_t i) const { return inputs_[i].tensor; }
  /// Returns `count` inputs from input `first` on: for arguments that consist of any number of tensors.
  std::span<const Slot> input_slots(size_t first, size_t count) const { return {inputs_ + first, count}; }
  /// Returns all outputs, in the order of the node's.
  std::span<Tensor> outputs() { return {outputs_, node_.output_types.size()}; }

  /// Allocate output i, with the dtype of the node's output unless another is given. The pointer stays valid until the kernel
  /// returns.
  Result<Tensor*> output(size_t i, const Shape& shape) {
    return output(i, node_.output_types[i].dtype, shape);
  }
  Result<Tensor*> output(size_t i, DType dtype, const Shape& shape);
  /// Returns output `out` in the memory of input `in` if nobody else holds that memory and the sizes are equal, else in new
  /// memory. If the memory is shared, the kernel must read element i before it writes element i, and must not use `in`
  /// afterwards.
  Result<Tensor*> forward(size_t in, size_t out, const Shape& shape);
  /// Makes an existing tensor output i; the memory is shared.
  void set_output(size_t i, Tensor tensor) { outputs_[i] = std::move(tensor); }
  /// Returns memory for the duration of the kernel.
  Result<Tensor> scratch(DType dtype, const Shape& shape) {
    return Tensor::allocate(dtype, shape, device_.memory());
  }

  DeviceContext& device() const { return device_; }
  const StepInfo& step() const { return step_; }
  /// Returns a key that differs for each frame and iteration of loops; 0 outside all loops.
  uint64_t frame_key() const { return frame_key_; }

 private:
  Allocator& memory_of(size_t i) const;

  const Node& node_;
  Slot* inputs_;
  Tensor* outputs_;
  DeviceContext& device_;
  const StepInfo& step_;
  uint64_t frame_key_;
  size_t input_count_;
};

/// The work that a device does after the check of a kernel, possibly later. It is used once and belongs to the step.
class DeviceWork {
 public:
  virtual ~DeviceWork() = default;
  /// Computes the outputs, or issues the computation to the stream of the device.
  virtual Status compute(DeviceContext& device) = 0;
  /// Runs on the host after compute() has ended on the device. Returns the work that comes next, or null if there is none.
  virtual Result<std::unique_ptr<DeviceWork>> next(KernelContext& /*context*/) {
    return std::unique_ptr<DeviceWork>();
  }
};

/// An op prepared for one node and one type of device. Most kernels consist of a check and a compute function: see
/// kernels/core/checked_kernel.h.
class Kernel {
 public:
  virtual ~Kernel() = default;
  /// For devices that compute at once: checks the inputs, allocates the outputs and computes them, all on the calling thread.
  virtual Status run(KernelContext& context) const = 0;
  /// For devices that compute later: checks the inputs and allocates the outputs on the calling thread. Returns the work that
  /// remains for the device, or null if the outputs are complete. The inputs and outputs of the context stay in place until the
  /// work has ended.
  virtual Result<std::unique_ptr<DeviceWork>> check(KernelContext& context) const = 0;
  /// If non-null, the output of the kernel in every step; the kernel then need not run.
  virtual const Tensor* constant() const { return nullptr; }
};

/// A kernel that works on the host alone: `run` takes the KernelContext, does everything and returns a Status.
template <class Run>
class HostKernel final : public Kernel {
 public:
  explicit HostKernel(Run function) : run_(std::move(function)) {}
  Status run(KernelContext& context) const override { return run_(context); }
  Result<std::unique_ptr<DeviceWork>> check(KernelContext& context) const override {
    TROUPE_RETURN_IF_FAILED(run_(context));
    return std::unique_ptr<DeviceWork>();
  }

 private:
  const Run run_;
};

/// What a kernel may use while it is prepared.
struct PrepareContext {
  const Graph& graph;
  const Node& node;
  DeviceContext& device;

  template <class T>
  const T& attr(std::string_view name) const {
    return node.attrs.get<T>(name);
  }
  DType input_dtype(size_t i) const { return graph.dtype(node.inputs[i]); }
  const PartialShape& input_shape(size_t i) const { return graph.shape(node.inputs[i]); }
};

using KernelFunction = Status (*)(KernelContext&);
using PrepareFunction = std::function<Result<std::unique_ptr<Kernel>>(const PrepareContext&)>;

/// The device type of kernels that work on the host alone, whatever device their node runs on: they read shapes and host
/// inputs, compute host outputs, or return their inputs as they are.
inline constexpr std::string_view any_device = "any";

/// The definition of a kernel for one op on one type of device. For ops that the variable service serves, the kernel is the
/// update rule: each reference input is the current value of a variable (an invalid tensor if the variable is not initialised),
/// and output i is the new value for reference input i. The rule changes a value in place, through forward(), if nobody else
/// holds it.
struct KernelDef {
  std::string op;
  std::string device_type;  ///< "CPU", "GPU", or any_device
  /// The dtypes that the kernel serves, by type attribute. An attribute that is missing here may be any dtype but variant and
  /// resource.
  std::map<std::string, std::vector<DType>> types;
  bool cheap = false;  ///< if true, running the kernel costs less than giving it to another thread
  PrepareFunction prepare;
  /// If true, the kernel never reads the elements of tensors and serves variants and handles, too.
  bool serves_any_type = false;

  KernelDef& on(std::string attr, std::vector<DType> dtypes) &;
  KernelDef&& on(std::string attr, std::vector<DType> dtypes) && {
    return std::move(on(std::move(attr), std::move(dtypes)));
  }
  KernelDef&& any_type() && {
    serves_any_type = true;
    return std::move(*this);
  }
  KernelDef&& inexpensive() && {
    cheap = true;
    return std::move(*this);
  }
};

/// Returns a kernel that `prepare` makes for each node.
KernelDef kernel_on(std::string device_type, std::string op, PrepareFunction prepare);
/// Returns a kernel for every type of device that works on the host alone.
KernelDef host_kernel(std::string op, KernelFunction function);
/// Returns such a kernel that runs a Run, constructed from the PrepareContext of each node.
template <class Run>
KernelDef host_kernel(std::string op) {
  return kernel_on(std::string(any_device), std::move(op), [](const PrepareContext& context) {
    return Result<std::unique_ptr<Kernel>>(std::make_unique<HostKernel<Run>>(Run(context)));
  });
}

/// KernelTable: all kernels by op and device type. Built together with the OpTable and immutable afterwards.
class KernelTable {
 public:
  void add(KernelDef def) { kernels_[def.op].push_back(std::move(def)); }
  /// Returns the kernel for this node on this type of device. Fails with NotFound if no kernel serves the node and
  /// AlreadyExists if several do; the error names the registered kernels.
  Result<const KernelDef*> find(const Node& node, std::string_view device_type) const;
  /// Fails with NotFound if there is a kernel of an op that is not in the table of ops, and with AlreadyExists if two kernels of an
  /// op have the same type of device and the same dtypes, so that find() would find neither.
  Status check(const OpTable& ops) const;
  bool has(const Node& node, std::string_view device_type) const { return find(node, device_type).ok(); }
  std::span<const KernelDef> of(std::string_view op) const;

 private:
  std::map<std::string, std::vector<KernelDef>, std::less<>> kernels_;
};

/// OpLibrary: ops and kernels together. The program builds it once and passes it to everything that needs it.
struct OpLibrary {
  std::shared_ptr<OpTable> ops = std::make_shared<OpTable>();
  KernelTable kernels;
  Status status;  ///< the failure of the first faulty definition of an op, or kernel; Ok if there is none

  OpLibrary& op(const OpDefBuilder& builder);
  OpLibrary& kernel(KernelDef def);
};

/// Returns the library of all ops and kernels of Troupe, which kernels/ops/all_ops.cpp lists, and of those that `add` adds. Its
/// status says what is wrong with them.
std::shared_ptr<const OpLibrary> make_op_library(const std::function<void(OpLibrary&)>& add = {});

}  // namespace troupe
#pragma GCC visibility pop
