#include "apps/train/rounds/replica.h"

#include <algorithm>

#include "actors/runtime_impl.h"
#include "apps/train/data/timed_batch.h"
#include "apps/train/data/train_data.h"
#include "apps/train/graphs/replication_tasks.h"
#include "apps/train/rounds/evaluation.h"

namespace troupe::train {
Replica::Replica(Runtime& runtime, config::RunConfig config, int64_t worker, uint64_t training)
    : WorkerReplica(worker, runtime.services().clock()), runtime_(runtime), config_(std::move(config)),
      worker_(worker), data_(value_or_throw(load_same_data(runtime.services().disk(), config_))) {
  batches_ = data_.train->batches(config_.batch, config_.run.seed, config_.shuffle);
  build(training);
}

/// Builds the graph for config_.cluster.owners, and opens the session.
void Replica::build(uint64_t training) {
  auto made = std::make_shared<Model>(runtime_);
  made->parts =
      value_or_throw(build_replica_graph(config_, data_.train->columns(), worker_, training, made->graph));
  made->session = runtime_.impl().session(made->graph,
                                          {.seed = config_.run.seed,
                                           .check_finite = config_.train.check_finite,
                                           .start_timeout = config_.train.fault.start_timeout,
                                           .tasks = owners_of_variables(config_),
                                           .share_state = true},
                                          nullptr);
  prepare(*made);
  const std::lock_guard lock(mutex_);
  if (cancelled_) made->session->cancel();
  model_.swap(made);
}

void Replica::prepare(Model& model) {
  const ReplicaGraph& parts = model.parts;
  std::vector<Output> feeds = parts.values, fetches = parts.next;
  for (const auto& [name, placeholder] : parts.inputs.columns) feeds.push_back(placeholder);
  feeds.push_back(parts.inputs.samples);
  if (const auto& sync = parts.sync) {
    feeds.insert(feeds.end(), sync->residuals.begin(), sync->residuals.end());
    std::vector<Output> pushed = sync->rests;
    pushed.push_back(sync->push);
    model.push = model.session->prepare(feeds, pushed);
    fetches.insert(fetches.end(), {sync->batch_loss.loss, sync->batch_loss.round});
    fetches.insert(fetches.end(), sync->rests.begin(), sync->rests.end());
    std::vector<Output> awaited = sync->awaited;
    awaited.insert(awaited.end(), {sync->awaited_loss.loss, sync->awaited_loss.round});
    model.awaited = model.session->prepare({}, awaited);
  } else {
    fetches.insert(fetches.end(), {parts.loss, parts.async->updates_after});
  }
  fetches.push_back(parts.update);
  model.step = model.session->prepare(feeds, fetches);
}

std::shared_ptr<Replica::Model> Replica::model() const {
  const std::lock_guard lock(mutex_);
  return model_;
}

int64_t Replica::pushes() const {
  const auto model = this->model();
  return model->parts.sync ? model->parts.sync->pushes : 0;
}

void Replica::cancel() {
  const std::lock_guard lock(mutex_);
  cancelled_ = true;
  model_->session->cancel();
}

void Replica::interrupt() {
  const std::lock_guard lock(mutex_);
  if (interruption_) interruption_->cancel();
  if (input_) input_->cancellation.cancel();
}

void Replica::begin(uint64_t round) {
  const auto model = this->model();
  if (const auto& sync = model->parts.sync)
    model->session->run({{sync->rounds, Tensor::scalar(static_cast<int64_t>(round))}}, {sync->set_rounds});
  if (const auto& async = model->parts.async) model->session->run({async->reset});
  updates_ = 0;
  const ReplicaGraph& parts = model->parts;
  std::vector<Output> fetches = parts.current;
  if (parts.sync)
    fetches.insert(fetches.end(), parts.sync->no_residuals.begin(), parts.sync->no_residuals.end());
  values_ = model->session->run(fetches);
  next_ = round + 1;
  begun_.clear();
  const auto residuals = values_.begin() + static_cast<std::ptrdiff_t>(parts.current.size());
  const std::lock_guard lock(mutex_);
  no_residuals_.assign(residuals, values_.end());
  values_.erase(residuals, values_.end());
  residuals_.clear();
  rests_.clear();
}

WorkerReplica::Progress Replica::relocate(const Place& place) {
  config_.cluster.owners = place.owners;
  build(place.training);
  const auto model = this->model();
  Progress progress{next_, next_ - 1, next_ - 1};
  if (!model->parts.sync) {
    values_ = model->session->run(model->parts.current);
    return progress;
  }
  const auto applied = model->session->run(model->parts.sync->applied);
  const auto [least, most] =
      std::ranges::minmax(applied, {}, [](const Tensor& rounds) { return rounds.as<int64_t>()[0]; });
  progress.least = static_cast<uint64_t>(least.as<int64_t>()[0]);
  progress.most = static_cast<uint64_t>(most.as<int64_t>()[0]);
  const std::lock_guard lock(mutex_);
  fixed_ = progress.least;
  return progress;
}

std::vector<int64_t> Replica::shards() const {
  const std::lock_guard lock(mutex_);
  return shards_;
}

void Replica::assign(const std::vector<int64_t>& shards, uint64_t number) {
  std::vector<int64_t> added;
  std::shared_ptr<Input> input;
  std::shared_ptr<Model> model;
  {
    const std::lock_guard lock(mutex_);
    if (number < assignment_) return;
    assignment_ = number;
    model = model_;
    std::ranges::copy_if(shards, std::back_inserter(added),
                         [this](int64_t shard) { return std::ranges::count(shards_, shard) == 0; });
    shards_ = shards;
    input = input_;
  }
  if (!input || !model->parts.sync) return;
  try {
    for (const int64_t shard : added) run_step(*model, model->push, *input, shard);
  } catch (const Error&) {
    if (!input->cancellation.cancelled()) throw;  // otherwise the round goes on without these shards
  }
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
  const auto model = this->model();
  const auto interruption = std::make_shared<Cancellation>();
  {
    const std::lock_guard lock(mutex_);
    interruption_ = interruption;
  }
  if (const uint64_t fixed = last_fixed(); round <= fixed) {
    ShardLoss loss;
    if (round == fixed)
      loss = catch_up(*model, round, *interruption);  // the values of the last of these rounds suffice
    ++next_;
    take_rests();  // there are some if the round failed here after its gradients were pushed
    return loss;
  }
  ++next_;
  const auto input = begin_round(round);
  const auto mine = shards();
  Status failure;
  try {
    const ShardLoss loss = model->parts.sync ? run_together(*model, *input, mine, *interruption)
                                             : run_at_once(*model, *input, mine);
    end_round();
    begun_.clear();
    take_rests();
    return loss;
  } catch (const Error& error) {
    failure = error.status();
  }
  end_round();
  try {
    if (!model->parts.sync || !input->cancellation.cancelled() || interruption->cancelled())
      throw Error(failure);
    const ShardLoss loss = catch_up(*model, round, *interruption);
    drop_rests();
    return loss;
  } catch (const Error&) {
    repeat_round(*input);
    throw;
  }
}

/// Makes a round that has failed the next one again, with the same values of the variables.
void Replica::repeat_round(const Input& input) {
  next_ = input.round;
  values_ = input.values;
}

uint64_t Replica::last_fixed() const {
  const std::lock_guard lock(mutex_);
  return fixed_;
}

/// Takes the batch of the round, which is in progress from now on.
std::shared_ptr<Replica::Input> Replica::begin_round(uint64_t round) {
  auto input = std::make_shared<Input>();
  input->round = round;
  input->batch = timed_batch(*batches_, round - 1, waited_, &runtime_.services().clock());
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

std::vector<Tensor> Replica::run_step(const Model& model, const PreparedStep& step, const Input& input,
                                      int64_t shard) {
  const data::Dataset& part = input.shards.at(static_cast<size_t>(shard)).data;
  std::vector<Tensor> feeds = input.values;
  for (auto& tensor : feeds_of_shard(model.parts.inputs, input.batch, part))
    feeds.push_back(std::move(tensor));
  feeds.push_back(Tensor::scalar(part.samples()));
  for (auto& tensor : residuals_of(shard)) feeds.push_back(std::move(tensor));
  const Waiting waiting(steps_);
  auto fetched = sampler_.run([&](std::vector<DeviceProfile>* profile) {
    return step.run(feeds, {.training = true,
                            .round = input.round,
                            .shard = shard,
                            .cancellation = &input.cancellation,
                            .profile = profile});
  });
  if (!model.parts.sync) return fetched;
  const auto rests = fetched.end() - static_cast<std::ptrdiff_t>(model.parts.sync->rests.size());
  const std::lock_guard lock(mutex_);
  rests_[shard].assign(rests, fetched.end());
  fetched.erase(rests, fetched.end());
  return fetched;
}

/// Called when a round has been applied with the gradients of this worker.
void Replica::take_rests() {
  const std::lock_guard lock(mutex_);
  for (auto& [shard, rests] : std::exchange(rests_, {})) residuals_[shard] = std::move(rests);
}

/// Called when a round has been applied without them.
void Replica::drop_rests() {
  const std::lock_guard lock(mutex_);
  rests_.clear();
}

std::vector<Tensor> Replica::residuals_of(int64_t shard) const {
  const std::lock_guard lock(mutex_);
  const auto known = residuals_.find(shard);
  return known == residuals_.end() ? no_residuals_ : known->second;
}

ShardLoss Replica::run_together(const Model& model, const Input& input, const std::vector<int64_t>& shards,
                                const Cancellation& interruption) {
  if (shards.empty()) return catch_up(model, input.round, interruption);
  for (size_t i = 0; i + 1 < shards.size(); ++i) run_step(model, model.push, input, shards[i]);
  return take_round(run_step(model, model.step, input, shards.back()), input.round);
}

/// Applies the gradients of each shard at most once, even if the round is repeated.
ShardLoss Replica::run_at_once(const Model& model, Input& input, const std::vector<int64_t>& shards) {
  std::vector<ShardLoss> losses;
  int64_t samples = 0;
  for (const int64_t shard : shards) {
    if (!begun_.insert(shard).second) continue;
    const int64_t part = input.shards.at(static_cast<size_t>(shard)).data.samples();
    auto fetched = run_step(model, model.step, input, shard);
    note_updates(static_cast<uint64_t>(fetched.back().as<int64_t>()[0]));
    fetched.pop_back();
    losses.push_back({take_values(std::move(fetched)), part});
    input.values = values_;
    samples += part;
  }
  if (losses.empty()) {  // all have been begun before
    values_ = input.values;
    return {};
  }
  return {batch_loss(losses, model.graph.dtype(model.parts.loss)), samples};
}

/// Takes the number of updates that have been applied with that of the last step.
void Replica::note_updates(uint64_t updates) {
  const uint64_t others = updates > updates_ ? updates - updates_ - 1 : 0;
  updates_ = updates;
  ++staleness_.steps;
  staleness_.sum += others;
  staleness_.most = std::max(staleness_.most, others);
}

/// Takes the next values that a step has fetched, and returns the loss, which comes behind them.
double Replica::take_values(std::vector<Tensor> fetched) {
  const double loss = number(fetched.back());
  fetched.pop_back();
  values_ = std::move(fetched);
  return loss;
}

/// Takes the next values that a step has fetched. Returns the loss of the batch, which comes behind them and before its round; it
/// has no samples if it is that of a later round.
ShardLoss Replica::take_round(std::vector<Tensor> fetched, uint64_t round) {
  const bool known = fetched.back().as<int64_t>()[0] == static_cast<int64_t>(round);
  fetched.pop_back();
  return {take_values(std::move(fetched)), known ? config_.batch : 0};
}

/// Waits until the round has been applied, and takes the values and the loss after it, or after a later one.
ShardLoss Replica::catch_up(const Model& model, uint64_t round, const Cancellation& interruption) {
  const Waiting waiting(steps_);
  return take_round(model.awaited.run({}, {.training = true, .round = round, .cancellation = &interruption}),
                    round);
}

}  // namespace troupe::train
