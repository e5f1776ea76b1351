// Softmax cross entropy of each row of logits [batch, classes], with its gradient as a second output, as in TensorFlow.
//   SoftmaxCrossEntropyWithLogits(features, labels)         labels [batch, classes], each row a distribution; features and
//                                                           labels broadcast to a matrix, as in NumPy
//   SparseSoftmaxCrossEntropyWithLogits(features, labels)   labels [batch], int32 or int64, each in [0, classes)
//   loss [batch] = -sum labels log softmax(features); backprop [batch, classes] = softmax(features) - labels
// Fail with InvalidArgument if shapes do not match, rows have no classes, or a label is out of range (the error names row and
// value). half and bfloat16 are computed in float.
#include "kernels/ops/nn/cross_entropy.h"

#include <utility>

#include "graph/build/gradients.h"
#include "graph/build/shape_context.h"
#include "kernels/constructors.h"
#include "kernels/core/arguments.h"
#include "kernels/core/parallel.h"
#include "kernels/loops/broadcast.h"
#include "kernels/loops/cast.h"
#include "kernels/loops/strided_copy.h"
#include "kernels/ops/broadcast_gradients.h"

namespace troupe {
namespace {

// ---- Shapes

/// Checks the shape to which features and labels broadcast.
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

/// Calls row(i, its loss, its row of backprop) for each row; it sets the elements to which the pointers point.
template <class Row>
void for_rows(Pool& pool, Tensor& loss, Tensor& backprop, const Row& row) {
  const auto rows = static_cast<size_t>(backprop.shape()[0]),
             classes = static_cast<size_t>(backprop.shape()[1]);
  const size_t element = size_of(backprop.dtype());
  std::byte *const losses = loss.mutable_data(), *const backprops = backprop.mutable_data();
  parallel_rows(pool, rows, 10 * classes * element, [&](size_t first, size_t last) {
    for (size_t i = first; i < last; ++i) row(i, losses + i * element, backprops + i * classes * element);
  });
}

/// Does the same, but half and bfloat16 outputs are computed as floats, to which the pointers then point, and converted
/// afterwards.
template <class Row>
Status compute_rows(DeviceContext& device, Tensor& loss, Tensor& backprop, const Row& row) {
  const DType dtype = compute_dtype(loss.dtype());
  if (dtype == loss.dtype()) {
    for_rows(device.pool(), loss, backprop, row);
    return {};
  }
  TROUPE_ASSIGN(Tensor wide_loss, Tensor::allocate(dtype, loss.shape(), device.memory()));
  TROUPE_ASSIGN(Tensor wide_backprop, Tensor::allocate(dtype, backprop.shape(), device.memory()));
  for_rows(device.pool(), wide_loss, wide_backprop, row);
  convert(device.pool(), wide_loss, loss);
  convert(device.pool(), wide_backprop, backprop);
  return {};
}

/// A matrix of floats or doubles; the functions of SoftmaxLoops take its rows.
struct MatrixRows {
  Tensor matrix;
  size_t classes = static_cast<size_t>(matrix.shape()[1]), bytes = classes * size_of(matrix.dtype());

  const std::byte* operator[](size_t row) const { return matrix.data() + row * bytes; }
};

/// Returns x, repeated to that matrix if it is smaller.
Result<Tensor> repeated(DeviceContext& device, const Tensor& x, const Shape& matrix) {
  if (x.shape() == matrix) return x;
  const auto dims = x.shape().dims();
  Dims strides(2, 0);
  for (size_t i = 0, at = 2 - dims.size(); i < dims.size(); ++i)
    if (dims[i] != 1) strides[at + i] = i + 1 == dims.size() ? 1 : dims[i + 1];
  TROUPE_ASSIGN(Tensor whole, Tensor::allocate(x.dtype(), matrix, device.memory()));
  strided_copy(device.pool(), matrix.dims(), x, {0, strides}, whole, {0, strides_of(matrix.dims())});
  return whole;
}

/// Returns x, repeated to the shape of that matrix, as floats or doubles.
Result<MatrixRows> rows_of(DeviceContext& device, const Tensor& x, const Shape& matrix) {
  TROUPE_ASSIGN(const Tensor whole, repeated(device, x, matrix));
  TROUPE_ASSIGN(Tensor wide, converted(device, whole, compute_dtype(x.dtype())));
  return MatrixRows{std::move(wide)};
}

Status compute_dense(const SoftmaxCrossEntropyArguments& arguments, DeviceContext& device) {
  const auto& [features, labels, loss, backprop] = arguments;
  TROUPE_ASSIGN(const MatrixRows logits, rows_of(device, features, backprop.shape()));
  TROUPE_ASSIGN(const MatrixRows targets, rows_of(device, labels, backprop.shape()));
  const SoftmaxLoops& loops = softmax_loops(logits.matrix.dtype());
  return compute_rows(device, loss, backprop, [&](size_t i, std::byte* row_loss, std::byte* row_backprop) {
    loops.cross_entropy(logits[i], targets[i], row_loss, row_backprop, logits.classes);
  });
}

template <class Label>
Status compute_sparse(const SparseSoftmaxCrossEntropyArguments& arguments, DeviceContext& device) {
  const auto& [features, labels, loss, backprop] = arguments;
  TROUPE_RETURN_IF_FAILED(check_indices(labels, backprop.shape()[1], "labels"));
  TROUPE_ASSIGN(const MatrixRows logits, rows_of(device, features, backprop.shape()));
  const SoftmaxLoops& loops = softmax_loops(logits.matrix.dtype());
  const std::span<const Label> label = labels.as<Label>();
  return compute_rows(device, loss, backprop, [&](size_t i, std::byte* row_loss, std::byte* row_backprop) {
    loops.sparse_cross_entropy(logits[i], static_cast<size_t>(label[i]), row_loss, row_backprop,
                               logits.classes);
  });
}

/// Checks the shape of the features, or of the matrix to which features and labels broadcast.
Status check_features(const Shape& shape) {
  if (shape.rank() != 2)
    return invalid_argument("features has shape " + shape.text() + "; it must be a matrix");
  if (shape[1] == 0 && shape[0] != 0)
    return invalid_argument("features of shape " + shape.text() +
                            " has no classes; there must be at least one");
  return {};
}

// ---- Gradients

Output per_row(const Scope& scope, Output x) {
  return scope.add_one("ExpandDims", {x, integer_constant(scope, -1)});
}

Output sum_of(const Scope& scope, const std::vector<Output>& parts) {
  return parts.size() == 1 ? parts[0] : add(scope, parts[0], parts[1]);
}

/// The gradient of the features: through the loss by `backprop`, and, for second derivatives, through backprop itself, whose
/// Jacobian is that of softmax. At least one output has a gradient.
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

/// Returns the features as the matrix to which they were broadcast.
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

Result<SoftmaxCrossEntropyArguments> check_softmax_cross_entropy(KernelContext& context) {
  const Tensor &features = context.input(0), &labels = context.input(1);
  TROUPE_ASSIGN(const auto both,
                Broadcast<2>::make({features.shape().dims(), labels.shape().dims()}, features.dtype()));
  const Shape& matrix = both.shape();
  TROUPE_RETURN_IF_FAILED(check_matrix(matrix));
  TROUPE_RETURN_IF_FAILED(check_features(matrix));
  TROUPE_ASSIGN(Tensor* const loss, context.output(0, Shape::vector(matrix[0])));
  TROUPE_ASSIGN(Tensor* const backprop, context.output(1, matrix));
  return SoftmaxCrossEntropyArguments{features, labels, *loss, *backprop};
}

Result<SparseSoftmaxCrossEntropyArguments> check_sparse_softmax_cross_entropy(KernelContext& context) {
  const Tensor &features = context.input(0), &labels = context.input(1);
  TROUPE_RETURN_IF_FAILED(check_features(features.shape()));
  if (labels.shape().rank() != 1 || labels.shape()[0] != features.shape()[0])
    return invalid_argument("labels are " + labels.signature() +
                            ", but there must be one for each row of features, which is " +
                            features.signature());
  TROUPE_ASSIGN(Tensor* const loss, context.output(0, labels.shape()));
  TROUPE_ASSIGN(Tensor* const backprop, context.output(1, features.shape()));
  return SparseSoftmaxCrossEntropyArguments{features, labels, *loss, *backprop};
}

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
  library.kernel(
      cpu_kernel("SoftmaxCrossEntropyWithLogits", check_softmax_cross_entropy, compute_dense).inexpensive());
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
  library.kernel(cpu_kernel("SparseSoftmaxCrossEntropyWithLogits", check_sparse_softmax_cross_entropy,
                            compute_sparse<int32_t>)
                     .on("Tlabels", {i32})
                     .inexpensive());
  library.kernel(cpu_kernel("SparseSoftmaxCrossEntropyWithLogits", check_sparse_softmax_cross_entropy,
                            compute_sparse<int64_t>)
                     .on("Tlabels", {i64})
                     .inexpensive());
}

}  // namespace troupe
