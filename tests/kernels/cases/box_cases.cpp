// Samples of the ops on boxes in images: those that choose, draw and cut them out.
#include <cmath>

#include "tests/kernels/cases/all_cases.h"

namespace troupe::test {
namespace {

Tensor scalar(float value) { return floats({}, {value}); }

void add_suppressions(OpCases& cases) {
  struct Suppression {
    const char* op;
    std::vector<Tensor> more;
  };
  const Tensor half = scalar(0.5), none = scalar(0);
  for (const auto& [op, more] : {Suppression{"NonMaxSuppression", {}},
                                 {"NonMaxSuppressionV2", {half}},
                                 {"NonMaxSuppressionV3", {half, none}},
                                 {"NonMaxSuppressionV4", {half, none}},
                                 {"NonMaxSuppressionV5", {half, none, none}},
                                 {"NonMaxSuppressionWithOverlaps", {half, none}}}) {
    const bool overlaps = std::string(op) == "NonMaxSuppressionWithOverlaps";
    const auto inputs = [&, &thresholds = more](const Tensor& boxes, const Tensor& scores,
                                                const Tensor& most) {
      std::vector<Tensor> all = {boxes, scores, most};
      all.insert(all.end(), thresholds.begin(), thresholds.end());
      return all;
    };
    const auto boxes = [&](int64_t n) { return image(overlaps ? Shape{n, n} : Shape{n, 4}); };
    const bool typed = std::string(op).back() != 's' && std::string(op) != "NonMaxSuppression";
    if (typed)
      cases.good_in_every_type(op, inputs(boxes(9), image(Shape{9}), int_scalar(4)));
    else
      cases.good(op, inputs(boxes(9), image(Shape{9}), int_scalar(4)));
    const bool pads = std::string(op).ends_with("V4") || std::string(op).ends_with("V5");
    if (pads)
      cases.good(op, inputs(boxes(9), image(Shape{9}), int_scalar(14)), {{"pad_to_max_output_size", true}});
    cases.good(op, inputs(boxes(0), image(Shape{0}), int_scalar(4)));
    cases.good(op, inputs(boxes(99), image(Shape{99}), int_scalar(50)));
    cases.good(op, inputs(overlaps ? floats(Shape{2, 2}, {NAN, NAN, NAN, NAN}) : image(Shape{2, 4}),
                          floats({2}, {NAN, 1}), int_scalar(4)));
    cases.bad(op, inputs(boxes(9), image(Shape{9}), int_scalar(-1)), {}, "max_output_size is -1");
    cases.bad(op, inputs(boxes(9), image(Shape{9}), ints({1, 2})), {}, "[2]");
    cases.bad(op, inputs(boxes(9), image(Shape{8}), int_scalar(4)), {}, "scores of shape [8]");
    cases.bad(op, inputs(boxes(9), scalar(1), int_scalar(4)), {}, "[]");
    if (!more.empty() && !overlaps) {
      auto wrong = inputs(boxes(9), image(Shape{9}), int_scalar(4));
      wrong[3] = scalar(1.5);
      cases.bad(op, wrong, {}, "iou_threshold is 1.5");
      wrong[3] = scalar(NAN);
      cases.bad(op, wrong, {}, "iou_threshold is nan");
    }
  }
  const Tensor scores = image(Shape{9});
  cases.bad("NonMaxSuppression", {image(Shape{9, 4}), scores, int_scalar(4)}, {{"iou_threshold", -1.0F}},
            "-1.0");
  for (const float sigma : {0.3F, HUGE_VALF})
    cases.good("NonMaxSuppressionV5", {image(Shape{9, 4}), scores, int_scalar(4), half, none, scalar(sigma)});
  const Tensor far = floats(Shape{2, 4}, {-HUGE_VALF, 0, HUGE_VALF, 1, -HUGE_VALF, 0, HUGE_VALF, 1});
  cases.good("NonMaxSuppressionV5", {far, floats({2}, {1, 2}), int_scalar(4), half, none, half});
  cases.bad("NonMaxSuppressionV5", {image(Shape{9, 4}), scores, int_scalar(4), half, none, scalar(-1)}, {},
            "soft_nms_sigma is -1");
}

void add_combined_suppression(OpCases& cases) {
  const char* const op = "CombinedNonMaxSuppression";
  const auto inputs = [](const Shape& boxes, const Shape& scores, int32_t per_class = 3, int32_t total = 5,
                         float overlap = 0.5) {
    return std::vector<Tensor>{image(boxes),      image(scores),   int_scalar(per_class),
                               int_scalar(total), scalar(overlap), scalar(2)};
  };
  for (const bool pads : {false, true})
    for (const bool clips : {false, true}) {
      const Attributes attrs{{"pad_per_class", pads}, {"clip_boxes", clips}};
      cases.good(op, inputs(Shape{2, 9, 1, 4}, Shape{2, 9, 2}), attrs);
      cases.good(op, inputs(Shape{2, 9, 2, 4}, Shape{2, 9, 2}, 9, 99), attrs);
      cases.good(op, inputs(Shape{0, 9, 1, 4}, Shape{0, 9, 2}), attrs);
      cases.good(op, inputs(Shape{2, 0, 1, 4}, Shape{2, 0, 2}), attrs);
      cases.good(op, inputs(Shape{20, 70, 1, 4}, Shape{20, 70, 3}), attrs);
    }
  cases.good(op, inputs(Shape{1, 9, 1, 4}, Shape{1, 9, 3}));
  const Shape boxes{2, 9, 1, 4}, scores{2, 9, 2};
  cases.bad(op, inputs(Shape{2, 9, 4}, scores), {}, "[2,9,4]");
  cases.bad(op, inputs(Shape{2, 9, 3, 4}, scores), {}, "scores of shape [2,9,2]");
  cases.bad(op, inputs(Shape{2, 8, 1, 4}, scores), {}, "boxes of shape [2,8,1,4]");
  cases.bad(op, inputs(boxes, scores, 0), {}, "max_output_size_per_class is 0");
  cases.bad(op, inputs(boxes, scores, 3, 0), {}, "max_total_size is 0");
  cases.bad(op, inputs(boxes, scores, 3, 5, 1.5), {}, "iou_threshold is 1.5");
  std::vector<Tensor> wrong = inputs(boxes, scores);
  wrong[3] = ints({1, 2});
  cases.bad(op, wrong, {}, "[2]");
}

void add_drawings(OpCases& cases) {
  const Tensor boxes =
      floats(Shape{2, 3, 4}, {0,    0,    1, 1, 0.2F, 0.3F, 0.7F,      0.8F, -1,   0.5F, 0.5F, 2,
                              0.9F, 0.9F, 0, 0, NAN,  0,    HUGE_VALF, 1,    -3e9, -3e9, 3e9,  3e9});
  for (const int64_t channels : {1, 3, 4}) {
    const Tensor images = image(Shape{2, 5, 7, channels});
    cases.good_in_every_type("DrawBoundingBoxes", {images, boxes});
    cases.good_in_every_type("DrawBoundingBoxesV2", {images, boxes, image(Shape{2, 4})});
    cases.good("DrawBoundingBoxesV2", {image(Shape{2, 50, 71, channels}), boxes, image(Shape{0, 4})});
  }
  for (const char* op : {"DrawBoundingBoxes", "DrawBoundingBoxesV2"}) {
    const auto inputs = [&](const Tensor& images, const Tensor& drawn) {
      std::vector<Tensor> all = {images, drawn};
      if (std::string(op) == "DrawBoundingBoxesV2") all.push_back(image(Shape{2, 3}));
      return all;
    };
    cases.good(op, inputs(image(Shape{0, 5, 7, 3}), image(Shape{0, 2, 4})));
    cases.bad(op, inputs(image(Shape{5, 7, 3}), boxes), {}, "");
    cases.bad(op, inputs(scalar(1), boxes), {}, "");
    cases.bad(op, inputs(image(Shape{2, 5, 7, 2}), boxes), {}, "must have 1, 3 or 4 channels");
    cases.bad(op, inputs(image(Shape{1, 5, 7, 3}), boxes), {}, "boxes of shape [2,3,4]");
  }
  cases.bad("DrawBoundingBoxesV2", {image(Shape{2, 5, 7, 3}), boxes, image(Shape{4})}, {},
            "colors of shape [4]");
  cases.bad("DrawBoundingBoxesV2", {image(Shape{2, 5, 7, 3}), boxes, image(Shape{4, 2})}, {},
            "colors of shape [4,2]");
}

void add_glimpses(OpCases& cases) {
  const Tensor offsets = floats(Shape{2, 2}, {-0.7F, 0.2F, 1e30F, NAN});
  for (const char* op : {"ExtractGlimpse", "ExtractGlimpseV2"}) {
    for (const char* noise : {"uniform", "gaussian", "zero", ""})
      for (const bool flag : {false, true}) {
        Attributes attrs = {{"noise", std::string(noise)}, {"centered", flag}, {"normalized", flag}};
        attrs.set("uniform_noise", flag && std::string(noise).size() % 7 == 0);
        cases.good(op, {image(Shape{2, 4, 5, 3}), ints({3, 7}), offsets}, attrs);
        cases.good(op, {image(Shape{2, 0, 5, 3}), ints({3, 7}), offsets}, attrs);
      }
    cases.good(op, {image(Shape{3, 5, 7, 1}), ints({3, 7}), image(Shape{3, 2})});
    cases.good(op, {image(Shape{0, 4, 5, 3}), ints({3, 7}), image(Shape{0, 2})});
    cases.good(op, {image(Shape{2, 4, 5, 3}), ints({0, 7}), offsets});
    cases.bad(op, {image(Shape{4, 5, 3}), ints({3, 7}), offsets}, {}, "");
    cases.bad(op, {scalar(1), ints({3, 7}), offsets}, {}, "");
    cases.bad(op, {image(Shape{1, 4, 5, 3}), ints({3, 7}), offsets}, {}, "[2,2]");
    cases.bad(op, {image(Shape{2, 4, 5, 3}), ints({3, -7}), offsets}, {}, "-7]");
    cases.bad(op, {image(Shape{2, 4, 5, 3}), ints({3, 7}), offsets}, {{"noise", std::string("pink")}},
              "noise 'pink' exclude each other");
    cases.bad(op, {image(Shape{2, 4, 5, 3}), ints({3, 7}), offsets},
              {{"noise", std::string("pink")}, {"uniform_noise", false}}, "noise is 'pink'");
  }
}

void add_random_crops(OpCases& cases) {
  const auto size = [](int64_t height, int64_t width) { return Tensor::vector<int64_t>({height, width}); };
  const Attributes seed = {{"seed", int64_t{3}}};
  cases.good_in_every_type("RandomCrop", {random_doubles(Shape{9, 11, 3}, 1, 9), size(4, 5)}, seed);
  cases.good("RandomCrop", {image(Shape{9, 11, 3}), size(9, 11)}, seed);
  cases.good("RandomCrop", {image(Shape{9, 11, 0}), size(9, 1)}, seed);
  cases.bad("RandomCrop", {image(Shape{9, 11, 3}), size(10, 11)}, seed, "size [10,11] is not inside");
  cases.bad("RandomCrop", {image(Shape{9, 11, 3}), size(4, -5)}, seed, "-5]");
  cases.bad("RandomCrop", {image(Shape{9, 11}), size(4, 5)}, seed, "");
  cases.bad("RandomCrop", {scalar(1), size(4, 5)}, seed, "");
  for (const char* op : {"SampleDistortedBoundingBox", "SampleDistortedBoundingBoxV2"}) {
    const auto inputs = [&](const Tensor& sizes, const Tensor& boxes) {
      std::vector<Tensor> all = {sizes, boxes};
      if (std::string(op) == "SampleDistortedBoundingBoxV2") all.push_back(scalar(0.3F));
      return all;
    };
    const Tensor whole = floats(Shape{1, 1, 4}, {0, 0, 1, 1}), none = image(Shape{1, 0, 4});
    Attributes image_if_none = seed;
    image_if_none.set("use_image_if_no_bounding_boxes", true);
    cases.good_in_every_type(op, inputs(ints({40, 50, 3}), whole), seed);
    cases.good(op, inputs(ints({4000, 50, 3}), none), image_if_none);
    cases.good(op, inputs(ints({0, 50, 3}), whole), seed);
    cases.good(op, inputs(ints({2147483646, 2147483646, 3}), whole), seed);
    cases.bad(op, inputs(ints({40, 50, 3}), none), seed, "there is no bounding box");
    cases.bad(op, inputs(ints({40, -50, 3}), whole), seed, "width -50");
    cases.bad(op, inputs(ints({40, 50}), whole), seed, "");
    cases.bad(op, inputs(ints({40, 50, 3}), floats(Shape{1, 1, 4}, {0, 0, 1.5F, 1})), seed,
              "bounding_boxes[0,0,2] = 1.5");
    cases.bad(op, inputs(ints({40, 50, 3}), floats({4}, {0, 0, 1, 1})), seed, "");
    Attributes wrong = seed;
    wrong.set("max_attempts", int64_t{0});
    cases.bad(op, inputs(ints({40, 50, 3}), whole), wrong, "max_attempts is 0");
    wrong = seed;
    wrong.set("area_range", std::vector<float>{0.5F, 1.5F});
    cases.bad(op, inputs(ints({40, 50, 3}), whole), wrong, "area_range is [0.5");
    wrong = seed;
    wrong.set("aspect_ratio_range", std::vector<float>{1});
    cases.bad(op, inputs(ints({40, 50, 3}), whole), wrong, "aspect_ratio_range is [1.0");
  }
}

}  // namespace

void add_box_cases(OpCases& cases) {
  add_suppressions(cases);
  add_combined_suppression(cases);
  add_drawings(cases);
  add_glimpses(cases);
  add_random_crops(cases);
}

}  // namespace troupe::test
