#include "graph/passes/simplify/common_subexpressions.h"

#include <algorithm>
#include <cstring>

namespace troupe {
namespace {

class Hash {
 public:
  void add(uint64_t word) { value_ = (value_ ^ word) * 0x9e3779b97f4a7c15 ^ (value_ >> 29); }
  void add(std::string_view text) { add(std::hash<std::string_view>{}(text)); }
  void add(const std::string& text) { add(std::string_view(text)); }
  void add(const FunctionName& function) { add(function.name); }
  void add(DType dtype) { add(static_cast<uint64_t>(dtype)); }
  void add(bool value) { add(static_cast<uint64_t>(value)); }
  void add(int64_t value) { add(static_cast<uint64_t>(value)); }
  void add(float value) { add(uint64_t{std::bit_cast<uint32_t>(value)}); }
  void add(const PartialShape& shape) {
    add(shape.known_rank());
    for (const int64_t dim : shape.dims()) add(dim);
  }
  /// Of large tensors, only three samples are added: from the beginning, the middle and the end.
  void add(const Tensor& tensor) {
    constexpr size_t part = 64;
    add(tensor.dtype());
    for (const int64_t dim : tensor.shape().dims()) add(dim);
    if (!is_plain(tensor.dtype()) || tensor.memory() != MemoryKind::Host) return;
    const std::string_view bytes(reinterpret_cast<const char*>(tensor.data()), tensor.bytes());
    if (bytes.size() <= 3 * part) return add(bytes);
    for (const size_t at : {size_t{0}, bytes.size() / 2, bytes.size() - part}) add(bytes.substr(at, part));
  }
  template <class T>
  void add(const std::vector<T>& values) {
    add(uint64_t{values.size()});
    for (const auto& value : values) add(static_cast<T>(value));
  }
  uint64_t value() const { return value_; }

 private:
  uint64_t value_ = 0x2545f4914f6cdd1d;
};

/// A commutative op with more than two inputs is not unordered, because the order of additions changes the last bits of the sum.
bool is_unordered(const Node& node) { return node.op->commutative && node.inputs.size() == 2; }

std::pair<Output, Output> sorted_pair(const Node& node) {
  return std::minmax(node.inputs[0], node.inputs[1]);
}

uint64_t hash_of(const Node& node) {
  Hash hash;
  hash.add(node.op->name);
  const auto add = [&](Output output) { hash.add(uint64_t{output.node} << 32 | output.index); };
  if (is_unordered(node)) {
    const auto [first, second] = sorted_pair(node);
    add(first), add(second);
  } else {
    for (const Output& input : node.inputs) add(input);
  }
  for (const NodeId control : node.control_inputs) hash.add(uint64_t{control});
  hash.add(node.device);
  for (const auto& [name, value] : node.attrs) {
    hash.add(name);
    std::visit([&](const auto& one) { hash.add(one); }, value);
  }
  return hash.value();
}

bool compute_the_same(const Node& a, const Node& b) {
  if (a.op != b.op || a.device != b.device || a.colocate_with != b.colocate_with ||
      a.control_inputs != b.control_inputs)
    return false;
  const bool equal_inputs =
      a.inputs == b.inputs || (is_unordered(a) && b.inputs.size() == 2 && sorted_pair(a) == sorted_pair(b));
  return equal_inputs && a.attrs == b.attrs;
}

bool may_be_shared(const GraphDraft& draft, const Node& node) {
  if (node.op->effect != Effect::Pure || node.op->served_by != ServedBy::Kernel || node.output_types.empty())
    return false;
  if (node.inputs.empty() && node.type() != "Const") return false;  // for example a Placeholder
  for (const EdgeType& type : node.output_types)
    if (type.is_ref || is_local(type.dtype)) return false;
  return std::none_of(node.inputs.begin(), node.inputs.end(),
                      [&](Output input) { return draft.type(input).is_ref; });
}

}  // namespace

NodeId CommonSubexpressions::find_or_add(NodeId id) {
  const Node& node = draft_.node(id);
  if (!may_be_shared(draft_, node)) return id;
  const uint64_t hash = hash_of(node);
  const auto [first, last] = known_.equal_range(hash);
  for (auto at = first; at != last; ++at)
    if (compute_the_same(draft_.node(at->second), node)) return at->second;
  known_.emplace(hash, id);
  return id;
}

}  // namespace troupe
