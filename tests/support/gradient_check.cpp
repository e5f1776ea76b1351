#include "tests/support/gradient_check.h"

#include <cmath>

#include "graph/gradients.h"
#include "kernels/constructors.h"
#include "tests/support/local_host.h"

namespace troupe::test {
namespace {

constexpr double tolerance = 1e-6;

/// The graph of one op with a scalar behind it, and its derivatives.
class Derivative {
 public:
  Derivative(const OpCase& sample, Known known)
      : sample_(sample), graph_(op_library()->ops), runtime_(op_library()) {
    const Scope scope(graph_);
    std::vector<Output> inputs;
    for (const Tensor& tensor : sample.inputs) {
      const bool is_variable = tensor.dtype() == DType::Double;
      const bool is_open = is_variable || known != Known::Values;
      const PartialShape shape = known == Known::Nothing ? PartialShape() : PartialShape(tensor.shape());
      inputs.push_back(is_open
                           ? scope.add_one("Placeholder", {}, {{"dtype", tensor.dtype()}, {"shape", shape}})
                           : scope.constant(tensor));
      if (is_open) feeds_.emplace_back(inputs.back(), tensor);
      if (is_variable) variables_.push_back(inputs.back());
    }
    add_loss(scope, scope.with_name("op").add(sample.op, inputs, sample.attrs));
  }

  bool applies() const { return !variables_.empty() && loss_.has_value(); }

  std::string compare() {
    const auto gradients = troupe::gradients(Scope(graph_), {*loss_}, variables_);
    std::vector<Output> fetches = {*loss_};
    for (size_t i = 0; i < variables_.size(); ++i)
      fetches.push_back(dense(Scope(graph_), gradients[i], variables_[i]));
    const auto results = runtime_.run(graph_, feeds_, fetches);
    if (!results) return results.status().message();
    for (size_t i = 0; i < variables_.size(); ++i) {
      const std::string mismatch = compare_variable(i, (*results)[i + 1]);
      if (!mismatch.empty()) return mismatch;
    }
    return {};
  }

 private:
  /// The sum of all floating outputs, each element with a weight of its own.
  void add_loss(const Scope& scope, NodeId node) {
    const auto outputs = value_or_throw(run_op(sample_.op, sample_.inputs, sample_.attrs));
    std::vector<Output> terms;
    for (uint32_t i = 0; i < outputs.size(); ++i)
      if (outputs[i].dtype() == DType::Double)
        terms.push_back(
            sum(scope, mul(scope, Output{node, i}, random_doubles(outputs[i].shape(), 0.5, 1.5, 77 + i))));
    if (!terms.empty()) loss_ = terms.size() == 1 ? terms[0] : add_n(scope, terms);
  }

  std::string compare_variable(size_t variable, const Tensor& analytic) {
    const size_t at = feed_of(variables_[variable]);
    const Tensor original = feeds_[at].second;
    if (!(analytic.shape() == original.shape()))
      return "the gradient of " + original.signature() + " is " + analytic.signature();
    for (size_t i = 0; i < original.as<double>().size(); ++i) {
      const double x = original.as<double>()[i], h = 1e-6 * std::max(1.0, std::abs(x));
      const double numeric = (loss_at(at, original, i, x + h) - loss_at(at, original, i, x - h)) / (2 * h);
      const double got = analytic.as<double>()[i];
      if (!(std::abs(got - numeric) <= tolerance * (1 + std::abs(numeric))))
        return "input " + std::to_string(variable) + " (of the double ones) " + original.signature() +
               ", element " + std::to_string(i) + ": gradient " + std::to_string(got) +
               ", finite difference " + std::to_string(numeric);
    }
    feeds_[at].second = original;
    return {};
  }

  double loss_at(size_t feed, const Tensor& original, size_t element, double value) {
    Tensor moved = Tensor::of<double>(original.shape(), original.as<double>());
    moved.write<double>()[element] = value;
    feeds_[feed].second = moved;
    return value_or_throw(runtime_.run(graph_, feeds_, {*loss_}))[0].as<double>()[0];
  }

  size_t feed_of(Output variable) const {
    size_t i = 0;
    while (!(feeds_[i].first == variable)) ++i;
    return i;
  }

  const OpCase& sample_;
  Graph graph_;
  LocalRuntime runtime_;
  Feeds feeds_;
  std::vector<Output> variables_;
  std::optional<Output> loss_;
};

}  // namespace

std::optional<std::string> gradient_mismatch(const OpCase& sample, Known known) {
  try {
    Derivative derivative(sample, known);
    if (!derivative.applies()) return {};
    return derivative.compare();
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace troupe::test
