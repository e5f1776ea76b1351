#include "graph/passes/place/placer.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <unordered_map>

#include "graph/build/functions.h"
#include "graph/passes/place/colocation.h"

namespace troupe {
namespace {

int priority(std::string_view device_type) {
  if (device_type == "GPU") return 210;
  if (device_type == "SYCL") return 200;
  return device_type == "CPU" ? 70 : 0;
}

class Placer {
 public:
  Placer(const Graph& graph, std::span<const DeviceInfo> devices, const HasKernel& has_kernel,
         const PlacementOptions& options)
      : graph_(graph), devices_(devices), has_kernel_(has_kernel), options_(options),
        by_preference_(devices.size()) {
    std::iota(by_preference_.begin(), by_preference_.end(), DeviceId{0});
    std::sort(by_preference_.begin(), by_preference_.end(), [&](DeviceId a, DeviceId b) {
      const DeviceName &x = devices[a].name, &y = devices[b].name;
      return priority(x.type) != priority(y.type) ? priority(x.type) > priority(y.type) : x < y;
    });
    for (const DeviceInfo& device : devices)
      if (std::find(types_.begin(), types_.end(), device.name.type) == types_.end())
        types_.push_back(device.name.type);
  }

  Result<PlacementResult> run() && {
    if (devices_.empty()) return failed_precondition("there are no devices");
    if (types_.size() > 64)
      return invalid_argument("there are " + std::to_string(types_.size()) +
                              " types of devices; at most 64 are allowed");
    TROUPE_ASSIGN(order_, topological_order(graph_));
    TROUPE_RETURN_IF_FAILED(find_supported_types());
    TROUPE_ASSIGN(auto requests, parse_requests());
    reconcile_references(requests);
    Colocation colocation(graph_, types_, options_.requests);
    for (NodeId id = 0; id < graph_.size(); ++id)
      colocation.add({std::move(requests[id]), supported_[id], id, is_assigned(id), {}});
    TROUPE_RETURN_IF_FAILED(colocate(colocation));
    TROUPE_RETURN_IF_FAILED(form_groups(colocation));
    const std::vector<DeviceId> chosen = options_.policy(graph_, devices_, groups_);
    assert(chosen.size() == groups_.members.size());
    for (const uint32_t group : groups_.group_of) result_.device.push_back(chosen[group]);
    return std::move(result_);
  }

 private:
  Result<std::vector<DeviceName>> parse_requests() const {
    std::unordered_map<std::string_view, DeviceName> parsed;
    std::vector<DeviceName> requests(graph_.size());
    for (const Node& node : graph_.nodes()) {
      if (is_assigned(node.id)) {
        requests[node.id] = devices_[options_.assigned[node.id]].name;
      } else if (!node.device.empty()) {
        const auto [at, is_new] = parsed.try_emplace(node.device);
        if (is_new) {
          auto name = DeviceName::parse(node.device);
          if (!name) return name.status().at_node(node.type(), node.name);
          at->second = std::move(*name);
        }
        requests[node.id] = at->second;
      }
    }
    return requests;
  }
  bool is_assigned(NodeId node) const {
    return node < options_.assigned.size() && options_.assigned[node] != no_device;
  }

  /// A consumer of a reference runs on the device of the reference, whatever it requests (H5).
  void reconcile_references(std::vector<DeviceName>& requests) {
    for (const NodeId id : order_) {
      const Node& node = graph_.node(id);
      for (size_t i = 0; i < node.inputs.size(); ++i) {
        if (!node.expects_ref[i]) continue;
        DeviceName &source = requests[node.inputs[i].node], &mine = requests[id];
        if (source.any()) continue;
        if (source.includes(mine)) {
          source = mine;
        } else if (!is_assigned(id)) {
          if (!mine.includes(source))
            result_.notes.push_back("[" + node.type() + "] " + node.name + ": the requested device '" +
                                    mine.text() + "' is ignored, because the variable " +
                                    graph_.node(node.inputs[i].node).name + " is on '" + source.text() +
                                    '\'');
          mine = source;
        }
      }
    }
  }

  Status find_supported_types() {
    const uint64_t all = types_.size() == 64 ? ~uint64_t{0} : (uint64_t{1} << types_.size()) - 1;
    supported_.assign(graph_.size(), 0);
    for (const Node& node : graph_.nodes()) {
      for (size_t i = 0; i < types_.size(); ++i)
        if (supports(node, types_[i])) supported_[node.id] |= uint64_t{1} << i;
      if (supported_[node.id] == 0)
        return invalid_argument("the op has no kernel for any type of device here (" +
                                text_of_types(types_, all) + ")")
            .at_node(node.type(), node.name);
    }
    return {};
  }
  /// A function that is called does not move tensors between two memories of a device.
  bool supports(const Node& node, const std::string& type) const {
    if (is_call(*node.op)) return type == "CPU";
    return node.op->served_by == ServedBy::Step || has_kernel_(node, type);
  }

  Status colocate(Colocation& colocation) const {
    std::unordered_map<std::string_view, NodeId> named;
    for (const Node& node : graph_.nodes()) {
      for (size_t i = 0; i < node.inputs.size(); ++i)
        if (node.expects_ref[i] || is_local(graph_.dtype(node.inputs[i])))
          TROUPE_RETURN_IF_FAILED(colocation.unite(node.inputs[i].node, node.id, "reference"));
      for (const std::string& name : node.colocate_with) {
        // Null if that node was pruned; nodes that name it still share a device.
        const Node* other = graph_.find(name);
        const NodeId first = named.try_emplace(name, other ? other->id : node.id).first->second;
        TROUPE_RETURN_IF_FAILED(colocation.unite(first, node.id, "colocation"));
      }
    }
    return {};
  }

  Status form_groups(Colocation& colocation) {
    groups_.group_of.resize(graph_.size());
    for (Colocation::Group& group : std::move(colocation).groups()) {
      TROUPE_ASSIGN(const uint32_t candidates, find_candidates(group));
      for (const NodeId id : group.members)
        groups_.group_of[id] = static_cast<uint32_t>(groups_.members.size());
      groups_.candidates_of.push_back(candidates);
      groups_.members.push_back(std::move(group.members));
    }
    return {};
  }

  /// Returns an index into groups_.candidates.
  Result<uint32_t> find_candidates(const Colocation::Group& group) {
    const auto key = std::pair(group.request, group.types);
    auto at = known_.find(key);
    if (at == known_.end()) {
      Candidates candidates;
      auto devices = matching(group.request, group.types);
      if (devices.empty() && options_.requests == Placement::Soft && !group.fixed) {
        devices = matching(group.request.task_name(), group.types);
        candidates.ignore_request = true;
      }
      if (devices.empty()) return nothing_fits(group);
      candidates.index = static_cast<uint32_t>(groups_.candidates.size());
      groups_.candidates.push_back(std::move(devices));
      at = known_.emplace(key, candidates).first;
    }
    if (at->second.ignore_request) {
      const Node& node = graph_.node(group.requester);
      result_.notes.push_back("[" + node.type() + "] " + node.name + ": no device satisfies the request '" +
                              group.request.text() + "'; only its job, replica and task are kept");
    }
    return at->second.index;
  }

  std::vector<DeviceId> matching(const DeviceName& request, uint64_t types) const {
    std::vector<DeviceId> found;
    for (const DeviceId device : by_preference_)
      if ((types & type_bit(device)) && request.includes(devices_[device].name)) found.push_back(device);
    return found;
  }
  uint64_t type_bit(DeviceId device) const {
    return uint64_t{1} << (std::find(types_.begin(), types_.end(), devices_[device].name.type) -
                           types_.begin());
  }

  Status nothing_fits(const Colocation::Group& group) const {
    const Node& requester = graph_.node(group.requester);
    const std::string request = '\'' + group.request.text() + '\'';
    uint64_t requested_types = 0;
    for (const DeviceId device : matching(group.request, ~uint64_t{0})) requested_types |= type_bit(device);
    if (requested_types == 0) {
      std::string text = "the requested device " + request + " does not exist; the devices are";
      for (const DeviceId device : by_preference_)
        text += (device == by_preference_[0] ? " " : ", ") + devices_[device].name.text();
      return invalid_argument(std::move(text)).at_node(requester.type(), requester.name);
    }
    const NodeId unable = find_unable(group, requested_types);
    const Node& node = graph_.node(unable);
    std::string text = "the op has no kernel for " + request;
    if (unable != group.requester) text += ", where it must run with " + requester.name;
    text += "; it has kernels for " + text_of_types(types_, supported_[unable]);
    return invalid_argument(std::move(text)).at_node(node.type(), node.name);
  }
  /// Returns a member that has a kernel for none of these types.
  NodeId find_unable(const Colocation::Group& group, uint64_t types) const {
    for (const NodeId id : group.members)
      if ((supported_[id] & types) == 0) return id;
    return group.requester;  // each member has a kernel for one of the types, but they have no type in common
  }

  const Graph& graph_;
  std::span<const DeviceInfo> devices_;
  const HasKernel& has_kernel_;
  const PlacementOptions& options_;
  std::vector<DeviceId> by_preference_;
  std::vector<std::string> types_;
  std::vector<NodeId> order_;
  std::vector<uint64_t> supported_;  ///< for each node; bit i stands for types_[i]
  struct Candidates {
    uint32_t index = 0;           ///< into groups_.candidates
    bool ignore_request = false;  ///< no device satisfies the request
  };
  std::map<std::pair<DeviceName, uint64_t>, Candidates> known_;
  PlacementGroups groups_;
  PlacementResult result_;
};

/// Returns true for a source of one value. Such a node is placed after its consumers.
bool is_generator(const Node& node) {
  return node.inputs.empty() && node.output_types.size() == 1 && !node.output_types[0].is_ref &&
         !is_local(node.output_types[0].dtype);
}

/// Returns true for nodes that are placed on the device of their input.
bool joins_input(const Node& node) {
  if (node.inputs.empty()) return false;
  const std::string& type = node.type();
  return node.op->effect == Effect::Step || type == "Shape" || type == "Size" || type == "Rank" ||
         type == "GetSessionHandle";
}

bool contains(const std::vector<DeviceId>& devices, DeviceId device) {
  return std::find(devices.begin(), devices.end(), device) != devices.end();
}

}  // namespace

std::vector<DeviceId> first_feasible(const Graph& graph, std::span<const DeviceInfo>,
                                     const PlacementGroups& groups) {
  std::vector<DeviceId> chosen(groups.members.size(), no_device);
  const auto order = topological_order(graph);
  assert(order.ok());
  const auto alone = [&](NodeId node) { return groups.members[groups.group_of[node]].size() == 1; };
  for (const NodeId id : *order) {
    const Node& node = graph.node(id);
    const uint32_t group = groups.group_of[id];
    if (chosen[group] != no_device || (is_generator(node) && alone(id))) continue;
    const auto& candidates = groups.devices(group);
    chosen[group] = candidates[0];
    if (!joins_input(node) || !alone(id)) continue;
    const DeviceId input = chosen[groups.group_of[node.inputs[0].node]];
    if (contains(candidates, input)) chosen[group] = input;
  }
  // Generators are placed with their consumers if these share a device.
  std::vector<DeviceId> consumers(graph.size(), no_device);
  std::vector<bool> disagree(graph.size(), false);
  for (const Node& node : graph.nodes())
    for (const Output& input : node.inputs) {
      const DeviceId device = chosen[groups.group_of[node.id]];
      DeviceId& known = consumers[input.node];
      disagree[input.node] = disagree[input.node] || (known != no_device && known != device);
      known = device;
    }
  for (NodeId id = 0; id < graph.size(); ++id) {
    DeviceId& device = chosen[groups.group_of[id]];
    if (device != no_device) continue;
    const auto& candidates = groups.devices(groups.group_of[id]);
    device = !disagree[id] && contains(candidates, consumers[id]) ? consumers[id] : candidates[0];
  }
  return chosen;
}

Result<PlacementResult> place(const Graph& graph, std::span<const DeviceInfo> devices,
                              const HasKernel& has_kernel, const PlacementOptions& options) {
  return Placer(graph, devices, has_kernel, options).run();
}

}  // namespace troupe
