#include "apps/python/steps.h"

#include <algorithm>
#include <cmath>

#include "apps/python/gil.h"
#include "apps/python/interrupts.h"
#include "apps/python/kept_feeds.h"
#include "apps/python/values.h"

namespace troupe::python {
namespace py = pybind11;
namespace {

constexpr size_t most_steps = 200;  // far fewer than SessionOptions::signatures, so that steps stay prepared

void forget_oldest(SessionHandle& session) {
  const auto oldest =
      std::ranges::min_element(session.steps, {}, [](const auto& entry) { return entry.second->last_use; });
  session.steps.erase(oldest);
}

std::vector<Tensor> run_without_gil(const Step& step, const std::vector<Tensor>& feeds, StepOptions options) {
  return interruptible([&](const Cancellation* cancellation) {
    options.cancellation = cancellation;
    return step.step.run(feeds, options);
  });
}

}  // namespace

WaitsWithoutGil::WaitsWithoutGil()
    : AroundWaits([](const Wait& wait) {
        const GilReleased released;
        wait();
      }) {}

std::chrono::nanoseconds duration_of(const Timeout& seconds) {
  if (!seconds) return {};
  const double number = *seconds;
  if (!(number > 0) || number > 1e9)
    throw Error(invalid_argument("a timeout must be a positive number of seconds"));
  return std::chrono::nanoseconds(std::max(int64_t{1}, static_cast<int64_t>(number * 1e9)));
}

void require_open(const SessionHandle& session) {
  if (session.closed) throw Error(failed_precondition("the session is closed"));
  session.runtime->require_threads();
}

std::shared_ptr<Step> prepare(SessionHandle& session, const std::vector<Output>& feeds,
                              const std::vector<Output>& fetches) {
  require_open(session);
  const Graph& graph = session.graph->graph;
  auto step = std::make_shared<Step>();
  std::vector<Output> computed;
  for (const Output& fetch : fetches) {
    const auto feed = std::ranges::find(feeds, fetch);
    if (feed == feeds.end()) computed.push_back(fetch);
    if (!fetch.is_control())
      step->fed_fetches.push_back(feed == feeds.end() ? std::nullopt
                                                      : std::optional<size_t>(feed - feeds.begin()));
  }
  step->is_empty = computed.empty();
  const WaitsWithoutGil waits;
  if (!step->is_empty) step->step = session.session.prepare(feeds, computed);
  step->feeds = feeds;
  step->copies_feeds = may_keep_feeds(graph, feeds, fetches);
  return step;
}

std::shared_ptr<Step> find_step(SessionHandle& session, SessionHandle::Signature signature) {
  require_open(session);
  auto found = session.steps.find(signature);
  if (found == session.steps.end()) {
    // Outputs are equal also if only their graphs differ, which the session checks here.
    auto step = prepare(session, signature.first, signature.second);
    if (session.steps.size() >= most_steps) forget_oldest(session);
    found = session.steps.emplace(std::move(signature), std::move(step)).first;
  }
  found->second->last_use = ++session.uses;
  return found->second;
}

FedValues fed_values(const std::optional<py::dict>& feed_dict, const GraphRef& graph) {
  FedValues fed;
  if (!feed_dict) return fed;
  for (const auto& [key, value] : *feed_dict) {
    fed.emplace_back(to_output(key, graph), py::reinterpret_borrow<py::object>(value));
    if (const Status status = graph->graph.check_tensor(fed.back().first); !status.ok())
      throw Error(invalid_argument("a feed " + status.text()));
  }
  return fed;
}

Tensor feed_of(Output output, py::handle value, const Graph& graph, Bytes bytes) try {
  return to_tensor(value, graph.dtype(output), bytes);
} catch (const Error& error) {
  throw Error(
      Status(error.status().code(), "the feed of " + graph.name_of(output) + ": " + error.status().text()));
}

Tensor feed_of(const Step& step, size_t i, py::handle value, const Graph& graph) {
  return feed_of(step.feeds[i], value, graph, step.copies_feeds ? Bytes::Copied : Bytes::Shared);
}

namespace {

/// Returns the values of all fetches: those that were computed, and the feeds that are fetches themselves.
std::vector<Tensor> with_feeds(const Step& step, std::vector<Tensor> computed,
                               const std::vector<Tensor>& feeds) {
  if (computed.size() == step.fed_fetches.size()) return computed;
  std::vector<Tensor> values;
  size_t next = 0;
  for (const std::optional<size_t>& feed : step.fed_fetches)
    if (feed)
      values.push_back(feeds[*feed]);
    else
      values.push_back(std::move(computed[next++]));
  return values;
}

}  // namespace

std::vector<Tensor> run(const Step& step, std::vector<Tensor> feeds, const Timeout& timeout,
                        std::vector<DeviceProfile>* profile) {
  const StepOptions options{.timeout = duration_of(timeout), .profile = profile};
  try {
    auto computed = step.is_empty ? std::vector<Tensor>() : run_without_gil(step, feeds, options);
    auto results = with_feeds(step, std::move(computed), feeds);
    keep_while_used(std::move(feeds));
    return results;
  } catch (...) {
    keep_while_used(std::move(feeds));
    throw;
  }
}

}  // namespace troupe::python
