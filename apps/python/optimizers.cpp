#include <pybind11/functional.h>
#include <pybind11/stl.h>

#include "apps/nn/optimizer.h"
#include "apps/nn/saver.h"
#include "apps/nn/weight_averages.h"
#include "apps/python/calls.h"
#include "apps/python/nn.h"
#include "apps/python/values.h"

namespace troupe::python {
namespace py = pybind11;
namespace {

struct ScheduleHandle {
  nn::Schedule schedule;
};

/// Gradients as Python sees them: pairs of a gradient, an output or rows (values, indices, dense_shape), and its variable.
py::list from_gradients(const std::vector<nn::VariableGradient>& gradients, const GraphRef& graph) {
  py::list result;
  for (const nn::VariableGradient& entry : gradients) {
    py::object gradient = py::none();
    if (const auto* const output = std::get_if<Output>(&entry.gradient))
      gradient = py::cast(OutputHandle{graph, *output});
    if (const auto* const rows = std::get_if<IndexedSlices>(&entry.gradient))
      gradient = py::tuple(from_outputs({rows->values, rows->indices, rows->dense_shape}, graph));
    result.append(py::make_tuple(gradient, OutputHandle{graph, entry.variable}));
  }
  return result;
}

Gradient to_gradient(py::handle value, const ScopeHandle& scope) {
  if (!is_list(value)) return as_output(scope, value, DType::Invalid);
  const auto rows = to_outputs(value, scope.graph);
  if (rows.size() != 3)
    throw Error(invalid_argument("rows are a tuple of values, indices and a dense shape"));
  return IndexedSlices{rows[0], rows[1], rows[2]};
}

/// Leaves out variables without a gradient.
std::vector<nn::VariableGradient> to_gradients(const py::list& pairs, const ScopeHandle& scope) {
  std::vector<nn::VariableGradient> gradients;
  for (const py::handle entry : pairs) {
    const auto [gradient, variable] = entry.cast<std::pair<py::object, py::object>>();
    if (!gradient.is_none())
      gradients.push_back({to_gradient(gradient, scope), to_output(variable, scope.graph)});
  }
  return gradients;
}

/// A number, an output, a schedule, or a function of Python that returns the rate of a step.
nn::LearningRate rate_of(const py::object& rate, const GraphRef& graph) {
  if (py::isinstance<ScheduleHandle>(rate)) return rate.cast<const ScheduleHandle&>().schedule;
  if (py::isinstance(rate, py::module_::import("numbers").attr("Real"))) return rate.cast<double>();
  if (py::isinstance<OutputHandle>(rate))
    return nn::Schedule([output = to_output(rate, graph)](const Scope&, Output) { return output; });
  if (!PyCallable_Check(rate.ptr()))
    throw Error(invalid_argument(
        "a learning rate must be a number, an output (such as a placeholder or a variable), a schedule, or a "
        "function that returns the rate for the number of updates before, not " +
        py::repr(rate).cast<std::string>() + " of type " + type_text(rate)));
  return nn::Schedule([rate, graph](const Scope& scope, Output step) {
    const ScopeHandle inside{graph, scope};
    return as_output(inside, rate(inside, inside.handle(step)), DType::Float);
  });
}

NodeHandle apply_gradients(const ScopeHandle& scope, const std::string& method, const py::object& rate,
                           const nn::Hyperparameters& numbers, const py::list& gradients) {
  const nn::MethodOptimizer optimizer(method, rate_of(rate, scope.graph), numbers);
  return {scope.graph, optimizer.apply_gradients(scope.scope, to_gradients(gradients, scope)).node};
}

/// None stands for all variables.
/// Returns the variables, none if None stands for all. Throws InvalidArgument for an empty list, which a program hardly means so.
std::vector<Output> outputs_or_all(const py::object& variables, const GraphRef& graph) {
  if (variables.is_none()) return {};
  std::vector<Output> outputs = to_outputs(variables, graph);
  if (outputs.empty())
    throw Error(invalid_argument("the list of variables is empty; None stands for all variables"));
  return outputs;
}

py::list compute_gradients(const ScopeHandle& scope, const py::object& loss, const py::object& variables) {
  const GraphRef& graph = scope.graph;
  return from_gradients(
      nn::compute_gradients(scope.scope, to_output(loss, graph), outputs_or_all(variables, graph)), graph);
}

using ChangeGradients = std::vector<nn::VariableGradient> (*)(const Scope&, std::vector<nn::VariableGradient>,
                                                              double);

void bind_changes(py::module_& module) {
  const auto bind = [&](const char* name, const char* parameter, ChangeGradients change) {
    module.def(
        name,
        [change](const ScopeHandle& scope, const py::list& gradients, double number) {
          return from_gradients(change(scope.scope, to_gradients(gradients, scope), number), scope.graph);
        },
        py::arg("scope"), py::arg("gradients"), py::arg(parameter));
  };
  bind("clip_by_value", "limit", &nn::clip_by_value);
  bind("clip_by_norm", "norm", &nn::clip_by_norm);
  bind("clip_by_global_norm", "norm",
       [](const Scope& scope, std::vector<nn::VariableGradient> gradients, double norm) {
         return nn::clip_by_global_norm(scope, std::move(gradients), norm);
       });
  bind("add_weight_decay", "rate", &nn::add_weight_decay);
  module.def("global_norm", [](const ScopeHandle& scope, const py::list& gradients) {
    return scope.handle(nn::global_norm(scope.scope, to_gradients(gradients, scope)));
  });
}

void bind_schedules(py::module_& module) {
  [[maybe_unused]] const py::class_<ScheduleHandle> known(module, "Schedule");
  module.def(
      "constant_rate", [](double rate) { return ScheduleHandle{nn::constant_rate(rate)}; }, py::arg("rate"));
  module.def(
      "piecewise_constant",
      [](std::vector<int64_t> boundaries, std::vector<double> values) {
        return ScheduleHandle{nn::piecewise_constant(std::move(boundaries), std::move(values))};
      },
      py::arg("boundaries"), py::arg("values"));
  using Decay = nn::Schedule (*)(double, int64_t, double, bool);
  const auto bind_decay = [&](const char* name, Decay decay) {
    module.def(
        name,
        [decay](double rate, int64_t steps, double factor, bool staircase) {
          return ScheduleHandle{decay(rate, steps, factor, staircase)};
        },
        py::arg("rate"), py::arg("steps"), py::arg("factor"), py::arg("staircase") = false);
  };
  bind_decay("exponential_decay", &nn::exponential_decay);
  bind_decay("natural_exp_decay", &nn::natural_exp_decay);
  bind_decay("inverse_time_decay", &nn::inverse_time_decay);
  module.def(
      "polynomial_decay",
      [](double rate, int64_t steps, double end, double power, bool cycle) {
        return ScheduleHandle{nn::polynomial_decay(rate, steps, end, power, cycle)};
      },
      py::arg("rate"), py::arg("steps"), py::arg("end"), py::arg("power") = 1.0, py::arg("cycle") = false);
  module.def(
      "cosine_decay",
      [](double rate, int64_t steps, double alpha) {
        return ScheduleHandle{nn::cosine_decay(rate, steps, alpha)};
      },
      py::arg("rate"), py::arg("steps"), py::arg("alpha") = 0.0);
  module.def(
      "cosine_decay_restarts",
      [](double rate, int64_t steps, double period_factor, double rate_factor, double alpha) {
        return ScheduleHandle{nn::cosine_decay_restarts(rate, steps, period_factor, rate_factor, alpha)};
      },
      py::arg("rate"), py::arg("steps"), py::arg("period_factor") = 2.0, py::arg("rate_factor") = 1.0,
      py::arg("alpha") = 0.0);
  module.def(
      "warm_up",
      [](int64_t steps, const ScheduleHandle& schedule) {
        return ScheduleHandle{nn::warm_up(steps, schedule.schedule)};
      },
      py::arg("steps"), py::arg("schedule"));
}

struct AveragesHandle {
  GraphRef graph;
  nn::WeightAverages averages;
};

void bind_averages(py::module_& module) {
  py::class_<AveragesHandle>(module, "WeightAverages")
      .def(py::init([](const ScopeHandle& scope, double decay, const py::object& variables) {
             return AveragesHandle{
                 scope.graph, nn::WeightAverages(scope.scope, decay, outputs_or_all(variables, scope.graph))};
           }),
           py::arg("scope"), py::arg("decay"), py::arg("variables"))
      .def("update",
           [](const AveragesHandle& self, const ScopeHandle& scope) {
             nn::ReplicationStrategy none;
             return NodeHandle{self.graph, self.averages.update(scope.scope, none).node};
           })
      .def("of", [](const AveragesHandle& self, const py::object& variable) {
        return OutputHandle{self.graph, self.averages.of(to_output(variable, self.graph))};
      });
}

using Saver = Output (*)(const Scope&, Output, const std::vector<Output>&);

void bind_saver(py::module_& module, const char* name, Saver saver) {
  module.def(name, [saver](const ScopeHandle& scope, const py::object& prefix, const py::object& variables) {
    const Output file = as_output(scope, prefix, DType::String);
    return NodeHandle{scope.graph, saver(scope.scope, file, outputs_or_all(variables, scope.graph)).node};
  });
}

}  // namespace

void bind_optimizers(py::module_& module) {
  bind_schedules(module);
  bind_changes(module);
  module.def("apply_gradients", &apply_gradients, py::arg("scope"), py::arg("method"), py::arg("rate"),
             py::arg("numbers"), py::arg("gradients"));
  module.def("compute_gradients", &compute_gradients, py::arg("scope"), py::arg("loss"),
             py::arg("variables"));
  bind_averages(module);
  bind_saver(module, "save_variables", &nn::save_variables);
  bind_saver(module, "restore_variables", &nn::restore_variables);
}

}  // namespace troupe::python
