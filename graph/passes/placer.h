// Placer: which device each node runs on (features.md H1-H8; white paper, section 3.2.1). Nodes that must
// share a device form groups; each group gets the devices that satisfy what its nodes request and that have
// kernels for all of them; a policy then chooses. Plain values; one call per graph.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/build/graph.h"
#include "messages/values/device_name.h"

namespace troupe {

struct DeviceInfo {
  DeviceName name;           ///< fully specified
  uint64_t incarnation = 0;  ///< random per start of its process
  size_t memory = 0;         ///< bytes
};

using DeviceId = uint32_t;  ///< index into the devices that the placer was given
inline constexpr DeviceId no_device = UINT32_MAX;

/// Is there a kernel (for an op served by a variable: an update rule) on this type of device? Asked for ops
/// that kernels and variables serve; what the step itself carries out runs on any device, what other actors
/// serve on CPUs.
using HasKernel = std::function<bool(const Node&, std::string_view device_type)>;

/// What the constraints leave open.
struct PlacementGroups {
  std::vector<uint32_t> group_of;            ///< per node
  std::vector<std::vector<NodeId>> members;  ///< per group, in order of ids
  std::vector<uint32_t> candidates_of;       ///< per group: index into candidates
  std::vector<std::vector<DeviceId>>
      candidates;  ///< never empty; by type (GPU, SYCL, CPU, others), then by name

  const std::vector<DeviceId>& devices(uint32_t group) const { return candidates[candidates_of[group]]; }
};

/// Chooses one of its candidates for every group.
using PlacementPolicy =
    std::function<std::vector<DeviceId>(const Graph&, std::span<const DeviceInfo>, const PlacementGroups&)>;

/// The first candidate, but: a node without inputs and with one (value) output joins its consumers when they
/// share a device that it may use; Size, Shape, Rank and results of the step join their input (features.md
/// H6, H7).
std::vector<DeviceId> first_feasible(const Graph& graph, std::span<const DeviceInfo> devices,
                                     const PlacementGroups& groups);

struct PlacementOptions {
  /// A request that no device meets loses its type and id, job and task stay (H8).
  Placement requests = Placement::Strict;
  PlacementPolicy policy = first_feasible;
  /// Per node: where it already is (state never moves), or no_device. Empty: nothing is placed yet.
  std::span<const DeviceId> assigned;
};

struct PlacementResult {
  std::vector<DeviceId> device;    ///< per node
  std::vector<std::string> notes;  ///< requests that were set aside, for the log
};

/// Groups: the two ends of a reference or resource edge (whose producer's request wins over a conflicting one
/// of its consumer, H5) and nodes colocated with the same name. InvalidArgument, naming op and node: a
/// request that no device meets, with the list of devices; an op without kernel on what was requested, with
/// the types that have one; members of a group whose requests or types of device exclude each other, with
/// both.
Result<PlacementResult> place(const Graph& graph, std::span<const DeviceInfo> devices,
                              const HasKernel& has_kernel, const PlacementOptions& options = {});

}  // namespace troupe
