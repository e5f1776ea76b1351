#include "apps/train/replica.h"

#include <algorithm>

#include "apps/train/evaluation.h"
#include "apps/train/timed_batch.h"
#include "apps/train/train_data.h"

namespace troupe::train {

Replica::Replica(Runtime& runtime, config::RunConfig config, int64_t worker, uint64_t training)
    : model_graph_(runtime.ops()), config_(std::move(config)) {
  const auto data = value_or_throw(load_data(runtime.services().disk(), config_));
  if (data.train->samples() == 0) throw Error(data_loss("the training data has no samples"));
  batches_ = data.train->batches(config_.batch, config_.run.seed, config_.shuffle);
  graph_ =
      value_or_throw(build_replica_graph(config_, data.train->columns(), worker, training, model_graph_));
  session_ = runtime.session(model_graph_, {.seed = config_.run.seed,
                                            .start_timeout = config_.train.fault.start_timeout,
                                            .tasks = {owners_of_variables(config_)},
                                            .share_state = true});
  prepare();
}

void Replica::prepare() {
  std::vector<Output> feeds = graph_.values, fetches = graph_.next;
  for (const auto& [name, placeholder] : graph_.inputs.columns) feeds.push_back(placeholder);
  feeds.push_back(graph_.inputs.samples);
  if (const auto& sync = graph_.sync) {
    fetches.insert(fetches.end(), {sync->batch_loss, sync->loss_round});
    push_ = session_->prepare(feeds, {sync->push});
    awaited_ = session_->prepare({}, sync->awaited);
  } else {
    fetches.insert(fetches.end(), {graph_.loss, graph_.async->updates_after});
  }
  fetches.push_back(graph_.update);
  step_ = session_->prepare(feeds, fetches);
}

void Replica::begin(uint64_t round) {
  if (const auto& sync = graph_.sync)
    session_->run({{sync->rounds, Tensor::scalar(static_cast<int64_t>(round))}}, {sync->set_rounds});
  if (graph_.async) session_->run({graph_.async->reset});
  updates_ = 0;
  values_ = session_->run(graph_.current);
  next_ = round + 1;
}

std::vector<int64_t> Replica::shards() const {
  const std::lock_guard lock(mutex_);
  return shards_;
}

void Replica::assign(const std::vector<int64_t>& shards) {
  std::vector<int64_t> added;
  std::shared_ptr<Input> input;
  {
    const std::lock_guard lock(mutex_);
    std::ranges::copy_if(shards, std::back_inserter(added),
                         [this](int64_t shard) { return std::ranges::count(shards_, shard) == 0; });
    shards_ = shards;
    input = input_;
  }
  if (!input || !graph_.sync) return;
  for (const int64_t shard : added) run_step(push_, *input, shard);
}

void Replica::round_fixed(uint64_t round) {
  const std::lock_guard lock(mutex_);
  fixed_ = std::max(fixed_, round);
  if (input_ && input_->round <= fixed_) input_->cancellation.cancel();
}

ShardLoss Replica::run(uint64_t round) {
  if (round != next_)
    throw Error(invalid_argument("round " + std::to_string(round) + " is requested, but the next one is " +
                                 std::to_string(next_)));
  ++next_;
  if (const uint64_t fixed = last_fixed(); round <= fixed) {
    if (round == fixed) catch_up(round);  // the values of the last of these rounds suffice
    return {};
  }
  const auto input = begin_round(round);
  const auto mine = shards();
  try {
    const ShardLoss loss = graph_.sync ? run_together(*input, mine) : run_at_once(*input, mine);
    end_round();
    return loss;
  } catch (const Error&) {
    end_round();
    if (!graph_.sync || !input->cancellation.cancelled()) throw;
  }
  catch_up(round);
  return {};
}

uint64_t Replica::last_fixed() const {
  const std::lock_guard lock(mutex_);
  return fixed_;
}

/// Takes the batch of the round, which is in progress from now on.
std::shared_ptr<Replica::Input> Replica::begin_round(uint64_t round) {
  auto input = std::make_shared<Input>();
  input->round = round;
  input->batch = timed_batch(*batches_, round - 1, waited_);
  input->shards = data::shards(input->batch, config_.shards());
  input->values = std::move(values_);
  const std::lock_guard lock(mutex_);
  if (round <= fixed_) input->cancellation.cancel();
  input_ = input;
  return input;
}

void Replica::end_round() {
  const std::lock_guard lock(mutex_);
  input_.reset();
}

std::vector<Tensor> Replica::run_step(const PreparedStep& step, const Input& input, int64_t shard) {
  const data::Dataset& part = input.shards.at(static_cast<size_t>(shard)).data;
  std::vector<Tensor> feeds = input.values;
  for (auto& tensor : feeds_of_shard(graph_.inputs, input.batch, part)) feeds.push_back(std::move(tensor));
  feeds.push_back(Tensor::scalar(part.samples()));
  return step.run(
      feeds, {.training = true, .round = input.round, .shard = shard, .cancellation = &input.cancellation});
}

ShardLoss Replica::run_together(const Input& input, const std::vector<int64_t>& shards) {
  if (shards.empty()) {
    catch_up(input.round);
    return {};
  }
  for (size_t i = 0; i + 1 < shards.size(); ++i) run_step(push_, input, shards[i]);
  auto fetched = run_step(step_, input, shards.back());
  const bool known = fetched.back().as<int64_t>()[0] == static_cast<int64_t>(input.round);
  fetched.pop_back();
  ShardLoss loss = take_values(std::move(fetched), input);
  if (!known) loss.samples = 0;
  return loss;
}

ShardLoss Replica::run_at_once(Input& input, const std::vector<int64_t>& shards) {
  std::vector<ShardLoss> losses;
  int64_t samples = 0;
  for (const int64_t shard : shards) {
    const int64_t part = input.shards.at(static_cast<size_t>(shard)).data.samples();
    auto fetched = run_step(step_, input, shard);
    note_updates(static_cast<uint64_t>(fetched.back().as<int64_t>()[0]));
    fetched.pop_back();
    losses.push_back({take_values(std::move(fetched), input).loss, part});
    input.values = values_;
    samples += part;
  }
  if (losses.empty()) return {};
  return {batch_loss(losses, model_graph_.dtype(graph_.loss)), samples};
}

/// Takes the number of updates that have been applied with that of the last step.
void Replica::note_updates(uint64_t updates) {
  const uint64_t others = updates > updates_ ? updates - updates_ - 1 : 0;
  updates_ = updates;
  ++staleness_.steps;
  staleness_.sum += others;
  staleness_.most = std::max(staleness_.most, others);
}

/// Takes the next values and the loss that a step has fetched.
ShardLoss Replica::take_values(std::vector<Tensor> fetched, const Input& input) {
  const double loss = number(fetched.back());
  fetched.pop_back();
  values_ = std::move(fetched);
  return {loss, input.batch.samples()};
}

/// Waits until the round has been applied, and takes the values after it, or after a later one.
void Replica::catch_up(uint64_t round) { values_ = awaited_.run({}, {.training = true, .round = round}); }

}  // namespace troupe::train
