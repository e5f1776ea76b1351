// Of boxes [n, 4], each [y1, x1, y2, x2] of any two opposite corners, and their scores: the numbers of those that are kept, by
// falling scores (of equal ones the lower number first), at most max_output_size. A box is dropped if its overlap with a box that
// is kept, the intersection divided by the union, is above iou_threshold.
//   NonMaxSuppression(boxes, scores, max_output_size)          iou_threshold is an attribute
//   NonMaxSuppressionV2(boxes, scores, max_output_size, iou_threshold)
//   NonMaxSuppressionV3(..., score_threshold)                  only boxes with scores above it
//   NonMaxSuppressionV4(..., score_threshold)                  and how many there are; with pad_to_max_output_size zeros follow
//   NonMaxSuppressionV5(..., score_threshold, soft_nms_sigma)  with a sigma above 0 nothing is dropped for its overlap: it lowers
//                                                              the score, by the factor exp(-overlap^2 / (2 sigma)) (Bodla et al.,
//                                                              "Soft-NMS", 2017); and the scores of those that are kept
//   NonMaxSuppressionWithOverlaps(overlaps, scores, max_output_size, overlap_threshold, score_threshold)   overlaps [n, n]
#include <array>
#include <limits>

#include "graph/build/shape_context.h"
#include "kernels/core/arguments.h"
#include "kernels/core/checked_kernel.h"
#include "kernels/core/type_dispatch.h"
#include "kernels/ops/images/suppression.h"

namespace troupe {
namespace {

struct SuppressionArguments {
  const Tensor& boxes;  ///< or overlaps
  const Tensor& scores;
  SuppressionLimits limits;
  bool pads;
  KeptBoxes kept = {};
  std::vector<Tensor*> outputs = {};
};

bool takes_overlaps(const Node& node) { return node.type() == "NonMaxSuppressionWithOverlaps"; }

/// Returns the single number of a host input: float or half.
float number_of(const Tensor& tensor) {
  return tensor.dtype() == DType::Half ? static_cast<float>(tensor.as<Half>()[0]) : tensor.as<float>()[0];
}

Status check_limits(const SuppressionLimits& limits, const Node& node) {
  if (limits.most < 0)
    return invalid_argument("max_output_size is " + std::to_string(limits.most) +
                            ", it must not be negative");
  if (!takes_overlaps(node)) TROUPE_RETURN_IF_FAILED(check_overlap_limit(limits.overlap));
  if (!(limits.sigma >= 0))
    return invalid_argument("soft_nms_sigma is " + std::to_string(limits.sigma) +
                            ", it must not be negative");
  return {};
}

Status check_pairs(const PartialShape& boxes, const PartialShape& scores, bool overlaps) {
  const PartialShape wanted = overlaps ? PartialShape{scores[0], scores[0]} : PartialShape{scores[0], 4};
  if (merge(boxes, wanted).ok()) return {};
  return invalid_argument(std::string(overlaps ? "overlaps" : "boxes") + " of shape " + boxes.text() +
                          " and scores of shape " + scores.text() + " must have shapes " +
                          (overlaps ? "[n,n]" : "[n,4]") + " and [n]");
}

Result<SuppressionArguments> check_suppression(KernelContext& context) {
  const Node& node = context.node();
  const Shape& scores = context.input(1).shape();
  if (scores.rank() != 1) return invalid_argument("scores of shape " + scores.text() + " must be a vector");
  TROUPE_RETURN_IF_FAILED(check_pairs(context.input(0).shape(), scores, takes_overlaps(node)));
  if (scores.elements() > std::numeric_limits<int32_t>::max())
    return invalid_argument(std::to_string(scores.elements()) + " boxes are too many for numbers of int32");
  for (size_t i = 2; i < context.inputs(); ++i)
    if (!context.input(i).shape().is_scalar())
      return invalid_argument(node.op->inputs[i].name + " of shape " + context.input(i).shape().text() +
                              " must be a scalar");
  const auto number = [&](size_t i, float otherwise) {
    return context.inputs() > i ? number_of(context.input(i)) : otherwise;
  };
  const AttrValue *const pads = node.attrs.find("pad_to_max_output_size"), *const overlap = node.attrs.find(
                                                                               "iou_threshold");
  SuppressionArguments arguments{
      context.input(0),
      context.input(1),
      {context.input(2).as<int32_t>()[0], overlap ? std::get<float>(*overlap) : number(3, 0),
       number(4, std::numeric_limits<float>::lowest()), number(5, 0)},
      pads && std::get<bool>(*pads)};
  TROUPE_RETURN_IF_FAILED(check_limits(arguments.limits, node));
  return arguments;
}

// ---- Selection

template <class T, class Overlap>
void select(SuppressionArguments& arguments, const Overlap& overlap) {
  const auto scores = arguments.scores.as<T>();
  arguments.kept = select_boxes(
      scores.size(), arguments.limits, [&](size_t i) { return static_cast<float>(scores[i]); }, overlap);
}

void measure_suppression(SuppressionArguments& arguments, DeviceContext&) {
  with_type(TypeList<float, Half>{}, arguments.boxes.dtype(), [&]<class T>(std::type_identity<T>) {
    const T* const boxes = arguments.boxes.as<T>().data();
    select<T>(arguments, [&](int32_t i, int32_t j) {
      return overlap_of(box_at(boxes + 4 * static_cast<size_t>(i)),
                        box_at(boxes + 4 * static_cast<size_t>(j)));
    });
  });
}

void measure_with_overlaps(SuppressionArguments& arguments, DeviceContext&) {
  const float* const overlaps = arguments.boxes.as<float>().data();
  const auto n = static_cast<size_t>(arguments.scores.elements());
  select<float>(arguments, [&](int32_t i, int32_t j) {
    return overlaps[static_cast<size_t>(i) * n + static_cast<size_t>(j)];
  });
}

/// The outputs are the numbers, in V5 the scores, and from V4 on their count.
Status allocate_suppression(SuppressionArguments& arguments, KernelContext& context) {
  const auto kept = static_cast<int64_t>(arguments.kept.boxes.size());
  TROUPE_ASSIGN(const Shape shape,
                Shape::make(std::array{arguments.pads ? arguments.limits.most : kept}, DType::Int32));
  const size_t outputs = context.node().output_types.size();
  for (size_t i = 0; i < outputs; ++i) {
    TROUPE_ASSIGN(Tensor* const output, context.output(i, i != 0 && i + 1 == outputs ? Shape{} : shape));
    arguments.outputs.push_back(output);
  }
  return {};
}

template <class From, class T>
void write_padded(const std::vector<From>& values, std::span<T> to) {
  for (size_t i = 0; i < to.size(); ++i) to[i] = static_cast<T>(i < values.size() ? values[i] : From{0});
}

void compute_suppression(const SuppressionArguments& arguments, DeviceContext&) {
  const auto& outputs = arguments.outputs;
  write_padded(arguments.kept.boxes, outputs[0]->write<int32_t>());
  if (outputs.size() > 1)
    outputs.back()->write<int32_t>()[0] = static_cast<int32_t>(arguments.kept.boxes.size());
  if (outputs.size() < 3) return;
  with_type(TypeList<float, Half>{}, outputs[1]->dtype(), [&]<class T>(std::type_identity<T>) {
    write_padded(arguments.kept.scores, outputs[1]->write<T>());
  });
}

Status suppression_shape(ShapeContext& context) {
  TROUPE_RETURN_IF_FAILED(context.with_rank(0, 2).status());
  TROUPE_ASSIGN(const auto scores, context.with_rank(1, 1));
  TROUPE_RETURN_IF_FAILED(check_pairs(context.input(0), scores, takes_overlaps(context.node())));
  for (size_t i = 2; i < context.inputs(); ++i) TROUPE_RETURN_IF_FAILED(context.with_rank(i, 0).status());
  const AttrValue* const pads = context.node().attrs.find("pad_to_max_output_size");
  int64_t count = unknown_dim;
  if (pads && std::get<bool>(*pads))
    if (const auto most = constant_integer(context, 2)) {
      if (*most < 0)
        return invalid_argument("max_output_size is " + std::to_string(*most) + ", it must not be negative");
      count = *most;
    }
  const size_t outputs = context.node().op->outputs.size();
  for (size_t i = 0; i < outputs; ++i)
    context.set_output(i, i != 0 && i + 1 == outputs ? PartialShape::scalar() : PartialShape::vector(count));
  return {};
}

OpDefBuilder suppression(const char* name) {
  return OpDefBuilder(name)
      .input("boxes: T")
      .input("scores: T")
      .host_input("max_output_size: int32")
      .attr("T: {half, float} = float")
      .shape(suppression_shape);
}

OpDefBuilder with_thresholds(const char* name) {
  return suppression(name)
      .host_input("iou_threshold: T_threshold")
      .attr("T_threshold: {half, float} = float");
}

}  // namespace

void add_non_max_suppression_ops(OpLibrary& library) {
  library.op(OpDefBuilder("NonMaxSuppression")
                 .input("boxes: float")
                 .input("scores: float")
                 .host_input("max_output_size: int32")
                 .output("selected_indices: int32")
                 .attr("iou_threshold: float = 0.5")
                 .shape(suppression_shape)
                 .not_differentiable());
  library.op(with_thresholds("NonMaxSuppressionV2").output("selected_indices: int32").not_differentiable());
  library.op(
      with_thresholds("NonMaxSuppressionV3")
          .host_input("score_threshold: T_threshold")
          .output("selected_indices: int32")
          .constructor("non_max_suppression(boxes, scores, max_output_size, iou_threshold, score_threshold)")
          .not_differentiable());
  library.op(with_thresholds("NonMaxSuppressionV4")
                 .host_input("score_threshold: T_threshold")
                 .output("selected_indices: int32")
                 .output("valid_outputs: int32")
                 .attr("pad_to_max_output_size: bool = false")
                 .not_differentiable());
  library.op(suppression("NonMaxSuppressionV5")
                 .host_input("iou_threshold: T")
                 .host_input("score_threshold: T")
                 .host_input("soft_nms_sigma: T")
                 .output("selected_indices: int32")
                 .output("selected_scores: T")
                 .output("valid_outputs: int32")
                 .attr("pad_to_max_output_size: bool = false"));
  library.op(OpDefBuilder("NonMaxSuppressionWithOverlaps")
                 .input("overlaps: float")
                 .input("scores: float")
                 .host_input("max_output_size: int32")
                 .host_input("overlap_threshold: float")
                 .host_input("score_threshold: float")
                 .output("selected_indices: int32")
                 .constructor("non_max_suppression_with_overlaps(overlaps, scores, max_output_size, "
                              "overlap_threshold, score_threshold)")
                 .shape(suppression_shape)
                 .not_differentiable());
  for (const char* op : {"NonMaxSuppression", "NonMaxSuppressionV2", "NonMaxSuppressionV3",
                         "NonMaxSuppressionV4", "NonMaxSuppressionV5"})
    library.kernel(measured_cpu_kernel(op, check_suppression, measure_suppression, allocate_suppression,
                                       compute_suppression));
  library.kernel(measured_cpu_kernel("NonMaxSuppressionWithOverlaps", check_suppression,
                                     measure_with_overlaps, allocate_suppression, compute_suppression));
}

}  // namespace troupe
