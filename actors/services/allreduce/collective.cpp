#include "actors/services/allreduce/collective.h"

#include <algorithm>

#include "messages/values/device_name.h"

namespace troupe {
namespace {

constexpr size_t max_members = 4096;

/// Returns the full name of the device that a member names. Replica, type and number of the device may be missing.
Result<std::string> device_of(const std::string& member) {
  TROUPE_ASSIGN(DeviceName name, DeviceName::parse(member));
  if (name.job.empty() || name.task == DeviceName::unset)
    return invalid_argument("members has '" + member + "', which names no job and task");
  if (name.replica == DeviceName::unset) name.replica = 0;
  if (name.type.empty()) name.type = "CPU";
  if (name.id == DeviceName::unset) name.id = 0;
  return name.text();
}

Status set_members(const Node& node, const std::string& device, Collective& result) {
  const auto& members = node.attrs.get<std::vector<std::string>>("members");
  if (members.empty() || members.size() > max_members)
    return invalid_argument("members has " + std::to_string(members.size()) + " entries; allowed: 1 to " +
                            std::to_string(max_members));
  for (const std::string& member : members) {
    TROUPE_ASSIGN(result.members.emplace_back(), device_of(member));
  }
  const int64_t rank = node.attrs.get<int64_t>("rank");
  if (rank >= static_cast<int64_t>(members.size()))
    return invalid_argument("rank is " + std::to_string(rank) + ", but there are " +
                            std::to_string(members.size()) + " members");
  result.rank = static_cast<uint32_t>(rank);
  if (result.members[result.rank] != device)
    return invalid_argument("rank " + std::to_string(rank) + " of members is " + result.members[result.rank] +
                            ", but the node is on " + device);
  return {};
}

bool is_gpu(const std::string& member) { return member.find("/device:GPU:") != std::string::npos; }

/// Fails with InvalidArgument or Unimplemented if GPUs cannot carry a collective out.
Status check_gpus(const Node& node, const Collective& collective) {
  const auto gpus = static_cast<size_t>(std::ranges::count_if(collective.members, is_gpu));
  if (gpus == 0) return {};
  if (gpus != collective.members.size())
    return invalid_argument("members has GPUs and other devices; allowed: one of both");
  if (collective.sites.size() != collective.members.size())
    return invalid_argument("members has a GPU twice");
  if (!node.type().ends_with("AllReduce"))
    return unimplemented(
        "GPUs carry out the collectives AllReduce and WeightedAllReduce alone; name CPUs as members of "
        "others");
  const DType dtype = node.attrs.get<DType>("T");
  const bool weighted = node.type().starts_with("Weighted");
  const bool is_small = dtype == DType::Half || dtype == DType::BFloat16;
  if (is_complex(dtype) || (weighted && is_small))
    return unimplemented("GPUs compute no " + std::string(weighted ? "weighted mean" : "reduction") + " of " +
                         std::string(name(dtype)) + "; name CPUs as members");
  return {};
}

void find_sites(Collective& result) {
  result.sites = result.members;
  std::ranges::sort(result.sites);
  result.sites.erase(std::unique(result.sites.begin(), result.sites.end()), result.sites.end());
  for (const std::string& member : result.members)
    result.site_of.push_back(
        static_cast<uint32_t>(std::ranges::lower_bound(result.sites, member) - result.sites.begin()));
  result.site = result.site_of[result.rank];
  for (uint32_t rank = 0; rank < result.ranks(); ++rank)
    if (result.site_of[rank] == result.site) result.own.push_back(rank);
}

Status set_root_of_mean(const Node& node, Collective& result) {
  const int64_t root = node.attrs.get<int64_t>("root");
  if (root >= result.ranks())
    return invalid_argument("root is " + std::to_string(root) + ", but must be less than " +
                            std::to_string(result.ranks()));
  result.to_root = root >= 0;
  if (result.to_root) result.root = static_cast<uint32_t>(root);
  return {};
}

Status set_operation(const Node& node, Collective& result) {
  const std::string& op = node.type();
  result.dtype = node.attrs.get<DType>("T");
  if (op == "AllGather") {
    result.kind = CollectiveKind::Gather;
    return {};
  }
  if (op.starts_with("Broadcast")) {
    result.kind = CollectiveKind::Broadcast;
    result.sends = op == "BroadcastSend";
    const int64_t root = result.sends ? result.rank : node.attrs.get<int64_t>("root");
    if (!result.sends) result.shape = node.attrs.get<PartialShape>("shape");
    if (root >= result.ranks() || (!result.sends && root == result.rank))
      return invalid_argument("root is " + std::to_string(root) + ", but must be another rank than " +
                              std::to_string(result.rank) + " and less than " +
                              std::to_string(result.ranks()));
    result.root = static_cast<uint32_t>(root);
    return {};
  }
  result.kind = op == "ReduceScatter" ? CollectiveKind::Scatter : CollectiveKind::Reduce;
  result.reduction = Reduction::WeightedMean;
  if (op == "WeightedAllReduce")
    TROUPE_RETURN_IF_FAILED(set_root_of_mean(node, result));
  else
    for (const auto reduction :
         {Reduction::Sum, Reduction::Mean, Reduction::Max, Reduction::Min, Reduction::Product})
      if (name(reduction) == node.attrs.get<std::string>("reduction")) result.reduction = reduction;
  if (can_reduce(result.reduction, result.dtype)) return {};
  return invalid_argument("T is " + std::string(name(result.dtype)) + ", which has no " +
                          std::string(name(result.reduction)));
}

std::string operation_text(const Collective& collective) {
  switch (collective.kind) {
    case CollectiveKind::Reduce:
      return (collective.to_root ? "reduce to rank " + std::to_string(collective.root) : "all-reduce") +
             " (" + std::string(name(collective.reduction)) + ") of ";
    case CollectiveKind::Scatter:
      return "reduce-scatter (" + std::string(name(collective.reduction)) + ") of ";
    case CollectiveKind::Gather: return "all-gather of ";
    case CollectiveKind::Broadcast: break;
  }
  return "broadcast from rank " + std::to_string(collective.root) + " of ";
}

}  // namespace

Result<Collective> collective_of(const Node& node, const std::string& device) {
  Collective result;
  TROUPE_RETURN_IF_FAILED(set_members(node, device, result));
  find_sites(result);
  TROUPE_RETURN_IF_FAILED(check_gpus(node, result));
  result.on_gpus = is_gpu(result.members[result.rank]);
  TROUPE_RETURN_IF_FAILED(set_operation(node, result));
  result.group = node.attrs.get<std::string>("group");
  result.key = node.attrs.get<std::string>("key");
  if (result.key.empty()) result.key = node.name;
  result.text = operation_text(result) + std::string(name(result.dtype));
  return result;
}

Status check_inputs(const Collective& collective, std::span<const Tensor> tensors) {
  if (collective.kind == CollectiveKind::Gather && tensors[0].shape().is_scalar())
    return invalid_argument("input is a scalar; an all-gather joins tensors along dimension 0");
  if (collective.kind != CollectiveKind::Scatter) return {};
  const Shape& shape = tensors[0].shape();
  if (!shape.is_scalar() && shape[0] % collective.ranks() == 0) return {};
  return invalid_argument("input is " + tensors[0].signature() + "; its dimension 0 must be a multiple of " +
                          std::to_string(collective.ranks()) + ", the number of members");
}

std::string signature_of(const Collective& collective, std::span<const Tensor> tensors) {
  std::string result = collective.text;
  if (collective.kind == CollectiveKind::Gather) result += " rows";
  for (const Tensor& tensor : tensors) {
    if (collective.kind == CollectiveKind::Broadcast) break;
    const auto dims = tensor.shape().dims();
    result += " [";
    for (size_t i = collective.kind == CollectiveKind::Gather ? 1 : 0; i < dims.size(); ++i)
      result += std::to_string(dims[i]) + (i + 1 < dims.size() ? "," : "");
    result += ']';
  }
  result += " over";
  for (const std::string& member : collective.members) result += ' ' + member;
  return result;
}

}  // namespace troupe
