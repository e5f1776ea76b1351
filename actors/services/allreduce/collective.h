// Collective: what a node of a collective op says: operation, members and the rank of this member. Made when the node's
// partition is registered; immutable, any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "graph/build/graph.h"
#include "graph/ops/partial_shape.h"
#include "kernels/loops/reduce_parts.h"
#include "messages/values/address.h"

namespace troupe {

enum class CollectiveKind : uint8_t {
  Reduce,     ///< every member, or only those at the site of the root, get the reduced tensors
  Scatter,    ///< each member gets its part of the reduced tensor
  Gather,     ///< every member gets the tensors of all
  Broadcast,  ///< every member gets the tensor of the root
};

/// A site is a device that has ranks. Sites are numbered in the order of their names.
struct Collective {
  CollectiveKind kind = CollectiveKind::Reduce;
  Reduction reduction = Reduction::Sum;
  DType dtype = DType::Invalid;
  std::string group, key;
  std::vector<std::string> members;  ///< the device of each rank
  uint32_t rank = 0;
  uint32_t root = 0;  ///< for Broadcast, and for Reduce if to_root
  bool to_root = false;
  bool sends = true;   ///< false for a member that only gets what the root sends
  PartialShape shape;  ///< what such a member expects
  std::vector<std::string> sites;
  std::vector<uint32_t> site_of;  ///< by rank
  uint32_t site = 0;              ///< that of this member
  std::vector<uint32_t> own;      ///< the ranks of that site
  std::string text;               ///< operation, dtype and members: a part of every signature
  bool on_gpus = false;           ///< the members are GPUs, which exchange the tensors without the hosts

  uint32_t ranks() const { return static_cast<uint32_t>(members.size()); }
  /// Returns whether this site gets reduced tensors.
  bool gets_results() const { return !to_root || site == site_of[root]; }
  /// Returns the name of group and key in tables and errors: "group/key".
  std::string name() const { return group + '/' + key; }
  /// Returns "rank 2 of '/job:...'".
  std::string member(uint32_t of) const { return "rank " + std::to_string(of) + " (" + members[of] + ')'; }
};

/// Reads a node that runs on `device`. Fails with InvalidArgument if the members are not names of devices, are too many, or do not
/// have `device` at the node's rank; and if the dtype cannot be reduced as the node asks. GPUs and CPUs cannot be members together,
/// and a GPU is a member once.
Result<Collective> collective_of(const Node& node, const std::string& device);

/// Fails with InvalidArgument if a member cannot take part with these tensors.
Status check_inputs(const Collective& collective, std::span<const Tensor> tensors);

/// Returns what must be equal for all members of an instance, as a text: the operation, the shapes of the tensors as far as they
/// must agree, and the members.
std::string signature_of(const Collective& collective, std::span<const Tensor> tensors);

}  // namespace troupe
