// InTopK(predictions, targets), with attribute k, and InTopKV2(predictions, targets, k): for each row of predictions [batch,
// classes] whether less than k of its elements are greater than that of the class targets[row]. False if the target is not a
// class, and if an element that decides is not finite: the target's own, or one before k + 1 greater ones were found. Fails with
// InvalidArgument unless predictions is a matrix and targets a vector with an element for each of its rows.
#include "kernels/ops/nn/in_top_k.h"

#include <cmath>

#include "graph/build/shape_context.h"
#include "kernels/core/arguments.h"
#include "kernels/core/parallel.h"
#include "kernels/core/type_dispatch.h"

namespace troupe {
namespace {

using TargetTypes = TypeList<int32_t, int64_t>;

Status in_top_k_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const auto predictions, context.with_rank(0, 2));
  TROUPE_ASSIGN(const auto targets, context.with_rank(1, 1));
  if (context.inputs() == 3) TROUPE_RETURN_IF_FAILED(context.with_rank(2, 0).status());
  TROUPE_ASSIGN(auto batch, merge(targets, PartialShape{predictions[0]}));
  context.set_output(0, std::move(batch));
  return {};
}

bool is_in_top_k(std::span<const float> row, int64_t target, int64_t k) {
  if (target < 0 || std::cmp_greater_equal(target, row.size())) return false;
  const float wanted = row[static_cast<size_t>(target)];
  if (!std::isfinite(wanted)) return false;
  int64_t greater = 0;
  for (const float value : row) {
    if (!std::isfinite(value)) return false;
    if (value > wanted && ++greater > k) return false;
  }
  return greater < k;
}

void compute_in_top_k(const InTopKArguments& arguments, DeviceContext& device) {
  const auto predictions = arguments.predictions.as<float>();
  const auto precision = arguments.precision.write<bool>();
  const auto classes = static_cast<size_t>(arguments.predictions.shape()[1]);
  with_type(TargetTypes{}, arguments.targets.dtype(), [&]<class T>(std::type_identity<T>) {
    const auto targets = arguments.targets.as<T>();
    parallel_rows(
        device.pool(), precision.size(), (classes + 1) * sizeof(float), [&](size_t begin, size_t end) {
          for (size_t i = begin; i < end; ++i)
            precision[i] = is_in_top_k(predictions.subspan(i * classes, classes), targets[i], arguments.k);
        });
  });
}

OpDefBuilder in_top_k_op(const char* name) {
  OpDefBuilder op(name);
  return op.input("predictions: float")
      .input("targets: T")
      .output("precision: bool")
      .attr("T: {int32, int64} = int32")
      .shape(in_top_k_shape)
      .not_differentiable();
}

}  // namespace

Result<InTopKArguments> check_in_top_k(KernelContext& context) {
  const Tensor &predictions = context.input(0), &targets = context.input(1);
  const Shape &of_predictions = predictions.shape(), &of_targets = targets.shape();
  if (of_predictions.rank() != 2 || of_targets.rank() != 1 || of_predictions[0] != of_targets[0])
    return invalid_argument("predictions has shape " + of_predictions.text() + " and targets has shape " +
                            of_targets.text() + "; they must have shapes [batch, classes] and [batch]");
  int64_t k = 0;
  if (context.inputs() == 3) {
    const Tensor& input = context.input(2);
    if (!input.shape().is_scalar())
      return invalid_argument("k of shape " + input.shape().text() + " is not a scalar");
    k = integers(input)[0];
  } else {
    k = context.node().attrs.get<int64_t>("k");
  }
  TROUPE_ASSIGN(Tensor* const precision, context.output(0, of_targets));
  return InTopKArguments{predictions, targets, *precision, k};
}

void add_in_top_k_ops(OpLibrary& library) {
  library.op(in_top_k_op("InTopK").attr("k: int").constructor("in_top_k(predictions, targets, k)"));
  library.op(in_top_k_op("InTopKV2").host_input("k: T"));
  for (const char* name : {"InTopK", "InTopKV2"})
    library.kernel(cpu_kernel(name, check_in_top_k, compute_in_top_k));
}

}  // namespace troupe
