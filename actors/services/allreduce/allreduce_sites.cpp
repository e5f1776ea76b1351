#include <algorithm>

#include "actors/services/allreduce/allreduce_role.h"
#include "actors/services/allreduce/failures.h"
#include "actors/services/allreduce/lane_wire.h"
#include "messages/values/device_name.h"
#include "messages/wire/limits.h"
#include "messages/wire/wire.h"

namespace troupe {
namespace {

constexpr size_t max_kept = 4096;  // contributions in one lane
/// Above, lanes in which nothing waits are forgotten.
constexpr size_t max_idle_lanes = 4096;
constexpr size_t max_lanes = 1 << 16;

/// `theirs` is what another site has sent: it has a sender and a signature.
template <class Reader>
Status disagreement_with(const Instance& instance, uint32_t rank, Reader theirs) {
  return disagreement(instance.what().member(instance.own.front().rank), instance.signature,
                      "rank " + std::to_string(rank) + " (" + read(theirs.getSender()).key + ')',
                      std::string(view(theirs.getSignature())));
}

}  // namespace

// Other sites.

Result<ActorRef> AllreduceRole::find_site(const std::string& device) {
  if (const auto known = peers_.find(device); known != peers_.end()) return known->second;
  TROUPE_ASSIGN(const DeviceName name, DeviceName::parse(device));
  TROUPE_ASSIGN(const ActorRef actor,
                site_->node.directory.find({name.task_name().text(), 0, self_.role, device}));
  peers_.emplace(device, actor);
  watch_site(actor);
  return actor;
}

void AllreduceRole::contribute(const Contribution& message, Reply reply) {
  const auto instance = message->getInstance();
  const uint64_t number = instance.getNumber(), attempt = instance.getAttempt();
  if (number == 0 || attempt == 0 || attempt > max_attempt)
    return reply(invalid_argument("a contribution is for instance " + std::to_string(number) + ", attempt " +
                                  std::to_string(attempt)));
  const std::string name = lane_name(instance);
  if (!lanes_.contains(name) && lanes_.size() >= max_lanes)
    return reply(resource_exhausted("there are more than " + std::to_string(max_lanes) +
                                    " collectives in which other members wait"));
  Lane& lane = lane_of(name);
  if (lane.running && number == lane.running->number && attempt == lane.running->attempt)
    return accept(lane, message, std::move(reply));
  if (lane.running && number < lane.running->number) return reply(past_answer(lane.running->number - 1));
  if (!lane.running && lane.is_past(message)) return reply(past_answer(lane.over));
  if (lane.running && number == lane.running->number && attempt > lane.running->attempt)
    fail(lane, aborted("the member " + read(message->getSender()).key + " repeats instance " +
                       std::to_string(number) + " of '" + name + "'"));
  const uint64_t failed = lane.running && number == lane.running->number ? lane.running->attempt - 1
                          : number == lane.failed_number                 ? lane.failed_attempt
                                                                         : 0;
  if (attempt <= failed) return reply(failed_answer(failed));
  keep(lane, message, std::move(reply));
}

void AllreduceRole::keep(Lane& lane, const Contribution& message, Reply reply) {
  const Address sender = read(message->getSender());
  auto actor = site_->node.directory.find(sender);
  if (!actor) return reply(actor.status());
  if (lane.kept.size() >= max_kept)
    return reply(
        resource_exhausted("more than " + std::to_string(max_kept) + " contributions wait for " + self_.key));
  watch_site(*actor);
  lane.keep({message, std::move(*actor), std::move(reply)});
}

void AllreduceRole::take_kept(Lane& lane) {
  const uint64_t serial = lane.running->serial;
  for (auto& one : lane.take(lane.running->number, lane.running->attempt)) {
    if (lane.running && lane.running->serial == serial)
      accept(lane, one.message, std::move(one.reply));
    else
      one.reply(aborted("the instance has failed at " + self_.key));
  }
}

void AllreduceRole::accept(Lane& lane, const Contribution& message, Reply reply) {
  Instance& instance = *lane.running;
  const Collective& what = instance.what();
  const std::string sender(view(message->getSender().getKey()));
  const uint32_t rank = message->getRank();
  if (view(message->getSignature()) != instance.signature) {
    const Status status = disagreement_with(instance, rank, *message);
    reply(status);
    return fail(lane, status);
  }
  if (rank >= what.ranks() || what.members[rank] != sender)
    return reply(
        invalid_argument(sender + " is not rank " + std::to_string(rank) + " of '" + what.name() + "'"));
  instance.sessions[rank] = message->getSession();
  if (what.on_gpus)
    instance.gpu_members[rank] = {message->getSender().getIncarnation(), message->getBroken()};
  instance.reduces() ? accept_part(lane, message, std::move(reply))
                     : accept_question(lane, message, std::move(reply));
}

void AllreduceRole::accept_part(Lane& lane, const Contribution& message, Reply reply) {
  Instance& instance = *lane.running;
  const uint32_t block = message->getBlock();
  const auto part = message.attachments();
  Status status = instance.add(block, message->getRank(), {part.begin(), part.end()}, message->getSamples());
  if (!status.ok()) return reply(std::move(status));
  instance.owned[block].asking.push_back({std::move(reply), message->getWanted()});
  if (instance.owned[block].missing == 0) reduce(lane, block);
  if (lane.running) advance(lane);
}

void AllreduceRole::accept_question(Lane& lane, const Contribution& message, Reply reply) {
  Instance& instance = *lane.running;
  const Collective& what = instance.what();
  const uint32_t rank = message->getBlock(), site = what.site_of[message->getRank()];
  if (rank >= what.ranks() || what.site_of[rank] != what.site || !instance.gives(rank))
    return reply(invalid_argument("rank " + std::to_string(rank) + " of '" + what.name() +
                                  "' has no tensor for others at " + self_.key));
  if (instance.asked[rank][site])
    return reply(already_exists(what.sites[site] + " has asked for the tensor of " + what.member(rank)));
  instance.asked[rank][site] = true;
  if (!instance.results[rank].valid()) return instance.asking[rank].push_back({std::move(reply), true});
  give(instance, rank, std::move(reply));
  advance(lane);
}

void AllreduceRole::withdraw(const Message<wire::Withdraw>& message) {
  const auto named = message->getInstance();
  const uint64_t number = named.getNumber(), attempt = std::min(named.getAttempt(), max_attempt);
  const std::string name = lane_name(named);
  if (!lanes_.contains(name) && lanes_.size() >= max_lanes) return;
  Lane& lane = lane_of(name);
  const Status reason = read(message->getReason());
  if (lane.running && lane.running->number == number && lane.running->attempt <= attempt) {
    end_running(lane, reason, {});
  } else if (lane.running || number <= lane.over) {
    return;
  }
  lane.record_failure(number, attempt);
  std::erase_if(lane.kept, [&](Lane::Kept& one) {
    const auto instance = one.message->getInstance();
    if (instance.getNumber() != number || instance.getAttempt() > attempt) return false;
    one.reply(reason);
    return true;
  });
}

void AllreduceRole::watch_site(const ActorRef& actor) {
  if (watched_.insert(actor).second)
    watch(actor, [this, actor](const Status& reason) { site_ended(actor, reason); });
}

void AllreduceRole::site_ended(const ActorRef& actor, const Status& reason) {
  watched_.erase(actor);
  for (const auto& [device, peer] : peers_)
    if (peer == actor) abort_groups_of(device, lost_site(device, reason));
  std::erase_if(peers_, [&](const auto& peer) { return peer.second == actor; });
  for (auto& [name, lane] : lanes_) {
    std::erase_if(lane.kept, [&](const Lane::Kept& one) { return one.sender == actor; });
    if (!lane.running) continue;
    const auto& sites = lane.running->sites;
    const auto at = std::ranges::find(sites, actor, &Instance::Site::actor);
    if (at != sites.end())
      fail(lane, lost_site(lane.running->what().sites[static_cast<size_t>(at - sites.begin())], reason));
  }
}

// Members that wait for long.

int64_t AllreduceRole::patience() const { return limits::patient_heartbeats * site_->node.heartbeat; }

void AllreduceRole::start_timer() {
  if (std::exchange(timer_runs_, true)) return;
  site_->node.env.clock.call_at(site_->node.env.clock.now() + patience(), [site = site_, self = self()] {
    site->node.engine.send(self, Draft<wire::CompareOverdue>().finish());
  });
}

void AllreduceRole::compare_overdue() {
  timer_runs_ = false;
  const int64_t now = site_->node.env.clock.now();
  bool waits = false;
  for (const auto& [name, lane] : lanes_) {
    if (!lane.running) continue;
    waits = true;
    if (now - lane.running->since < patience() || lane.running->own.empty()) continue;
    for (const auto& site : lane.running->sites)
      if (site.actor) ask_to_compare(name, *lane.running, site.actor);
  }
  if (waits) start_timer();
}

void AllreduceRole::ask_to_compare(const std::string& name, const Instance& instance, const ActorRef& site) {
  Draft<wire::Compare> draft;
  write(instance, draft->initInstance());
  write(self_, draft->initSender());
  draft->setRank(instance.own.front().rank);
  draft->setSignature(as_text(instance.signature));
  ask(site, draft.finish(), [this, name, serial = instance.serial](const Result<AnyMessage>& answer) {
    Lane* const lane = running(name, serial);
    if (!lane || answer.status().code() == Code::DataLoss) return;
    if (!answer) return fail(*lane, answer.status());
    const auto compared = *Message<wire::Compared>(*answer);
    if (compared.getPast()) fail_past(*lane, compared.getOver());
  });
}

void AllreduceRole::compare(const Message<wire::Compare>& message, Reply reply) {
  const auto named = message->getInstance();
  const auto at = lanes_.find(lane_name(named));
  Draft<wire::Compared> draft;
  if (at == lanes_.end() || !at->second.running) return reply(draft.finish());
  Lane& lane = at->second;
  if (view(message->getSignature()) != lane.running->signature) {
    const Status status = disagreement_with(*lane.running, message->getRank(), *message);
    reply(status);
    return fail(lane, status);
  }
  const uint64_t number = named.getNumber();
  draft->setPast(number < lane.running->number);
  draft->setOver(lane.running->number - 1);
  if (number == lane.running->number && named.getAttempt() < lane.running->attempt)
    return reply(attempt_has_failed(number, named.getAttempt()));
  reply(draft.finish());
}

// Lanes.

Lane& AllreduceRole::lane_of(const std::string& name) {
  if (lanes_.size() >= max_idle_lanes && !lanes_.contains(name)) forget_idle_lanes();
  Lane& lane = lanes_[name];
  lane.used = ++uses_;
  return lane;
}

void AllreduceRole::forget_idle_lanes() {
  std::vector<uint64_t> used;
  for (const auto& [name, lane] : lanes_) used.push_back(lane.used);
  const auto middle = used.begin() + static_cast<std::ptrdiff_t>(used.size() / 2);
  std::ranges::nth_element(used, middle);
  std::erase_if(lanes_, [&](const auto& entry) {
    const Lane& lane = entry.second;
    return lane.used < *middle && !lane.running && lane.kept.empty();
  });
}

Lane* AllreduceRole::running(const std::string& name, uint64_t serial) {
  const auto at = lanes_.find(name);
  const bool runs = at != lanes_.end() && at->second.running && at->second.running->serial == serial;
  return runs ? &at->second : nullptr;
}

}  // namespace troupe
