#include "apps/c/session.h"

#include <chrono>

#include "apps/c/graph_handle.h"
#include "apps/c/handles.h"

struct troupe_session {
  std::shared_ptr<troupe::c::SharedGraph> graph;  ///< outlives the session
  troupe::Session session;
  std::vector<troupe::DeviceDescription> devices = session.devices();
};

using namespace troupe::
    c;  // NOLINT(google-build-using-namespace): the functions below belong to no namespace

namespace {

std::chrono::nanoseconds duration(int64_t nanoseconds, const char* what) {
  if (nanoseconds < 0)
    throw troupe::Error(troupe::invalid_argument(std::string(what) + " must not be negative"));
  return std::chrono::nanoseconds(nanoseconds);
}

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

troupe::SessionOptions options_of(const troupe_session_options& from) {
  troupe::SessionOptions options;
  if (from.seed) options.seed = static_cast<uint64_t>(*from.seed);
  if (from.soft_placement) options.placement = troupe::Placement::Soft;
  if (from.start_timeout_ns != 0) options.start_timeout = duration(from.start_timeout_ns, "start_timeout_ns");
  options.tasks = texts(from.tasks, from.task_count, "tasks");
  options.device_choice = device_choice(from.device_choice);
  options.lossy_transfers = from.lossy_transfers;
  if (from.share_state) options.share_state = *from.share_state;
  return options;
}

std::vector<std::pair<troupe::Output, troupe::Tensor>> feeds_of(const troupe_step& step) {
  const auto outputs = outputs_of(step.feeds, step.feed_count, "feeds");
  auto values = tensors(step.feed_values, step.feed_count, "feed_values");
  std::vector<std::pair<troupe::Output, troupe::Tensor>> feeds;
  for (size_t i = 0; i < outputs.size(); ++i) feeds.emplace_back(outputs[i], std::move(values[i]));
  return feeds;
}

/// Returns the fetches, which must yield tensors, and behind them the targets.
std::vector<troupe::Output> fetches_of(const troupe_step& step) {
  auto fetches = outputs_of(step.fetches, step.fetch_count, "fetches");
  for (const troupe::Output fetch : fetches)
    if (fetch.is_control())
      throw troupe::Error(
          troupe::invalid_argument("a fetch is a node, which yields no tensor; it must be a target"));
  for (troupe::Output target : outputs_of(step.targets, step.target_count, "targets")) {
    target.index = troupe::Output::control;
    fetches.push_back(target);
  }
  return fetches;
}

}  // namespace

troupe_code troupe_session_create(troupe_graph* graph, const troupe_session_options* options,
                                  troupe_session** session) {
  return guarded([&] {
    const auto& shared = needed(graph, "graph").shared;
    auto& result = needed(session, "session");
    const auto wanted = options_of(known(options));
    result = new troupe_session{shared, shared->runtime->session(shared->graph, wanted)};
  });
}

troupe_code troupe_session_connect(troupe_graph* graph, const char* endpoint, const troupe_cluster* cluster,
                                   const troupe_session_options* options, troupe_session** session) {
  return guarded([&] {
    const auto& shared = needed(graph, "graph").shared;
    const troupe::MasterOptions master{text(endpoint, "endpoint"), needed(cluster, "cluster").spec};
    auto& result = needed(session, "session");
    const auto wanted = options_of(known(options));
    result = new troupe_session{shared, shared->runtime->connect(shared->graph, master, wanted)};
  });
}

void troupe_session_destroy(troupe_session* session) { delete session; }

troupe_code troupe_session_device_count(const troupe_session* session, size_t* count) {
  return guarded([&] { needed(count, "count") = needed(session, "session").devices.size(); });
}

troupe_code troupe_session_device(const troupe_session* session, size_t index, troupe_device* device) {
  return guarded([&] {
    const auto& from = element(needed(session, "session").devices, index, "device");
    needed(device, "device") = {from.name.c_str(), from.type.c_str(), from.memory, from.incarnation};
  });
}

troupe_code troupe_session_run(troupe_session* session, const troupe_step* step, troupe_tensor** results) {
  return guarded([&] {
    troupe_session& runner = needed(session, "session");
    const troupe_step wanted = known(&needed(step, "step"));
    const auto stored = array(results, wanted.fetch_count, "results");
    troupe::StepOptions options;
    options.timeout = duration(wanted.timeout_ns, "timeout_ns");
    options.cancellation = cancellation(wanted.cancellation);
    hand_over(runner.session.run(feeds_of(wanted), fetches_of(wanted), options), stored);
  });
}

troupe_code troupe_session_cancel(troupe_session* session) {
  return guarded([&] { needed(session, "session").session.cancel(); });
}

troupe_code troupe_session_close(troupe_session* session, int64_t timeout_ns) {
  return guarded([&] { needed(session, "session").session.close(duration(timeout_ns, "timeout_ns")); });
}
