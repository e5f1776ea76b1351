#include "apps/train/rounds/hogwild_rounds.h"

#include <chrono>
#include <exception>
#include <mutex>
#include <thread>

#include "apps/train/data/timed_batch.h"
#include "apps/train/rounds/evaluation.h"

namespace troupe::train {
namespace {

using SteadyClock = std::chrono::steady_clock;
constexpr std::chrono::milliseconds length_of_phase{250};

}  // namespace

struct HogwildRounds::Phase {
  const uint64_t number, done, last;
  const SteadyClock::time_point end = SteadyClock::now() + length_of_phase;
  std::mutex mutex = {};
  // Guarded by the mutex, except for the elements of the rounds that belong to one shard.
  std::deque<Round> rounds = {};
  size_t next_shard = 0;  ///< of the last of the rounds
  std::exception_ptr failure = {};
};

HogwildRounds::HogwildRounds(Session& session, const TrainingGraph& graph, DType loss,
                             const config::RunConfig& config, data::Batches& batches)
    : graph_(graph), loss_(loss), threads_(config.shards()), batches_(batches) {
  step_ = session.prepare(training_step(graph).feeds, {graph.loss, graph.update});
}

std::vector<double> HogwildRounds::advance(uint64_t done, uint64_t last) {
  waited_ = 0;
  Phase phase{.number = done + 1, .done = done, .last = last};
  {
    std::vector<std::jthread> others;
    for (int64_t i = 1; i < threads_; ++i) others.emplace_back([this, &phase] { work(phase); });
    work(phase);
  }
  if (phase.failure) std::rethrow_exception(phase.failure);
  costs_ = sampler_.take();
  std::vector<double> losses;
  for (const Round& round : phase.rounds) losses.push_back(batch_loss(round.losses, loss_));
  return losses;
}

/// Computes shards until the phase ends. After a failure, all threads end.
void HogwildRounds::work(Phase& phase) try {
  Round* round = nullptr;
  size_t shard = 0;
  while (take_shard(phase, round, shard)) run(*round, shard, phase.number);
} catch (...) {
  const std::lock_guard lock(phase.mutex);
  if (!phase.failure) phase.failure = std::current_exception();
}

/// Sets the shard that comes next, of the last round or of a new one. Returns false if the phase has none.
bool HogwildRounds::take_shard(Phase& phase, Round*& round, size_t& shard) {
  const std::lock_guard lock(phase.mutex);
  if (phase.failure) return false;
  if (phase.rounds.empty() || phase.next_shard == phase.rounds.back().shards.size()) {
    const uint64_t before = phase.done + phase.rounds.size();
    if (before == phase.last || (!phase.rounds.empty() && SteadyClock::now() >= phase.end)) return false;
    double seconds = 0;
    Round next{before + 1, timed_batch(batches_, before, seconds), {}, {}};
    waited_ += seconds;
    next.shards = data::shards(next.batch, threads_);
    next.losses.resize(next.shards.size());
    phase.rounds.push_back(std::move(next));
    phase.next_shard = 0;
  }
  round = &phase.rounds.back();
  shard = phase.next_shard++;
  return true;
}

void HogwildRounds::run(Round& round, size_t shard, uint64_t phase) {
  const data::Dataset& part = round.shards[shard].data;
  if (part.samples() == 0) return;
  std::vector<Tensor> feeds = feeds_of_shard(graph_.shards.front(), round.batch, part);
  feeds.push_back(Tensor::scalar(static_cast<float>(part.samples())));
  const auto fetched = sampler_.run([&](std::vector<DeviceProfile>* profile) {
    return step_.run(feeds, {.training = true,
                             .round = round.number,
                             .shard = static_cast<int64_t>(shard),
                             .unlocked_phase = phase,
                             .profile = profile});
  });
  round.losses[shard] = {number(fetched.at(0)), part.samples()};
}

}  // namespace troupe::train
