// Constants of every type and form, and those whose bytes disagree with what they are said to be.
#include <boost/test/unit_test.hpp>

#include "tests/interop/graph_file.h"
#include "tests/support/ops/run_op.h"

namespace troupe::test::constants_test {
namespace {

std::string file(const std::string& dtype, const std::string& tensor) {
  return node(
      "c", "Const", "",
      attr("dtype", "type: " + dtype) + attr("value", "tensor { dtype: " + dtype + ' ' + tensor + " }"));
}
std::string shape(std::initializer_list<int64_t> dims) {
  std::string text = "tensor_shape { ";
  for (const int64_t dim : dims) text += "dim { size: " + std::to_string(dim) + " } ";
  return text + "} ";
}

Tensor value(const std::string& dtype, const std::string& tensor) {
  const Graph graph = value_or_throw(read(file(dtype, tensor)));
  return graph.node(0).attrs.get<Tensor>("value");
}
template <class T>
void check_value(const std::string& dtype, const std::string& tensor, const Shape& dims,
                 std::initializer_list<T> expected) {
  BOOST_TEST(identical(value(dtype, tensor), Tensor::of<T>(dims, expected)), dtype << ' ' << tensor);
}
void check_refused(const std::string& dtype, const std::string& tensor, const std::string& message,
                   const interop::GraphLimits& limits = {}) {
  const std::string refused = refusal(file(dtype, tensor), limits);
  BOOST_TEST(refused.find("[Const] c: attribute value: ") != std::string::npos, refused);
  BOOST_TEST(refused.find(message) != std::string::npos, refused << " does not say: " << message);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(constants)

BOOST_AUTO_TEST_CASE(each_type_has_its_field) {
  check_value<float>("DT_FLOAT", shape({2}) + "float_val: [1.5, -2]", {2}, {1.5f, -2});
  check_value<double>("DT_DOUBLE", shape({2}) + "double_val: [1.5, -2]", {2}, {1.5, -2});
  check_value<int32_t>("DT_INT32", shape({2}) + "int_val: [1, -2]", {2}, {1, -2});
  check_value<int64_t>("DT_INT64", shape({2}) + "int64_val: [1, -2]", {2}, {1, -2});
  check_value<uint8_t>("DT_UINT8", shape({2}) + "int_val: [1, 255]", {2}, {1, 255});
  check_value<int8_t>("DT_INT8", shape({2}) + "int_val: [1, -128]", {2}, {1, -128});
  check_value<int16_t>("DT_INT16", shape({2}) + "int_val: [1, -2]", {2}, {1, -2});
  check_value<uint16_t>("DT_UINT16", shape({2}) + "int_val: [1, 65535]", {2}, {1, 65535});
  check_value<uint32_t>("DT_UINT32", shape({2}) + "uint32_val: [1, 4294967295]", {2}, {1, 4294967295});
  check_value<uint64_t>("DT_UINT64", shape({2}) + "uint64_val: [1, 18446744073709551615]", {2},
                        {1, UINT64_MAX});
  check_value<QInt8>("DT_QINT8", shape({2}) + "int_val: [1, -2]", {2}, {QInt8{1}, QInt8{-2}});
  check_value<QInt32>("DT_QINT32", shape({1}) + "int_val: -7", {1}, {QInt32{-7}});
  check_value<Half>("DT_HALF", shape({1}) + "half_val: 15360", {1}, {Half(1)});
  check_value<BFloat16>("DT_BFLOAT16", shape({1}) + "half_val: 16256", {1}, {BFloat16(1)});
  check_value<bool>("DT_BOOL", shape({2}) + "bool_val: [true, false]", {2}, {true, false});
  check_value<std::string>("DT_STRING", shape({2}) + "string_val: ['a', '\\000b']", {2},
                           {"a", std::string("\0b", 2)});
  check_value<std::complex<float>>("DT_COMPLEX64", shape({1}) + "scomplex_val: [1, 2]", {1}, {{1, 2}});
  check_value<std::complex<double>>("DT_COMPLEX128", shape({1}) + "dcomplex_val: [1, 2]", {1}, {{1, 2}});
}

BOOST_AUTO_TEST_CASE(the_last_value_stands_for_the_rest) {
  check_value<float>("DT_FLOAT", shape({2, 2}) + "float_val: [1, 2]", {2, 2}, {1, 2, 2, 2});
  check_value<std::complex<float>>("DT_COMPLEX64", shape({2}) + "scomplex_val: [1, 2]", {2},
                                   {{1, 2}, {1, 2}});
  check_value<std::string>("DT_STRING", shape({2}) + "string_val: 'ab'", {2}, {"ab", "ab"});
  check_value<int32_t>("DT_INT32", shape({3}), {3}, {0, 0, 0});
  check_value<int32_t>("DT_INT32", shape({0, 3}), {0, 3}, {});
  check_value<std::string>("DT_STRING", shape({0}) + "string_val: 'a'", {0}, {});
  check_value<float>("DT_FLOAT", shape({2, 0}) + "float_val: [1, 2]", {2, 0}, {});
  check_value<uint64_t>("DT_UINT64", shape({0}) + "uint64_val: 7", {0}, {});
}

BOOST_AUTO_TEST_CASE(packed_bytes) {
  check_value<int16_t>("DT_INT16", shape({2}) + "tensor_content: '\\001\\000\\377\\377'", {2}, {1, -1});
  check_value<bool>("DT_BOOL", shape({2}) + "tensor_content: '\\001\\000'", {2}, {true, false});
  check_value<std::string>("DT_STRING", shape({2}) + "tensor_content: '\\001\\002abb'", {2}, {"a", "bb"});
}

BOOST_AUTO_TEST_CASE(bytes_that_disagree) {
  check_refused("DT_FLOAT", shape({2}) + "tensor_content: 'abc'",
                "a tensor of float[2] has 3 bytes of tensor_content");
  check_refused("DT_FLOAT", shape({0}) + "tensor_content: 'abcd'", "has 4 bytes");
  check_refused("DT_BOOL", shape({1}) + "tensor_content: '\\002'", "a byte that is neither 0 nor 1");
  check_refused("DT_FLOAT", shape({1}) + "float_val: [1, 2]", "has 2 elements in float_val");
  check_refused("DT_FLOAT", shape({2}) + "int_val: [1, 2]", "elements in other fields than float_val");
  check_refused("DT_COMPLEX64", shape({1}) + "scomplex_val: 1", "half a value in scomplex_val");
  check_refused("DT_INT8", shape({1}) + "int_val: 128", "a value out of range in int_val");
  check_refused("DT_HALF", shape({1}) + "half_val: 65536", "a value out of range in half_val");
  check_refused("DT_STRING", shape({2}) + "tensor_content: '\\001\\002ab'", "too few bytes");
  check_refused("DT_STRING", shape({2}) + "tensor_content: '\\001'", "too few lengths");
  check_refused("DT_STRING", shape({1}) + "tensor_content: '\\001ab'", "bytes left over");
  check_refused("DT_STRING", shape({1}) + "tensor_content: '\\377\\377\\377\\377\\017'", "too few bytes");
  check_refused("DT_RESOURCE", shape({1}), "a TensorProto cannot have dtype resource");
  BOOST_TEST(refusal(node("c", "Const", "", attr("value", "tensor { dtype: 99 }"))) ==
             "InvalidArgument: [Const] c: attribute value: unknown dtype 99");
}

BOOST_AUTO_TEST_CASE(shapes_that_cannot_be) {
  check_refused("DT_FLOAT", shape({-1}), "not fully known");
  check_refused("DT_FLOAT", shape({-2}), "-2");
  check_refused("DT_FLOAT", "tensor_shape { unknown_rank: true }", "not fully known");
  check_refused("DT_FLOAT", shape({int64_t{1} << 62, 4}), "");
  check_refused("DT_DOUBLE", shape({int64_t{1} << 36}) + "double_val: 1",
                "limit constant_bytes leaves 2147483648");
  check_refused("DT_STRING", shape({1 << 20}) + "string_val: '" + std::string(3000, 'x') + "'",
                "limit constant_bytes leaves");
  check_refused("DT_FLOAT", shape({100}) + "float_val: 1",
                "takes 400 bytes, but the limit constant_bytes leaves 399", {.constant_bytes = 399});
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::test::constants_test
