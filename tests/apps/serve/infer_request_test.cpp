// The requests and answers of the Open Inference Protocol: what it documents becomes tensors and back, as JSON and as binary data,
// and mistakes are named with their place.
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <limits>

#include "apps/serve/infer_answer.h"
#include "apps/serve/infer_request.h"
#include "tests/apps/serve/echo_model.h"

namespace troupe::test::infer_request_test {
namespace {

using serve::InferAnswer;
using serve::InferRequest;

struct Fixture : EchoModel {
  Result<InferRequest> parse(const std::string& body, const std::string& json_length = {}) {
    return parser.parse(body, json_length, *model);
  }
  std::string mistake(const std::string& body, const std::string& json_length = {}) {
    return parse(body, json_length).status().message();
  }
  /// Returns the answer of the model to a request, which must succeed.
  InferAnswer answer(const std::string& body, const std::string& json_length = {}) {
    const InferRequest request = value_or_throw(parse(body, json_length));
    return value_or_throw(serve::infer_answer("m", 3, model->signature(request.inputs.signature),
                                              request.inputs.inputs, request.wanted));
  }
  /// Returns the answer to a request with binary data.
  InferAnswer answer_to_binary(const std::string& json, const std::string& binary) {
    return answer(json + binary, std::to_string(json.size()));
  }
  std::string mistake_of_binary(const std::string& json, const std::string& binary) {
    return mistake(json + binary, std::to_string(json.size()));
  }

  serve::InferParser parser;
};

/// Returns numbers as they lie in memory.
template <class T>
std::string bytes_of(std::initializer_list<T> numbers) {
  return {reinterpret_cast<const char*>(numbers.begin()), numbers.size() * sizeof(T)};
}

/// Returns an input "x" with these members behind its name, in a request.
std::string x_with(const std::string& members) { return R"({"inputs":[{"name":"x",)" + members + "}]}"; }
std::string x_of(const std::string& shape, const std::string& data) {
  return x_with(R"("datatype":"FP32","shape":)" + shape + R"(,"data":)" + data);
}
std::string binary_x(const std::string& shape, const std::string& size) {
  return x_with(R"("datatype":"FP32","shape":)" + shape + R"(,"parameters":{"binary_data_size":)" + size +
                "}");
}

constexpr const char* answer_begin = R"({"model_name":"m","model_version":"3",)";
/// The inputs of the signature "all" without x and the end of the list.
constexpr const char* begin_of_all =
    R"({"parameters":{"signature_name":"all"},"inputs":[{"name":"t","datatype":"BYTES","shape":[2],"data":["a","b\""]},)"
    R"({"name":"n","datatype":"INT32","shape":[2],"data":[7,-1]},{"name":"b","datatype":"BOOL","shape":[2],"data":[true,false]})";

}  // namespace

BOOST_FIXTURE_TEST_SUITE(infer_request, Fixture)

BOOST_AUTO_TEST_CASE(data_are_flat_or_nested) {
  const std::string expected =
      std::string(answer_begin) +
      R"("outputs":[{"name":"x","datatype":"FP32","shape":[2,2],"data":[1,2.5,-300,0]}]})";
  BOOST_TEST(answer(x_of("[2,2]", "[1,2.5,-3e2,0]")).body == expected);
  BOOST_TEST(answer(x_of("[2,2]", "[[1,2.5],[-3e2,0]]")).body == expected);
  const InferRequest request = value_or_throw(parse(x_of("[2,2]", "[1,2,3,4]")));
  BOOST_TEST(request.inputs.signature == "serving_default");
  BOOST_TEST(request.inputs.rows == 2);
  BOOST_TEST(!request.inputs.instances());
  BOOST_TEST(answer(x_of("[0,2]", "[]")).body ==
             std::string(answer_begin) +
                 R"("outputs":[{"name":"x","datatype":"FP32","shape":[0,2],"data":[]}]})");
}

BOOST_AUTO_TEST_CASE(the_id_comes_back_if_there_is_one) {
  const std::string input = R"("inputs":[{"name":"x","datatype":"FP32","shape":[1,2],"data":[1,2]}]})";
  const std::string output = R"("outputs":[{"name":"x","datatype":"FP32","shape":[1,2],"data":[1,2]}]})";
  BOOST_TEST(answer(R"({"id":"4\"2",)" + input).body == answer_begin + (R"("id":"4\"2",)" + output));
  BOOST_TEST(answer(R"({"id":"",)" + input).body == answer_begin + (R"("id":"",)" + output));
  BOOST_TEST(answer(R"({"id":null,"parameters":null,"outputs":null,)" + input).body == answer_begin + output);
}

BOOST_AUTO_TEST_CASE(outputs_are_chosen_and_ordered) {
  const std::string body =
      std::string(begin_of_all) + R"(,{"name":"x","datatype":"FP32","shape":[2,2],"data":[1,2,3,4]}])";
  BOOST_TEST(answer(body + R"(,"outputs":[{"name":"t"},{"name":"b"}]})").body ==
             std::string(answer_begin) +
                 R"("outputs":[{"name":"t","datatype":"BYTES","shape":[2],"data":["a","b\""]},)"
                 R"({"name":"b","datatype":"BOOL","shape":[2],"data":[true,false]}]})");
  const std::string all = answer(body + '}').body;
  BOOST_TEST(all.find(R"({"name":"n","datatype":"INT32","shape":[2],"data":[7,-1]})") != std::string::npos,
             all);
  BOOST_TEST(answer(body + R"(,"outputs":[]})").body == all);
}

BOOST_AUTO_TEST_CASE(narrow_floats_and_the_largest_integers) {
  BOOST_TEST(answer(R"({"parameters":{"signature_name":"narrow_and_large"},"inputs":[)"
                    R"({"name":"u","datatype":"UINT64","shape":[1],"data":[18446744073709551615]},)"
                    R"({"name":"h","datatype":"FP16","shape":[1],"data":[0.1]},)"
                    R"({"name":"v","datatype":"BF16","shape":[1],"data":[1.5]}]})")
                 .body == std::string(answer_begin) +
                              R"("outputs":[{"name":"h","datatype":"FP16","shape":[1],"data":[0.099975586]},)"
                              R"({"name":"u","datatype":"UINT64","shape":[1],"data":[18446744073709551615]},)"
                              R"({"name":"v","datatype":"BF16","shape":[1],"data":[1.5]}]})");
}

// Binary data.

BOOST_AUTO_TEST_CASE(binary_data_go_through_as_they_are) {
  const std::string json =
      R"({"parameters":{"signature_name":"all","binary_data_output":true},"inputs":[)"
      R"({"name":"b","datatype":"BOOL","shape":[2],"parameters":{"binary_data_size":2}},)"
      R"({"name":"n","datatype":"INT32","shape":[2],"parameters":{"binary_data_size":8}},)"
      R"({"name":"t","datatype":"BYTES","shape":[2],"parameters":{"binary_data_size":11}},)"
      R"({"name":"x","datatype":"FP32","shape":[2,2],"parameters":{"binary_data_size":16}}]})";
  const std::string binary = bytes_of<uint8_t>({1, 0}) + bytes_of<int32_t>({7, -1}) +
                             bytes_of<uint32_t>({3}) + std::string("\0\xff\n", 3) + bytes_of<uint32_t>({0}) +
                             bytes_of<float>({1, std::nanf(""), INFINITY, -0.0f});
  const std::string expected =
      std::string(answer_begin) +
      R"("outputs":[{"name":"b","datatype":"BOOL","shape":[2],"parameters":{"binary_data_size":2}},)"
      R"({"name":"n","datatype":"INT32","shape":[2],"parameters":{"binary_data_size":8}},)"
      R"({"name":"t","datatype":"BYTES","shape":[2],"parameters":{"binary_data_size":11}},)"
      R"({"name":"x","datatype":"FP32","shape":[2,2],"parameters":{"binary_data_size":16}}]})";
  const InferAnswer whole = answer_to_binary(json, binary);
  BOOST_TEST_REQUIRE(whole.json_length.has_value());
  BOOST_TEST(*whole.json_length == expected.size());
  BOOST_TEST((whole.body == expected + binary), whole.body);
}

// The inputs are in another order than in the signature, and some are JSON.
BOOST_AUTO_TEST_CASE(binary_data_are_in_the_order_of_the_request) {
  const std::string json =
      R"({"parameters":{"signature_name":"narrow_and_large"},"inputs":[)"
      R"({"name":"v","datatype":"BF16","shape":[1],"parameters":{"binary_data_size":2}},)"
      R"({"name":"h","datatype":"FP16","shape":[1],"data":[2]},)"
      R"({"name":"u","datatype":"UINT64","shape":[1],"parameters":{"binary_data_size":8}}],)"
      R"("outputs":[{"name":"u"},{"name":"v"},{"name":"h","parameters":{"binary_data":true}}]})";
  const InferAnswer whole = answer_to_binary(json, bytes_of<uint16_t>({0x3fc0}) + bytes_of<uint64_t>({5}));
  const std::string expected =
      std::string(answer_begin) +
      R"("outputs":[{"name":"u","datatype":"UINT64","shape":[1],"data":[5]},)"
      R"({"name":"v","datatype":"BF16","shape":[1],"data":[1.5]},)"
      R"({"name":"h","datatype":"FP16","shape":[1],"parameters":{"binary_data_size":2}}]})";
  BOOST_TEST((whole.body == expected + bytes_of<uint16_t>({0x4000})), whole.body);
}

BOOST_AUTO_TEST_CASE(an_output_may_be_json_though_the_others_are_binary) {
  const std::string json = binary_x("[1,2]", "8");
  const std::string numbers = bytes_of<float>({std::nanf(""), INFINITY});
  const auto with_outputs = [&](const std::string& outputs) {
    return json.substr(0, json.size() - 1) + R"(,"parameters":{"binary_data_output":true},"outputs":)" +
           outputs + '}';
  };
  const std::string as_json =
      std::string(answer_begin) +
      R"("outputs":[{"name":"x","datatype":"FP32","shape":[1,2],"data":[null,null]}]})";
  const InferAnswer unasked = answer_to_binary(json, numbers);
  BOOST_TEST(unasked.body == as_json);
  BOOST_TEST(!unasked.json_length.has_value());
  BOOST_TEST(
      answer_to_binary(with_outputs(R"([{"name":"x","parameters":{"binary_data":false}}])"), numbers).body ==
      as_json);
  BOOST_TEST(answer_to_binary(with_outputs(R"([{"name":"x"}])"), numbers).json_length.has_value());
}

BOOST_AUTO_TEST_CASE(mistakes_of_binary_data_are_named) {
  const std::string size = "inputs[0].parameters.binary_data_size: ";
  const std::vector<std::tuple<std::string, std::string, std::string>> cases = {
      {binary_x("[1,2]", "8"), std::string(7, '\0'),
       size + "expected at most 7, the bytes that are left behind the JSON, found 8"},
      {binary_x("[1,2]", "8"), std::string(9, '\0'),
       "behind the JSON there are 1 bytes more than the inputs have"},
      {binary_x("[2,2]", "8"), std::string(8, '\0'), size + "input 'x' of FP32[2,2] has 16 bytes, found 8"},
      {binary_x("[1,2]", "-8"), std::string(8, '\0'), size + "expected a whole number from 0 to"},
      {binary_x("[1,2]", "18446744073709551615"), std::string(8, '\0'),
       size + "expected a whole number from 0 to"},
      {binary_x("[1,2]", "9223372036854775807"), std::string(8, '\0'), size + "expected at most 8"},
      {binary_x("[1,2]", "\"8\""), std::string(8, '\0'), "found text"},
      {x_of("[1,2]", "[1,2]"), "more", "behind the JSON there are 4 bytes more"},
      {x_with(R"("datatype":"FP32","shape":[1,2],"data":[1,2],"parameters":{"binary_data_size":8})"),
       std::string(8, '\0'), "inputs[0]: both data and the parameter binary_data_size are there"},
      {R"({"inputs":[)", std::string(8, ' '), "the body is not JSON"}};
  for (const auto& [json, binary, expected] : cases)
    BOOST_TEST(mistake_of_binary(json, binary).find(expected) != std::string::npos,
               json << ": " << mistake_of_binary(json, binary));
  BOOST_TEST(
      mistake(binary_x("[1,2]", "8")).find("the request has no header Inference-Header-Content-Length") !=
      std::string::npos);
  for (const char* const length : {"x", "-1", "1000", "1 ", "99999999999999999999"})
    BOOST_TEST(mistake("{}", length)
                       .find(std::string("the header Inference-Header-Content-Length is '") + length +
                             "'; expected the length of the JSON, which is at most that of the body: 2") !=
                   std::string::npos,
               length);
}

BOOST_AUTO_TEST_CASE(texts_must_fill_their_bytes) {
  const auto mistake_of = [&](const std::string& binary, const std::string& shape = "[2]") {
    const std::string end = R"(,{"name":"x","datatype":"FP32","shape":[1,2],"data":[1,2]}]})";
    return mistake_of_binary(
        R"({"parameters":{"signature_name":"all"},"inputs":[{"name":"t","datatype":"BYTES","shape":)" +
            shape + R"(,"parameters":{"binary_data_size":)" + std::to_string(binary.size()) + "}}" + end,
        binary);
  };
  const std::string one = bytes_of<uint32_t>({1}) + 'a';
  const std::string begin = "inputs[0].parameters.binary_data_size: the shape [2] has 2 elements, ";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "whose lengths alone take more than 0 bytes"},
      {one, "whose lengths alone take more than 5 bytes"},
      {one + "bcd", "but element 1 is missing"},
      {one + bytes_of<uint32_t>({2}) + 'b', "but element 1 has the length 2, and only 1 bytes follow"},
      {one + bytes_of<uint32_t>({0xffffffff}),
       "but element 1 has the length 4294967295, and only 0 bytes follow"},
      {one + one + "x", "but 1 bytes follow them"}};
  for (const auto& [binary, expected] : cases)
    BOOST_TEST(mistake_of(binary).find(begin + expected) != std::string::npos, mistake_of(binary));
  BOOST_TEST(mistake_of(one, "[1000000000]").find("whose lengths alone take more") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(truth_values_are_0_or_1) {
  const std::string json =
      R"({"parameters":{"signature_name":"all"},"inputs":[{"name":"b","datatype":"BOOL","shape":[3],)"
      R"("parameters":{"binary_data_size":3}}]})";
  BOOST_TEST(mistake_of_binary(json, std::string("\1\0\xff", 3))
                 .find("element 2 is the byte 255; a BOOL is 0 or 1") != std::string::npos);
}

// Mistakes.

BOOST_AUTO_TEST_CASE(mistakes_are_named) {
  const std::string x = R"({"name":"x","datatype":"FP32","shape":[1,2],"data":[1,2]})";
  const std::string shape = R"("data":[1,2],"datatype":"FP32","shape":)";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "the body is not JSON"},
      {"[1]", "the body must be an object, found a list"},
      {"{}", "the body: inputs is missing"},
      {R"({"inputs":{}})", "inputs: expected a list, found an object"},
      {R"({"inputs":[3]})", "inputs[0]: expected an object, found the number 3"},
      {R"({"inputs":[]})", "inputs: input 'x' is missing"},
      {R"({"instances":[]})",
       "the body has the member 'instances'; allowed are id, parameters, inputs, outputs"},
      {R"({"id":42,"inputs":[]})", "id: expected text, found the number 42"},
      {R"({"parameters":[],"inputs":[]})", "parameters: expected an object, found a list"},
      {R"({"parameters":{"signature_name":1},"inputs":[]})",
       "parameters.signature_name: expected text, found the number 1"},
      {R"({"parameters":{"signature_name":"none"},"inputs":[]})", "has no signature 'none'"},
      {R"({"parameters":{"sequence_id":1},"inputs":[]})", "parameters.sequence_id: not available"},
      {R"({"parameters":{"binary_data_output":1},"inputs":[)" + x + "]}",
       "parameters.binary_data_output: expected true or false, found the number 1"},
      {R"({"inputs":[{"shape":[1,2]}]})", "inputs[0]: name is missing"},
      {R"({"inputs":[{"name":"y"}]})",
       "inputs[0].name: signature 'serving_default' has no input 'y'; its inputs are x (float[?,2])"},
      {R"({"inputs":[)" + x + ',' + x + "]}", "inputs[1].name: input 'x' is there twice"},
      {x_with(R"("shape":[1,2],"data":[1,2])"), "inputs[0]: datatype is missing"},
      {x_with(R"("datatype":"FP64","shape":[1,2],"data":[1,2])"),
       "inputs[0].datatype: input 'x' is FP32, found 'FP64'"},
      {x_with(R"("datatype":"FP32","data":[1,2])"), "inputs[0]: shape is missing"},
      {x_with(R"("datatype":"FP32","shape":[1,2])"), "inputs[0]: data is missing"},
      {x_with(R"("dtype":"FP32")"), "inputs[0] has the member 'dtype'; allowed are name, shape, datatype"},
      {x_with(shape + "2"), "inputs[0].shape: expected a list, found the number 2"},
      {x_with(shape + "[1,-2]"),
       "inputs[0].shape[1]: expected a whole number from 0 to 9223372036854775807, found the number -2"},
      {x_with(shape + "[1,2.5]"), "inputs[0].shape[1]: expected a whole number"},
      {x_with(shape + "[1,18446744073709551615]"), "inputs[0].shape[1]: expected a whole number"},
      {x_with(shape + "[9223372036854775807,2]"),
       "inputs[0].shape: shape [9223372036854775807,2] of float has more"},
      {x_with(shape + "[4611686018427387904,2]"), "of float has more than 2^63 - 1 elements"},
      {x_with(shape + "[1000000000000,2]"), "of float needs more than"},
      {x_with(shape + "[100000000,2]"), "the shape [100000000,2] has more elements than the lists"},
      {x_with(shape + "[1,3]"), "inputs[0].shape: input 'x' must be float[?,2], found [1,3]"},
      {x_with(shape + "[2,2]"), "inputs[0].data: the shape [2,2] has 4 elements, found a list of 2"},
      {x_of("[1,2]", "3"), "inputs[0].data: expected a list, found the number 3"},
      {x_of("[1,2]", "[1,[2]]"), "inputs[0].data[1]: expected a float, found a list"},
      {x_of("[2,2]", "[[1,2],[3]]"),
       "inputs[0].data[1]: expected a list of 2, as the shape says, found one of 1"},
      {x_of("[100000000,2]", "[[1,2]]"), "the shape [100000000,2] has more elements than the lists"},
      {x_of("[1,2]", R"([1,"a"])"), "inputs[0].data[1]: expected a float, found text"},
      {x_of("[1,2]", "[1,null]"), "inputs[0].data[1]: expected a float, found null"},
      {x_of("[1,2]", "[1,1e39]"), "expected a float, found the number 1e+39, which is out of range"},
      {x_of("[1,2]", "[1,NaN]"), "JSON has no NaN"},
      {std::string(begin_of_all) + "]}", "inputs: input 'x' is missing"},
      {R"({"parameters":{"signature_name":"complex"},"inputs":[{"name":"c","datatype":"FP32"}]})",
       "inputs[0]: input 'c' is complex64[?], of which the Open Inference Protocol has no values"},
      {R"({"inputs":[)" + x + R"(],"outputs":{"name":"x"}})", "outputs: expected a list, found an object"},
      {R"({"inputs":[)" + x + R"(],"outputs":[{"name":"y"}]})",
       "outputs[0].name: signature 'serving_default' has no output 'y'; its outputs are x (float[?,2])"},
      {R"({"inputs":[)" + x + R"(],"outputs":[{"name":"x"},{"name":"x"}]})",
       "outputs[1].name: output 'x' is there twice"},
      {R"({"inputs":[)" + x + R"(],"outputs":[{"name":"x","parameters":{"classification":3}}]})",
       "outputs[0].parameters.classification: not available"}};
  for (const auto& [body, expected] : cases)
    BOOST_TEST(mistake(body).find(expected) != std::string::npos, body << ": " << mistake(body));
}

BOOST_AUTO_TEST_CASE(parameters_for_other_servers_are_ignored) {
  BOOST_TEST(
      parse(x_with(R"("datatype":"FP32","shape":[1,2],"data":[1,2],"parameters":{"content_type":"np"})"))
          .status()
          .ok());
}

BOOST_AUTO_TEST_CASE(outputs_of_other_types_are_refused) {
  const auto refused =
      serve::infer_answer("m", 3, model->signature("complex"),
                          std::vector{Tensor::vector<std::complex<float>>({{1, 2}})}, {{}, {{0, true}}});
  BOOST_TEST((refused.status().code() == Code::Unimplemented));
  BOOST_TEST(refused.status().text() ==
             "output 'c' is complex64[1], of which the Open Inference Protocol has no values");
}

BOOST_AUTO_TEST_CASE(deep_lists_are_refused) {
  BOOST_TEST(!parse(x_of("[1,2]", std::string(100'000, '[') + std::string(100'000, ']'))).status().ok());
  std::string dims = "[1";
  for (int i = 0; i < 300; ++i) dims += ",1";
  BOOST_TEST(mistake(x_of(dims + ']', "[1]")).find("at most 255 dimensions are allowed") !=
             std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::test::infer_request_test
