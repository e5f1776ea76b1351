// Placer: chooses the device of each node (features.md H1-H8; white paper, section 3.2.1). Nodes that must share
// a device form groups. The candidates of a group are the devices that satisfy the requests of all its nodes and
// have kernels for all of them. A policy chooses among the candidates. Plain values; one call per graph.
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
  DeviceName name;           ///< the full name
  uint64_t incarnation = 0;  ///< of the device's process
  size_t memory = 0;         ///< bytes
};

using DeviceId = uint32_t;  ///< the index into the devices that the placer was given
inline constexpr DeviceId no_device = UINT32_MAX;

/// Returns whether an op can be carried out on this type of device: by a kernel, or by its
/// service. It is not called for ops that the step itself carries out, which run on any device.
using HasKernel = std::function<bool(const Node&, std::string_view device_type)>;

/// The groups and their candidates.
struct PlacementGroups {
  std::vector<uint32_t> group_of;            ///< for each node
  std::vector<std::vector<NodeId>> members;  ///< for each group, in the order of ids
  std::vector<uint32_t> candidates_of;       ///< for each group, an index into `candidates`
  /// Lists of devices, never empty; ordered by type (GPU, SYCL, CPU, others), then by name.
  std::vector<std::vector<DeviceId>> candidates;

  const std::vector<DeviceId>& devices(uint32_t group) const { return candidates[candidates_of[group]]; }
};

/// Chooses one of the candidates for each group.
using PlacementPolicy =
    std::function<std::vector<DeviceId>(const Graph&, std::span<const DeviceInfo>, const PlacementGroups&)>;

/// Chooses the first candidate, with two exceptions. A node without inputs and with one (value) output joins its consumers if they
/// share a device that is a candidate. Size, Shape, Rank and the _Retval nodes of a step join their input (features.md H6, H7).
std::vector<DeviceId> first_feasible(const Graph& graph, std::span<const DeviceInfo> devices,
                                     const PlacementGroups& groups);

struct PlacementOptions {
  /// Soft: if no device satisfies a request, only its job, replica and task are kept (H8).
  Placement requests = Placement::Strict;
  PlacementPolicy policy = first_feasible;
  /// For each node, the device on which it is already, because state never moves, or no_device. Empty: no node has a device yet.
  std::span<const DeviceId> assigned;
};

struct PlacementResult {
  std::vector<DeviceId> device;    ///< for each node
  std::vector<std::string> notes;  ///< the requests that were ignored, for the log
};

/// Places a graph. The two ends of a reference or resource edge share a device, and nodes colocated with the
/// same name do. If the request of a reference's consumer contradicts that of its producer, the producer's
/// is used (H5). Fails with InvalidArgument, naming op and node: for a request that no device satisfies,
/// with the list of devices; for an op without a kernel for the requested device, with the device types that
/// have one; for members of a group whose requests or device types exclude each other, with both.
Result<PlacementResult> place(const Graph& graph, std::span<const DeviceInfo> devices,
                              const HasKernel& has_kernel, const PlacementOptions& options = {});

}  // namespace troupe
