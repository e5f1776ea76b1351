// CombinedNonMaxSuppression(boxes, scores, max_output_size_per_class, max_total_size, iou_threshold, score_threshold): the objects
// that a detector has found in the images of a batch. boxes is [batch, n, q, 4], where q is 1 or the number of classes, scores
// [batch, n, classes]. For each image and class at most max_output_size_per_class boxes are kept as NonMaxSuppressionV3 keeps them,
// and of all classes together those with the max_total_size highest scores, by falling scores; of equal ones the lower class is
// first. The outputs are boxes [batch, m, 4], scores [batch, m], classes [batch, m] as floats, and how many each image has [batch];
// zeros follow. m is max_total_size, with pad_per_class at most max_output_size_per_class times the number of classes. With
// clip_boxes the coordinates of the boxes are clipped to [0, 1]. InvalidArgument for sizes that are not positive.
#include <array>
#include <limits>
#include <numeric>

#include "graph/build/shape_context.h"
#include "kernels/core/arguments.h"
#include "kernels/core/checked_kernel.h"
#include "kernels/core/parallel.h"
#include "kernels/ops/images/suppression.h"

namespace troupe {
namespace {

/// The dimensions of the inputs.
struct DetectionSizes {
  int64_t batch, boxes, per_box, classes;  ///< per_box is 1 or `classes`
};

Status check_detections(const PartialShape& boxes, const PartialShape& scores) {
  const int64_t per_box = boxes[2], classes = scores[2];
  const bool fits = per_box == 1 || per_box == unknown_dim || classes == unknown_dim || per_box == classes;
  if (fits && merge(boxes, PartialShape{scores[0], scores[1], unknown_dim, 4}).ok()) return {};
  return invalid_argument("boxes of shape " + boxes.text() + " and scores of shape " + scores.text() +
                          " must have shapes [batch,n,q,4] and [batch,n,classes], where q is 1 or the number "
                          "of classes");
}

/// Returns the number of boxes of an image in the outputs. Fails with InvalidArgument for sizes that are not positive.
Result<int64_t> detections(const Node& node, int64_t per_class, int64_t total, int64_t classes) {
  if (per_class < 1)
    return invalid_argument("max_output_size_per_class is " + std::to_string(per_class) +
                            ", it must be positive");
  if (total < 1)
    return invalid_argument("max_total_size is " + std::to_string(total) + ", it must be positive");
  if (!node.attrs.get<bool>("pad_per_class")) return total;
  return classes == unknown_dim ? unknown_dim : std::min(total, per_class * classes);
}

Status combined_shape(ShapeContext& context) {
  TROUPE_ASSIGN(const PartialShape boxes, context.with_rank(0, 4));
  TROUPE_ASSIGN(const PartialShape scores, context.with_rank(1, 3));
  TROUPE_RETURN_IF_FAILED(check_detections(boxes, scores));
  for (size_t i = 2; i < context.inputs(); ++i) TROUPE_RETURN_IF_FAILED(context.with_rank(i, 0).status());
  int64_t count = unknown_dim;
  const auto per_class = constant_integer(context, 2), total = constant_integer(context, 3);
  if (per_class && total) {
    TROUPE_ASSIGN(count, detections(context.node(), *per_class, *total, scores[2]));
  }
  const int64_t batch = boxes[0] == unknown_dim ? scores[0] : boxes[0];
  context.set_output(0, PartialShape{batch, count, 4});
  context.set_output(1, PartialShape{batch, count});
  context.set_output(2, PartialShape{batch, count});
  context.set_output(3, PartialShape{batch});
  return {};
}

struct CombinedArguments {
  const Tensor &boxes, &scores;
  DetectionSizes sizes;
  SuppressionLimits limits;  ///< of a class
  int64_t count;             ///< boxes of an image in the outputs
  bool clips;
  Tensor &kept, &kept_scores, &classes, &valid;
};

Result<CombinedArguments> check_combined(KernelContext& context) {
  const Tensor &boxes = context.input(0), &scores = context.input(1);
  if (boxes.shape().rank() != 4 || scores.shape().rank() != 3)
    return invalid_argument("boxes of shape " + boxes.shape().text() +
                            " must have rank 4, and scores of shape " + scores.shape().text() + " rank 3");
  TROUPE_RETURN_IF_FAILED(check_detections(boxes.shape(), scores.shape()));
  const DetectionSizes sizes{boxes.shape()[0], boxes.shape()[1], boxes.shape()[2], scores.shape()[2]};
  if (sizes.boxes > std::numeric_limits<int32_t>::max())
    return invalid_argument(std::to_string(sizes.boxes) + " boxes are too many for numbers of int32");
  for (size_t i = 2; i < context.inputs(); ++i)
    if (!context.input(i).shape().is_scalar())
      return invalid_argument(context.node().op->inputs[i].name + " of shape " +
                              context.input(i).shape().text() + " must be a scalar");
  const SuppressionLimits limits{context.input(2).as<int32_t>()[0], context.input(4).as<float>()[0],
                                 context.input(5).as<float>()[0], 0};
  TROUPE_RETURN_IF_FAILED(check_overlap_limit(limits.overlap));
  TROUPE_ASSIGN(const int64_t count,
                detections(context.node(), limits.most, context.input(3).as<int32_t>()[0], sizes.classes));
  TROUPE_ASSIGN(const Shape shape, Shape::make(std::array{sizes.batch, count}, f32));
  TROUPE_ASSIGN(const Shape box_shape, Shape::make(std::array{sizes.batch, count, int64_t{4}}, f32));
  TROUPE_ASSIGN(Tensor* const kept, context.output(0, box_shape));
  TROUPE_ASSIGN(Tensor* const kept_scores, context.output(1, shape));
  TROUPE_ASSIGN(Tensor* const classes, context.output(2, shape));
  TROUPE_ASSIGN(Tensor* const valid, context.output(3, Shape::vector(sizes.batch)));
  const bool clips = context.node().attrs.get<bool>("clip_boxes");
  return CombinedArguments{boxes, scores, sizes, limits, count, clips, *kept, *kept_scores, *classes, *valid};
}

/// A box that is kept of its class.
struct Detection {
  const float* corners;
  float score;
  int64_t of_class;
};

/// Returns what is kept of all classes of an image, by falling scores.
std::vector<Detection> detections_of(const CombinedArguments& arguments, size_t image) {
  const auto classes = static_cast<size_t>(arguments.sizes.classes);
  const auto boxes = static_cast<size_t>(arguments.sizes.boxes),
             per_box = static_cast<size_t>(arguments.sizes.per_box);
  const float* const corners = arguments.boxes.as<float>().data() + image * boxes * per_box * 4;
  const float* const scores = arguments.scores.as<float>().data() + image * boxes * classes;
  std::vector<Detection> all;
  for (size_t c = 0; c < classes; ++c) {
    const auto at = [&](int32_t i) {
      return corners + (static_cast<size_t>(i) * per_box + (per_box == 1 ? 0 : c)) * 4;
    };
    const KeptBoxes kept = select_boxes(
        boxes, arguments.limits, [&](size_t i) { return scores[i * classes + c]; },
        [&](int32_t i, int32_t j) { return overlap_of(box_at(at(i)), box_at(at(j))); });
    for (size_t k = 0; k < kept.boxes.size(); ++k)
      all.push_back({at(kept.boxes[k]), kept.scores[k], static_cast<int64_t>(c)});
  }
  std::ranges::stable_sort(all, std::ranges::greater(), &Detection::score);
  return all;
}

void write_detections(const CombinedArguments& arguments, size_t image) {
  const auto count = static_cast<size_t>(arguments.count);
  const std::vector<Detection> all = detections_of(arguments, image);
  const size_t valid = std::min(all.size(), count);
  float* boxes = arguments.kept.write<float>().data() + image * count * 4;
  float* scores = arguments.kept_scores.write<float>().data() + image * count;
  float* classes = arguments.classes.write<float>().data() + image * count;
  for (const Detection& detection : std::span(all).first(valid)) {
    boxes = std::transform(detection.corners, detection.corners + 4, boxes,
                           [&](float x) { return arguments.clips ? std::clamp(x, 0.0F, 1.0F) : x; });
    *scores++ = detection.score;
    *classes++ = static_cast<float>(detection.of_class);
  }
  std::fill_n(boxes, (count - valid) * 4, 0.0F);
  std::fill_n(scores, count - valid, 0.0F);
  std::fill_n(classes, count - valid, 0.0F);
  arguments.valid.write<int32_t>()[image] = static_cast<int32_t>(valid);
}

void compute_combined(const CombinedArguments& arguments, DeviceContext& device) {
  const auto images = static_cast<size_t>(arguments.sizes.batch);
  const size_t cost = images == 0 ? 1 : 16 * (arguments.boxes.bytes() + arguments.scores.bytes()) / images;
  parallel_rows(device.pool(), images, cost, [&](size_t begin, size_t end) {
    for (size_t image = begin; image < end; ++image) write_detections(arguments, image);
  });
}

}  // namespace

void add_combined_suppression(OpLibrary& library) {
  library.op(OpDefBuilder("CombinedNonMaxSuppression")
                 .input("boxes: float")
                 .input("scores: float")
                 .host_input("max_output_size_per_class: int32")
                 .host_input("max_total_size: int32")
                 .host_input("iou_threshold: float")
                 .host_input("score_threshold: float")
                 .output("nmsed_boxes: float")
                 .output("nmsed_scores: float")
                 .output("nmsed_classes: float")
                 .output("valid_detections: int32")
                 .attr("pad_per_class: bool = false")
                 .attr("clip_boxes: bool = true")
                 .shape(combined_shape));
  library.kernel(cpu_kernel("CombinedNonMaxSuppression", check_combined, compute_combined));
}

}  // namespace troupe
