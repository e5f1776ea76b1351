#include "apps/python/session.h"

#include <pybind11/stl.h>
#include <pybind11/stl/filesystem.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>

#include "apps/inference/model.h"
#include "apps/model_export.h"
#include "apps/python/arrays.h"
#include "apps/python/fetches.h"
#include "apps/python/gil.h"
#include "apps/python/interrupts.h"
#include "apps/python/observing.h"
#include "apps/python/partial_runs.h"
#include "apps/python/steps.h"
#include "apps/python/values.h"
#include "graph/build/variables.h"

namespace troupe::python {
namespace py = pybind11;
namespace fs = std::filesystem;
namespace {

DeviceChoice choice_named(const std::string& name) {
  if (name == "first_feasible") return DeviceChoice::FirstFeasible;
  if (name == "earliest_finish") return DeviceChoice::EarliestFinish;
  if (name == "learned") return DeviceChoice::Learned;
  throw Error(invalid_argument("device_choice is '" + name +
                               "'; it must be 'first_feasible', 'earliest_finish' or 'learned'"));
}

SessionOptions options_of(std::optional<uint64_t> seed, bool soft_placement, bool simplify,
                          double start_timeout, const std::vector<std::string>& tasks,
                          std::optional<bool> share_state, const std::string& device_choice,
                          bool lossy_transfers, bool check_finite) {
  if (!(start_timeout > 0 && start_timeout < 1e9))
    throw Error(invalid_argument("start_timeout must be a positive number of seconds"));
  return {.seed = seed,
          .placement = soft_placement ? Placement::Soft : Placement::Strict,
          .device_choice = choice_named(device_choice),
          .lossy_transfers = lossy_transfers,
          .check_finite = check_finite,
          .simplify = simplify,
          .start_timeout = std::chrono::nanoseconds(static_cast<int64_t>(start_timeout * 1e9)),
          .tasks = tasks,
          .share_state = share_state,
          .signatures = 1024};  // callables stay prepared
}

/// Waits for other tasks without the GIL, a moment at a time, so that Ctrl-C ends it.
template <class Open>
auto open_session(SessionOptions options, const Open& open) {
  constexpr auto moment = std::chrono::milliseconds(200);
  const auto deadline = std::chrono::steady_clock::now() + options.start_timeout;
  for (;;) {
    const auto left = deadline - std::chrono::steady_clock::now();
    const bool is_last = left <= moment || !on_main_thread();
    options.start_timeout =
        is_last ? std::max<std::chrono::nanoseconds>(left, std::chrono::nanoseconds(1)) : moment;
    try {
      const GilReleased released;
      return open(options);
    } catch (const Error& error) {
      if (is_last || error.status().code() != Code::DeadlineExceeded) throw;
    }
    raise_signals();
  }
}

/// Opens a session of the graph's runtime or, with a master, of its cluster.
SessionRef make_session(const GraphRef& graph, const std::optional<std::string>& master,
                        const std::optional<ClusterSpec>& cluster, const SessionOptions& options) {
  if (master.has_value() != cluster.has_value())
    throw Error(invalid_argument("a session has a master and its cluster, or neither"));
  graph->runtime->require_threads();
  Runtime& runtime = graph->runtime->runtime;
  Session session = open_session(options, [&](const SessionOptions& used) {
    return master ? runtime.connect(graph->graph, {.endpoint = *master, .cluster = *cluster}, used)
                  : runtime.session(graph->graph, used);
  });
  return std::make_shared<SessionHandle>(
      SessionHandle{.runtime = graph->runtime, .graph = graph, .session = std::move(session), .steps = {}});
}

/// The feeds and the step of one call of run() or profile().
struct Call {
  std::shared_ptr<Step> step;
  std::vector<Tensor> feeds;
};

Call call_of(SessionHandle& session, const Fetches& fetches, const std::optional<py::dict>& feed_dict) {
  const FedValues fed = fed_values(feed_dict, session.graph);
  std::vector<Output> outputs;
  for (const auto& [output, value] : fed) outputs.push_back(output);
  Call call{find_step(session, {std::move(outputs), fetches.outputs()}), {}};
  call.feeds.reserve(fed.size());
  for (const auto& [output, value] : fed)
    call.feeds.push_back(feed_of(*call.step, call.feeds.size(), value, session.graph->graph));
  return call;
}

py::object run_once(SessionHandle& session, const py::object& fetched,
                    const std::optional<py::dict>& feed_dict, const Timeout& timeout) {
  const Fetches fetches(fetched, session.graph);
  Call call = call_of(session, fetches, feed_dict);
  return fetches.results(run(*call.step, std::move(call.feeds), timeout));
}

/// Returns what run_once() returns, and the profile of the step.
py::tuple profile_once(SessionHandle& session, const py::object& fetched,
                       const std::optional<py::dict>& feed_dict, const Timeout& timeout) {
  const Fetches fetches(fetched, session.graph);
  Call call = call_of(session, fetches, feed_dict);
  const auto now = [] { return std::chrono::steady_clock::now().time_since_epoch(); };
  StepProfile profile;
  profile.step.begin = now();
  auto results = run(*call.step, std::move(call.feeds), timeout, &profile.step.devices);
  profile.step.end = now();
  return py::make_tuple(fetches.results(std::move(results)), std::move(profile));
}

StepDescription describe(SessionHandle& session, const py::object& fetched, const py::object& fed) {
  require_open(session);
  const Fetches fetches(fetched, session.graph);
  const std::vector<Output> feeds = fed.is_none() ? std::vector<Output>() : to_outputs(fed, session.graph);
  const WaitsWithoutGil waits;
  return session.session.describe(feeds, fetches.outputs());
}

/// Returns the timeout that a caller gave. pybind11 itself takes no integer for a number in a function with *args.
Timeout timeout_of(const py::object& seconds) try {
  return seconds.cast<Timeout>();
} catch (const py::cast_error&) {
  throw py::type_error("timeout must be a number of seconds or None, not " + std::string(py::repr(seconds)));
}

/// A step that Python calls like a function.
class Callable {
 public:
  Callable(SessionRef session, const py::object& fetches, const py::object& feeds)
      : session_(std::move(session)), fetches_(fetches, session_->graph),
        step_(prepare(*session_, feeds.is_none() ? std::vector<Output>() : to_outputs(feeds, session_->graph),
                      fetches_.outputs())) {}

  py::object call(const py::args& values, const py::object& seconds) const {
    const Timeout timeout = timeout_of(seconds);
    require_open(*session_);
    if (values.size() != step_->feeds.size())
      throw Error(invalid_argument("the step takes " + std::to_string(step_->feeds.size()) + " feeds, not " +
                                   std::to_string(values.size())));
    std::vector<Tensor> feeds;
    feeds.reserve(values.size());
    for (const py::handle value : values)
      feeds.push_back(feed_of(*step_, feeds.size(), value, session_->graph->graph));
    return fetches_.results(run(*step_, std::move(feeds), timeout));
  }

 private:
  SessionRef session_;
  Fetches fetches_;
  std::shared_ptr<Step> step_;
};

std::string save(SessionHandle& session, const fs::path& folder, uint64_t round, const std::string& note,
                 size_t keep, bool pinned) {
  require_open(session);
  const SaveOptions options{.round = round, .note = note, .keep = keep, .pinned = pinned};
  return interruptible_with_gil([&](const Cancellation* cancellation) {
    const WaitsWithoutGil waits;
    return session.session.begin_save(folder.string(), options).wait(cancellation).folder;
  });
}

py::dict restore(SessionHandle& session, const fs::path& folder, const std::string& name) {
  require_open(session);
  const RestoredCheckpoint restored = [&] {
    const WaitsWithoutGil waits;
    return session.session.restore(folder.string(), name);
  }();
  py::dict result;
  result["folder"] = restored.folder;
  result["round"] = restored.round;
  result["note"] = restored.note;
  result["missing"] = restored.missing;
  result["skipped"] = restored.skipped;
  return result;
}

using NamedOutputs = std::map<std::string, py::object>;

ExportedSignature signature_of(const SessionHandle& session, const NamedOutputs& inputs,
                               const NamedOutputs& outputs) {
  ExportedSignature signature;
  for (const auto& [name, input] : inputs) signature.inputs.emplace(name, to_output(input, session.graph));
  for (const auto& [name, output] : outputs)
    signature.outputs.emplace(name, to_output(output, session.graph));
  return signature;
}

void write_saved_model(SessionHandle& session, const fs::path& folder, const NamedOutputs& inputs,
                       const NamedOutputs& outputs,
                       const std::map<std::string, std::pair<NamedOutputs, NamedOutputs>>& others) {
  require_open(session);
  std::map<std::string, ExportedSignature> signatures;
  for (const auto& [name, tensors] : others)
    signatures.emplace(name, signature_of(session, tensors.first, tensors.second));
  if (!signatures.emplace(Model::predict, signature_of(session, inputs, outputs)).second)
    throw Error(invalid_argument("the signature '" + std::string(Model::predict) +
                                 "' is that of inputs and outputs, and cannot be one of the others"));
  interruptible_with_gil([&](const Cancellation* cancellation) {
    const WaitsWithoutGil waits;
    export_saved_model(session.session, session.graph->graph, folder.string(), signatures, cancellation);
  });
}

void write_onnx(SessionHandle& session, const fs::path& file, const NamedOutputs& inputs,
                const NamedOutputs& outputs) {
  require_open(session);
  const ExportedSignature signature = signature_of(session, inputs, outputs);
  interruptible_with_gil([&](const Cancellation* cancellation) {
    const WaitsWithoutGil waits;
    export_onnx(session.session, session.graph->graph, file.string(), signature, cancellation);
  });
}

/// Returns the initializer of a variable. Throws Error(InvalidArgument) for other outputs.
Initializer initializer_of(const Graph& graph, const std::vector<Initializer>& all, Output variable) {
  const auto found = std::ranges::find(all, variable, &Initializer::variable);
  if (found == all.end()) throw Error(invalid_argument(graph.name_of(variable) + " is no variable"));
  return *found;
}

Tensor value_of(Output variable, py::handle value, const Graph& graph) try {
  Tensor tensor = to_tensor(value, graph.dtype(variable), Bytes::Copied);
  if (!graph.shape(variable).compatible_with(tensor.shape()))
    throw Error(invalid_argument("the shape is " + tensor.shape().text() + ", it must be " +
                                 graph.shape(variable).text()));
  return tensor;
} catch (const Error& error) {
  throw Error(Status(error.status().code(),
                     "the value for " + graph.name_of(variable) + ": " + error.status().text()));
}

/// Sets variables: their initializers run with these values in place of their own. A value from which several variables begin is
/// fed once to a step, so they take turns.
void assign(SessionHandle& session, const py::dict& values, const Timeout& timeout) {
  require_open(session);
  const Graph& graph = session.graph->graph;
  const std::vector<Initializer> all = initializers(graph);
  std::map<Output, std::vector<std::pair<NodeId, Tensor>>> waiting;  // by what is fed
  for (const auto& [variable, value] : fed_values(values, session.graph)) {
    const Initializer initializer = initializer_of(graph, all, variable);
    waiting[initializer.value].emplace_back(initializer.node, value_of(variable, value, graph));
  }
  while (!waiting.empty()) {
    std::vector<Output> fed, targets;
    std::vector<Tensor> feeds;
    for (auto& [output, of_variables] : waiting) {
      fed.push_back(output);
      targets.push_back({of_variables.back().first, Output::control});
      feeds.push_back(std::move(of_variables.back().second));
      of_variables.pop_back();
    }
    std::erase_if(waiting, [](const auto& entry) { return entry.second.empty(); });
    const auto step = find_step(session, {std::move(fed), std::move(targets)});
    run(*step, std::move(feeds), timeout);
  }
}

void start_queue_runners(SessionHandle& session) {
  require_open(session);
  const WaitsWithoutGil waits;
  session.session.start_queue_runners();
}

void stop_queue_runners(SessionHandle& session, double timeout) {
  require_open(session);
  const std::chrono::nanoseconds duration = duration_of(timeout);
  const GilReleased released;
  session.session.stop_queue_runners(duration);
}

std::vector<std::string> devices_of(const SessionHandle& session) {
  std::vector<std::string> names;
  for (const DeviceDescription& device : session.session.devices()) names.push_back(device.name);
  return names;
}

void close(SessionHandle& session) {
  if (std::exchange(session.closed, true)) return;
  session.steps.clear();
  if (session.runtime->forks != forks_so_far()) return;
  const GilReleased released;
  session.session.close();
}

}  // namespace

void bind_session(py::module_& module) {
  py::class_<Callable>(module, "Callable",
                       "A prepared step: takes a value for each feed, returns what is fetched.")
      .def("__call__", &Callable::call, py::kw_only(), py::arg("timeout") = py::none());
  py::class_<SessionHandle, SessionRef> bound(module, "Session",
                                              "Runs steps of a graph. Threads may use it at the same time.");
  bind_partial_runs(module, bound);
  bound
      .def(py::init([](const GraphRef& graph, std::optional<uint64_t> seed, bool soft_placement,
                       bool simplify, const std::optional<std::string>& master,
                       const std::optional<ClusterSpec>& cluster, const std::vector<std::string>& tasks,
                       std::optional<bool> share_state, double start_timeout,
                       const std::string& device_choice, bool lossy_transfers, bool check_finite) {
             return make_session(graph, master, cluster,
                                 options_of(seed, soft_placement, simplify, start_timeout, tasks, share_state,
                                            device_choice, lossy_transfers, check_finite));
           }),
           py::arg("graph").none(false), py::kw_only(), py::arg("seed") = py::none(),
           py::arg("soft_placement") = false, py::arg("simplify") = true, py::arg("master") = py::none(),
           py::arg("cluster") = py::none(), py::arg("tasks") = std::vector<std::string>(),
           py::arg("share_state") = py::none(), py::arg("start_timeout") = 60.0,
           py::arg("device_choice") = "first_feasible", py::arg("lossy_transfers") = false,
           py::arg("check_finite") = false)
      .def_property_readonly("graph", [](const SessionHandle& session) { return session.graph; })
      .def("run", &run_once, py::arg("fetches"), py::arg("feed_dict") = py::none(), py::kw_only(),
           py::arg("timeout") = py::none(),
           "Runs a step with the values of feed_dict in place of outputs. Returns arrays in the structure of "
           "fetches.")
      .def("profile", &profile_once, py::arg("fetches"), py::arg("feed_dict") = py::none(), py::kw_only(),
           py::arg("timeout") = py::none(),
           "Runs a step as run() does. Returns what it returns, and the profile of the step.")
      .def("describe", &describe, py::arg("fetches"), py::arg("feeds") = py::none(),
           "Returns which device would run each node of a step, and the graph that each device would run.")
      .def(
          "make_callable",
          [](const SessionRef& session, const py::object& fetches, const py::object& feeds) {
            return Callable(session, fetches, feeds);
          },
          py::arg("fetches"), py::arg("feed_list") = py::none(), "Prepares a step that is run often.")
      .def_property_readonly("devices", &devices_of)
      .def("save", &save, py::arg("folder"), py::kw_only(), py::arg("round") = 0, py::arg("note") = "",
           py::arg("keep") = 5, py::arg("pinned") = false,
           "Saves the variables as a checkpoint in a folder; returns the checkpoint's own.")
      .def("restore", &restore, py::arg("folder"), py::arg("name") = "",
           "Sets the variables to those of the newest checkpoint in a folder.")
      .def("assign", &assign, py::arg("values"), py::kw_only(), py::arg("timeout") = py::none(),
           "Sets variables to the values of a dictionary.")
      .def("export_saved_model", &write_saved_model, py::arg("folder"), py::arg("inputs"), py::arg("outputs"),
           py::kw_only(), py::arg("others") = py::dict(),
           "Writes what the outputs need of the graph, with the values of its variables, as a saved model.")
      .def("export_onnx", &write_onnx, py::arg("file"), py::arg("inputs"), py::arg("outputs"),
           "Writes what the outputs need of the graph, with the values of its variables, as an ONNX file.")
      .def("start_queue_runners", &start_queue_runners,
           "Starts the queue runners of the graph, but for those of earlier calls.")
      .def("stop_queue_runners", &stop_queue_runners, py::arg("timeout") = 10.0,
           "Stops all queue runners, and raises the first failure of one of their steps.")
      .def(
          "cancel", [](SessionHandle& session) { session.session.cancel(); },
          "Ends the session from any thread: steps that run fail with CancelledError.")
      .def("close", &close)
      .def("__enter__", [](const SessionRef& session) { return session; })
      .def("__exit__", [](SessionHandle& session, const py::args& /*failure*/) { close(session); });
}

}  // namespace troupe::python
