// Samples of the ops that extract patches of images and volumes.
#include "tests/kernels/cases/all_cases.h"

namespace troupe::test {
namespace {

using Sizes = std::vector<int64_t>;

/// The attribute of an op for its spatial dimensions.
Sizes around(const Sizes& spatial) {
  Sizes result = {1};
  result.insert(result.end(), spatial.begin(), spatial.end());
  result.push_back(1);
  return result;
}

Attributes patches(const Sizes& sizes, const Sizes& strides, const char* padding) {
  return {{"ksizes", around(sizes)}, {"strides", around(strides)}, {"padding", std::string(padding)}};
}

Attributes patches(const Sizes& sizes, const Sizes& strides, const Sizes& rates, const char* padding) {
  Attributes result = patches(sizes, strides, padding);
  result.set("rates", around(rates));
  return result;
}

void add_image_patch_cases(OpCases& cases) {
  const char* const op = "ExtractImagePatches";
  const Tensor images = filled(Shape{2, 5, 6, 3});
  for (const char* padding : {"SAME", "VALID"}) {
    cases.good_in_every_type(op, {images}, patches({2, 3}, {1, 2}, {1, 1}, padding));
    cases.good(op, {images}, patches({3, 2}, {2, 1}, {2, 3}, padding));
    cases.good(op, {filled(Shape{1, 3, 4, 8})}, patches({2, 2}, {1, 2}, {1, 1}, padding));
    cases.good(op, {images}, patches({1, 1}, {3, 4}, {1, 1}, padding));
    cases.good(op, {filled(Shape{0, 5, 6, 3})}, patches({2, 2}, {1, 1}, {1, 1}, padding));
    cases.good(op, {filled(Shape{1, 5, 6, 0})}, patches({2, 2}, {1, 1}, {1, 1}, padding));
    cases.good(op, {filled(Shape{1, 0, 6, 2})}, patches({2, 2}, {2, 1}, {1, 1}, padding));
    cases.good(op, {filled(Shape{1, 2, 2, 1})}, patches({5, 5}, {2, 2}, {1, 1}, padding));
    cases.good(op, {converted(filled(Shape{3, 65, 70, 5}), f32)}, patches({3, 3}, {1, 1}, {1, 1}, padding));
    cases.bad(op, {filled(Shape{5, 6, 3})}, patches({2, 2}, {1, 1}, {1, 1}, padding), "");
    cases.bad(op, {doubles({}, {1})}, patches({2, 2}, {1, 1}, {1, 1}, padding), "");
    cases.bad(op, {images}, patches({0, 2}, {1, 1}, {1, 1}, padding), "ksizes is [1,0,2,1]");
    cases.bad(op, {images}, patches({2, 2}, {1, -1}, {1, 1}, padding), "strides is [1,1,-1,1]");
    cases.bad(op, {images}, patches({2, 2}, {1, 1}, {0, 1}, padding), "rates is [1,0,1,1]");
    cases.bad(op, {images}, patches({INT64_MAX, 2}, {1, 1}, {2, 1}, padding), "are too large");
  }
  cases.bad(op, {images}, patches({INT64_MAX / 2, 2}, {1, 1}, {1, 1}, "SAME"), "too large");
  cases.bad(op, {images}, patches({7, 2}, {1, 1}, {1, 1}, "VALID"),
            "patches of 7 pixels at stride 1 do not fit in 5 pixels");
  cases.good(op, {images}, patches({6, 2}, {1, 1}, {1, 1}, "VALID"));
  Attributes attrs = patches({2, 2}, {1, 1}, {1, 1}, "SAME");
  attrs.set("ksizes", Sizes{2, 1, 1, 1});
  cases.bad(op, {images}, attrs, "ksizes is [2,1,1,1]");
  attrs.set("ksizes", Sizes{1, 2, 2, 1, 1});
  cases.bad(op, {images}, attrs, "ksizes is [1,2,2,1,1]");
}

void add_volume_patches(OpCases& cases) {
  const char* const op = "ExtractVolumePatches";
  const Tensor volumes = filled(Shape{2, 4, 3, 5, 2});
  for (const char* padding : {"SAME", "VALID"}) {
    cases.good_in_every_type(op, {volumes}, patches({2, 1, 3}, {1, 2, 2}, padding));
    cases.good(op, {volumes}, patches({1, 1, 1}, {3, 1, 2}, padding));
    cases.good(op, {filled(Shape{1, 3, 3, 3, 1})}, patches({3, 2, 2}, {2, 1, 3}, padding));
    cases.good(op, {filled(Shape{0, 4, 3, 5, 2})}, patches({2, 2, 2}, {1, 1, 1}, padding));
    cases.good(op, {filled(Shape{1, 4, 3, 5, 0})}, patches({2, 2, 2}, {1, 1, 1}, padding));
    cases.good(op, {filled(Shape{1, 4, 0, 5, 2})}, patches({2, 2, 2}, {1, 2, 1}, padding));
    cases.good(op, {converted(filled(Shape{2, 15, 17, 20, 5}), f32)}, patches({3, 2, 3}, {1, 1, 1}, padding));
    cases.bad(op, {filled(Shape{4, 3, 5, 2})}, patches({2, 2, 2}, {1, 1, 1}, padding), "");
    cases.bad(op, {doubles({}, {1})}, patches({2, 2, 2}, {1, 1, 1}, padding), "");
    cases.bad(op, {volumes}, patches({2, 0, 2}, {1, 1, 1}, padding), "ksizes is [1,2,0,2,1]");
    cases.bad(op, {volumes}, patches({2, 2, 2}, {1, 1, -1}, padding), "strides is [1,1,1,-1,1]");
    cases.bad(op, {volumes}, patches({2, 2, 2, 2}, {1, 1, 1}, padding), "ksizes is [1,2,2,2,2,1]");
  }
  cases.bad(op, {volumes}, patches({2, 5, 2}, {1, 1, 1}, "VALID"),
            "patches of 5 pixels at stride 1 do not fit in 3 pixels");
  cases.bad(op, {volumes}, patches({2, INT64_MAX, 2}, {1, 1, 1}, "SAME"), "too large");
  Attributes attrs = patches({2, 2, 2}, {1, 1, 1}, "SAME");
  attrs.set("strides", Sizes{1, 1, 1, 1, 2});
  cases.bad(op, {volumes}, attrs, "strides is [1,1,1,1,2]");
}

}  // namespace

void add_patch_cases(OpCases& cases) {
  add_image_patch_cases(cases);
  add_volume_patches(cases);
}

}  // namespace troupe::test
