#include "actors/step/step_compiler.h"

#include <algorithm>
#include <map>

#include "actors/site/graph_wire.h"
#include "actors/step/executor/worker.h"
#include "graph/build/frames.h"
#include "graph/build/functions.h"
#include "graph/passes/fuse/fuse.h"
#include "graph/passes/fuse/fuse_updates.h"
#include "graph/passes/partition/check_finite.h"
#include "graph/passes/partition/enter_values.h"
#include "graph/passes/partition/spread_constants.h"
#include "graph/passes/place/learned_placement.h"
#include "graph/passes/place/step_simulation.h"
#include "graph/passes/split/split_ops.h"
#include "kernels/runtime/simplify_step.h"
#include "messages/schemas/worker.capnp.h"
#include "messages/values/text_hash.h"

namespace troupe {
namespace {

class StepCompiler {
 public:
  StepCompiler(const OpLibrary& library, std::span<const WorkerDevices> workers,
               const SessionOptions& options, const PartitionOwner& owner,
               const PlacementKnowledge& known = {})
      : library_(library), workers_(workers), options_(options), owner_(owner), known_(known) {
    for (size_t w = 0; w < workers.size(); ++w)
      for (const DeviceInfo& device : workers[w].devices) {
        devices_.push_back(device);
        worker_of_.push_back(w);
      }
  }

  Result<std::vector<WorkerShare>> compile(const Graph& graph, const RunSignature& signature,
                                           std::vector<DeviceId>& homes) const {
    TROUPE_ASSIGN(const auto partitions, cut(graph, signature, homes));
    return shares(partitions);
  }
  Result<PlacedStep> place_step(const Graph& graph, const RunSignature& signature,
                                std::vector<DeviceId>& homes) const {
    PlacedStep step{.devices = devices_, .partitions = {}, .nodes = {}, .ignored_requests = {}};
    TROUPE_ASSIGN(step.partitions, cut(graph, signature, homes, &step));
    return step;
  }

 private:
  Result<std::vector<Partition>> cut(const Graph& graph, const RunSignature& signature,
                                     std::vector<DeviceId>& homes, PlacedStep* described = nullptr) const {
    if (homes.size() < graph.size()) choose_homes(graph, homes);
    TROUPE_ASSIGN(Subgraph subgraph, cut_subgraph(graph, signature));
    if (signature.partial) TROUPE_RETURN_IF_FAILED(check_client_ends(subgraph.graph));
    TROUPE_RETURN_IF_FAILED(check_handles(subgraph.graph));
    TROUPE_RETURN_IF_FAILED(split_ops(subgraph).status());
    if (options_.simplify) TROUPE_RETURN_IF_FAILED(simplify_step(subgraph, library_));
    TROUPE_ASSIGN(auto placed, place_nodes(subgraph, homes));
    if (described) note_placement(subgraph, placed, *described);
    if (options_.check_finite) TROUPE_RETURN_IF_FAILED(check_finite(subgraph.graph, placed.device));
    if (options_.simplify) {
      TROUPE_RETURN_IF_FAILED(fuse(subgraph.graph, placed.device, has_kernel()).status());
      if (std::ranges::any_of(devices_, is_gpu))
        TROUPE_RETURN_IF_FAILED(fuse_updates(subgraph.graph, placed.device, has_gpu_kernel()).status());
    }
    TROUPE_RETURN_IF_FAILED(spread_constants(subgraph.graph, placed.device, devices_));
    TROUPE_RETURN_IF_FAILED(enter_values(subgraph.graph, placed.device));
    return partition(subgraph.graph, std::move(placed.device), devices_, options_.lossy_transfers);
  }

  void note_placement(const Subgraph& subgraph, const PlacementResult& placed, PlacedStep& described) const {
    for (const Node& node : subgraph.graph.nodes())
      if (subgraph.origin[node.id] != no_node)
        described.nodes.push_back({node.name, node.type(), placed.device[node.id]});
    // Nodes that have their devices from earlier steps request nothing any more.
    const auto anew = place_nodes(subgraph.graph, {}, known_.candidate);
    described.ignored_requests = anew ? anew->notes : placed.notes;
  }

  /// Refuses fetches of a partial run that are handles or lie inside loops, and feeds that are handles.
  static Status check_client_ends(const Graph& graph) {
    TROUPE_ASSIGN(const FrameInfo frames, assign_frames(graph));
    for (const Node& node : graph.nodes()) {
      if (!is_client_end(node)) continue;
      const bool feed = node.inputs.empty();
      const Output what = feed ? Output{node.id, 0} : node.inputs[0];
      const Node& source = graph.node(what.node);
      if (graph.dtype(what) == DType::Resource)
        return invalid_argument("a handle cannot be fed or fetched").at_node(source.type(), source.name);
      if (!feed && frames.of_node[node.id] != root_frame)
        return invalid_argument("it cannot be fetched, because it runs in " +
                                describe(frames, frames.of_node[node.id]))
            .at_node(source.type(), source.name);
    }
    return {};
  }
  static bool is_client_end(const Node& node) {
    return (node.type() == "_HostRecv" || node.type() == "_HostSend") &&
           node.attrs.get<bool>("client_terminated");
  }

  /// Refuses kernels that take handles as elements of tensors: the variable or queue of a handle must be known before the step
  /// runs.
  Status check_handles(const Graph& graph) const {
    const auto takes_handles = [](const auto& attr) {
      const auto* const dtype = std::get_if<DType>(&attr.second);
      return dtype && *dtype == DType::Resource;
    };
    for (const Node& node : graph.nodes())
      if (node.op->served_by == ServedBy::Kernel && !library_.kernels.has(node, "CPU") &&
          std::any_of(node.attrs.begin(), node.attrs.end(), takes_handles))
        return unimplemented(
                   "handles of queues and variables cannot be elements of tensors: they cannot be packed, "
                   "gathered or selected, only passed on one by one")
            .at_node(node.type(), node.name);
    return {};
  }

  CanRun has_kernel() const {
    return [this](const Node& node, DeviceId device) {
      return library_.kernels.has(node, devices_[device].name.type);
    };
  }

  static bool is_gpu(const DeviceInfo& device) { return device.name.type == "GPU"; }
  CanRun has_gpu_kernel() const {
    return [this](const Node& node, DeviceId device) {
      return is_gpu(devices_[device]) && library_.kernels.has(node, "GPU");
    };
  }

  Result<PlacementResult> place_nodes(const Graph& graph, std::span<const DeviceId> assigned,
                                      uint64_t candidate) const {
    // An op of a service may have no kernel. Ops of the variable service then run on any device; ops of other services run where
    // they say, or on the CPU, because their actors keep tensors in host memory.
    const auto has_kernel = [this](const Node& node, std::string_view type) {
      if (node.op->served_by == ServedBy::Service && library_.kernels.of(node.op->name).empty()) {
        if (node.op->served_on) return type == node.op->served_on(node.attrs);
        return type == "CPU" || node.op->is_of_service(variable_service);
      }
      return library_.kernels.has(node, type);
    };
    PlacementOptions placement;
    placement.requests = options_.placement;
    placement.assigned = assigned;
    if (options_.device_choice != DeviceChoice::FirstFeasible)
      placement.policy = [&](const Graph& placed, std::span<const DeviceInfo> devices,
                             const PlacementGroups& groups) {
        const NodeCosts costs(placed, devices, known_.times);
        return candidate == 0 ? earliest_finish(placed, devices, groups, costs)
                              : learned_placement(placed, devices, groups, costs, candidate);
      };
    return place(graph, devices_, has_kernel, placement);
  }

  static bool has_home(const Node& node) {
    return node.op->effect == Effect::State || !node.colocate_with.empty();
  }

  /// Places the whole graph to find the homes. If it cannot be placed, some of its steps still may; those that cannot will report
  /// why.
  void choose_homes(const Graph& graph, std::vector<DeviceId>& homes) const {
    homes.resize(graph.size(), no_device);
    const auto placed = place_nodes(graph, homes, options_.device_choice == DeviceChoice::Learned ? 1 : 0);
    if (!placed) return;
    for (const Node& node : graph.nodes())
      if (has_home(node)) homes[node.id] = placed->device[node.id];
  }

  Result<PlacementResult> place_nodes(const Subgraph& subgraph, std::vector<DeviceId>& homes) const {
    std::vector<DeviceId> assigned;
    for (const NodeId origin : subgraph.origin)
      assigned.push_back(origin == no_node ? no_device : homes[origin]);
    auto placed = place_nodes(subgraph.graph, assigned, known_.candidate);
    if (!placed) return placed;
    for (const Node& node : subgraph.graph.nodes())
      if (const NodeId origin = subgraph.origin[node.id]; origin != no_node && has_home(node))
        homes[origin] = placed->device[node.id];
    return placed;
  }

  std::vector<WorkerShare> shares(const std::vector<Partition>& partitions) const {
    std::map<size_t, std::vector<const Partition*>> by_worker;
    for (const Partition& part : partitions) by_worker[worker_of_[part.device]].push_back(&part);
    std::vector<WorkerShare> result;
    for (const auto& [worker, parts] : by_worker) {
      WorkerShare share;
      share.worker = worker;
      for (const Partition* part : parts)
        for (const PartitionEnd& feed : part->feeds) share.feeds.push_back(feed.position);
      std::sort(share.feeds.begin(), share.feeds.end());
      share.feeds.erase(std::unique(share.feeds.begin(), share.feeds.end()), share.feeds.end());
      share.seeded = seeded(parts);
      for (const Partition* part : parts) add_client_ends(*part, share);
      share.registration = registration(parts, partitions);
      result.push_back(std::move(share));
    }
    return result;
  }

  void add_client_ends(const Partition& part, WorkerShare& share) const {
    for (const Node& node : part.graph.nodes()) {
      if (!is_client_end(node)) continue;
      const auto& edge = node.attrs.get<std::string>("tensor_name");
      auto& ends = node.inputs.empty() ? share.client_feeds : share.client_fetches;
      ends.push_back({static_cast<uint32_t>(std::stoul(edge.substr(edge.find('_') + 1))), text_hash(edge),
                      executor_of(part.device)});
    }
  }

  Address executor_of(DeviceId device) const {
    return executor_address(workers_[worker_of_[device]].worker, owner_.session, owner_.partition,
                            devices_[device].name.text());
  }

  static std::vector<std::string> seeded(const std::vector<const Partition*>& parts) {
    std::vector<std::string> names;
    const auto add = [&](const Graph& graph) {
      for (const Node& node : graph.nodes())
        if (has_own_seeds(node)) names.push_back(node.name);
    };
    for (const Partition* part : parts) {
      add(part->graph);
      for (const Function* function : called_functions(part->graph)) add(*function->body);
    }
    return names;
  }

  Message<wire::RegisterPartition> registration(const std::vector<const Partition*>& parts,
                                                const std::vector<Partition>& all) const {
    Draft<wire::RegisterPartition> draft;
    std::vector<Tensor> attachments;
    draft->setSession(owner_.session);
    draft->setPartition(owner_.partition);
    write(owner_.master, draft->initMaster());
    draft->setSeed(options_.seed.value_or(owner_.session));
    draft->setContainer(as_text(state_container(owner_.session, options_)));
    auto out = draft->initParts(static_cast<uint32_t>(parts.size()));
    for (uint32_t i = 0; i < parts.size(); ++i) {
      out[i].setDevice(as_text(devices_[parts[i]->device].name.text()));
      write(parts[i]->graph, 0, out[i].initGraph(), attachments);
      out[i].setGraphDigest(digest_of(out[i].getGraph()));
      write_ends(parts[i]->feeds, out[i].initFeeds(static_cast<uint32_t>(parts[i]->feeds.size())));
      write_ends(parts[i]->fetches, out[i].initFetches(static_cast<uint32_t>(parts[i]->fetches.size())));
    }
    auto executors = draft->initExecutors(static_cast<uint32_t>(all.size()));
    for (uint32_t i = 0; i < all.size(); ++i) {
      const std::string device = devices_[all[i].device].name.text();
      executors[i].setDevice(as_text(device));
      write(executor_of(all[i].device), executors[i].initAddress());
    }
    return draft.finish(std::move(attachments));
  }

  static void write_ends(const std::vector<PartitionEnd>& ends, capnp::List<wire::End>::Builder out) {
    for (uint32_t i = 0; i < ends.size(); ++i) {
      out[i].setPosition(ends[i].position);
      out[i].initOutput().setNode(ends[i].output.node);
      out[i].getOutput().setIndex(ends[i].output.index);
    }
  }

  const OpLibrary& library_;
  std::span<const WorkerDevices> workers_;
  const SessionOptions& options_;
  const PartitionOwner& owner_;
  const PlacementKnowledge known_;
  std::vector<DeviceInfo> devices_;
  std::vector<size_t> worker_of_;  ///< for each device, the index of its worker
};

}  // namespace

std::string state_container(uint64_t session, const SessionOptions& options) {
  return options.share_state.value_or(false) ? std::string() : std::to_string(session);
}

Result<std::vector<WorkerShare>> compile_step(const Graph& graph, const RunSignature& signature,
                                              const OpLibrary& library,
                                              std::span<const WorkerDevices> workers,
                                              const SessionOptions& options, const PartitionOwner& owner,
                                              std::vector<DeviceId>& homes, const PlacementKnowledge& known) {
  return StepCompiler(library, workers, options, owner, known).compile(graph, signature, homes);
}

Result<PlacedStep> place_step(const Graph& graph, const RunSignature& signature, const OpLibrary& library,
                              std::span<const WorkerDevices> workers, const SessionOptions& options,
                              std::vector<DeviceId>& homes, const PlacementKnowledge& known) {
  const PartitionOwner no_owner;
  return StepCompiler(library, workers, options, no_owner, known).place_step(graph, signature, homes);
}

Result<PlacedStep> place_step(const Graph& graph, const RunSignature& signature, const OpLibrary& library,
                              std::span<const WorkerDevices> workers, const SessionOptions& options) {
  std::vector<DeviceId> homes;
  return place_step(graph, signature, library, workers, options, homes, {});
}

}  // namespace troupe
