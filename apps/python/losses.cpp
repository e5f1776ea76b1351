#include "apps/nn/losses.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <string>
#include <vector>

#include "apps/python/calls.h"
#include "apps/python/nn.h"

namespace troupe::python {
namespace py = pybind11;
namespace {

using Score = Output (*)(const Scope&, Output, Output);

/// Binds a function of what is predicted and what is true.
void bind_score(py::module_& module, const char* name, Score score) {
  module.def(
      name,
      [score](const ScopeHandle& scope, const py::object& predicted, const py::object& label) {
        const Output first = as_output(scope, predicted, DType::Invalid);
        return scope.handle(score(scope.scope, first, as_output(scope, label, DType::Invalid)));
      },
      py::arg("scope"), py::arg("predicted"), py::arg("label"));
}

/// An option of a function: a member of its options, and its name.
template <class Options, class Value>
struct Option {
  Option(Value Options::*of, const char* called) : member(of), name(called) {}
  Value Options::*member;
  const char* name;
};

/// Does the same for a function with options.
template <class Options, class... Values>
void bind_score(py::module_& module, const char* name,
                Output (*score)(const Scope&, Output, Output, const Options&),
                Option<Options, Values>... options) {
  module.def(
      name,
      [score, options...](const ScopeHandle& scope, const py::object& predicted, const py::object& label,
                          const Values&... values) {
        Options given;
        ((given.*options.member = values), ...);
        const Output first = as_output(scope, predicted, DType::Invalid);
        return scope.handle(score(scope.scope, first, as_output(scope, label, DType::Invalid), given));
      },
      py::arg("scope"), py::arg("predicted"), py::arg("label"),
      (py::arg(options.name) = Options{}.*options.member)...);
}

const nn::SetMetric& set_metric(const std::string& name) {
  const auto found = std::ranges::find(nn::set_metrics(), name, &nn::SetMetric::name);
  if (found == nn::set_metrics().end()) throw Error(invalid_argument("there is no metric '" + name + "'"));
  return *found;
}

/// Binds the two parts of the metrics of all samples.
void bind_set_metrics(py::module_& module) {
  module.def(
      "set_metric_means",
      [](const ScopeHandle& scope, const std::string& name, const py::object& predicted,
         const py::object& label) {
        const Output first = as_output(scope, predicted, DType::Invalid);
        return scope.handle(
            set_metric(name).means(scope.scope, first, as_output(scope, label, DType::Invalid)));
      },
      py::arg("scope"), py::arg("name"), py::arg("predicted"), py::arg("label"));
  module.def(
      "set_metric_value",
      [](const std::string& name, const std::vector<double>& means) { return set_metric(name).value(means); },
      py::arg("name"), py::arg("means"));
}

}  // namespace

void bind_losses(py::module_& module) {
  bind_score(module, "mean_squared_error", &nn::mean_squared_error,
             Option{&nn::Loss::reduction, "reduction"});
  bind_score(module, "mean_absolute_error", &nn::mean_absolute_error,
             Option{&nn::Loss::reduction, "reduction"});
  bind_score(module, "mean_absolute_percentage_error", &nn::mean_absolute_percentage_error,
             Option{&nn::Loss::reduction, "reduction"});
  bind_score(module, "mean_squared_log_error", &nn::mean_squared_log_error,
             Option{&nn::Loss::reduction, "reduction"});
  bind_score(module, "log_cosh", &nn::log_cosh, Option{&nn::Loss::reduction, "reduction"});
  bind_score(module, "huber", &nn::huber, Option{&nn::Huber::delta, "delta"},
             Option{&nn::Huber::reduction, "reduction"});
  bind_score(module, "quantile_loss", &nn::quantile_loss, Option{&nn::Quantile::quantile, "quantile"},
             Option{&nn::Quantile::reduction, "reduction"});
  bind_score(module, "poisson_loss", &nn::poisson_loss, Option{&nn::Loss::reduction, "reduction"});
  bind_score(module, "cosine_distance", &nn::cosine_distance, Option{&nn::Loss::reduction, "reduction"});
  bind_score(module, "softmax_cross_entropy", &nn::softmax_cross_entropy,
             Option{&nn::SoftmaxCrossEntropy::label_smoothing, "label_smoothing"},
             Option{&nn::SoftmaxCrossEntropy::class_weights, "class_weights"},
             Option{&nn::SoftmaxCrossEntropy::reduction, "reduction"});
  bind_score(module, "kl_divergence", &nn::kl_divergence, Option{&nn::Loss::reduction, "reduction"});
  bind_score(module, "binary_cross_entropy", &nn::binary_cross_entropy,
             Option{&nn::BinaryCrossEntropy::label_smoothing, "label_smoothing"},
             Option{&nn::BinaryCrossEntropy::class_weights, "class_weights"},
             Option{&nn::BinaryCrossEntropy::reduction, "reduction"});
  bind_score(module, "focal_loss", &nn::focal_loss, Option{&nn::Focal::gamma, "gamma"},
             Option{&nn::Focal::class_weights, "class_weights"}, Option{&nn::Focal::reduction, "reduction"});
  bind_score(module, "hinge", &nn::hinge, Option{&nn::Loss::reduction, "reduction"});
  bind_score(module, "squared_hinge", &nn::squared_hinge, Option{&nn::Loss::reduction, "reduction"});
  bind_score(module, "accuracy", &nn::accuracy);
  bind_score(module, "top_k_accuracy", &nn::top_k_accuracy, Option{&nn::TopK::k, "k"});
  bind_set_metrics(module);
}

}  // namespace troupe::python
