// Output sizes and padding of windows, for each kind of padding.
#include "kernels/ops/nn/windows.h"

#include <boost/test/unit_test.hpp>

#include "tests/support/ops/run_op.h"
#include "tests/support/says.h"

namespace troupe::test::windows_test {
namespace {

/// "output before after", or why there is none.
std::string window(int64_t size, int64_t window, int64_t stride, int64_t dilation, PaddingKind kind,
                   int64_t before = 0, int64_t after = 0) {
  const auto result = window_dimension(size, window, stride, dilation, kind, before, after);
  if (!result.ok()) return result.status().message();
  return std::to_string(result->output) + " " + std::to_string(result->pad_before) + " " +
         std::to_string(result->pad_after);
}

BOOST_AUTO_TEST_SUITE(windows)

BOOST_AUTO_TEST_CASE(sizes_and_padding) {
  BOOST_TEST(window(224, 7, 2, 1, PaddingKind::Same) == "112 2 3");
  BOOST_TEST(window(10, 3, 1, 2, PaddingKind::Same) == "10 2 2");
  BOOST_TEST(window(4, 1, 3, 1, PaddingKind::Same) == "2 0 0");
  BOOST_TEST(window(0, 3, 2, 1, PaddingKind::Same) == "0 0 0");
  BOOST_TEST(window(56, 3, 2, 1, PaddingKind::Valid) == "27 0 0");
  BOOST_TEST(window(10, 3, 2, 3, PaddingKind::Valid) == "2 0 0");
  BOOST_TEST(window(2, 3, 2, 1, PaddingKind::Valid) == "0 0 0");
  BOOST_TEST(window(5, 3, 2, 1, PaddingKind::Explicit, 1, 2) == "3 1 2");
  BOOST_TEST(window(unknown_dim, 3, 2, 1, PaddingKind::Valid) == "-1 0 0");
  BOOST_TEST(window(7, unknown_dim, 2, 1, PaddingKind::Same) == "4 -1 -1");
}

BOOST_AUTO_TEST_CASE(refused) {
  BOOST_TEST(says(window(5, 3, 0, 1, PaddingKind::Same), "the stride is 0"));
  BOOST_TEST(says(window(5, 3, 1, -1, PaddingKind::Same), "the dilation is -1"));
  BOOST_TEST(says(window(5, 0, 1, 1, PaddingKind::Same), "the window has 0 elements"));
  BOOST_TEST(says(window(1, 4, 2, 1, PaddingKind::Valid), "negative size"));
  for (const PaddingKind kind : {PaddingKind::Same, PaddingKind::Valid})
    BOOST_TEST(says(window(5, 3, 1, INT64_MAX, kind), "does not fit int64"));
  BOOST_TEST(says(window(5, 3, 1, 1, PaddingKind::Explicit, INT64_MAX, 1), "does not fit int64"));
}

BOOST_AUTO_TEST_CASE(axes_of_data_formats) {
  const ImageAxes last = value_or_throw(image_axes("NHWC")), second = value_or_throw(image_axes("NCDHW"));
  BOOST_TEST(last.channels_last());
  ShortList<WindowDimension> windows(2);
  windows[0].output = 5;
  windows[1].output = 6;
  BOOST_TEST((image_dims(last, 8, windows, 3) == Dims{8, 5, 6, 3}));
  BOOST_TEST((value_or_throw(spatial_part(Dims{1, 2, 3, 4}, last, "strides")) == Dims{2, 3}));
  BOOST_TEST((value_or_throw(only_spatial_part(Dims{1, 1, 3, 4, 5}, second, "strides")) == Dims{3, 4, 5}));
  BOOST_TEST(says(only_spatial_part(Dims{1, 2, 3, 4, 5}, second, "strides").status().message(),
                  "strides [1,2,3,4,5] must be 1 in the batch"));
  BOOST_TEST(says(image_axes("HWC").status().message(), "'HWC'"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::test::windows_test
