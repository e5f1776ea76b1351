// Slices in the form of the ops that save and restore.
#include <boost/test/unit_test.hpp>

#include "messages/tensor_files/tensor_slice.h"

namespace troupe::slice_spec_test {
namespace {

BOOST_AUTO_TEST_SUITE(slice_specs)

BOOST_AUTO_TEST_CASE(shape_and_slice_are_read) {
  const SliceSpec spec = value_or_throw(SliceSpec::parse("10 20 30 0,5:-:7,23", f32));
  BOOST_TEST((spec.shape == Shape{10, 20, 30}));
  BOOST_TEST(spec.slice.text() == "0,5:0,-1:7,23");
  BOOST_TEST(spec.range().text() == "0,5:0,20:7,23");
  BOOST_TEST((spec.slice_shape == Shape{5, 20, 23}));
  BOOST_TEST(!spec.is_whole());
  BOOST_TEST(value_or_throw(SliceSpec::parse("4 -", f32)).is_whole());
  BOOST_TEST(value_or_throw(SliceSpec::parse("4 0,4", f32)).is_whole());
}

BOOST_AUTO_TEST_CASE(other_forms_are_refused) {
  for (const std::string text : {"",
                                 "4",
                                 "-",
                                 "4 ",
                                 " 4 -",
                                 "4  -",
                                 "4 5 -",
                                 "4 -:-",
                                 "4 0",
                                 "4 0,",
                                 "4 ,4",
                                 "4 0,4,4",
                                 "4 0,5",
                                 "4 4,1",
                                 "4 -1,2",
                                 "4 0,0",
                                 "4 0,-1",
                                 "4 0,4:",
                                 "x -",
                                 "4x -",
                                 "-4 -",
                                 "99999999999999999999 -",
                                 "4 0,99999999999999999999",
                                 "4 9223372036854775807,9223372036854775807",
                                 "4294967296 4294967296 4294967296 -:-:-"}) {
    const Status status = SliceSpec::parse(text, f32).status();
    BOOST_TEST((status.code() == Code::InvalidArgument || status.code() == Code::ResourceExhausted),
               text << ": " << status.message());
  }
}

BOOST_AUTO_TEST_CASE(slices_cover_a_shape_exactly_once) {
  const Shape shape{4, 2};
  const std::vector<TensorSlice> halves = {{{0, 0}, {2, 2}}, {{2, 0}, {2, 2}}};
  BOOST_TEST(check_cover(halves, shape).ok());
  BOOST_TEST((check_cover(std::span(halves).first(1), shape).code() == Code::DataLoss));
  const std::vector<TensorSlice> overlapping = {{{0, 0}, {3, 2}}, {{2, 0}, {2, 1}}};
  BOOST_TEST((check_cover(overlapping, shape).code() == Code::DataLoss));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::slice_spec_test
