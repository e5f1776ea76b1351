#include "apps/train/live_training.h"

#include <algorithm>
#include <utility>

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
  std::vector<AddressedRequest> requests;
  std::vector<std::pair<std::string, ActorRef>> trainers;  // by task
  size_t workers = 0;                                      // that take part
  for (int64_t i = 0; i < config.cluster.tasks.at("worker"); ++i) {
    if (is_among_peers(config) && i >= config.shards()) break;
    ++workers;
    const auto address = runtime.services().address(services::trainer_role, task_name("worker", i));
    if (!address) continue;
    const auto trainer = runtime.services().find(*address);
    if (!trainer) continue;
    trainers.emplace_back(address->task, *trainer);
    requests.push_back({*trainer, resume_message(runtime, config, run)});
  }
  const Answers all = runtime.services().call_all(std::move(requests));
  LiveTraining found;
  std::vector<Message<wire::TrainingResumed>> answers;
  std::vector<ActorRef> answered;
  for (size_t i = 0; i < all.size(); ++i) {
    if (!all[i]) continue;
    const auto& answer = answers.emplace_back(*all[i]);
    answered.push_back(trainers[i].second);
    found.workers.push_back({trainers[i].first,
                             answer->getNext(),
                             vector_of<uint32_t>(answer->getShards()),
                             {answer->getLoss(), answer->getSamples()}});
  }
  if (answers.empty()) return {};
  const auto has_shards = [](const LiveTraining::Worker& worker) { return !worker.shards.empty(); };
  if (std::ranges::none_of(found.workers, has_shards) || !agree(answers, config) ||
      (is_among_peers(config) && answers.size() < workers)) {
    for (size_t i = 0; i < answers.size(); ++i) {  // so that they can begin the training anew
      Draft<wire::EndTraining> end;
      end->setTraining(answers[i]->getTraining());
      runtime.services().send(answered[i], end.finish());
    }
    return {};
  }
  const Message<wire::TrainingResumed>& first = answers.front();
  found.training = first->getTraining();
  found.owners = read(first->getOwners());
  found.pushes = first->getBegun().getPushes();
  found.reads_in_place = first->getBegun().getReadsInPlace();
  return found;
}

}  // namespace troupe::train
