#include "graph/passes/place/node_costs.h"

#include <algorithm>
#include <initializer_list>

namespace troupe {
namespace {

constexpr double usual_size = 32, usual_elements = 1024, bytes_of_string = 64;

/// What a device computes in a second, and what it takes to start a node there.
struct DeviceSpeed {
  double multiply_adds, bytes, start_seconds;
};
DeviceSpeed speed_of(std::string_view device_type) {
  return device_type == "GPU" ? DeviceSpeed{8e12, 1e12, 4e-6} : DeviceSpeed{3e10, 1e10, 3e-7};
}

/// A connection of two devices.
struct Connection {
  double bytes, seconds;  ///< in a second; of the shortest message
};
constexpr Connection within_task{1e10, 1e-5}, between_tasks{1e9, 5e-5};

constexpr std::string_view free_ops[] = {
    "Const",   "Identity",     "IdentityN",   "Placeholder", "ReadVariableOp", "Reshape",
    "Squeeze", "ExpandDims",   "Shape",       "ShapeN",      "Size",           "Rank",
    "NoOp",    "StopGradient", "VarHandleOp", "VariableV2",  "Variable",       "PlaceholderWithDefault",
    "Snapshot"};

double dim_or_usual(int64_t dim) { return dim < 0 ? usual_size : static_cast<double>(dim); }

/// Returns dimension i of a shape, counted from its end.
double last_dim(const PartialShape& shape, size_t i) {
  return shape.known_rank() && i < shape.rank() ? dim_or_usual(shape[shape.rank() - 1 - i]) : usual_size;
}

double elements_of(const PartialShape& shape) {
  if (!shape.known_rank()) return usual_elements;
  double product = 1;
  for (const int64_t dim : shape.dims()) product *= dim_or_usual(dim);
  return product;
}

bool is_set(const Node& node, std::initializer_list<const char*> names) {
  return std::ranges::any_of(names, [&](const char* name) {
    const AttrValue* const value = node.attrs.find(name);
    const bool* const flag = value ? std::get_if<bool>(value) : nullptr;
    return flag && *flag;
  });
}

}  // namespace

void MeasuredTimes::add(const std::string& node, const std::string& device_type, double seconds,
                        uint64_t runs) {
  if (runs == 0) return;
  Sum& sum = times_[node][device_type];
  sum.seconds += seconds;
  sum.runs += runs;
}

std::optional<MeasuredTimes::Mean> MeasuredTimes::mean(const std::string& node,
                                                       std::string_view device_type) const {
  const auto of_node = times_.find(node);
  if (of_node == times_.end()) return std::nullopt;
  auto found = of_node->second.find(device_type);
  if (found == of_node->second.end()) found = of_node->second.begin();
  const auto& [type, sum] = *found;
  return Mean{type, sum.seconds / static_cast<double>(sum.runs)};
}

bool NodeCosts::is_free(NodeId id) const {
  const Node& node = graph_.node(id);
  return node.op->served_by == ServedBy::Step ||
         std::ranges::find(free_ops, node.type()) != std::end(free_ops);
}

double NodeCosts::elements(Output output) const { return elements_of(graph_.shape(output)); }

double NodeCosts::bytes(DType dtype, const PartialShape& shape) {
  return elements_of(shape) *
         (dtype == DType::String ? bytes_of_string : static_cast<double>(size_of(dtype)));
}

double NodeCosts::bytes(Output output) const {
  return output.is_control() ? 0 : bytes(graph_.dtype(output), graph_.shape(output));
}

double NodeCosts::multiply_adds(const Node& node) const {
  const std::string& type = node.type();
  const Output result{node.id, 0};
  if (type.find("MatMul") != std::string::npos && node.inputs.size() >= 2) {
    const bool transposed = is_set(node, {"transpose_a", "adj_x"});
    return elements(result) * last_dim(graph_.shape(node.inputs[0]), transposed ? 1 : 0);
  }
  // A convolution, or a gradient of one, computes each element of its small images with every element of a filter for it.
  if (type.find("Conv") == std::string::npos || node.inputs.size() < 2) return 0;
  const bool of_filter = type.find("BackpropFilter") != std::string::npos,
             of_images = type.find("BackpropInput") != std::string::npos;
  const Output images = (of_filter || of_images) && node.inputs.size() >= 3 ? node.inputs[2] : result;
  const Output filter = of_filter ? result : node.inputs[1];
  return elements(images) * elements(filter) / last_dim(graph_.shape(filter), 0);
}

double NodeCosts::estimate(const Node& node, std::string_view device_type) const {
  double moved = 0;
  for (const Output& input : node.inputs) moved += bytes(input);
  for (uint32_t i = 0; i < node.output_types.size(); ++i) moved += bytes({node.id, i});
  const DeviceSpeed speed = speed_of(device_type);
  return speed.start_seconds + std::max(multiply_adds(node) / speed.multiply_adds, moved / speed.bytes);
}

double NodeCosts::seconds(NodeId id, DeviceId device) const {
  if (is_free(id)) return 0;
  const Node& node = graph_.node(id);
  const std::string& type = devices_[device].name.type;
  const auto measured = measured_ ? measured_->mean(node.name, type) : std::nullopt;
  if (!measured) return estimate(node, type);
  if (measured->device_type == type) return measured->seconds;
  return measured->seconds * estimate(node, type) / estimate(node, measured->device_type);
}

double NodeCosts::transfer_seconds(double bytes, DeviceId from, DeviceId to) const {
  if (from == to) return 0;
  const bool same_task = devices_[from].name.task_name() == devices_[to].name.task_name();
  const Connection& connection = same_task ? within_task : between_tasks;
  return connection.seconds + bytes / connection.bytes;
}

}  // namespace troupe
