#include "apps/train/rounds/gpu_exchange.h"

#include <fmt/format.h>
#include <map>

#include "actors/runtime_impl.h"
#include "apps/train/graphs/replication_tasks.h"
#include "messages/schemas/trainer.capnp.h"
#include "messages/wire/wire.h"

namespace troupe::train {
namespace {

using config::Collectives;

/// Returns why a run cannot have it, whatever GPUs there are; empty if it can.
std::string objection(const config::RunConfig& config, const std::optional<ClusterSpec>& cluster) {
  const auto& replication = config.train.replication;
  if (replication.compression != "none")
    return "gradients are compressed (train.replication.compression = \"" + replication.compression + "\")";
  if (replication.collectives == Collectives::Auto && cluster && cluster->tls)
    return "the cluster uses TLS, but what GPUs exchange is not encrypted";
  return {};
}

/// Returns why these GPUs cannot exchange tensors; empty if they can. `names` are those of GpuQueue::exchange_name, by task.
std::string objection(const std::map<std::string, std::string>& names) {
  std::map<std::string, std::string> tasks;  // by the names of their GPUs
  const auto means = [](const std::string& name) { return name.substr(0, name.find('/')); };
  for (const auto& [task, name] : names) {
    if (const auto [other, is_new] = tasks.emplace(name, task); !is_new)
      return task + " and " + other->second + " share a GPU";
    if (const auto& [first, first_name] = *names.begin(); means(name) != means(first_name))
      return fmt::format("{} has {}, but {} has {}", task, means(name), first, means(first_name));
  }
  return {};
}

std::string ask(Runtime& runtime, const Trainers& trainers) {
  std::vector<AddressedRequest> requests;
  for (const auto& [task, trainer] : trainers) requests.push_back({trainer, Draft<wire::NameGpu>().finish()});
  const Answers answers = runtime.services().call_all(std::move(requests));
  std::map<std::string, std::string> names;
  for (size_t i = 0; i < answers.size(); ++i) {
    const std::string& task = trainers[i].first;
    if (!answers[i]) return task + ": " + answers[i].status().text();
    names[task] = std::string(view((*Message<wire::GpuNamed>(*answers[i])).getName()));
  }
  return objection(names);
}

}  // namespace

bool exchange_on_gpus(Runtime& runtime, const config::RunConfig& config, const Trainers& trainers) {
  const Collectives collectives = config.train.replication.collectives;
  if (!is_among_peers(config) || collectives == Collectives::Host || trainers.size() < 2) return false;
  std::string reason = objection(config, runtime.impl().options.cluster);
  if (reason.empty()) reason = ask(runtime, trainers);
  if (reason.empty() || collectives == Collectives::Auto) return reason.empty();
  throw Error(failed_precondition(
      "train.replication.collectives is \"nccl\", but the GPUs of the workers cannot exchange gradients: " +
      reason));
}

}  // namespace troupe::train
