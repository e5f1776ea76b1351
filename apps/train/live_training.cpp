#include "apps/train/live_training.h"

#include <algorithm>

#include "apps/services/trainer.h"
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

}  // namespace

uint64_t LiveTraining::done() const {
  uint64_t next = UINT64_MAX;
  for (const Worker& worker : workers)
    if (!worker.shards.empty()) next = std::min(next, worker.next);
  return next - 1;
}

std::optional<LiveTraining> find_training(Runtime& runtime, const config::RunConfig& config, uint64_t run) {
  LiveTraining found;
  std::vector<AddressedRequest> requests;
  size_t workers = 0;  // that take part
  for (int64_t i = 0; i < config.cluster.tasks.at("worker"); ++i) {
    if (is_among_peers(config) && i >= config.shards()) break;
    ++workers;
    const auto address = runtime.services().address(services::trainer_role, task_name("worker", i));
    if (!address) continue;
    const auto trainer = runtime.services().find(*address);
    if (!trainer) continue;
    found.workers.push_back({address->task, 0, {}, {}});
    requests.push_back({*trainer, resume_message(runtime, config, run)});
  }
  const Answers all = runtime.services().call_all(std::move(requests));
  std::vector<Message<wire::TrainingResumed>> answers;
  for (size_t i = 0; i < all.size(); ++i) {
    if (!all[i]) continue;
    const Message<wire::TrainingResumed> answer(*all[i]);
    found.workers[answers.size()] = {found.workers[i].task,
                                     answer->getNext(),
                                     vector_of<uint32_t>(answer->getShards()),
                                     {answer->getLoss(), answer->getSamples()}};
    answers.push_back(answer);
  }
  found.workers.resize(answers.size());
  const auto has_shards = [](const LiveTraining::Worker& worker) { return !worker.shards.empty(); };
  if (std::ranges::none_of(found.workers, has_shards) || !agree(answers, config)) return {};
  if (is_among_peers(config) && answers.size() < workers) return {};
  const Message<wire::TrainingResumed>& first = answers.front();
  found.training = first->getTraining();
  found.owners = read(first->getOwners());
  found.pushes = first->getBegun().getPushes();
  found.reads_in_place = first->getBegun().getReadsInPlace();
  return found;
}

}  // namespace troupe::train
