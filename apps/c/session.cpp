#include "apps/c/session.h"

#include "apps/c/session_handle.h"
#include "apps/trace/trace_json.h"

namespace troupe::c {

std::chrono::nanoseconds duration(int64_t nanoseconds, const char* what) {
  if (nanoseconds < 0) throw Error(invalid_argument(std::string(what) + " must not be negative"));
  return std::chrono::nanoseconds(nanoseconds);
}

std::vector<std::pair<Output, Tensor>> feeds_of(const troupe_step& step) {
  const auto outputs = outputs_of(step.feeds, step.feed_count, "feeds");
  auto values = tensors(step.feed_values, step.feed_count, "feed_values");
  std::vector<std::pair<Output, Tensor>> feeds;
  for (size_t i = 0; i < outputs.size(); ++i) feeds.emplace_back(outputs[i], std::move(values[i]));
  return feeds;
}

std::vector<Output> fetches_of(const troupe_step& step) {
  auto fetches = outputs_of(step.fetches, step.fetch_count, "fetches");
  for (const Output fetch : fetches)
    if (fetch.is_control())
      throw Error(invalid_argument("a fetch is a node, which yields no tensor; it must be a target"));
  for (Output target : outputs_of(step.targets, step.target_count, "targets")) {
    target.index = Output::control;
    fetches.push_back(target);
  }
  return fetches;
}

StepOptions options_of(const troupe_step& step) {
  StepOptions options;
  options.timeout = duration(step.timeout_ns, "timeout_ns");
  options.cancellation = cancellation(step.cancellation);
  return options;
}

}  // namespace troupe::c

using namespace troupe::
    c;  // NOLINT(google-build-using-namespace): the functions below belong to no namespace

namespace {

troupe::DeviceChoice device_choice(troupe_device_choice choice) {
  switch (choice) {
    case TROUPE_FIRST_FEASIBLE: return troupe::DeviceChoice::FirstFeasible;
    case TROUPE_EARLIEST_FINISH: return troupe::DeviceChoice::EarliestFinish;
    case TROUPE_LEARNED: return troupe::DeviceChoice::Learned;
    default:
      throw troupe::Error(troupe::invalid_argument("device_choice is " + std::to_string(choice) +
                                                   "; it must be one of the constants of its type"));
  }
}

troupe::SessionOptions session_options(const troupe_session_options& from) {
  troupe::SessionOptions options;
  if (from.seed) options.seed = static_cast<uint64_t>(*from.seed);
  if (from.soft_placement) options.placement = troupe::Placement::Soft;
  if (from.start_timeout_ns != 0) options.start_timeout = duration(from.start_timeout_ns, "start_timeout_ns");
  options.tasks = texts(from.tasks, from.task_count, "tasks");
  options.device_choice = device_choice(from.device_choice);
  options.lossy_transfers = from.lossy_transfers;
  options.check_finite = from.check_finite;
  if (from.share_state) options.share_state = *from.share_state;
  return options;
}

troupe_session* handle_of(const std::shared_ptr<SharedGraph>& graph, troupe::Session session) {
  return new troupe_session{std::make_shared<SharedSession>(SharedSession{graph, std::move(session)})};
}

std::chrono::nanoseconds now() { return std::chrono::steady_clock::now().time_since_epoch(); }

}  // namespace

troupe_code troupe_session_create(troupe_graph* graph, const troupe_session_options* options,
                                  troupe_session** session) {
  return guarded([&] {
    const auto& shared = needed(graph, "graph").shared;
    auto& result = needed(session, "session");
    const auto wanted = session_options(known(options));
    result = handle_of(shared, shared->runtime->session(shared->graph, wanted));
  });
}

troupe_code troupe_session_connect(troupe_graph* graph, const char* endpoint, const troupe_cluster* cluster,
                                   const troupe_session_options* options, troupe_session** session) {
  return guarded([&] {
    const auto& shared = needed(graph, "graph").shared;
    const troupe::MasterOptions master{text(endpoint, "endpoint"), needed(cluster, "cluster").spec};
    auto& result = needed(session, "session");
    const auto wanted = session_options(known(options));
    result = handle_of(shared, shared->runtime->connect(shared->graph, master, wanted));
  });
}

void troupe_session_destroy(troupe_session* session) {
  // A step of another thread has the session until it ends, so it must be told.
  if (session && session->shared->partial_runs.use_count() == 1) session->shared->session.cancel();
  delete session;
}

troupe_code troupe_session_device_count(const troupe_session* session, size_t* count) {
  return guarded([&] { needed(count, "count") = needed(session, "session").shared->devices.size(); });
}

troupe_code troupe_session_device(const troupe_session* session, size_t index, troupe_device* device) {
  return guarded([&] {
    const auto& from = element(needed(session, "session").shared->devices, index, "device");
    needed(device, "device") = {from.name.c_str(), from.type.c_str(), from.memory, from.incarnation};
  });
}

troupe_code troupe_session_run(troupe_session* session, const troupe_step* step, troupe_tensor** results) {
  return guarded([&] {
    const auto runner = session_of(session);
    const troupe_step wanted = known(&needed(step, "step"));
    const auto stored = array(results, wanted.fetch_count, "results");
    hand_over(runner->run(feeds_of(wanted), fetches_of(wanted), options_of(wanted)), stored);
  });
}

troupe_code troupe_session_profile(troupe_session* session, const troupe_step* step, troupe_tensor** results,
                                   char** timeline, size_t* size) {
  return guarded([&] {
    const auto runner = session_of(session);
    const troupe_step wanted = known(&needed(step, "step"));
    const auto stored = array(results, wanted.fetch_count, "results");
    auto& text = needed(timeline, "timeline");
    auto& length = needed(size, "size");
    troupe::trace::TracedStep traced;
    troupe::StepOptions options = options_of(wanted);
    options.profile = &traced.devices;
    traced.begin = now();
    auto fetched = runner->run(feeds_of(wanted), fetches_of(wanted), options);
    traced.end = now();
    hand_over(troupe::trace::trace_json({traced}), text, length);
    hand_over(std::move(fetched), stored);
  });
}

troupe_code troupe_session_describe(troupe_session* session, const troupe_step* step, char** text,
                                    size_t* size) {
  return guarded([&] {
    const troupe_step wanted = known(&needed(step, "step"));
    auto& stored = needed(text, "text");
    const auto feeds = outputs_of(wanted.feeds, wanted.feed_count, "feeds");
    hand_over(session_of(session)->describe(feeds, fetches_of(wanted)).text(), stored, needed(size, "size"));
  });
}

troupe_code troupe_session_start_queue_runners(troupe_session* session) {
  return guarded([&] { session_of(session)->start_queue_runners(); });
}

troupe_code troupe_session_stop_queue_runners(troupe_session* session, int64_t timeout_ns) {
  return guarded([&] { session_of(session)->stop_queue_runners(duration(timeout_ns, "timeout_ns")); });
}

troupe_code troupe_session_cancel(troupe_session* session) {
  return guarded([&] { session_of(session)->cancel(); });
}

troupe_code troupe_session_close(troupe_session* session, int64_t timeout_ns) {
  return guarded([&] { session_of(session)->close(duration(timeout_ns, "timeout_ns")); });
}
