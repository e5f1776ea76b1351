// Softmax cross entropy of each row of logits [batch, classes], with its gradient as a second output, as TensorFlow has it:
//   SoftmaxCrossEntropyWithLogits(features, labels)         labels [batch, classes], each row a distribution
//   SparseSoftmaxCrossEntropyWithLogits(features, labels)   labels [batch], int32 or int64, each in [0, classes)
//   loss [batch] = -sum labels log softmax(features); backprop [batch, classes] = softmax(features) - labels
// InvalidArgument: shapes that do not agree, rows of no classes, a label out of range (with row and value). half and
// bfloat16 are computed in float.
#include "graph/gradients.h"
#include "graph/shape_context.h"
#include "kernels/all_ops.h"
#include "kernels/arguments.h"
#include "kernels/cast.h"
#include "kernels/constructors.h"
#include "kernels/parallel.h"

namespace troupe {
namespace {

// ---- Shapes

Status dense_shape(ShapeContext& context) {
  TROUPE_ASSIGN(auto shape, context.with_rank(0, 2));
  TROUPE_ASSIGN(const auto labels, context.with_rank(1, 2));
  TROUPE_ASSIGN(shape, merge(shape, labels));
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

Result<Batch> begin(KernelContext& context) {
  const Tensor& features = context.input(0);
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

Status run_dense(KernelContext& context) {
  Tensor labels = context.input(1);
  if (!(labels.shape() == context.input(0).shape()))
    return invalid_argument("labels are " + labels.signature() + ", features " +
                            context.input(0).signature());
  TROUPE_ASSIGN(Batch batch, begin(context));
  if (is_narrow(labels.dtype())) {
    TROUPE_ASSIGN(labels, context.scratch(DType::Float, labels.shape()));
    convert(context.device().pool(), context.input(1), labels);
  }
  for_rows(context, batch, [&](size_t i, std::byte* loss, std::byte* backprop) {
    batch.loops->cross_entropy(batch.row_of(batch.features, i), batch.row_of(labels, i), loss, backprop,
                               batch.classes);
  });
  return finish(context, std::move(batch));
}

template <class Label>
Status check_labels(std::span<const Label> labels, size_t classes) {
  for (size_t row = 0; row < labels.size(); ++row)
    if (labels[row] < 0 || static_cast<uint64_t>(labels[row]) >= classes)
      return invalid_argument("label " + std::to_string(labels[row]) + " of row " + std::to_string(row) +
                              " is outside [0, " + std::to_string(classes) + ")");
  return {};
}

template <class Label>
Status run_sparse(KernelContext& context) {
  TROUPE_ASSIGN(Batch batch, begin(context));
  const Tensor& labels = context.input(1);
  if (labels.shape().rank() != 1 || labels.shape()[0] != context.input(0).shape()[0])
    return invalid_argument("labels are " + labels.signature() + ", expected one for each row of features " +
                            context.input(0).signature());
  const auto label = labels.as<Label>();
  TROUPE_RETURN_IF_FAILED(check_labels(label, batch.classes));
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

/// To the features: through the loss by `backprop`, and, for second derivatives, through backprop itself, whose Jacobian is that
/// of softmax.
void to_features(GradientContext& context) {
  const Scope& scope = context.scope();
  std::vector<Output> parts;
  if (context.has_gradient(0))
    parts.push_back(mul(scope, per_row(scope, context.gradient(0)), context.output(1)));
  if (context.has_gradient(1)) {
    const Output gradient = context.gradient(1), probabilities = softmax(scope, context.input(0));
    const Output mean = sum(scope, mul(scope, gradient, probabilities), -1, true);
    parts.push_back(mul(scope, sub(scope, gradient, mean), probabilities));
  }
  if (!parts.empty()) context.set(0, parts.size() == 1 ? parts[0] : add(scope, parts[0], parts[1]));
}

void dense_gradient(GradientContext& context) {
  to_features(context);
  const Scope& scope = context.scope();
  std::vector<Output> parts;
  if (context.has_gradient(0))
    parts.push_back(
        mul(scope, per_row(scope, neg(scope, context.gradient(0))), log_softmax(scope, context.input(0))));
  if (context.has_gradient(1)) parts.push_back(neg(scope, context.gradient(1)));
  if (!parts.empty()) context.set(1, parts.size() == 1 ? parts[0] : add(scope, parts[0], parts[1]));
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
                 .gradient(to_features));
  library.kernel(cpu_kernel("SparseSoftmaxCrossEntropyWithLogits", run_sparse<int32_t>)
                     .on("Tlabels", {i32})
                     .inexpensive());
  library.kernel(cpu_kernel("SparseSoftmaxCrossEntropyWithLogits", run_sparse<int64_t>)
                     .on("Tlabels", {i64})
                     .inexpensive());
}

}  // namespace troupe
