#include "actors/step/partial_runs.h"

#include "actors/step/executor/tokens_wire.h"
#include "messages/schemas/session.capnp.h"
#include "messages/wire/wire.h"

namespace troupe {

using TokenState = wire::TokensFound::TokenState;

void PartialRuns::begin(uint64_t ordinal, std::shared_ptr<const PartialSignature> signature) {
  runs_.emplace(ordinal, std::move(signature));
}

PartialStep* PartialRuns::find(uint64_t ordinal) {
  const auto at = runs_.find(ordinal);
  return at == runs_.end() ? nullptr : &at->second;
}

void PartialRuns::proceed(const Message<wire::ContinuePartialRun>& call, const Graph& graph, Reply reply) {
  const uint64_t ordinal = call->getOrdinal();
  PartialStep* const run = find(ordinal);
  if (!run)
    return reply(invalid_argument("partial run " + std::to_string(ordinal) +
                                  " is over: all its feeds were given and all its fetches taken"));
  if (run->accept(call, graph, std::move(reply))) give_feeds(ordinal, *run, call);
  forget_if_finished(ordinal);
}

void PartialRuns::give_feeds(uint64_t ordinal, const PartialStep& run,
                             const Message<wire::ContinuePartialRun>& call) {
  std::unordered_map<Address, std::vector<uint32_t>> receivers;  // the indices of what each of them gets
  const auto feeds = call->getFeeds();
  for (uint32_t i = 0; i < feeds.size(); ++i)
    if (const auto& to = run.signature().feeds[feeds[i]].end) receivers[to->executor].push_back(i);
  for (const auto& [executor, indices] : receivers) {
    const auto actor = node_.directory.find(executor);
    if (!actor) return end(ordinal, actor.status());
    Draft<wire::TensorsArrived> draft;
    set_step(draft->initStep(), session_, ordinal);
    auto arrivals = draft->initArrivals(static_cast<uint32_t>(indices.size()));
    std::vector<Tensor> tensors;
    for (uint32_t i = 0; i < arrivals.size(); ++i) {
      arrivals[i].setEdge(run.signature().feeds[feeds[indices[i]]].end->edge);
      tensors.push_back(call.attachments()[indices[i]]);
    }
    node_.engine.send(*actor, draft.finish(std::move(tensors)));
  }
}

void PartialRuns::tensors_arrived(const Message<wire::TensorsArrived>& message) {
  const uint64_t ordinal = message->getStep().getOrdinal();
  uint32_t next = 0;
  for (const auto arrival : message->getArrivals()) {
    PartialStep* const run = message->getStep().getSession() == session_ ? find(ordinal) : nullptr;
    const auto fetch = run ? run->find_fetch(arrival.getEdge()) : std::nullopt;
    if (!fetch) {
      node_.strays.fetch_add(1, std::memory_order_relaxed);
      return end(ordinal, data_loss("a tensor arrived at the master that is no fetch of its step: a message "
                                    "was damaged on its way"));
    }
    if (arrival.getDead())
      take(ordinal, *run, *fetch,
           invalid_argument("The tensor returned for " + run->signature().fetches[*fetch].name +
                            " was not valid."));
    else if (arrival.getAnnounced())
      take_announced(ordinal, *run, *fetch);
    else
      take(ordinal, *run, *fetch, message.attachment(next++));
  }
  forget_if_finished(ordinal);
}

void PartialRuns::take(uint64_t ordinal, PartialStep& run, uint32_t fetch, const Result<Tensor>& tensor) {
  Status status = tensor ? Status() : tensor.status();
  if (tensor && tensor->valid() && tensor->memory() == MemoryKind::Device)
    status = data_loss("the fetched tensor arrived in device memory, where the master cannot read it");
  if (status.ok()) status = run.arrived(fetch, *tensor);
  if (!status.ok()) end(ordinal, status);
}

void PartialRuns::take_announced(uint64_t ordinal, PartialStep& run, uint32_t fetch) {
  const ClientEnd& from = run.signature().fetches[fetch].end;
  const auto sender = node_.directory.find(from.executor);
  if (!sender) return end(ordinal, sender.status());
  run.asked(fetch);
  Draft<wire::TakeTensor> draft;
  set_step(draft->initStep(), session_, ordinal);
  draft->setEdge(from.edge);
  host_.ask(*sender, draft.finish(), [this, ordinal, fetch](const Result<AnyMessage>& answer) {
    PartialStep* const waiting = find(ordinal);
    if (!waiting) return;
    take(ordinal, *waiting, fetch, answer ? answer->attachment(0) : Result<Tensor>(answer.status()));
    forget_if_finished(ordinal);
  });
}

void PartialRuns::find_tokens(const Message<wire::FindTokens>& message, Reply reply) const {
  const auto run = runs_.find(message->getStep().getOrdinal());
  const bool known = message->getStep().getSession() == session_ && run != runs_.end();
  std::vector<TokenState> states;
  for (const auto token : message->getTokens()) {
    const auto fed = known ? run->second.was_fed(token.getEdge()) : std::nullopt;
    states.push_back(!known ? TokenState::OVER
                     : !fed ? TokenState::NO_SUCH_EDGE
                     : *fed ? TokenState::SENT
                            : TokenState::PENDING);
  }
  reply(tokens_found(*message, states));
}

void PartialRuns::fail(uint64_t ordinal, const Status& status) {
  if (PartialStep* const run = find(ordinal)) run->fail(status);
}

void PartialRuns::fail_all(const Status& status) {
  for (auto& [ordinal, run] : runs_) run.fail(status);
}

void PartialRuns::step_ended(uint64_t ordinal) {
  PartialStep* const run = find(ordinal);
  if (!run) return;
  run->step_ended();
  if (!run->failed())
    for (const uint32_t fetch : run->missing()) ask_for_missing(ordinal, *run, fetch);
  forget_if_finished(ordinal);
}

// The answer travels behind the tensor, so that the tensor has arrived before it or is lost.
void PartialRuns::ask_for_missing(uint64_t ordinal, PartialStep& run, uint32_t fetch) {
  const auto& [name, from] = run.signature().fetches[fetch];
  const auto sender = node_.directory.find(from.executor);
  if (!sender) return end(ordinal, sender.status());
  Draft<wire::FindTokens> draft;
  set_step(draft->initStep(), session_, ordinal);
  draft->initTokens(1)[0].setEdge(from.edge);
  draft->setBulk(true);
  host_.ask(*sender, draft.finish(), [this, ordinal, fetch](const Result<AnyMessage>& answer) {
    PartialStep* const waiting = find(ordinal);
    if (!waiting || waiting->failed()) return;
    for (const uint32_t missing : waiting->missing())
      if (missing == fetch)
        return end(ordinal, answer ? data_loss("the fetch " + waiting->signature().fetches[fetch].name +
                                               " was sent, but did not arrive")
                                   : answer.status());
  });
}

void PartialRuns::end(uint64_t ordinal, const Status& status) {
  fail(ordinal, status);
  host_.fail_step(ordinal, status);
}

void PartialRuns::forget_if_finished(uint64_t ordinal) {
  if (const auto at = runs_.find(ordinal); at != runs_.end() && at->second.finished()) runs_.erase(at);
}

}  // namespace troupe
