#include "apps/python/partial_runs.h"

#include <pybind11/stl.h>

#include "apps/python/arrays.h"
#include "apps/python/fetches.h"
#include "apps/python/gil.h"
#include "apps/python/interrupts.h"
#include "apps/python/values.h"

namespace troupe::python {
namespace py = pybind11;
namespace {

/// A step that waits for feeds. It keeps its session open, and is cancelled when Python drops it.
struct PartialRunHandle {
  SessionRef session;
  std::shared_ptr<Cancellation> cancellation;  ///< for Ctrl-C; outlives the run
  PartialRun run;
};

PartialRunHandle set_up(const SessionRef& session, const py::object& fetches, const py::object& feeds,
                        const Timeout& timeout) {
  require_open(*session);
  const Fetches fetched(fetches, session->graph);
  const auto fed = feeds.is_none() ? std::vector<Output>() : to_outputs(feeds, session->graph);
  auto cancellation = std::make_shared<Cancellation>();
  const StepOptions options{.timeout = duration_of(timeout), .cancellation = cancellation.get()};
  const WaitsWithoutGil waits;
  return {session, std::move(cancellation),
          session->session.partial_run_setup(fed, fetched.outputs(), options)};
}

py::object go_on(SessionHandle& session, const PartialRunHandle& handle, const py::object& fetches,
                 const std::optional<py::dict>& feed_dict) {
  require_open(session);
  if (handle.session.get() != &session)
    throw Error(invalid_argument("the partial run belongs to another session"));
  const Fetches fetched(fetches, session.graph);
  std::vector<std::pair<Output, Tensor>> feeds;
  for (const auto& [output, value] : fed_values(feed_dict, session.graph))
    feeds.emplace_back(output, feed_of(output, value, session.graph->graph, Bytes::Copied));
  const CancelOnInterrupt interrupt(handle.cancellation.get());
  try {
    return fetched.results([&] {
      const GilReleased released;
      return session.session.partial_run(handle.run, feeds, fetched.outputs());
    }());
  } catch (const Error& error) {
    raise_signals_if_cancelled(error);
    throw;
  }
}

}  // namespace

void bind_partial_runs(py::module_& module, py::class_<SessionHandle, SessionRef>& session) {
  const py::class_<PartialRunHandle> run(module, "PartialRun", "A step that waits for feeds.");
  session
      .def("partial_run_setup", &set_up, py::arg("fetches"), py::arg("feeds") = py::none(), py::kw_only(),
           py::arg("timeout") = py::none(),
           "Begins a step with these fetches and feeds, which partial_run() gives and takes. timeout: of the "
           "whole step.")
      .def("partial_run", &go_on, py::arg("run"), py::arg("fetches"), py::arg("feed_dict") = py::none(),
           "Gives a step some of its feeds, and returns some of its fetches in their structure.");
}

}  // namespace troupe::python
