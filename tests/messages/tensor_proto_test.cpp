// The binary form of TensorProto: bytes that TensorFlow writes, and bytes that are damaged. Constants of graphs cover the fields of
// values (tests/interop/constants_test.cpp).
#include <boost/test/unit_test.hpp>

#include "messages/protobuf/tensor_proto.h"

namespace troupe::test::tensor_proto_test {
namespace {

using protobuf::TensorProto;
using namespace std::string_literals;

// Of tf.make_tensor_proto(...).SerializeToString().
const std::string two_longs = "\x08\x09\x12\x04\x12\x02\x08\x02\"\x10\x03\0\0\0\0\0\0\0\x04\0\0\0\0\0\0\0"s;
const std::string no_floats = "\x08\x01\x12\x02\x12\0"s;
const std::string three_strings = "\x08\x07\x12\x04\x12\x02\x08\x03\"\x06\x01\x02\0abb"s;

Result<Tensor> read(std::string_view bytes) {
  TROUPE_ASSIGN(const auto proto, TensorProto::parse(bytes));
  TROUPE_ASSIGN(Tensor tensor, Tensor::allocate(proto.dtype(), proto.shape()));
  TROUPE_RETURN_IF_FAILED(proto.read(tensor));
  return tensor;
}

void check_refused(const std::string& bytes, const std::string& text) {
  const auto tensor = read(bytes);
  BOOST_REQUIRE(!tensor.ok());
  BOOST_TEST((tensor.status().code() == Code::InvalidArgument));
  BOOST_TEST(tensor.status().message().find(text) != std::string::npos, tensor.status().message());
}

}  // namespace

BOOST_AUTO_TEST_SUITE(tensor_proto)

BOOST_AUTO_TEST_CASE(the_bytes_are_those_of_tensorflow) {
  const Tensor longs = Tensor::vector<int64_t>({3, 4}), floats = Tensor::vector<float>({}),
               strings = Tensor::vector<std::string>({"a", "bb", ""});
  for (const auto& [tensor, bytes] :
       {std::pair{longs, two_longs}, {floats, no_floats}, {strings, three_strings}}) {
    BOOST_TEST(protobuf::write_tensor_proto(tensor) == bytes);
    BOOST_TEST(identical(value_or_throw(read(bytes)), tensor));
  }
}

BOOST_AUTO_TEST_CASE(unknown_fields_are_skipped) {
  const std::string more = "\xa8\x06\x05\xb2\x06\x03xyz\xbd\x06\1\2\3\4\xb9\x06\1\2\3\4\5\6\7\x08"s;
  BOOST_TEST(identical(value_or_throw(read(more + two_longs)), Tensor::vector<int64_t>({3, 4})));
}

BOOST_AUTO_TEST_CASE(bytes_that_end_within_a_field_are_refused) {
  constexpr size_t dtype_end = 2, shape_end = 8;  // where fewer fields are a whole message
  for (const std::string& whole : {two_longs, three_strings})
    for (size_t size = 0; size < whole.size(); ++size)
      BOOST_TEST(read(whole.substr(0, size)).ok() == (size == dtype_end || size == shape_end), size);
}

BOOST_AUTO_TEST_CASE(bytes_that_are_no_tensor) {
  check_refused("", "dtype");
  check_refused("\x08\x63"s, "unknown dtype number 99");
  check_refused("\x08\x14"s, "a TensorProto cannot have dtype resource");
  check_refused("\x0b"s, "the bytes of a TensorProto are cut off or damaged");  // a group
  check_refused("\x00\x01"s, "cut off or damaged");                             // field 0
  check_refused("\x08\x01\x12\x02\x12\x7f"s, "the bytes of a TensorShapeProto are cut off or damaged");
  check_refused("\x08\x01\x12\x02\x18\x01"s, "shape ? is not fully known");
  check_refused("\x08\x01\x12\x00\x2a\x03\1\2\3"s, "damaged bytes in float_val");
  check_refused("\x08\x03\x12\x00\x3a\x01\xff"s, "damaged bytes in int_val");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::test::tensor_proto_test
