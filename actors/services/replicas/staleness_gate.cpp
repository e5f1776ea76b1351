#include "actors/services/replicas/staleness_gate.h"

#include <algorithm>
#include <string>
#include <utility>

#include "messages/schemas/rounds.capnp.h"
#include "messages/wire/wire.h"

namespace troupe {

uint64_t StalenessGate::slowest() const {
  uint64_t least = UINT64_MAX;
  for (const Worker& worker : workers_)
    if (worker.takes_part) least = std::min(least, worker.finished);
  return least == UINT64_MAX ? 0 : least;
}

void StalenessGate::set_workers(const std::vector<bool>& takes_part, int64_t applied) {
  const uint64_t newcomers = applied >= 0 ? static_cast<uint64_t>(applied) : slowest();
  if (workers_.size() < takes_part.size()) workers_.resize(takes_part.size());
  for (size_t i = 0; i < takes_part.size(); ++i) {
    if (applied >= 0 || (takes_part[i] && !workers_[i].takes_part)) workers_[i].finished = newcomers;
    workers_[i].takes_part = takes_part[i];
  }
  for (Early& early : std::exchange(early_, {})) finished(early.worker, early.round, std::move(early.reply));
  open();
}

void StalenessGate::finished(uint32_t worker, uint64_t round, Reply reply) {
  if (workers_.empty()) {
    early_.push_back({worker, round, std::move(reply)});
    return;
  }
  if (worker >= workers_.size())
    return reply(invalid_argument("worker " + std::to_string(worker) + " is none of the " +
                                  std::to_string(workers_.size()) + " workers of the training"));
  workers_[worker].finished = std::max(workers_[worker].finished, round);
  workers_[worker].waiting = std::move(reply);
  open();
}

/// Answers the workers that may begin their next round.
void StalenessGate::open() {
  const uint64_t least = slowest();
  for (Worker& worker : workers_)
    if (worker.waiting.expected() && (!worker.takes_part || worker.finished <= least + staleness_))
      worker.waiting(Draft<wire::RoundFinished>().finish());
}

void StalenessGate::end(const Status& reason) {
  for (Worker& worker : workers_)
    if (worker.waiting.expected()) worker.waiting(reason);
  for (Early& early : std::exchange(early_, {})) early.reply(reason);
}

}  // namespace troupe
