#include "actors/services/allreduce/allreduce.h"

#include <algorithm>

#include "actors/services/allreduce/allreduce_role.h"
#include "actors/services/allreduce/failures.h"
#include "actors/services/allreduce/lane_wire.h"
#include "messages/wire/wire.h"

// A lane (group, key, training or not):
//
//          RunCollective               the ranks of this site have joined, all blocks are reduced, all questions answered
//   idle ------------------> running ------------------------------------------------------------> idle: the results
//    | ^                       |
//    +-+ Contribute: kept      +---> idle: a step ended, a member disagrees, a site is lost, Withdraw: the failure, to all sites

namespace troupe {
namespace {

/// More bytes are computed or copied outside the handler.
constexpr size_t max_bytes_in_handler = 64 << 10;
/// Questions of one rank to one site that have no answer yet.
constexpr size_t max_under_way = 16;

}  // namespace

AllreduceRole::AllreduceRole(std::shared_ptr<DeviceSite> site, const Numbered<Collective>& collectives,
                             Address self)
    : site_(std::move(site)), collectives_(collectives), self_(std::move(self)) {
  on<wire::RunCollective>([this](const auto& message, Reply reply) { run(message, std::move(reply)); });
  on<wire::CancelCollectives>([this](const auto& message, Reply) {
    cancel({message->getStep().getSession(), message->getStep().getOrdinal(), 0});
  });
  on<wire::Contribute>([this](const auto& message, Reply reply) { contribute(message, std::move(reply)); });
  on<wire::Withdraw>([this](const auto& message, Reply reply) {
    withdraw(message);
    reply(Draft<wire::Withdrawn>().finish());
  });
  on<wire::Compare>([this](const auto& message, Reply reply) { compare(message, std::move(reply)); });
  on<wire::CompareOverdue>([this](const auto&, Reply) { compare_overdue(); });
  on<wire::BlockReady>([this](const auto& message, Reply) { ready(message); });
}

// Ranks of this site.

void AllreduceRole::run(const Message<wire::RunCollective>& message, Reply reply) {
  const auto collective = collectives_.find(message->getCollective());
  if (!collective)
    return reply(not_found("no collective has number " + std::to_string(message->getCollective())));
  const auto tensors = message.attachments();
  if (const Status status = check_inputs(*collective, tensors); !status.ok()) return reply(status);
  if (collective->ranks() == 1) return reply(alone(*collective, message));
  Lane& lane = lane_of(lane_name(collective->group, collective->key, message->getRound() != 0));
  if (!lane.running) {
    if (Status status = begin(lane, collective, message); !status.ok()) return reply(status);
  } else if (Status status = check_joins(*lane.running, *collective, message); !status.ok()) {
    return reply(status);
  }
  const uint64_t serial = lane.running->serial;
  join(lane, *collective, message, std::move(reply));
  if (lane.running && lane.running->serial == serial && lane.running->own.size() == 1) take_kept(lane);
}

Result<AnyMessage> AllreduceRole::alone(const Collective& what, const Message<wire::RunCollective>& message) {
  const auto tensors = message.attachments();
  if (what.kind == CollectiveKind::Reduce && what.reduction == Reduction::WeightedMean &&
      message->getSamples() <= 0)
    return invalid_argument("samples is " + std::to_string(message->getSamples()) +
                            "; a mean needs at least one sample");
  return AnyMessage(Draft<wire::CollectiveDone>().finish({tensors.begin(), tensors.end()}));
}

Status AllreduceRole::begin(Lane& lane, const std::shared_ptr<const Collective>& what,
                            const Message<wire::RunCollective>& message) {
  TROUPE_ASSIGN(lane.running, Instance::make(what, ++last_serial_, message.attachments(),
                                             site_->device->context().memory()));
  Instance& instance = *lane.running;
  instance.training = message->getRound() != 0;
  instance.lane = lane_name(what->group, what->key, instance.training);
  instance.number = lane.number_of(message->getRound(), what->rank, message->getStep().getSession());
  instance.attempt = lane.attempt_of(instance.number);
  for (uint32_t site = 0; site < what->sites.size(); ++site) {
    if (site == what->site) continue;
    auto actor = find_site(what->sites[site]);
    if (!actor) {
      Status status = lost_site(what->sites[site], actor.status());
      fail(lane, status);
      return status;
    }
    instance.sites[site].actor = std::move(*actor);
  }
  instance.since = site_->node.env.clock.now();
  start_timer();
  return {};
}

Status AllreduceRole::check_joins(Instance& instance, const Collective& what,
                                  const Message<wire::RunCollective>& message) {
  if (instance.find(what.rank))
    return already_exists(what.member(what.rank) + " runs '" + what.name() + "' already");
  const std::string signature = signature_of(what, message.attachments());
  if (instance.signature != signature)
    return disagreement(instance.what().member(instance.own.front().rank), instance.signature,
                        what.member(what.rank), signature);
  if (message->getRound() == 0 || message->getRound() == instance.number) return {};
  return aborted(what.member(what.rank) + " is at round " + std::to_string(message->getRound()) + " of '" +
                 what.name() + "', the other ranks of its device are at " + std::to_string(instance.number));
}

void AllreduceRole::join(Lane& lane, const Collective& what, const Message<wire::RunCollective>& message,
                         Reply reply) {
  Instance& instance = *lane.running;
  const auto tensors = message.attachments();
  const uint32_t rank = what.rank;
  instance.own.push_back({rank,
                          {message->getStep().getSession(), message->getStep().getOrdinal(), 0},
                          std::move(reply),
                          {tensors.begin(), tensors.end()}});
  instance.samples[rank] = message->getSamples();
  instance.sessions[rank] = message->getStep().getSession();
  --instance.unfinished;
  instance.reduces() ? join_reduction(lane, instance, rank) : join_gather(instance, rank);
  if (lane.running) advance(lane);
}

void AllreduceRole::join_reduction(Lane& lane, Instance& instance, uint32_t rank) {
  const std::vector<Tensor> tensors = instance.own.back().tensors;
  const auto& blocks = instance.layout.blocks();
  const bool gets_results = instance.what().on_gpus || (instance.what().kind == CollectiveKind::Reduce &&
                                                        instance.what().gets_results());
  const bool wanted = gets_results && instance.own.size() == 1;  // one answer is enough
  for (uint32_t i = 0; i < blocks.size(); ++i)
    if (blocks[i].site != instance.what().site)
      instance.sites[blocks[i].site].lines[rank].waiting.push_back({rank, i, wanted});
  const uint64_t serial = instance.serial;
  for (uint32_t i = 0; i < blocks.size(); ++i) {
    if (blocks[i].site != instance.what().site) continue;
    const Status status = instance.add(i, rank, elements_of(tensors, instance.layout.pieces(blocks[i])),
                                       instance.samples[rank]);
    if (!status.ok()) return fail(lane, status);
    if (instance.owned[i].missing == 0) reduce(lane, i);
    if (!lane.running || lane.running->serial != serial) return;
  }
}

void AllreduceRole::join_gather(Instance& instance, uint32_t rank) {
  const Collective& what = instance.what();
  if (instance.gives(rank)) {
    instance.results[rank] = instance.own.back().tensors.front();
    for (auto& one : std::exchange(instance.asking[rank], {})) give(instance, rank, std::move(one.reply));
  }
  if (instance.own.size() > 1) return;
  for (uint32_t other = 0; other < what.ranks(); ++other)
    if (what.site_of[other] != what.site && instance.gives(other))
      instance.sites[what.site_of[other]].lines[rank].waiting.push_back({rank, other, true});
}

void AllreduceRole::give(Instance& instance, uint32_t rank, Reply reply) {
  --instance.unfinished;
  reply(Draft<wire::Contributed>().finish({instance.results[rank]}));
}

void AllreduceRole::advance(Lane& lane) {
  Instance& instance = *lane.running;
  for (uint32_t site = 0; site < instance.sites.size(); ++site)
    for (auto& [rank, line] : instance.sites[site].lines)
      while (!line.waiting.empty() && line.under_way < max_under_way) ask_site(instance, site, line);
  if (instance.unfinished == 0) complete(lane);
}

void AllreduceRole::ask_site(Instance& instance, uint32_t site, Instance::Line& line) {
  const auto question = line.waiting.front();
  line.waiting.pop_front();
  ++line.under_way;
  Draft<wire::Contribute> draft;
  write(instance, draft->initInstance());
  write(self_, draft->initSender());
  draft->setRank(question.rank);
  draft->setBlock(question.block);
  draft->setSamples(instance.samples[question.rank]);
  draft->setWanted(question.wanted);
  draft->setSignature(as_text(instance.signature));
  draft->setSession(instance.find(question.rank)->step.session);
  if (instance.what().on_gpus) draft->setBroken(group_of(instance.what()).broken());
  std::vector<Tensor> part;
  if (instance.reduces())
    part = elements_of(instance.find(question.rank)->tensors,
                       instance.layout.pieces(instance.layout.blocks()[question.block]));
  ask(instance.sites[site].actor, draft.finish(std::move(part)),
      [this, name = instance.lane, serial = instance.serial, site,
       question](const Result<AnyMessage>& answer) {
        if (Lane* const lane = running(name, serial)) answered(*lane, site, question, answer);
      });
}

void AllreduceRole::answered(Lane& lane, uint32_t site, const Instance::Question& question,
                             const Result<AnyMessage>& answer) {
  Instance& instance = *lane.running;
  --instance.sites[site].lines[question.rank].under_way;
  const std::string& device = instance.what().sites[site];
  if (!answer)
    return fail(lane, answer.status().code() == Code::Unavailable ? lost_site(device, answer.status())
                                                                  : answer.status());
  const auto contributed = *Message<wire::Contributed>(*answer);
  if (contributed.getPast()) return fail_past(lane, contributed.getOver());
  if (contributed.getFailed() != 0) {
    lane.record_failure(instance.number, std::min(contributed.getFailed(), max_attempt));
    return fail(lane, attempt_has_failed(instance.number, instance.attempt));
  }
  if (const Status status = take_answer(lane, question, *answer); !status.ok()) return fail(lane, status);
  if (lane.running) advance(lane);
}

void AllreduceRole::fail_past(Lane& lane, uint64_t over) {
  lane.over = std::max(lane.over, over);
  fail(lane,
       aborted("instance " + std::to_string(lane.running->number) + " of '" + lane.running->what().name() +
               "' is over at another member, which has ended instance " + std::to_string(over)));
}

Status AllreduceRole::take_answer(Lane& lane, const Instance::Question& question, const AnyMessage& message) {
  Instance& instance = *lane.running;
  const auto answer = message.attachments();
  if (instance.what().on_gpus) TROUPE_RETURN_IF_FAILED(take_turn(instance, message));
  if (instance.what().on_gpus || !question.wanted) {
    --instance.unfinished;
    return {};
  }
  if (instance.reduces()) {
    TROUPE_ASSIGN(BlockWork work, instance.copy(question.block, answer));
    if (work.bytes() > max_bytes_in_handler) {
      compute(instance, question.block, std::move(work), true);
      return {};
    }
    work.run(site_->device->context().pool());
    --instance.unfinished;
    return {};
  }
  if (answer.size() != 1 || answer[0].dtype() != instance.what().dtype)
    return invalid_argument("the member " + instance.what().members[question.block] +
                            " has sent something else than its tensor");
  instance.results[question.block] = answer[0];
  --instance.unfinished;
  return {};
}

// Blocks of this site.

void AllreduceRole::reduce(Lane& lane, uint32_t block) {
  Instance& instance = *lane.running;
  auto work = instance.reduction(block);
  if (!work) return fail(lane, work.status());
  if (instance.what().on_gpus)
    if (const Status status = give_turn(instance); !status.ok()) return fail(lane, status);
  if (work->bytes() > max_bytes_in_handler) return compute(instance, block, std::move(*work), false);
  work->run(site_->device->context().pool());
  reduced(instance, block);
}

void AllreduceRole::compute(const Instance& instance, uint32_t block, BlockWork work, bool received) {
  Draft<wire::BlockReady> draft;
  draft->setName(as_text(instance.lane));
  draft->setSerial(instance.serial);
  draft->setBlock(block);
  draft->setReceived(received);
  compute_soon(site_->node.scheduler, make_job([work = std::move(work), message = draft.finish(),
                                                site = site_, self = self()]() mutable {
                 work.run(site->device->context().pool());
                 work = {};
                 site->node.engine.send(self, std::move(message));
               }));
}

void AllreduceRole::ready(const Message<wire::BlockReady>& message) {
  Lane* const lane = running(std::string(view(message->getName())), message->getSerial());
  if (!lane) return;
  if (message->hasFailure()) return fail(*lane, read(message->getFailure()));
  if (message->getReceived())
    --lane->running->unfinished;
  else
    reduced(*lane->running, message->getBlock());
  advance(*lane);
}

void AllreduceRole::reduced(Instance& instance, uint32_t block) {
  --instance.unfinished;
  for (auto& one : std::exchange(instance.owned[block].asking, {})) {
    Draft<wire::Contributed> draft;
    std::vector<Tensor> results;
    if (instance.what().on_gpus)
      write_turn(instance, draft->initTurn());
    else if (one.wanted)
      results = instance.results_of(block);
    one.reply(draft.finish(std::move(results)));
  }
}

// The end of an instance.

void AllreduceRole::complete(Lane& lane) {
  Instance& instance = *lane.running;
  if (instance.what().on_gpus && !instance.exchanges) return exchange(lane);
  if (instance.what().kind != CollectiveKind::Gather || instance.joined.valid()) return finish(lane);
  auto work = instance.join(site_->device->context().memory());
  if (!work) return fail(lane, work.status());
  if (work->bytes() > max_bytes_in_handler) {
    ++instance.unfinished;
    return compute(instance, 0, std::move(*work), true);
  }
  work->run(site_->device->context().pool());
  finish(lane);
}

void AllreduceRole::finish(Lane& lane) {
  const auto instance = std::move(lane.running);
  lane.over = instance->number;
  lane.sessions = std::move(instance->sessions);
  for (auto& own : instance->own)
    own.reply(Draft<wire::CollectiveDone>().finish(instance->outputs_of(own.rank)));
}

void AllreduceRole::cancel(const StepKey& step) {
  for (auto& [name, lane] : lanes_)
    if (lane.running && std::ranges::count(lane.running->own, step, &Instance::Own::step) != 0)
      fail(lane,
           cancelled("the step ended before all members of '" + lane.running->what().name() +
                     "' had taken part"),
           step);
}

void AllreduceRole::fail(Lane& lane, const Status& status, std::optional<StepKey> ended) {
  const auto instance = end_running(lane, status, ended);
  Draft<wire::Withdraw> draft;
  write(*instance, draft->initInstance());
  write(self_, draft->initSender());
  write(as_seen_by_others(status, self_.key, instance->what().name()), draft->initReason());
  const AnyMessage message = draft.finish();
  for (const auto& site : instance->sites)
    if (site.actor) tell_until_known(site.actor, message);
}

std::unique_ptr<Instance> AllreduceRole::end_running(Lane& lane, const Status& status,
                                                     std::optional<StepKey> ended) {
  auto instance = std::move(lane.running);
  lane.record_failure(instance->number, instance->attempt);
  if (instance->turn.communicator != 0) group_of(instance->what()).abort(status);
  const Status others = as_seen_by_others(status, self_.key, instance->what().name());
  for (auto& own : instance->own) own.reply(!ended || *ended == own.step ? status : others);
  for (auto& block : instance->owned)
    for (auto& one : block.asking) one.reply(others);
  for (auto& rank : instance->asking)
    for (auto& one : rank) one.reply(others);
  return instance;
}

void AllreduceRole::tell_until_known(const ActorRef& site, const AnyMessage& message) {
  ask(site, message, [this, site, message](const Result<AnyMessage>& answer) {
    if (answer.status().code() == Code::DataLoss) tell_until_known(site, message);
  });
}

ActorRef spawn_allreduce(std::shared_ptr<DeviceSite> site, const Numbered<Collective>& collectives,
                         Address self) {
  Engine& engine = site->node.engine;
  return engine.spawn(std::make_unique<AllreduceRole>(std::move(site), collectives, std::move(self)));
}

}  // namespace troupe
