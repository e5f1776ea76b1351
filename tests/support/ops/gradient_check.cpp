#include "tests/support/ops/gradient_check.h"

#include <algorithm>
#include <cmath>

#include "graph/build/gradients.h"
#include "kernels/constructors.h"
#include "tests/support/net/local_host.h"
#include "tests/support/ops/op_coverage.h"

namespace troupe::test {
namespace {

/// How far an input is moved, as a part of the largest number in it, and by how much the derivatives may differ.
struct Precision {
  double step, tolerance;
};
constexpr Precision in_doubles = {1e-6, 1e-6}, in_floats = {2e-3, 5e-3};

bool is_exact(DType dtype) { return dtype == DType::Double || dtype == DType::Complex128; }

/// No type attribute may be double, or the output is float whatever the inputs are: the op is differentiated in floats, converted
/// from doubles and to them.
bool has_floats_only(const std::string& op) {
  const OpDef& def = *op_library()->ops->find(op);
  if (!def.outputs.empty() && def.outputs[0].type == DType::Float) return true;
  const auto types = served_types(def);
  return std::ranges::none_of(
      types, [](const auto& served) { return std::ranges::any_of(served.second, is_exact); });
}

/// Returns the numbers in a tensor, two for each complex one. The gradient of a real value by a complex
/// z = x + iy is its derivative by x plus i times that by y; so both are compared number by number.
std::span<const double> numbers(const Tensor& tensor) {
  return {reinterpret_cast<const double*>(tensor.data()), tensor.bytes() / sizeof(double)};
}

double largest_of(std::span<const double> values) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  return largest;
}

Tensor random_like(const Tensor& tensor, uint64_t seed) {
  Tensor result = value_or_throw(Tensor::allocate(tensor.dtype(), tensor.shape()));
  const auto count = static_cast<int64_t>(numbers(tensor).size());
  std::ranges::copy(random_doubles(Shape::vector(count), 0.5, 1.5, seed).as<double>(),
                    reinterpret_cast<double*>(result.mutable_data()));
  return result;
}

/// The graph of one op, with a scalar computed from its outputs, and the derivatives of that scalar.
class Derivative {
 public:
  Derivative(const OpCase& sample, Known known)
      : sample_(sample), in_floats_(has_floats_only(sample.op)), graph_(op_library()->ops),
        runtime_(op_library()) {
    const Scope scope(graph_);
    std::vector<Output> inputs;
    for (const Tensor& input : sample.inputs) {
      const bool is_variable = is_varied(input.dtype());
      const bool is_open = is_variable || known != Known::Values;
      const Tensor tensor = is_variable && in_floats_ ? converted(input, f64) : input;
      const PartialShape shape = known == Known::Nothing ? PartialShape() : PartialShape(tensor.shape());
      inputs.push_back(is_open
                           ? scope.add_one("Placeholder", {}, {{"dtype", tensor.dtype()}, {"shape", shape}})
                           : scope.constant(tensor));
      if (is_open) feeds_.emplace_back(inputs.back(), tensor);
      if (is_variable) {
        variables_.push_back(inputs.back());
        moved_ += numbers(tensor).size();
      }
      if (tensor.dtype() != input.dtype()) inputs.back() = cast(scope, inputs.back(), input.dtype());
    }
    add_loss(scope, scope.with_name("op").add(sample.op, inputs, sample.attrs));
  }

  /// Whether there are inputs that can be moved, number by number.
  bool applies() const {
    return moved_ <= 10'000 && !variables_.empty() && loss_.has_value() &&
           std::ranges::all_of(feeds_, [](const auto& feed) {
             return !is_exact(feed.second.dtype()) ||
                    std::ranges::all_of(numbers(feed.second), [](double x) { return std::isfinite(x); });
           });
  }

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
  bool is_varied(DType dtype) const { return is_exact(dtype) || (in_floats_ && dtype == DType::Float); }

  /// Adds the sum of all floating outputs, each element with a weight of its own; of complex outputs the real part.
  void add_loss(const Scope& scope, NodeId node) {
    const auto outputs = value_or_throw(run_op(sample_.op, sample_.inputs, sample_.attrs));
    std::vector<Output> terms;
    for (uint32_t i = 0; i < outputs.size(); ++i) {
      if (!is_varied(outputs[i].dtype())) continue;
      const Tensor exact = in_floats_ ? converted(outputs[i], f64) : outputs[i];
      const Output weighted =
          mul(scope, cast(scope, Output{node, i}, exact.dtype()), random_like(exact, 77 + i));
      terms.push_back(sum(scope, is_complex(outputs[i].dtype()) ? cast(scope, weighted, f64) : weighted));
    }
    if (!terms.empty()) loss_ = terms.size() == 1 ? terms[0] : add_n(scope, terms);
  }

  std::string compare_variable(size_t variable, const Tensor& analytic) {
    const size_t at = feed_of(variables_[variable]);
    const Tensor original = feeds_[at].second;
    if (!(analytic.shape() == original.shape()))
      return "the gradient of " + original.signature() + " is " + analytic.signature();
    const double largest = largest_of(numbers(original));
    const Precision& precision = in_floats_ ? in_floats : in_doubles;
    for (size_t i = 0; i < numbers(original).size(); ++i) {
      const double x = numbers(original)[i], h = precision.step * std::max(1.0, largest);
      const double numeric = (loss_at(at, original, i, x + h) - loss_at(at, original, i, x - h)) / (2 * h);
      const double got = numbers(analytic)[i];
      if (!(std::abs(got - numeric) <= precision.tolerance * (1 + std::abs(numeric))))
        return "input " + std::to_string(variable) + " (of those varied) " + original.signature() +
               ", number " + std::to_string(i) + ": gradient " + std::to_string(got) +
               ", finite difference " + std::to_string(numeric);
    }
    feeds_[at].second = original;
    return {};
  }

  double loss_at(size_t feed, const Tensor& original, size_t number, double value) {
    Tensor moved = value_or_throw(Tensor::allocate(original.dtype(), original.shape()));
    std::ranges::copy(numbers(original), reinterpret_cast<double*>(moved.mutable_data()));
    reinterpret_cast<double*>(moved.mutable_data())[number] = value;
    feeds_[feed].second = moved;
    if (!plan_) {
      RunSignature signature;
      for (const auto& [output, tensor] : feeds_) signature.feeds.push_back(output);
      signature.fetches = {*loss_};
      plan_ = value_or_throw(runtime_.prepare(graph_, signature));
    }
    std::vector<Tensor> values;
    for (const auto& [output, tensor] : feeds_) values.push_back(tensor);
    return value_or_throw(runtime_.run(plan_, std::move(values)))[0].as<double>()[0];
  }

  size_t feed_of(Output variable) const {
    size_t i = 0;
    while (!(feeds_[i].first == variable)) ++i;
    return i;
  }

  const OpCase& sample_;
  const bool in_floats_;
  Graph graph_;
  LocalRuntime runtime_;
  Feeds feeds_;
  std::vector<Output> variables_;
  size_t moved_ = 0;  ///< numbers in the variables
  std::optional<Output> loss_;
  std::shared_ptr<const PreparedPlan> plan_;  ///< computes the loss
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
