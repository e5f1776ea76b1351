#include "kernels/core/kernel.h"

#include <algorithm>

#include "graph/build/host_integers.h"
#include "graph/build/signature.h"
#include "messages/values/memory_claims.h"

namespace troupe {
namespace {

/// Returns whether the kernel may serve the dtypes of the node that exist in this process only. A kernel that names no dtypes
/// serves all of them but variants and handles.
bool serves_local_types(const KernelDef& kernel, const Node& node) {
  return kernel.serves_any_type || std::all_of(node.attrs.begin(), node.attrs.end(), [&](const auto& attr) {
           const DType* dtype = std::get_if<DType>(&attr.second);
           return !dtype || !is_local(*dtype) || kernel.types.contains(attr.first);
         });
}

bool serves(const KernelDef& kernel, const Node& node) {
  return serves_local_types(kernel, node) &&
         std::all_of(kernel.types.begin(), kernel.types.end(), [&](const auto& constraint) {
           const AttrValue* value = node.attrs.find(constraint.first);
           const DType* dtype = value ? std::get_if<DType>(value) : nullptr;
           return dtype && std::find(constraint.second.begin(), constraint.second.end(), *dtype) !=
                               constraint.second.end();
         });
}

/// Returns a list of kernels for errors: "CPU (T: float, double); GPU (T: float)".
std::string text(std::span<const KernelDef> kernels) {
  std::string out;
  for (const auto& kernel : kernels) {
    out += (out.empty() ? "" : "; ") + kernel.device_type;
    for (const auto& [attr, dtypes] : kernel.types) {
      out += " (" + attr + ':';
      for (const DType dtype : dtypes) out += (out.back() == ':' ? " " : ", ") + std::string(name(dtype));
      out += ')';
    }
  }
  return out.empty() ? "none" : out;
}

/// Returns whether both kernels name the same type of device and the same dtypes.
bool serve_the_same(const KernelDef& a, const KernelDef& b) {
  return a.device_type == b.device_type && a.types == b.types;
}

/// Returns the types by which a kernel is chosen, for errors: "T: int32, DstT: float".
std::string types_of(const Node& node) {
  std::string out;
  for (const auto& [attr, value] : node.attrs)
    if (const auto* dtype = std::get_if<DType>(&value))
      out += (out.empty() ? "" : ", ") + attr + ": " + std::string(name(*dtype));
  return out.empty() ? "no types" : out;
}

/// Returns an upper bound of the memory for the contents of `count` strings that a kernel computes from these inputs: either
/// each result contains one string of every input, or all results together contain each input string once.
size_t max_contents(std::span<const Slot> inputs, size_t count) {
  size_t longest = 0, total = 0, bytes = 0;
  for (const Slot& slot : inputs) {
    if (slot.tensor.dtype() != DType::String) continue;
    size_t longest_here = 0;
    for (const std::string& text : slot.tensor.as<std::string>()) {
      longest_here = std::max(longest_here, text.size());
      total += text.size();
    }
    longest += longest_here;
  }
  if (__builtin_mul_overflow(count, contents_of(longest), &bytes)) return SIZE_MAX;
  return longest == 0 ? 0 : std::max(bytes, contents_of(total));
}

}  // namespace

// Only a device with separate memory keeps some outputs in another place, the host memory.
Allocator& KernelContext::memory_of(size_t i) const {
  Allocator &memory = device_.memory(), &host_memory = device_.host_memory();
  if (&memory == &host_memory || i >= node_.output_types.size()) return memory;
  const bool on_host = in_host_memory(node_, i, false) || is_local(node_.output_types[i].dtype);
  return on_host ? host_memory : memory;
}

Result<Tensor*> KernelContext::output(size_t i, DType dtype, const Shape& shape) {
  TROUPE_RETURN_IF_FAILED(outputs_[i].reallocate(dtype, shape, memory_of(i)));
  if (dtype == DType::String)
    TROUPE_RETURN_IF_FAILED(claim_contents(
        outputs_[i], max_contents({inputs_, input_count_}, static_cast<size_t>(shape.elements())),
        device_.memory()));
  return &outputs_[i];
}

Result<Tensor*> KernelContext::forward(size_t in, size_t out, const Shape& shape) {
  Tensor& input = inputs_[in].tensor;
  // An update rule computes more values than the node has outputs: a new value for every variable.
  const DType dtype = out < node_.output_types.size() ? node_.output_types[out].dtype : input.dtype();
  const bool both_variant = input.dtype() == DType::Variant && dtype == DType::Variant;
  const bool reusable = input.unique() && input.layout() == 0 && input.completion().ready() &&
                        ((is_plain(input.dtype()) && is_plain(dtype)) || both_variant) &&
                        input.bytes() == static_cast<size_t>(shape.elements()) * size_of(dtype);
  if (!reusable) return output(out, dtype, shape);
  if (input.dtype() == dtype && input.shape() == shape) {
    outputs_[out] = std::move(input);
  } else {
    const auto offset = static_cast<size_t>(input.data() - input.buffer()->data);
    outputs_[out] = Tensor(dtype, shape, input.buffer(), offset);
    input.reset();
  }
  return &outputs_[out];
}

KernelDef& KernelDef::on(std::string attr, std::vector<DType> dtypes) & {
  types[std::move(attr)] = std::move(dtypes);
  return *this;
}

KernelDef kernel_on(std::string device_type, std::string op, PrepareFunction prepare) {
  return {std::move(op), std::move(device_type), {}, false, std::move(prepare)};
}

KernelDef host_kernel(std::string op, KernelFunction function) {
  return kernel_on(std::string(any_device), std::move(op), [function](const PrepareContext&) {
    return Result<std::unique_ptr<Kernel>>(std::make_unique<HostKernel<KernelFunction>>(function));
  });
}

Result<const KernelDef*> KernelTable::find(const Node& node, std::string_view device_type) const {
  const KernelDef* found = nullptr;
  const std::string_view wanted =
      device_type == "GPU" && computes_integers_on_host(node) ? "CPU" : device_type;
  for (const auto& kernel : of(node.type())) {
    const bool runs_there = kernel.device_type == wanted || kernel.device_type == any_device;
    if (!runs_there || !serves(kernel, node)) continue;
    if (found)
      return already_exists("several kernels serve " + std::string(device_type) + " with " + types_of(node) +
                            "; registered kernels: " + text(of(node.type())))
          .at_node(node.type(), node.name);
    found = &kernel;
  }
  if (found) return found;
  return not_found("no kernel serves " + std::string(device_type) + " with " + types_of(node) +
                   "; registered kernels: " + text(of(node.type())))
      .at_node(node.type(), node.name);
}

Status KernelTable::check(const OpTable& ops) const {
  for (const auto& [name, kernels] : kernels_) {
    const OpDef* const op = ops.find(name);
    if (!op || op->name != name)
      return not_found("there are kernels of op " + name + ", which is not defined: " + text(kernels));
    for (size_t i = 0; i < kernels.size(); ++i)
      for (size_t j = 0; j < i; ++j)
        if (serve_the_same(kernels[i], kernels[j]))
          return already_exists("two kernels of op " + name +
                                " serve the same nodes: " + text(std::span(&kernels[i], 1)));
  }
  return {};
}

std::span<const KernelDef> KernelTable::of(std::string_view op) const {
  const auto at = kernels_.find(op);
  return at == kernels_.end() ? std::span<const KernelDef>{} : std::span<const KernelDef>(at->second);
}

OpLibrary& OpLibrary::op(const OpDefBuilder& builder) {
  Status added = ops->add(builder);
  if (status.ok()) status = std::move(added);
  return *this;
}

OpLibrary& OpLibrary::kernel(KernelDef def) {
  kernels.add(std::move(def));
  return *this;
}

}  // namespace troupe
