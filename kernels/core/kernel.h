// Kernels: how ops are computed on one type of device. A Kernel is prepared once per node and device and then const: concurrent
// steps run the same one. It is a pure function of its inputs; everything it writes comes from its context.
// No CAF, no graph walking: inputs in, outputs out. Equal inputs must give equal bits for any number of threads, so work is cut
// by shape only.
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

#pragma GCC visibility push(default)
namespace troupe {

/// Whether the numbers of a random node follow from seeds of its own (`seed`, `seed2`) rather than from the session's.
bool has_own_seeds(const Node& node);

/// How often nodes ran in earlier steps of the session, by name; those that never did may be missing.
using EarlierRuns = std::unordered_map<std::string, uint64_t>;

/// What a kernel may know of the step it runs in. `round` is the training round of the saved state; runs outside training use a
/// stream of their own (training == false).
struct StepInfo {
  uint64_t session = 0;
  uint64_t ordinal = 0;
  uint64_t seed = 0;
  uint64_t round = 0;
  bool training = false;
  bool profiled = false;                                 ///< where its time goes is written down
  std::shared_ptr<const EarlierRuns> earlier_runs = {};  ///< of random nodes with seeds of their own
  const std::atomic<bool>* cancelled = nullptr;  ///< long kernels look at it between blocks; may be null
};

/// One execution of one node: lives on the stack of the thread that runs it.
class KernelContext {
 public:
  KernelContext(const Node& node, Slot* inputs, size_t input_count, Tensor* outputs, DeviceContext& device,
                const StepInfo& step, uint64_t frame_key)
      : node_(node), inputs_(inputs), outputs_(outputs), device_(device), step_(step), frame_key_(frame_key),
        input_count_(input_count) {}

  const Node& node() const { return node_; }
  size_t inputs() const { return input_count_; }
  const Tensor& input(size_t i) const { return inputs_[i].tensor; }
  /// Some neighbouring inputs: for the arguments of kernels that take any number of them.
  std::span<const Slot> input_slots(size_t first, size_t count) const { return {inputs_ + first, count}; }
  /// All outputs, in the order of the node's.
  std::span<Tensor> outputs() { return {outputs_, node_.output_types.size()}; }

  /// Allocates output i with the node's dtype. The pointer stays valid until the kernel returns.
  Result<Tensor*> output(size_t i, const Shape& shape) {
    return output(i, node_.output_types[i].dtype, shape);
  }
  Result<Tensor*> output(size_t i, DType dtype, const Shape& shape);
  /// Output `out` in the memory of input `in` when nobody else holds it and the sizes agree, else fresh memory. The input may
  /// then be the output: read element i before writing element i, and take nothing from `in` afterwards.
  Result<Tensor*> forward(size_t in, size_t out, const Shape& shape);
  /// An existing tensor as output: shares memory.
  void set_output(size_t i, Tensor tensor) { outputs_[i] = std::move(tensor); }
  /// Memory for the duration of the kernel.
  Result<Tensor> scratch(DType dtype, const Shape& shape) {
    return Tensor::allocate(dtype, shape, device_.memory());
  }

  DeviceContext& device() const { return device_; }
  const StepInfo& step() const { return step_; }
  /// Tells apart the frames and iterations of loops; 0 outside any.
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

/// What a device has to compute after a kernel's check, in its own time. Used once; belongs to the step.
class DeviceWork {
 public:
  virtual ~DeviceWork() = default;
  /// Computes, or issues to the stream of the device what computes.
  virtual Status compute(DeviceContext& device) = 0;
  /// On the host, after compute() has ended on the device: what comes next, or null at the end.
  virtual Result<std::unique_ptr<DeviceWork>> next(KernelContext& /*context*/) {
    return std::unique_ptr<DeviceWork>();
  }
};

/// An op prepared for one node and one type of device. Most are made of a check and a compute function: kernels/core/checked_kernel.h.
class Kernel {
 public:
  virtual ~Kernel() = default;
  /// Checks, allocates the outputs and computes them, all on the caller: for devices that compute at once.
  virtual Status run(KernelContext& context) const = 0;
  /// For devices that compute later. Checks and allocates on the caller and returns what is left for the device, or null when the
  /// outputs are complete. The context's inputs and outputs stay where they are until the work has ended.
  virtual Result<std::unique_ptr<DeviceWork>> check(KernelContext& context) const = 0;
  /// The output of a kernel that yields the same value in every step, which then need not run; or null.
  virtual const Tensor* constant() const { return nullptr; }
};

/// A kernel that works on the host alone: `run`, called with the KernelContext, does everything and returns a Status.
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

/// What a kernel may look at when it is prepared.
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

/// The device type of kernels that work on the host alone, whatever device their node runs on: they read shapes and host inputs,
/// make host outputs, or hand on tensors as they are.
inline constexpr std::string_view any_device = "any";

/// A kernel for one op on one type of device. For ops that a Variable actor serves, the kernel is the update rule: it gets the
/// current value of each ref input (an invalid tensor when uninitialised) and yields one output per ref input, the new value,
/// in place through forward() where nobody holds the old one.
struct KernelDef {
  std::string op;
  std::string device_type;  ///< "CPU", "GPU", or any_device
  /// Type attribute -> the dtypes served; absent: any but variant and resource.
  std::map<std::string, std::vector<DType>> types;
  bool cheap = false;  ///< costs less than handing it to another thread
  PrepareFunction prepare;
  bool opaque =
      false;  ///< hands on tensors without a look at their elements: it serves variants and handles, too

  KernelDef& on(std::string attr, std::vector<DType> dtypes) &;
  KernelDef&& on(std::string attr, std::vector<DType> dtypes) && {
    return std::move(on(std::move(attr), std::move(dtypes)));
  }
  KernelDef&& hands_on() && {
    opaque = true;
    return std::move(*this);
  }
  KernelDef&& inexpensive() && {
    cheap = true;
    return std::move(*this);
  }
};

/// A kernel that is prepared for each node.
KernelDef kernel_on(std::string device_type, std::string op, PrepareFunction prepare);
/// A kernel for every type of device that works on the host alone.
KernelDef host_kernel(std::string op, KernelFunction function);
/// The same, where a Run is constructed from the PrepareContext of each node.
template <class Run>
KernelDef host_kernel(std::string op) {
  return kernel_on(std::string(any_device), std::move(op), [](const PrepareContext& context) {
    return Result<std::unique_ptr<Kernel>>(std::make_unique<HostKernel<Run>>(Run(context)));
  });
}

/// All kernels by op and device type. Built once with the OpTable, then immutable.
class KernelTable {
 public:
  void add(KernelDef def) { kernels_[def.op].push_back(std::move(def)); }
  /// The one kernel for this node on this type of device. NotFound or AlreadyExists (several match) names the registered kernels.
  Result<const KernelDef*> find(const Node& node, std::string_view device_type) const;
  bool has(const Node& node, std::string_view device_type) const { return find(node, device_type).ok(); }
  std::span<const KernelDef> of(std::string_view op) const;

 private:
  std::map<std::string, std::vector<KernelDef>, std::less<>> kernels_;
};

/// Ops and kernels together, as main builds them and hands them down.
struct OpLibrary {
  std::shared_ptr<OpTable> ops = std::make_shared<OpTable>();
  KernelTable kernels;
  Status status;  ///< the first faulty definition, if any

  OpLibrary& op(const OpDefBuilder& builder);
  OpLibrary& kernel(KernelDef def);
};

/// Every op of Troupe (kernels/ops/all_ops.cpp: the one list), and what `add` adds.
std::shared_ptr<const OpLibrary> make_op_library(const std::function<void(OpLibrary&)>& add = {});

}  // namespace troupe
#pragma GCC visibility pop
