// Tests of the random ops on images: what they draw stays within the rules, and is spread as they say, within bounds that fail once
// in a million; and of an image that is too large for samples. Everything else is tested by samples and golden cases.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <map>

#include "tests/support/ops/run_op.h"

namespace troupe::test::images_test {
namespace {

Attributes with_seed(int64_t seed) { return {{"seed", seed}}; }

Tensor int64s(std::initializer_list<int64_t> values) { return Tensor::vector<int64_t>(values); }

BOOST_AUTO_TEST_SUITE(images)

BOOST_AUTO_TEST_CASE(random_crops_begin_everywhere_equally_often) {
  const Tensor image = counting(Shape{5, 4, 1});
  std::map<float, int> firsts;
  for (int64_t seed = 1; seed <= 4000; ++seed) {
    const Tensor crop = value_or_throw(run_op("RandomCrop", {image, int64s({3, 2})}, with_seed(seed)))[0];
    const auto pixels = crop.as<float>();
    ++firsts[pixels[0]];
    BOOST_TEST((pixels[1] == pixels[0] + 1 && pixels[2] == pixels[0] + 4));
  }
  BOOST_TEST(firsts.size() == 9U);  // rows 0 to 2, columns 0 to 2
  for (const auto& [pixel, count] : firsts)
    BOOST_TEST(std::abs(count - 4000 / 9.0) < 5 * std::sqrt(4000 / 9.0), pixel << " begins " << count);
}

BOOST_AUTO_TEST_CASE(distorted_boxes_keep_to_their_rules) {
  Attributes attrs;
  attrs.set("aspect_ratio_range", std::vector<float>{0.5F, 2});
  attrs.set("area_range", std::vector<float>{0.1F, 0.6F});
  const Tensor box = floats(Shape{1, 1, 4}, {0.2F, 0.3F, 0.7F, 0.8F});
  double tops = 0, lefts = 0;
  int whole = 0;
  for (int64_t seed = 1; seed <= 2000; ++seed) {
    attrs.set("seed", seed);
    const auto outputs = value_or_throw(
        run_op("SampleDistortedBoundingBoxV2", {ints({200, 300, 3}), box, floats({}, {0.5F})}, attrs));
    const auto begin = outputs[0].as<int32_t>(), size = outputs[1].as<int32_t>();
    const auto bounds = outputs[2].as<float>();
    BOOST_TEST((begin[2] == 0 && size[2] == -1));
    BOOST_TEST((begin[0] >= 0 && begin[1] >= 0 && begin[0] + size[0] <= 200 && begin[1] + size[1] <= 300));
    BOOST_TEST(bounds[3] == static_cast<float>(begin[1] + size[1]) / 300);
    if (size[0] == 200 && size[1] == 300) {
      ++whole;
      continue;
    }
    const double area = double{1} * size[0] * size[1] / 60000, aspect = double{1} * size[1] / size[0];
    BOOST_TEST((area >= 0.1 && area <= 0.6));
    BOOST_TEST((aspect > 0.48 && aspect < 2.05));
    const double height = std::min(begin[0] + size[0], 140) - std::max(begin[0], 40);
    const double width = std::min(begin[1] + size[1], 240) - std::max(begin[1], 90);
    BOOST_TEST((height > 0 && width > 0 && height * width >= 0.5 * 100 * 150));
    tops += begin[0] + size[0] / 2.0;
    lefts += begin[1] + size[1] / 2.0;
  }
  BOOST_TEST(whole == 0);
  BOOST_TEST(tops / 2000 == 93,
             boost::test_tools::tolerance(0.05));  // the box's centre is at 90, the image's at 100
  BOOST_TEST(lefts / 2000 == 160, boost::test_tools::tolerance(0.05));  // 165 and 150
}

BOOST_AUTO_TEST_CASE(the_whole_image_is_taken_when_nothing_else_is_allowed) {
  Attributes attrs = with_seed(5);
  attrs.set("area_range", std::vector<float>{0.6F, 0.5F});
  const auto outputs = value_or_throw(
      run_op("SampleDistortedBoundingBox", {ints({20, 30, 3}), floats(Shape{1, 1, 4}, {0, 0, 1, 1})}, attrs));
  BOOST_TEST(identical(outputs[0], ints({0, 0, 0})));
  BOOST_TEST(identical(outputs[1], ints({20, 30, -1})));
}

Tensor noise(const std::string& kind, const Tensor& input, const StepInfo& step = {}) {
  const Attributes attrs = {{"uniform_noise", false}, {"noise", kind}};
  return value_or_throw(run_op("ExtractGlimpse", {input, ints({100, 100}), floats(Shape{1, 2}, {9, 9})},
                               attrs, Known::Values, step))[0];
}

BOOST_AUTO_TEST_CASE(noise_around_a_glimpse_has_the_range_of_the_image) {
  const Tensor input = floats(Shape{1, 2, 2, 1}, {-1, 2, 3, 4});  // mean 2, deviation sqrt(3.5)
  for (const char* kind : {"uniform", "gaussian"}) {
    double sum = 0, squares = 0;
    const Tensor glimpse = noise(kind, input);
    for (const float value : glimpse.as<float>()) {
      BOOST_TEST_REQUIRE((value >= -1 && value <= 4));
      sum += value / 1e4;
      squares += double{value} * value / 1e4;
    }
    const bool uniform = std::string(kind) == "uniform";
    BOOST_TEST(sum == (uniform ? 1.5 : 1.88),
               boost::test_tools::tolerance(0.06));  // the range cuts off more above than below
    BOOST_TEST(std::sqrt(squares - sum * sum) == (uniform ? 5 / std::sqrt(12.0) : 1.56),
               boost::test_tools::tolerance(0.06));
  }
  BOOST_TEST(identical(noise("uniform", input), noise("uniform", input)));
  StepInfo later;
  later.ordinal = 7;
  BOOST_TEST(!identical(noise("uniform", input), noise("uniform", input, later)));
}

BOOST_AUTO_TEST_CASE(a_crop_ends_in_the_image_where_floats_do_not_tell_pixels_apart) {
  const int64_t width = (1 << 24) + 4;  // as a float, the number of the last pixel is this one
  Tensor image = value_or_throw(Tensor::allocate(DType::UInt8, Shape{1, 1, width, 1}));
  const auto pixels = image.write<uint8_t>();
  std::ranges::fill(pixels, uint8_t{0});
  pixels[0] = 3;
  pixels.back() = 7;
  for (const char* method : {"bilinear", "nearest"}) {
    const auto crop = value_or_throw(
        run_op("CropAndResize", {image, floats(Shape{1, 4}, {0, 0, 1, 1}), ints({0}), ints({1, 2})},
               {{"method", method}}))[0];
    BOOST_TEST(identical(crop, floats(Shape{1, 1, 2, 1}, {3, 7})));
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::test::images_test
