#include "actors/step/partial_step.h"

#include <algorithm>

#include "graph/plan/fed_value.h"
#include "messages/schemas/session.capnp.h"
#include "messages/wire/wire.h"

namespace troupe {

PartialSignature partial_signature(const Graph& graph, RunSignature outputs,
                                   const std::vector<WorkerShare>& shares) {
  PartialSignature result;
  for (const Output& feed : outputs.feeds)
    result.feeds.push_back({graph.name_of(feed), graph.dtype(feed), graph.shape(feed)});
  for (const Output& fetch : outputs.fetches) result.fetches.push_back({graph.name_of(fetch)});
  for (const WorkerShare& share : shares) {
    for (const ClientEnd& end : share.client_feeds) {
      result.feeds[end.position].end = end;
      result.feed_of[end.edge] = end.position;
    }
    for (const ClientEnd& end : share.client_fetches) {
      result.fetches[end.position].end = end;
      result.fetch_of[end.edge] = end.position;
    }
  }
  result.outputs = std::move(outputs);
  return result;
}

PartialStep::PartialStep(std::shared_ptr<const PartialSignature> signature)
    : signature_(std::move(signature)), fed_(signature_->feeds.size()), fetches_(signature_->fetches.size()),
      to_feed_(fed_.size()), to_claim_(fetches_.size()) {}

bool PartialStep::accept(const Message<wire::ContinuePartialRun>& call, const Graph& graph, Reply reply) {
  if (Status status = failed() ? failure_ : check(call, graph); !status.ok()) {
    reply(std::move(status));
    return false;
  }
  for (const uint32_t feed : call->getFeeds()) fed_[feed] = true;
  auto fetches = vector_of<uint32_t>(call->getFetches());
  for (const uint32_t fetch : fetches) fetches_[fetch].claimed = true;
  to_feed_ -= call->getFeeds().size();
  to_claim_ -= fetches.size();
  calls_.push_back({std::move(fetches), std::move(reply)});
  answer_calls();
  return true;
}

Status PartialStep::check(const Message<wire::ContinuePartialRun>& call, const Graph& graph) const {
  auto fed = fed_;
  TROUPE_RETURN_IF_FAILED(check_feeds(call, fed));
  return check_fetches(vector_of<uint32_t>(call->getFetches()), fed, graph);
}

/// Checks the feeds of a call, and adds them to `fed`.
Status PartialStep::check_feeds(const Message<wire::ContinuePartialRun>& call, std::vector<bool>& fed) const {
  const auto feeds = call->getFeeds();
  const auto tensors = call.attachments();
  if (feeds.size() != tensors.size())
    return invalid_argument("a partial run got " + std::to_string(tensors.size()) + " tensors for " +
                            std::to_string(feeds.size()) + " feeds");
  for (uint32_t i = 0; i < feeds.size(); ++i) {
    const uint32_t position = feeds[i];
    if (position >= fed.size())
      return invalid_argument("there is no feed " + std::to_string(position) + " in this partial run");
    const auto& feed = signature_->feeds[position];
    if (fed[position]) return invalid_argument("the feed " + feed.name + " has already been fed.");
    fed[position] = true;
    TROUPE_RETURN_IF_FAILED(check_fed_value(tensors[i], feed.dtype, feed.shape, feed.name));
  }
  return {};
}

Status PartialStep::check_fetches(const std::vector<uint32_t>& fetches, const std::vector<bool>& fed,
                                  const Graph& graph) const {
  std::vector<bool> claimed(fetches_.size());
  for (const uint32_t position : fetches) {
    if (position >= fetches_.size())
      return invalid_argument("there is no fetch " + std::to_string(position) + " in this partial run");
    if (fetches_[position].claimed || claimed[position])
      return invalid_argument("the fetch " + signature_->fetches[position].name +
                              " has already been fetched.");
    claimed[position] = true;
  }
  if (fetches.empty()) return {};
  TROUPE_ASSIGN(const auto needed, feeds_needed(graph, signature_->outputs, fetches));
  for (size_t i = 0; i < needed.size(); ++i)
    if (needed[i] && !fed[i])
      return invalid_argument("the fetches cannot be computed before " + signature_->feeds[i].name +
                              " has been fed");
  return {};
}

std::optional<bool> PartialStep::was_fed(uint64_t edge) const {
  const auto feed = signature_->feed_of.find(edge);
  return feed == signature_->feed_of.end() ? std::nullopt : std::optional<bool>(fed_[feed->second]);
}

std::optional<uint32_t> PartialStep::find_fetch(uint64_t edge) const {
  const auto fetch = signature_->fetch_of.find(edge);
  return fetch == signature_->fetch_of.end() ? std::nullopt : std::optional(fetch->second);
}

Status PartialStep::arrived(uint32_t fetch, Tensor tensor) {
  if (failed()) return {};
  Fetch& to = fetches_[fetch];
  if (to.state == State::Arrived)
    return internal("two tensors arrived for the fetch " + signature_->fetches[fetch].name);
  to.state = State::Arrived;
  to.tensor = std::move(tensor);
  answer_calls();
  return {};
}

std::vector<uint32_t> PartialStep::missing() const {
  std::vector<uint32_t> result;
  for (uint32_t i = 0; i < fetches_.size(); ++i)
    if (fetches_[i].state == State::Pending) result.push_back(i);
  return result;
}

void PartialStep::fail(const Status& status) {
  if (failed()) return;
  failure_ = status;
  for (Fetch& fetch : fetches_) fetch.tensor = {};
  for (Call& call : std::exchange(calls_, {})) call.reply(failure_);
}

void PartialStep::step_ended() {
  step_ended_ = true;
  answer_calls();
}

void PartialStep::answer_calls() {
  const auto waits = [this](const Call& call) { return !is_ready(call); };
  const auto ready = std::stable_partition(calls_.begin(), calls_.end(), waits);
  for (auto call = ready; call != calls_.end(); ++call) answer(*call);
  calls_.erase(ready, calls_.end());
}

bool PartialStep::is_ready(const Call& call) const {
  if (is_complete() && !step_ended_) return false;
  return std::ranges::all_of(call.fetches,
                             [this](uint32_t fetch) { return fetches_[fetch].state == State::Arrived; });
}

void PartialStep::answer(Call& call) {
  std::vector<Tensor> tensors;
  for (const uint32_t fetch : call.fetches) tensors.push_back(std::exchange(fetches_[fetch].tensor, {}));
  call.reply(Draft<wire::PartialRunContinued>().finish(std::move(tensors)));
}

}  // namespace troupe
