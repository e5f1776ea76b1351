#include "tests/support/partitioned_runtime.h"

#include <algorithm>

namespace troupe::test {

PartitionedRuntime::PartitionedRuntime(std::shared_ptr<const OpLibrary> library, size_t devices,
                                       uint64_t seed)
    : random_(seed) {
  for (size_t i = 0; i < devices; ++i) {
    const std::string name = "/job:test/replica:0/task:" + std::to_string(i) + "/device:CPU:0";
    devices_.push_back(std::make_unique<CpuDevice>(value_or_throw(DeviceName::parse(name)), i + 1, pool_));
    runtimes_.push_back(std::make_unique<LocalRuntime>(library, *devices_.back()));
    infos_.push_back({devices_.back()->name(), devices_.back()->incarnation(), 0});
  }
}

Result<std::vector<Tensor>> PartitionedRuntime::run(const Graph& graph, const Feeds& feeds,
                                                    const std::vector<Output>& fetches) {
  RunSignature signature;
  std::vector<Tensor> values;
  for (const auto& [output, value] : feeds) {
    signature.feeds.push_back(output);
    values.push_back(value);
  }
  for (const Output& fetch : fetches) {
    if (fetch.is_control())
      signature.targets.push_back(fetch.node);
    else
      signature.fetches.push_back(fetch);
  }
  TROUPE_ASSIGN(const Subgraph cut, cut_subgraph(graph, signature));
  const KernelTable& kernels = runtimes_[0]->library().kernels;
  const auto has_kernel = [&](const Node& node, std::string_view type) { return kernels.has(node, type); };
  TROUPE_ASSIGN(auto placed, place(cut.graph, infos_, has_kernel));
  TROUPE_ASSIGN(const auto partitions, partition(cut.graph, std::move(placed.device), infos_));
  partitions_ = partitions.size();
  return run_step(partitions, values, signature.fetches.size());
}

Result<std::vector<Tensor>> PartitionedRuntime::run_step(std::span<const Partition> partitions,
                                                         const std::vector<Tensor>& feeds, size_t fetches) {
  LocalRendezvous rendezvous;
  std::vector<std::unique_ptr<LocalHost>> hosts;
  for (const Partition& part : partitions) {
    LocalRuntime& runtime = *runtimes_[part.device];
    TROUPE_ASSIGN(auto plan, runtime.prepare(part));
    hosts.push_back(std::make_unique<LocalHost>(runtime.library(), std::move(plan), &rendezvous));
    std::vector<Tensor> mine;
    for (const PartitionEnd& feed : part.feeds) mine.push_back(feeds[feed.position]);
    hosts.back()->start(std::move(mine), {});
  }
  TROUPE_RETURN_IF_FAILED(drive(hosts));
  std::vector<Tensor> results(fetches);
  for (size_t i = 0; i < hosts.size(); ++i) {
    TROUPE_RETURN_IF_FAILED(*hosts[i]->outcome());
    const auto fetched = hosts[i]->runner().fetched();
    for (size_t j = 0; j < fetched.size(); ++j)
      results[partitions[i].fetches[j].position] = std::move(fetched[j]);
  }
  return results;
}

// Everything happens on this thread, so if no host is woken now, no host will ever be.
Status PartitionedRuntime::drive(std::span<const std::unique_ptr<LocalHost>> hosts) {
  for (bool any = true; any;) {
    any = false;
    std::vector<LocalHost*> order;
    for (const auto& host : hosts) order.push_back(host.get());
    std::shuffle(order.begin(), order.end(), random_);
    for (LocalHost* host : order) {
      if (host->outcome() || !host->take_wake()) continue;
      host->runner().drive();
      any = true;
    }
  }
  Status failure;
  for (const auto& host : hosts) {
    if (host->outcome() && !host->outcome()->ok()) failure = *host->outcome();
  }
  for (const auto& host : hosts) {  // the other hosts wait for tokens that will never arrive
    if (host->outcome()) continue;
    if (failure.ok()) failure = internal("the partitions wait for each other");
    (void)host->runner().cancel(failure);
    host->runner().drive();
  }
  return failure;
}

}  // namespace troupe::test
