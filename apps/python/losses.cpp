#include "apps/nn/losses.h"

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

/// Does the same for a function with one number as its option.
template <class Options, class Number>
void bind_score(py::module_& module, const char* name,
                Output (*score)(const Scope&, Output, Output, const Options&), Number Options::*option,
                const char* option_name) {
  module.def(
      name,
      [score, option](const ScopeHandle& scope, const py::object& predicted, const py::object& label,
                      Number number) {
        Options options;
        options.*option = number;
        const Output first = as_output(scope, predicted, DType::Invalid);
        return scope.handle(score(scope.scope, first, as_output(scope, label, DType::Invalid), options));
      },
      py::arg("scope"), py::arg("predicted"), py::arg("label"), py::arg(option_name) = Options{}.*option);
}

}  // namespace

void bind_losses(py::module_& module) {
  bind_score(module, "mean_squared_error", &nn::mean_squared_error);
  bind_score(module, "mean_absolute_error", &nn::mean_absolute_error);
  bind_score(module, "mean_absolute_percentage_error", &nn::mean_absolute_percentage_error);
  bind_score(module, "mean_squared_log_error", &nn::mean_squared_log_error);
  bind_score(module, "log_cosh", &nn::log_cosh);
  bind_score(module, "huber", &nn::huber, &nn::Huber::delta, "delta");
  bind_score(module, "quantile_loss", &nn::quantile_loss, &nn::Quantile::quantile, "quantile");
  bind_score(module, "poisson_loss", &nn::poisson_loss);
  bind_score(module, "cosine_distance", &nn::cosine_distance);
  bind_score(module, "softmax_cross_entropy", &nn::softmax_cross_entropy,
             &nn::SoftmaxCrossEntropy::label_smoothing, "label_smoothing");
  bind_score(module, "binary_cross_entropy", &nn::binary_cross_entropy);
  bind_score(module, "hinge", &nn::hinge);
  bind_score(module, "squared_hinge", &nn::squared_hinge);
  bind_score(module, "accuracy", &nn::accuracy);
  bind_score(module, "top_k_accuracy", &nn::top_k_accuracy, &nn::TopK::k, "k");
}

}  // namespace troupe::python
