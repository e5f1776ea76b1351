// Softmax cross entropy of each row of logits [batch, classes], with its gradient as a second output, as TensorFlow has it:
//   SoftmaxCrossEntropyWithLogits(features, labels)         labels [batch, classes], each row a distribution; features and labels
//                                                           broadcast to a matrix, as in NumPy
//   SparseSoftmaxCrossEntropyWithLogits(features, labels)   labels [batch], int32 or int64, each in [0, classes)
//   loss [batch] = -sum labels log softmax(features); backprop [batch, classes] = softmax(features) - labels
// InvalidArgument: shapes that do not agree, rows of no classes, a label out of range (with row and value). half and
// bfloat16 are computed in float.
#include <utility>

#include "graph/build/gradients.h"
#include "graph/build/shape_context.h"
#include "kernels/constructors.h"
#include "kernels/core/arguments.h"
#include "kernels/core/parallel.h"
#include "kernels/loops/broadcast.h"
#include "kernels/loops/cast.h"
#include "kernels/loops/strided_copy.h"
#include "kernels/ops/all_ops.h"
#include "kernels/ops/broadcast_gradients.h"

namespace troupe {
namespace {

// ---- Shapes

/// Of what features and labels broadcast to.
Status check_matrix(const PartialShape& shape) {
  if (shape.has_rank(2)) return {};
  return invalid_argument("features and labels broadcast to shape " + shape.text() +
                          ", which is not a matrix");
}

Status dense_shape(ShapeContext& context) {
  TROUPE_ASSIGN(auto shape, broadcast(context.input(0), context.input(1)));
  if (!shape.known_rank()) shape = PartialShape::of_rank(2);
  TROUPE_RETURN_IF_FAILED(check_matrix(shape));
  context.set_output(0, PartialShape::vector(shape[0]));
  context.set_output(1, std::move(shape));
  return {};
}

Status sparse_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const auto features, context.with_rank(0, 2));
  TROUPE_ASSIGN(const auto labels, context.with_rank(1, 1));
  TROUPE_ASSIGN(const auto batch, merge(PartialShape::vector(features[0]), labels));
  context.set_output(0, batch);
  context.set_output(1, PartialShape{batch[0], features[1]});
  return {};
}

// ---- Kernels

/// The tensors of one call, in a dtype that is computed with: narrow ones are widened before and narrowed after.
struct Batch {
  Tensor features, loss, backprop;
  size_t rows = 0, classes = 0, element = 0;
  const SoftmaxLoops* loops = nullptr;

  const std::byte* row_of(const Tensor& tensor, size_t row) const {
    return tensor.data() + row * classes * element;
  }
};

Result<Batch> begin(KernelContext& context, const Tensor& features) {
  const Shape& shape = features.shape();
  if (shape.rank() != 2) return invalid_argument("features of shape " + shape.text() + " are not a matrix");
  if (shape[1] == 0 && shape[0] != 0)
    return invalid_argument("features of shape " + shape.text() + " have no classes");
  const bool narrow = is_narrow(features.dtype());
  const DType dtype = narrow ? DType::Float : features.dtype();
  Batch batch;
  batch.rows = static_cast<size_t>(shape[0]);
  batch.classes = static_cast<size_t>(shape[1]);
  batch.element = size_of(dtype);
  batch.loops = &softmax_loops(dtype);
  TROUPE_ASSIGN(batch.loss, context.scratch(dtype, Shape::vector(shape[0])));
  TROUPE_ASSIGN(batch.backprop, context.scratch(dtype, shape));
  batch.features = features;
  if (narrow) {
    TROUPE_ASSIGN(batch.features, context.scratch(dtype, shape));
    convert(context.device().pool(), features, batch.features);
  }
  return batch;
}

Status finish(KernelContext& context, Batch batch) {
  if (!is_narrow(context.input(0).dtype())) {
    context.set_output(0, std::move(batch.loss));
    context.set_output(1, std::move(batch.backprop));
    return {};
  }
  TROUPE_ASSIGN(Tensor* const loss, context.output(0, batch.loss.shape()));
  TROUPE_ASSIGN(Tensor* const backprop, context.output(1, batch.backprop.shape()));
  convert(context.device().pool(), batch.loss, *loss);
  convert(context.device().pool(), batch.backprop, *backprop);
  return {};
}

template <class Row>
void for_rows(KernelContext& context, Batch& batch, const Row& row) {
  std::byte *const losses = batch.loss.mutable_data(), *const backprops = batch.backprop.mutable_data();
  parallel_rows(context.device().pool(), batch.rows, 10 * batch.classes * batch.element,
                [&](size_t first, size_t last) {
                  for (size_t i = first; i < last; ++i)
                    row(i, losses + i * batch.element, backprops + i * batch.classes * batch.element);
                });
}

/// x, repeated to that matrix where it is smaller.
Result<Tensor> repeated(KernelContext& context, const Tensor& x, const Shape& matrix) {
  if (x.shape() == matrix) return x;
  const auto dims = x.shape().dims();
  Dims strides(2, 0);
  for (size_t i = 0, at = 2 - dims.size(); i < dims.size(); ++i)
    if (dims[i] != 1) strides[at + i] = i + 1 == dims.size() ? 1 : dims[i + 1];
  TROUPE_ASSIGN(Tensor whole, context.scratch(x.dtype(), matrix));
  strided_copy(context.device().pool(), matrix.dims(), x, {0, strides}, whole,
               {0, strides_of(matrix.dims())});
  return whole;
}

Status run_dense(KernelContext& context) {
  TROUPE_ASSIGN(const auto broadcasted,
                Broadcast<2>::make({context.input(0).shape().dims(), context.input(1).shape().dims()},
                                   context.input(0).dtype()));
  const Shape& matrix = broadcasted.shape();
  TROUPE_RETURN_IF_FAILED(check_matrix(matrix));
  TROUPE_ASSIGN(const Tensor features, repeated(context, context.input(0), matrix));
  TROUPE_ASSIGN(Tensor labels, repeated(context, context.input(1), matrix));
  TROUPE_ASSIGN(Batch batch, begin(context, features));
  if (is_narrow(labels.dtype())) {
    const Tensor narrow = std::exchange(labels, {});
    TROUPE_ASSIGN(labels, context.scratch(DType::Float, matrix));
    convert(context.device().pool(), narrow, labels);
  }
  for_rows(context, batch, [&](size_t i, std::byte* loss, std::byte* backprop) {
    batch.loops->cross_entropy(batch.row_of(batch.features, i), batch.row_of(labels, i), loss, backprop,
                               batch.classes);
  });
  return finish(context, std::move(batch));
}

template <class Label>
Status run_sparse(KernelContext& context) {
  TROUPE_ASSIGN(Batch batch, begin(context, context.input(0)));
  const Tensor& labels = context.input(1);
  if (labels.shape().rank() != 1 || labels.shape()[0] != context.input(0).shape()[0])
    return invalid_argument("labels are " + labels.signature() + ", expected one for each row of features " +
                            context.input(0).signature());
  const auto label = labels.as<Label>();
  TROUPE_RETURN_IF_FAILED(check_indices(labels, static_cast<int64_t>(batch.classes), "labels"));
  for_rows(context, batch, [&](size_t i, std::byte* loss, std::byte* backprop) {
    batch.loops->sparse_cross_entropy(batch.row_of(batch.features, i), static_cast<size_t>(label[i]), loss,
                                      backprop, batch.classes);
  });
  return finish(context, std::move(batch));
}

// ---- Gradients

Output per_row(const Scope& scope, Output x) {
  return scope.add_one("ExpandDims", {x, integer_constant(scope, -1)});
}

Output sum_of(const Scope& scope, const std::vector<Output>& parts) {
  return parts.size() == 1 ? parts[0] : add(scope, parts[0], parts[1]);
}

/// To the features: through the loss by `backprop`, and, for second derivatives, through backprop itself, whose Jacobian is that
/// of softmax. At least one output has a gradient.
Output to_features(const GradientContext& context, Output features) {
  const Scope& scope = context.scope();
  std::vector<Output> parts;
  if (context.has_gradient(0))
    parts.push_back(mul(scope, per_row(scope, context.gradient(0)), context.output(1)));
  if (context.has_gradient(1)) {
    const Output gradient = context.gradient(1), probabilities = softmax(scope, features);
    const Output mean = sum(scope, mul(scope, gradient, probabilities), -1, true);
    parts.push_back(mul(scope, sub(scope, gradient, mean), probabilities));
  }
  return sum_of(scope, parts);
}

Output to_labels(const GradientContext& context, Output features) {
  const Scope& scope = context.scope();
  std::vector<Output> parts;
  if (context.has_gradient(0))
    parts.push_back(
        mul(scope, per_row(scope, neg(scope, context.gradient(0))), log_softmax(scope, features)));
  if (context.has_gradient(1)) parts.push_back(neg(scope, context.gradient(1)));
  return sum_of(scope, parts);
}

/// The features as the matrix that they were broadcast to.
Output matrix_of_features(const GradientContext& context) {
  const Scope& scope = context.scope();
  const Output features = context.input(0);
  const PartialShape &shape = scope.shape(features), &matrix = scope.shape(context.output(1));
  if (shape == matrix && shape.fully_known()) return features;
  return scope.add_one("BroadcastTo", {features, shape_of(scope, context.output(1))});
}

void dense_gradient(GradientContext& context) {
  if (!context.has_gradient(0) && !context.has_gradient(1)) return;
  const Output features = matrix_of_features(context);
  set_broadcast_gradients(context, to_features(context, features), to_labels(context, features));
}

void sparse_gradient(GradientContext& context) {
  if (context.has_gradient(0) || context.has_gradient(1))
    context.set(0, to_features(context, context.input(0)));
}

}  // namespace

void add_cross_entropy_ops(OpLibrary& library) {
  library.op(OpDefBuilder("SoftmaxCrossEntropyWithLogits")
                 .input("features: T")
                 .input("labels: T")
                 .output("loss: T")
                 .output("backprop: T")
                 .attr("T: floattype")
                 .constructor("softmax_cross_entropy_with_logits(logits: features, labels)")
                 .shape(dense_shape)
                 .gradient(dense_gradient));
  library.kernel(cpu_kernel("SoftmaxCrossEntropyWithLogits", run_dense).inexpensive());
  library.op(OpDefBuilder("SparseSoftmaxCrossEntropyWithLogits")
                 .input("features: T")
                 .input("labels: Tlabels")
                 .output("loss: T")
                 .output("backprop: T")
                 .attr("T: floattype")
                 .attr("Tlabels: {int32, int64} = int64")
                 .constructor("sparse_softmax_cross_entropy_with_logits(logits: features, labels)")
                 .shape(sparse_shape)
                 .gradient(sparse_gradient));
  library.kernel(cpu_kernel("SparseSoftmaxCrossEntropyWithLogits", run_sparse<int32_t>)
                     .on("Tlabels", {i32})
                     .inexpensive());
  library.kernel(cpu_kernel("SparseSoftmaxCrossEntropyWithLogits", run_sparse<int64_t>)
                     .on("Tlabels", {i64})
                     .inexpensive());
}

}  // namespace troupe
