#include "apps/python/observing.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <optional>

#include "actors/step/step_description.h"
#include "apps/event_writer.h"
#include "apps/inference/graph_def.h"
#include "apps/python/arrays.h"
#include "apps/python/handles.h"

namespace troupe::python {
namespace py = pybind11;
namespace {

using std::chrono::nanoseconds;

double seconds(nanoseconds time) { return std::chrono::duration<double>(time).count(); }

/// A file for TensorBoard, until it is closed.
class EventFile {
 public:
  explicit EventFile(const std::string& folder) : events_(folder) {}

  EventWriter& events() {
    if (!events_) throw Error(failed_precondition("the file of events " + path_ + " is closed"));
    return *events_;
  }
  const std::string& path() const { return path_; }
  void close() { events_.reset(); }

 private:
  std::optional<EventWriter> events_;  ///< nothing once it is closed
  const std::string path_ = events_->path();
};

void add_histogram(EventFile& file, uint64_t step, const std::string& name, const py::object& values) {
  Tensor tensor = to_tensor(values, DType::Double, Bytes::Copied);
  file.events().add_histograms(step, {{name, std::move(tensor)}});
}

void bind_event_writer(py::module_& module) {
  py::class_<EventFile>(module, "EventWriter", "A file for TensorBoard. Threads may use it at the same time.")
      .def(py::init<std::string>(), py::arg("folder"))
      .def_property_readonly("path", [](const EventFile& file) { return file.path(); })
      .def(
          "add_summary",
          [](EventFile& file, const py::bytes& summary, uint64_t step) {
            file.events().add_summary(step, std::string(summary));
          },
          py::arg("summary"), py::arg("step"), "Adds what an op of summaries has yielded.")
      .def(
          "add_scalar",
          [](EventFile& file, const std::string& name, double value, uint64_t step) {
            file.events().add_scalars(step, {{name, value}});
          },
          py::arg("name"), py::arg("value"), py::arg("step"), "Adds a number.")
      .def(
          "add_histogram",
          [](EventFile& file, const std::string& name, const py::object& values, uint64_t step) {
            add_histogram(file, step, name, values);
          },
          py::arg("name"), py::arg("values"), py::arg("step"), "Adds how the elements are distributed.")
      .def(
          "add_profile",
          [](EventFile& file, const std::string& tag, const StepProfile& profile, uint64_t step) {
            file.events().add_profile(step, tag, profile.step.devices);
          },
          py::arg("tag"), py::arg("profile"), py::arg("step"), "Adds the profile of a step.")
      .def(
          "add_start", [](EventFile& file, uint64_t step) { file.events().add_start(step); }, py::arg("step"),
          "Says that a training begins, or goes on, with this step.")
      .def(
          "add_graph", [](EventFile& file, const GraphRef& graph) { file.events().add_graph(graph->graph); },
          py::arg("graph").none(false), "Adds a graph.")
      .def("close", &EventFile::close, "Closes the file.")
      .def("__enter__", [](const py::object& file) { return file; })
      .def("__exit__", [](EventFile& file, const py::args& /*failure*/) { file.close(); });
}

void bind_node_profile(py::module_& module) {
  py::class_<NodeProfile>(module, "NodeProfile", "What a node did in a step.")
      .def_readonly("name", &NodeProfile::name)
      .def_readonly("op", &NodeProfile::op)
      .def_readonly("runs", &NodeProfile::runs)
      .def_property_readonly("seconds", [](const NodeProfile& node) { return seconds(node.time); })
      .def("__repr__", [](const NodeProfile& node) {
        return "<troupe.NodeProfile '" + node.name + "' op=" + node.op +
               " runs=" + std::to_string(node.runs) + " seconds=" + std::to_string(seconds(node.time)) + ">";
      });
}

/// Returns the nodes, those that took most time first.
std::vector<NodeProfile> sorted_nodes(const DeviceProfile& device) {
  auto nodes = device.nodes;
  std::ranges::stable_sort(nodes, std::ranges::greater(), &NodeProfile::time);
  return nodes;
}

void bind_device_profile(py::module_& module) {
  py::class_<DeviceProfile>(module, "DeviceProfile", "The part of a step on one device.")
      .def_readonly("device", &DeviceProfile::device)
      .def_property_readonly("nodes", &sorted_nodes)
      .def_property_readonly("driven", [](const DeviceProfile& device) { return seconds(device.driven); })
      .def_property_readonly("elapsed", [](const DeviceProfile& device) { return seconds(device.elapsed); });
}

void bind_step_description(py::module_& module) {
  py::class_<PlacedNode>(module, "PlacedNode", "A node of a step, and the device where it runs.")
      .def_readonly("name", &PlacedNode::name)
      .def_readonly("op", &PlacedNode::op)
      .def_readonly("device", &PlacedNode::device)
      .def("__repr__", [](const PlacedNode& node) {
        return "<troupe.PlacedNode '" + node.name + "' op=" + node.op + " device='" + node.device + "'>";
      });
  py::class_<StepDescription>(module, "StepDescription", "What a step is made of.")
      .def_readonly("nodes", &StepDescription::nodes)
      .def_readonly("ignored_requests", &StepDescription::ignored_requests)
      .def_property_readonly("graph_defs",
                             [](const StepDescription& step) {
                               py::dict graphs;
                               for (const DevicePart& part : step.parts)
                                 graphs[py::str(part.device)] = py::bytes(write_graph_def(part.graph));
                               return graphs;
                             })
      .def("__str__", &StepDescription::text);
}

}  // namespace

void bind_observing(py::module_& module) {
  bind_step_description(module);
  bind_node_profile(module);
  bind_device_profile(module);
  py::class_<StepProfile>(module, "StepProfile", "Where the time of a step went.")
      .def_property_readonly("devices", [](const StepProfile& profile) { return profile.step.devices; })
      .def_property_readonly(
          "seconds",
          [](const StepProfile& profile) { return seconds(profile.step.end - profile.step.begin); })
      .def("trace", [](const StepProfile& profile) { return trace::trace_json({profile.step}); });
  bind_event_writer(module);
}

}  // namespace troupe::python
