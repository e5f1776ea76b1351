// The steps of prepared signatures, and partial runs, as the client sees them.
#include "actors/step/executor/profile_wire.h"
#include "actors/step/preparing.h"
#include "actors/step/session_core.h"
#include "kernels/runtime/cancelled_by.h"
#include "messages/schemas/session.capnp.h"
#include "messages/wire/message_reader.h"

namespace troupe {

namespace {

/// Throws InvalidArgument for a timeout that is negative, as that of a deadline which has passed may be.
void fill(wire::RunStep::Builder request, uint64_t handle, uint64_t call, const StepOptions& options) {
  if (options.timeout.count() < 0)
    throw Error(invalid_argument("the timeout of the step is " + std::to_string(options.timeout.count()) +
                                 " ns; it must not be negative, and 0 stands for none"));
  request.setHandle(handle);
  request.setCall(call);
  request.setRemaining(static_cast<uint64_t>(options.timeout.count()));
  request.setTraining(options.training);
  request.setRound(options.round);
  request.setShard(options.shard);
  request.setUnlocked(options.unlocked_phase);
  request.setProfile(options.profile != nullptr);
}

}  // namespace

Result<uint64_t> Session::Impl::prepare(const std::vector<Output>& feeds, const std::vector<Output>& outputs,
                                        Purpose purpose) const {
  TROUPE_ASSIGN(const auto answer, call_around(signature(feeds, outputs, purpose)));
  return Message<wire::StepPrepared>(answer)->getHandle();
}

std::vector<Tensor> PreparedStep::run(const std::vector<Tensor>& feeds, const StepOptions& options) const {
  if (!state_)
    throw Error(failed_precondition("the step has not been prepared: Session::prepare returns such steps"));
  const auto session = state_->session.lock();
  if (!session) throw Error(unavailable("the session that prepared this step has been destroyed"));
  const auto attempt = [&](uint64_t handle, bool held) {
    Draft<wire::RunStep> draft;
    const uint64_t call = ++session->last_call;
    fill(*draft, handle, call, options);
    draft->setHeld(held);
    const CancelledBy cancelled(options.cancellation, [&session, call] { session->cancel_step(call); });
    return session->call(draft.finish(std::vector<Tensor>(feeds)));
  };
  auto done = attempt(state_->handle, false);
  for (int i = 0; i < most_preparations && !done && must_prepare_again(done.status()); ++i) {
    const uint64_t handle =
        value_or_throw(session->prepare(state_->feeds, state_->outputs, Session::Impl::Purpose::Step));
    state_->handle = handle;
    done = attempt(handle, true);
  }
  if (!done) throw Error(done.status());
  if (options.profile) *options.profile = read(Message<wire::StepDone>(*done)->getProfile());
  return {done->attachments().begin(), done->attachments().end()};
}

void Session::Impl::cancel_step(uint64_t call) const {
  Draft<wire::CancelStep> draft;
  draft->setCall(call);
  engine().send(parts.master, draft.finish());
}

/// Tells the master when the client has no use for the run any more.
struct PartialRun::State {
  ~State() {
    const auto to = session.lock();
    if (!to || ordinal == 0) return;
    Draft<wire::EndPartialRun> draft;
    draft->setOrdinal(ordinal);
    to->engine().send(to->parts.master, draft.finish());
  }

  /// Returns the positions of outputs in the signature. Throws InvalidArgument if one of them is not there.
  static std::vector<uint32_t> positions(const std::map<Output, uint32_t>& known,
                                         const std::vector<Output>& outputs, const Graph& graph) {
    std::vector<uint32_t> result;
    for (const Output& output : outputs) {
      const auto at = known.find(output);
      if (at == known.end())
        throw Error(invalid_argument(graph.name_of(output) + " was not specified in partial_run_setup."));
      result.push_back(at->second);
    }
    return result;
  }

  std::weak_ptr<Session::Impl> session;
  uint64_t ordinal = 0;
  std::map<Output, uint32_t> feeds, fetches;  ///< the positions in the signature
  std::optional<CancelledBy> cancelled;
};

PartialRun Session::partial_run_setup(const std::vector<Output>& feeds, const std::vector<Output>& fetches,
                                      const StepOptions& options) {
  held().check_outputs(feeds, fetches);
  if (options.profile) throw Error(invalid_argument("a partial run has no profile"));
  throw_if_failed(impl_->extend());
  PartialRun run;
  run.state_ = std::make_shared<PartialRun::State>();
  run.state_->session = impl_;
  for (const Output& feed : feeds) run.state_->feeds.emplace(feed, run.state_->feeds.size());
  std::vector<Output> once;  // the targets, and the fetches without repetitions
  for (const Output& fetch : fetches)
    if (fetch.is_control() || run.state_->fetches.emplace(fetch, run.state_->fetches.size()).second)
      once.push_back(fetch);
  uint64_t call = 0;
  const auto begin = [&]() -> Result<AnyMessage> {
    TROUPE_ASSIGN(const uint64_t handle, impl_->prepare(feeds, once, Impl::Purpose::PartialRun));
    Draft<wire::BeginPartialRun> draft;
    call = ++impl_->last_call;
    fill(draft->initRun(), handle, call, options);
    draft->getRun().setHeld(true);
    return impl_->call_around(draft.finish());
  };
  auto begun = begin();
  for (int i = 1; i < most_preparations && !begun && must_prepare_again(begun.status()); ++i) begun = begin();
  if (!begun) throw Error(begun.status());
  run.state_->ordinal = Message<wire::PartialRunBegun>(*begun)->getOrdinal();
  run.state_->cancelled.emplace(options.cancellation, [session = run.state_->session, call] {
    if (const auto still = session.lock()) still->cancel_step(call);
  });
  return run;
}

std::vector<Tensor> Session::partial_run(const PartialRun& run,
                                         const std::vector<std::pair<Output, Tensor>>& feeds,
                                         const std::vector<Output>& fetches) {
  if (!run.state_ || run.state_->session.lock().get() != &held())
    throw Error(invalid_argument("the partial run was not set up by this session"));
  std::vector<Output> fed;
  std::vector<Tensor> tensors;
  for (const auto& [output, tensor] : feeds) {
    fed.push_back(output);
    tensors.push_back(tensor);
  }
  impl_->check_outputs(fed, fetches);
  Draft<wire::ContinuePartialRun> draft;
  draft->setOrdinal(run.state_->ordinal);
  const auto fill = [](auto list, const std::vector<uint32_t>& positions) {
    for (uint32_t i = 0; i < positions.size(); ++i) list.set(i, positions[i]);
  };
  const Graph& graph = impl_->parts.graph;
  fill(draft->initFeeds(static_cast<uint32_t>(fed.size())),
       PartialRun::State::positions(run.state_->feeds, fed, graph));
  fill(draft->initFetches(static_cast<uint32_t>(fetches.size())),
       PartialRun::State::positions(run.state_->fetches, fetches, graph));
  const auto done = value_or_throw(impl_->call(draft.finish(std::move(tensors))));
  return {done.attachments().begin(), done.attachments().end()};
}

}  // namespace troupe
