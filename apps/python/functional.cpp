// Maps, folds, scans and cases for Python (graph/build/functional.h).
#include "graph/build/functional.h"

#include "apps/python/calls.h"
#include "apps/python/graph.h"
#include "apps/python/results.h"
#include "apps/python/values.h"

namespace troupe::python {
namespace py = pybind11;
namespace {

std::vector<Output> outputs_of(const ScopeHandle& scope, const py::list& values) {
  std::vector<Output> outputs;
  for (const py::handle value : values) outputs.push_back(as_output(scope, value, DType::Invalid));
  return outputs;
}

py::list list_of(std::span<const Output> outputs, const GraphRef& graph) {
  return from_outputs({outputs.begin(), outputs.end()}, graph);
}

Accumulate accumulate_of(const GraphRef& graph, const py::function& function) {
  return [&graph, &function](const Scope& inside, Outputs accumulated, Outputs slices) {
    const ScopeHandle within{graph, inside};
    return results_of(within, function(within, list_of(accumulated, graph), list_of(slices, graph)));
  };
}

py::list build_map(const ScopeHandle& scope, const py::list& elements, const py::function& function,
                   int64_t parallel_iterations) {
  const GraphRef& graph = scope.graph;
  const auto apply = [&](const Scope& inside, Outputs slices) {
    const ScopeHandle within{graph, inside};
    return results_of(within, function(within, list_of(slices, graph)));
  };
  const LoopOverSlices options{.parallel_iterations = parallel_iterations, .name = "map"};
  return from_outputs(map_fn(scope.scope, outputs_of(scope, elements), apply, options), graph);
}

py::list build_fold(const ScopeHandle& scope, const py::list& elements, const py::list& initial,
                    const py::function& function, bool from_right) {
  const auto fold = from_right ? foldr : foldl;
  return from_outputs(fold(scope.scope, outputs_of(scope, elements), outputs_of(scope, initial),
                           accumulate_of(scope.graph, function)),
                      scope.graph);
}

py::list build_scan(const ScopeHandle& scope, const py::list& elements, const py::list& initial,
                    const py::function& function, bool reverse, int64_t parallel_iterations) {
  const LoopOverSlices options{
      .reverse = reverse, .parallel_iterations = parallel_iterations, .name = "scan"};
  return from_outputs(scan(scope.scope, outputs_of(scope, elements), outputs_of(scope, initial),
                           accumulate_of(scope.graph, function), options),
                      scope.graph);
}

py::list build_case(const ScopeHandle& scope, const py::list& pairs, const py::function& otherwise) {
  std::vector<std::pair<Output, Branch>> branches;
  for (const py::handle entry : pairs) {
    const auto [predicate, function] = entry.cast<std::pair<py::object, py::function>>();
    branches.emplace_back(as_output(scope, predicate, DType::Bool), branch_of(scope.graph, function));
  }
  return from_outputs(case_of(scope.scope, branches, branch_of(scope.graph, otherwise)), scope.graph);
}

py::list build_switch(const ScopeHandle& scope, const py::object& index, const py::list& functions) {
  std::vector<Branch> branches;
  for (const py::handle function : functions)
    branches.push_back(branch_of(scope.graph, function.cast<py::function>()));
  return from_outputs(switch_case(scope.scope, as_output(scope, index, DType::Int32), branches), scope.graph);
}

}  // namespace

void bind_functional(py::module_& module) {
  module.def("map_fn", &build_map, py::arg("scope"), py::arg("elements"), py::arg("function"),
             py::arg("parallel_iterations"));
  module.def("fold", &build_fold, py::arg("scope"), py::arg("elements"), py::arg("initial"),
             py::arg("function"), py::arg("from_right"));
  module.def("scan", &build_scan, py::arg("scope"), py::arg("elements"), py::arg("initial"),
             py::arg("function"), py::arg("reverse"), py::arg("parallel_iterations"));
  module.def("case_of", &build_case, py::arg("scope"), py::arg("pairs"), py::arg("otherwise"));
  module.def("switch_case", &build_switch, py::arg("scope"), py::arg("index"), py::arg("functions"));
}

}  // namespace troupe::python
