#include "apps/nn/gradient_compression.h"

#include <algorithm>
#include <cmath>

#include "apps/nn/as_type.h"
#include "kernels/constructors.h"

namespace troupe::nn {
namespace {

constexpr double largest_half = 65504;

std::string name_of(const Scope& scope, Output variable) {
  return scope.graph().node(scope.checked(variable).node).name;
}

int64_t elements_of(const Scope& scope, Output variable) {
  return value_or_throw(scope.shape(variable).to_shape(scope.dtype(variable))).elements();
}

/// Returns the tensor of n elements that has these values at these indices and zeros elsewhere.
Output scattered(const Scope& scope, Output indices, Output values, int64_t n) {
  return scope.add_one("ScatterNd", {expand_dims(scope, indices, 1), values,
                                     scope.constant(Tensor::vector<int32_t>({static_cast<int32_t>(n)}))});
}

}  // namespace

GradientCompression::GradientCompression(DType narrow) : narrow_(narrow) {
  if (narrow != DType::BFloat16 && narrow != DType::Half)
    throw Error(invalid_argument("gradients are compressed to bfloat16 or half, not to " +
                                 std::string(name(narrow))));
}

GradientCompression::GradientCompression(double keep) : keep_(keep) {
  if (!(keep > 0 && keep <= 1))
    throw Error(invalid_argument("the share of a gradient to keep is " + std::to_string(keep) +
                                 "; it must be above 0 and at most 1"));
}

Gradient GradientCompression::compressed(const Scope& scope, const VariableGradient& gradient) {
  if (!std::holds_alternative<Output>(gradient.gradient)) return gradient.gradient;
  const Output variable = gradient.variable;
  const Scope here = scope.with_prefix("compressed");
  const Output residual =
      local_variable(here, zeros(here, here.shape(variable), here.dtype(variable)), name_of(scope, variable));
  Output rest;
  const Gradient sent = compressed(scope, gradient, residual, rest);
  updates_.push_back(here.add_one("Assign", {residual, rest}));
  return sent;
}

Gradient GradientCompression::compressed(const Scope& scope, const VariableGradient& gradient,
                                         Output residual, Output& rest) {
  const Scope here = scope.with_prefix("compressed");
  compressed_.insert(gradient.variable.node);
  const Output total = add(here, std::get<Output>(gradient.gradient), residual);
  return keep_ > 0 ? largest(here, total, elements_of(here, gradient.variable), rest)
                   : narrowed(here, total, rest);
}

Gradient GradientCompression::narrowed(const Scope& scope, Output total, Output& rest) const {
  const Output limited =
      narrow_ == DType::Half ? maximum(scope, minimum(scope, total, largest_half), -largest_half) : total;
  const Output sent = cast(scope, limited, narrow_);
  rest = sub(scope, total, cast(scope, sent, scope.dtype(total)));
  return sent;
}

Gradient GradientCompression::largest(const Scope& scope, Output total, int64_t elements,
                                      Output& rest) const {
  const auto share = static_cast<int64_t>(std::ceil(keep_ * static_cast<double>(elements)));
  const auto kept = static_cast<int32_t>(std::clamp<int64_t>(share, 1, elements));
  const Output flat = reshape(scope, total, {-1});
  const Output indices = scope.outputs(top_k(scope, abs(scope, flat), kept, false))[1];
  const Output values = gather(scope, flat, indices);
  rest = reshape(scope, sub(scope, flat, scattered(scope, indices, values, elements)), shape(scope, total));
  return IndexedSlices{values, indices,
                       scope.constant(Tensor::vector<int32_t>({static_cast<int32_t>(elements)}))};
}

Gradient GradientCompression::wide(const Scope& scope, const Gradient& sent) const {
  const auto* const dense = std::get_if<Output>(&sent);
  if (!dense || scope.dtype(*dense) != narrow_) return sent;
  return as_type(scope, *dense, DType::Float);
}

Gradient GradientCompression::restored(const Scope& scope, const Gradient& mean, Output variable) const {
  if (!compressed_.contains(variable.node)) return mean;
  if (const auto* const dense = std::get_if<Output>(&mean))
    return as_type(scope, as_type(scope, *dense, narrow_), scope.dtype(variable));
  const auto& rows = std::get<IndexedSlices>(mean);
  const Output flat = scattered(scope, rows.indices, rows.values, elements_of(scope, variable));
  const std::span<const int64_t> dims = scope.shape(variable).dims();
  return reshape(scope, flat, scope.constant(Tensor::vector<int64_t>({dims.begin(), dims.end()})));
}

}  // namespace troupe::nn
