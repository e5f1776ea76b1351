// The steps of a session as Python runs them: prepared once for each combination of feeds and fetches. Needs the global interpreter
// lock (GIL), which is released while a step runs, so that several threads can run steps of one session at the same time.
#pragma once

#include <pybind11/pybind11.h>

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "actors/step/around_waits.h"
#include "actors/step/session.h"
#include "apps/python/arrays.h"
#include "apps/python/handles.h"

namespace troupe::python {

/// While it lives, the calling thread releases the GIL where it waits (AroundWaits), and holds it where the graph is read, to which
/// other threads of Python may add nodes.
struct WaitsWithoutGil : AroundWaits {
  WaitsWithoutGil();
};

/// A prepared step.
struct Step {
  PreparedStep step;
  std::vector<Output> feeds;
  /// For each fetch but operations, the position of the feed that it is itself, or nothing.
  std::vector<std::optional<size_t>> fed_fetches;
  bool is_empty = false;      ///< whether nothing has to be run
  bool copies_feeds = false;  ///< whether the step may keep its feeds (apps/python/kept_feeds.h)
  uint64_t last_use = 0;
};

struct SessionHandle {
  std::shared_ptr<RuntimeHandle> runtime;
  GraphRef graph;
  Session session;
  using Signature = std::pair<std::vector<Output>, std::vector<Output>>;
  std::map<Signature, std::shared_ptr<Step>> steps;
  uint64_t uses = 0;
  bool closed = false;
};
using SessionRef = std::shared_ptr<SessionHandle>;
using Timeout = std::optional<double>;  ///< in seconds; nothing: no limit

/// Returns a timeout of a step or a call. Throws Error(InvalidArgument) if it is no positive number of seconds.
std::chrono::nanoseconds duration_of(const Timeout& seconds);
/// Throws Error(FailedPrecondition) if the session is closed, or belongs to the process from which this one was forked.
void require_open(const SessionHandle& session);
/// Prepares a step of an open session.
std::shared_ptr<Step> prepare(SessionHandle& session, const std::vector<Output>& feeds,
                              const std::vector<Output>& fetches);
/// Returns the step of these feeds and fetches, prepared now or by an earlier call.
std::shared_ptr<Step> find_step(SessionHandle& session, SessionHandle::Signature signature);
/// The outputs that are fed, with their values. It holds the values, because making tensors of them may run Python, which may
/// change the dictionary.
using FedValues = std::vector<std::pair<Output, pybind11::object>>;
/// Returns what a dictionary feeds. Throws InvalidArgument for keys that are no tensors of the graph.
FedValues fed_values(const std::optional<pybind11::dict>& feed_dict, const GraphRef& graph);
/// Returns the value as a tensor of the type of the output. Errors name the output.
Tensor feed_of(Output output, pybind11::handle value, const Graph& graph, Bytes bytes);
/// Does the same for a feed of the step.
Tensor feed_of(const Step& step, size_t i, pybind11::handle value, const Graph& graph);
/// Runs a step without the GIL. Ctrl-C cancels a step of the main thread. If non-null, `profile` receives the profile of the step.
std::vector<Tensor> run(const Step& step, std::vector<Tensor> feeds, const Timeout& timeout,
                        std::vector<DeviceProfile>* profile = nullptr);

}  // namespace troupe::python
