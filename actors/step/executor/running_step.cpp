#include "actors/step/executor/running_step.h"

#include "actors/step/executor/function_step.h"
#include "devices/transfer.h"
#include "messages/schemas/executor.capnp.h"
#include "messages/wire/wire.h"

namespace troupe {

PartitionStep::PartitionStep(const std::shared_ptr<ExecutorShared>& shared, const StepInfo& info,
                             std::vector<Tensor> feeds)
    : ServedStep(shared, shared->program, info), feeds_(std::move(feeds)),
      outbox_(shared_->options.site->node, info_) {
  runner_.emplace(program_.plan, *this);
  if (!shared_->functions.empty()) calls_ = std::make_shared<CallQueue>(shared_->options.site->node, *this);
}

void PartitionStep::begin(Reply executed) {
  executed_ = std::move(executed);
  runner_->start(info_, feeds_);
  drive_soon();
}

// A job holds a reference to the step, so that the step lives until the job has run.
Job PartitionStep::drive_job() {
  return {[](void* what) {
            const std::unique_ptr<std::shared_ptr<PartitionStep>> step(
                static_cast<std::shared_ptr<PartitionStep>*>(what));
            (*step)->last_turn_ = 0;
            (*step)->runner_->drive();
          },
          new std::shared_ptr<PartitionStep>(self())};
}

void PartitionStep::drive_soon() {
  shared_->options.turns->compute(
      drive_job(), shared_->options.plan->is_light() ? Computation::Light : Computation::Yields);
}

// Sends the tokens. The other jobs of the thread that get a turn are among the receivers of these tokens.
void PartitionStep::flush(FlushReason what) {
  outbox_.flush(what);
  ServedStep::flush(what);
}

void PartitionStep::request(StepRequest request) {
  const auto& how = program_.requests[request.activation.node];
  switch (how.kind) {
    case ExecutorShared::Kind::Send:
    case ExecutorShared::Kind::RefSend: return send(request, how);
    case ExecutorShared::Kind::Recv: return receive(request, how);
    default: return ServedStep::request(request);
  }
}

void PartitionStep::send_token(const StepRequest& request, const ExecutorShared::Request& how,
                               std::optional<Tensor> tensor, bool announced) {
  const auto full = outbox_.add(
      *how.peer, {{how.edge, request.where.frame, request.where.iteration}, request.dead, announced},
      std::move(tensor));
  if (!full) return arrived(request.activation, {full.status(), {}, false});
  if (*full) flush(FlushReason::Kernel);
  if (!announced) arrived(request.activation, {});
}

void PartitionStep::send(const StepRequest& request, const ExecutorShared::Request& how) {
  if (request.dead) return send_token(request, how, {}, false);
  Slot& input = request.inputs[0];
  if (how.kind == ExecutorShared::Kind::RefSend) return announce(request, how, {.cell = input.cell});
  if (!may_push(*how.peer, input.tensor.bytes()))
    return announce(request, how, {.tensor = std::move(input.tensor)});
  send_token(request, how, std::move(input.tensor), false);
}

bool PartitionStep::lends_memory(Activation activation) {
  const auto& how = program_.requests[activation.node];
  return how.kind == ExecutorShared::Kind::Send &&
         shared_->options.site->node.gpu_borrowers.contains(how.peer->task);
}

bool PartitionStep::may_push(const Address& peer, size_t bytes) {
  if (outbox_.may_push(peer, bytes)) return true;
  {
    const std::lock_guard lock(mutex_);
    if (renewed_.erase(&peer) == 0) return false;
  }
  outbox_.renew(peer);
  return outbox_.may_push(peer, bytes);
}

void PartitionStep::announce(const StepRequest& request, const ExecutorShared::Request& how, Offer offer) {
  offer.activation = request.activation;
  offer.peer = how.peer;
  {
    const std::lock_guard lock(mutex_);
    offers_[{how.edge, request.where.frame, request.where.iteration}] = std::move(offer);
  }
  send_token(request, how, {}, true);
}

void PartitionStep::give(const AnyMessage& message, Reply reply) {
  const auto request = *Message<wire::TakeTensor>(message);
  Offer offer;
  {
    const std::lock_guard lock(mutex_);
    const auto at = offers_.find({request.getEdge(), request.getFrame(), request.getIteration()});
    if (at == offers_.end())
      return reply(failure_.ok()
                       ? internal("no tensor was announced on edge " + std::to_string(request.getEdge()) +
                                  ", frame " + std::to_string(request.getFrame()) + ", iteration " +
                                  std::to_string(request.getIteration()))
                       : failure_);
    offer = std::move(at->second);
    offers_.erase(at);
    renewed_.insert(offer.peer);
  }
  give(offer, std::move(reply));
  arrived(offer.activation, {});
}

void PartitionStep::give(const Offer& offer, Reply reply) {
  if (!offer.cell && lends_memory(offer.activation))
    return reply(Draft<wire::TensorTaken>().finish({offer.tensor}));
  if (!offer.cell) return give(offer.tensor, std::move(reply));
  Snapshot snapshot;
  switch (offer.cell->try_read(snapshot)) {
    case StateCell::Reading::Ready: return give(snapshot.value, std::move(reply));
    case StateCell::Reading::Uninitialized:
      return reply(failed_precondition("variable " + offer.cell->name() + " has no value yet"));
    case StateCell::Reading::Busy: break;
  }
  auto kept = std::make_shared<Reply>(std::move(reply));
  read(*offer.cell, Reply([self = self(), kept](Result<AnyMessage> answer) {
    Result<Tensor> value = answer ? answer->attachment(0) : Result<Tensor>(answer.status());
    if (!value) return (*kept)(value.status());
    self->give(*value, std::move(*kept));
  }));
}

/// Answers with the tensor, in host memory.
void PartitionStep::give(const Tensor& tensor, Reply reply) {
  auto copy = to_host(tensor, *shared_->options.site->device);
  if (!copy) return reply(copy.status());
  const Completion copied = copy->completion();
  copy->set_completion({});
  auto kept = std::make_shared<Reply>(std::move(reply));
  copied.then([kept, tensor = std::move(*copy)](const Status& status) {
    if (!status.ok()) return (*kept)(status);
    (*kept)(Draft<wire::TensorTaken>().finish({tensor}));
  });
}

void PartitionStep::receive(const StepRequest& request, const ExecutorShared::Request& how) {
  const TokenKey key{how.edge, request.where.frame, request.where.iteration};
  Arrived value;
  {
    const std::lock_guard lock(mutex_);
    Token& token = tokens_[key];
    if (token.value) {
      value = std::move(*token.value);
      tokens_.erase(key);
    } else if (failure_.ok()) {
      token.waiting = request.activation;
      return;
    } else {
      value.reply.status = failure_;
    }
  }
  match(request.activation, key, std::move(value));
}

void PartitionStep::match(Activation activation, const TokenKey& key, Arrived value) {
  if (!value.announced) return received(activation, std::move(value.reply));
  ActorNode& node = shared_->options.site->node;
  const auto peer = node.directory.find(*program_.requests[activation.node].peer);
  if (!peer) return arrived(activation, {peer.status(), {}, false});
  Draft<wire::TakeTensor> draft;
  set_step(draft->initStep(), info_.session, info_.ordinal);
  draft->setEdge(key.edge);
  draft->setFrame(key.frame);
  draft->setIteration(key.iteration);
  node.engine.send(*peer, draft.finish(), Reply([self = self(), activation](Result<AnyMessage> answer) {
    Result<Tensor> tensor = answer ? answer->attachment(0) : Result<Tensor>(answer.status());
    StepReply reply{tensor.status(), {}, false};
    if (tensor) reply.outputs.push_back(std::move(*tensor));
    self->received(activation, std::move(reply));
  }));
}

void PartitionStep::received(Activation activation, StepReply reply) {
  const bool on_device = !reply.outputs.empty() && reply.outputs[0].memory() == MemoryKind::Device;
  if (on_device && !program_.plan->nodes()[activation.node].crosses_memory)
    reply = {data_loss("the tensor that arrived lies in device memory, where its receiver cannot read it"),
             {},
             false};
  arrived(activation, std::move(reply));
}

void PartitionStep::token_arrived(const TokenKey& key, Arrived value) {
  std::optional<Activation> waiting;
  {
    const std::lock_guard lock(mutex_);
    if (over_) return;
    Token& token = tokens_[key];
    if (!token.waiting) {
      if (token.value)
        value.reply.status = internal("two tokens arrived for iteration " + std::to_string(key.iteration) +
                                      " of edge " + std::to_string(key.edge));
      token.value = std::move(value);
      return;
    }
    waiting = token.waiting;
    tokens_.erase(key);
  }
  match(*waiting, key, std::move(value));
}

void PartitionStep::tensors_arrived(const AnyMessage& message) {
  uint32_t next = 0;
  const auto arrived = *Message<wire::TensorsArrived>(message);
  const Status shortage = troupe::read(arrived.getShortage());
  for (const auto arrival : arrived.getArrivals()) {
    if (!shared_->receives(arrival.getEdge()))
      return stray("a token of edge " + std::to_string(arrival.getEdge()));
    Arrived value;
    value.reply.dead = arrival.getDead();
    value.announced = arrival.getAnnounced();
    if (!value.reply.dead && !value.announced) {
      auto tensor = shortage.ok() ? message.attachment(next++) : Result<Tensor>(shortage);
      if (tensor)
        value.reply.outputs.push_back(std::move(*tensor));
      else
        value.reply.status = tensor.status();
    }
    token_arrived({arrival.getEdge(), arrival.getFrame(), arrival.getIteration()}, std::move(value));
  }
  if (next != message.attachments().size())
    stray(std::to_string(message.attachments().size()) + " tensors for " + std::to_string(next) + " tokens");
}

void PartitionStep::stray(const std::string& what) {
  const auto& site = *shared_->options.site;
  site.node.strays.fetch_add(1, std::memory_order_relaxed);
  cancel(data_loss(what + " arrived at " + site.device->name().text() +
                   ", which does not expect this: a message was damaged on its way"));
}

PartitionStep::TokenState PartitionStep::find(const TokenKey& token) const {
  if (!shared_->sends(token.edge)) return TokenState::NoSuchEdge;
  return outbox_.has_sent(token) ? TokenState::Sent : TokenState::Pending;
}

std::map<const Address*, std::vector<TokenKey>> PartitionStep::overdue() {
  std::map<const Address*, std::vector<TokenKey>> tokens;
  const std::lock_guard lock(mutex_);
  for (auto& [key, token] : tokens_) {
    if (!token.waiting) continue;
    const auto& how = program_.requests[token.waiting->node];
    if (!how.from_other_process) continue;
    if (std::exchange(token.overdue, true)) tokens[how.peer].push_back(key);
  }
  return tokens;
}

std::optional<std::string> PartitionStep::waits_for(const TokenKey& token) const {
  const std::lock_guard lock(mutex_);
  const auto at = tokens_.find(token);
  if (at == tokens_.end() || !at->second.waiting) return std::nullopt;
  const Node& node = *shared_->options.plan->nodes()[at->second.waiting->node].node;
  return node.attrs.get<std::string>("tensor_name");
}

void PartitionStep::cancel(Status reason) {
  const std::lock_guard lock(mutex_);  // the step cannot end while the lock is held
  if (!over_ && runner_->cancel(std::move(reason))) drive_soon();
}

void PartitionStep::failing(const Status& status) {
  std::vector<Activation> waiting;
  {
    const std::lock_guard lock(mutex_);
    failure_ = status;
    for (auto& [key, token] : tokens_)
      if (token.waiting) waiting.push_back(*token.waiting);
    for (auto& [key, offer] : offers_) waiting.push_back(offer.activation);
    tokens_.clear();
    offers_.clear();
  }
  for (const Activation& activation : waiting) arrived(activation, {status, {}, false});
  cancel_requests();
  if (calls_) calls_->stop(status);
}

void PartitionStep::ended(Status status) {
  outbox_.flush(FlushReason::Parking);
  {
    const std::lock_guard lock(mutex_);
    over_ = true;
    tokens_.clear();
  }
  const auto& site = *shared_->options.site;
  if (!status.ok())
    return executed_(std::move(status).at_device(site.device->name().text()).at_step(info_.ordinal));
  Draft<wire::StepExecuted> draft;
  set_step(draft->initStep(), info_.session, info_.ordinal);
  const auto fetched = runner_->fetched();
  executed_(draft.finish({std::make_move_iterator(fetched.begin()), std::make_move_iterator(fetched.end())}));
}

}  // namespace troupe
