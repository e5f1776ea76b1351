#include "apps/train/rounds/live_training.h"

#include <algorithm>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include "apps/services/trainer.h"
#include "apps/train/graphs/replication_tasks.h"
#include "messages/schemas/trainer.capnp.h"
#include "messages/wire/texts_wire.h"
#include "messages/wire/wire.h"

namespace troupe::train {
namespace {

AnyMessage resume_message(const Runtime& runtime, const config::RunConfig& config, uint64_t run) {
  Draft<wire::ResumeTraining> draft;
  draft->setRun(run);
  draft->setConfig(as_text(config.effective_toml()));
  write(runtime.services().address("worker"), draft->initClient());
  return draft.finish();
}

/// Returns whether all workers say the same of the training, have shards that exist, and, if none of them may be missing, have done
/// the same rounds.
bool agree(const std::vector<Message<wire::TrainingResumed>>& answers, const config::RunConfig& config) {
  const auto differs = [&](const Message<wire::TrainingResumed>& answer) {
    const auto& first = answers.front();
    return answer->getTraining() != first->getTraining() ||
           read(answer->getOwners()) != read(first->getOwners()) ||
           (is_among_peers(config) && answer->getNext() != first->getNext()) ||
           std::ranges::any_of(vector_of<uint32_t>(answer->getShards()),
                               [&](uint32_t shard) { return shard >= config.shards(); });
  };
  return std::ranges::none_of(answers, differs);
}

/// Removes the workers that the trainer before had given up, and returns them: of two that compute one shard, the one that is
/// behind. It must not take part, because its shard may have been applied already in the round that it would compute.
std::vector<LiveTraining::Worker> take_superseded(std::vector<LiveTraining::Worker>& workers) {
  std::ranges::stable_sort(workers, std::ranges::greater(), &LiveTraining::Worker::next);
  std::set<uint32_t> taken;
  std::vector<LiveTraining::Worker> going_on, superseded;
  for (LiveTraining::Worker& worker : workers) {
    const bool is_behind =
        std::ranges::any_of(worker.shards, [&](uint32_t shard) { return taken.contains(shard); });
    taken.insert(worker.shards.begin(), worker.shards.end());
    (is_behind ? superseded : going_on).push_back(std::move(worker));
  }
  workers = std::move(going_on);
  return superseded;
}

}  // namespace

uint64_t LiveTraining::done() const {
  uint64_t next = UINT64_MAX;
  for (const Worker& worker : workers)
    if (!worker.shards.empty()) next = std::min(next, worker.next);
  return next - 1;
}

std::optional<LiveTraining> find_training(Runtime& runtime, const config::RunConfig& config, uint64_t run) {
  std::vector<AddressedRequest> requests;
  std::vector<std::string> asked;
  std::map<std::string, ActorRef> trainers;  // by task
  std::map<std::string, uint64_t> numbers;   // of their trainings
  size_t workers = 0;                        // that take part
  for (int64_t i = 0; i < config.cluster.tasks.at("worker"); ++i) {
    if (is_among_peers(config) && i >= config.shards()) break;
    ++workers;
    const auto address = runtime.services().address(services::trainer_role, task_name("worker", i));
    if (!address) continue;
    const auto trainer = runtime.services().find(*address);
    if (!trainer) continue;
    asked.push_back(address->task);
    trainers.emplace(address->task, *trainer);
    requests.push_back({*trainer, resume_message(runtime, config, run)});
  }
  const Answers all = runtime.services().call_all(std::move(requests));
  LiveTraining found;
  std::vector<Message<wire::TrainingResumed>> answers;
  for (size_t i = 0; i < all.size(); ++i) {
    if (!all[i]) continue;
    const auto& answer = answers.emplace_back(*all[i]);
    numbers.emplace(asked[i], answer->getTraining());
    found.workers.push_back({asked[i],
                             answer->getNext(),
                             vector_of<uint32_t>(answer->getShards()),
                             {answer->getLoss(), answer->getSamples()}});
  }
  if (answers.empty()) return {};
  // The worker can begin the training anew then.
  const auto end_training = [&](const LiveTraining::Worker& worker) {
    Draft<wire::EndTraining> end;
    end->setTraining(numbers.at(worker.task));
    runtime.services().send(trainers.at(worker.task), end.finish());
  };
  const auto has_shards = [](const LiveTraining::Worker& worker) { return !worker.shards.empty(); };
  if (std::ranges::none_of(found.workers, has_shards) || !agree(answers, config) ||
      (is_among_peers(config) && answers.size() < workers)) {
    std::ranges::for_each(found.workers, end_training);
    return {};
  }
  if (!is_among_peers(config)) std::ranges::for_each(take_superseded(found.workers), end_training);
  const Message<wire::TrainingResumed>& first = answers.front();
  found.training = first->getTraining();
  found.owners = read(first->getOwners());
  found.pushes = first->getBegun().getPushes();
  found.reads_in_place = first->getBegun().getReadsInPlace();
  return found;
}

}  // namespace troupe::train
