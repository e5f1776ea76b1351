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
#include <variant>
#include <vector>

#include "devices/device.h"
#include "graph/build/graph.h"
#include "kernels/core/slot.h"

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
  const Node& node_;
  Slot* inputs_;
  Tensor* outputs_;
  DeviceContext& device_;
  const StepInfo& step_;
  uint64_t frame_key_;
  size_t input_count_;
};

/// Done (or failed), or still running on the device until the Completion.
using Outcome = std::variant<Status, Completion>;

class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual Outcome run(KernelContext& context) const = 0;
  /// What it yields whatever happens, or null: then it need not be run.
  virtual const Tensor* constant() const { return nullptr; }
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

/// A kernel for one op on one type of device. For ops that a Variable actor serves, the kernel is the update rule: it gets the
/// current value of each ref input (an invalid tensor when uninitialised) and yields one output per ref input, the new value,
/// in place through forward() where nobody holds the old one.
struct KernelDef {
  std::string op;
  std::string device_type;  ///< "CPU", "GPU"
  /// Type attribute -> the dtypes served; absent: any but variant and resource.
  std::map<std::string, std::vector<DType>> types;
  std::vector<std::string> host_inputs,
      host_outputs;    ///< names of arguments kept in host memory on any device
  bool cheap = false;  ///< costs less than handing it to another thread
  std::function<Result<std::unique_ptr<Kernel>>(const PrepareContext&)> prepare;
  bool opaque =
      false;  ///< hands on tensors without a look at their elements: it serves variants and handles, too

  KernelDef& on(std::string attr, std::vector<DType> dtypes) &;
  KernelDef&& on(std::string attr, std::vector<DType> dtypes) && {
    return std::move(on(std::move(attr), std::move(dtypes)));
  }
  KernelDef&& host(std::vector<std::string> inputs, std::vector<std::string> outputs = {}) &&;
  KernelDef&& hands_on() && {
    opaque = true;
    return std::move(*this);
  }
  KernelDef&& inexpensive() && {
    cheap = true;
    return std::move(*this);
  }
};

/// A CPU kernel that needs no preparation: one function.
KernelDef cpu_kernel(std::string op, KernelFunction function);
/// A CPU kernel with prepared state: K has `static Result<std::unique_ptr<Kernel>> prepare(const PrepareContext&)`.
template <class K>
KernelDef cpu_kernel(std::string op) {
  return KernelDef{std::move(op), "CPU", {}, {}, {}, false, &K::prepare};
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

/// Every op there is (kernels/ops/all_ops.cpp: the one list).
std::shared_ptr<const OpLibrary> make_op_library();

/// What the registered kernels do as to where their arguments live: true when input (or output) `index` of the node is kept in
/// host memory.
bool in_host_memory(const KernelDef& kernel, const Node& node, size_t index, bool is_input);

}  // namespace troupe
