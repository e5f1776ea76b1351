// The JSON of the REST interface: what TensorFlow Serving documents becomes tensors and back, and mistakes are named with their
// place.
#include <boost/test/unit_test.hpp>

#include "apps/serve/answer_json.h"
#include "apps/serve/request_json.h"
#include "tests/apps/serve/echo_model.h"

namespace troupe::test::request_json_test {
namespace {

using serve::ModelRequest;

struct Fixture : EchoModel {
  Result<ModelRequest> parse(const std::string& body) { return parser.parse(body, *model); }
  ModelRequest parsed(const std::string& body) { return value_or_throw(parse(body)); }
  std::string mistake(const std::string& body) { return parse(body).status().message(); }
  std::string answer(const ModelRequest& request) const {
    std::string text;
    throw_if_failed(serve::append_predictions(model->signature(request.signature), request.inputs,
                                              request.instances(), text));
    return text;
  }

  serve::RequestParser parser;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(request_json, Fixture)

BOOST_AUTO_TEST_CASE(rows_of_one_input) {
  const ModelRequest request = parsed(R"({"instances": [[1, 2.5], [-3e2, 0]]})");
  BOOST_TEST(request.rows == 2);
  BOOST_TEST(request.signature == "serving_default");
  BOOST_TEST(request.inputs[0].signature() == "float[2,2]");
  BOOST_TEST(answer(request) == R"({"predictions":[[1,2.5],[-300,0]]})");
  BOOST_TEST(answer(parsed(R"({"instances": [{"x": [1, 2]}]})")) == R"({"predictions":[[1,2]]})");
}

BOOST_AUTO_TEST_CASE(rows_of_several_inputs) {
  const ModelRequest request = parsed(
      R"({"signature_name": "all", "instances": [{"n": 7, "x": [0.1, 2], "b": true, "t": "a\"b"}, {"t": {"b64": "aGk="}, "x": [3, 4], "n": -1, "b": false}]})");
  BOOST_TEST(
      answer(request) ==
      R"({"predictions":[{"b":true,"n":7,"t":"a\"b","x":[0.1,2]},{"b":false,"n":-1,"t":"hi","x":[3,4]}]})");
}

BOOST_AUTO_TEST_CASE(columns) {
  const ModelRequest one = parsed(R"({"inputs": [[1, 2]]})");
  BOOST_TEST(!one.by_rows);
  BOOST_TEST(answer(one) == R"({"outputs":[[1,2]]})");
  BOOST_TEST(
      answer(parsed(
          R"({"signature_name": "all", "inputs": {"x": [[1, 2]], "n": [3], "t": ["u"], "b": [true]}})")) ==
      R"({"outputs":{"b":[true],"n":[3],"t":["u"],"x":[[1,2]]}})");
}

BOOST_AUTO_TEST_CASE(narrow_floats_and_the_largest_integers) {
  const std::string begin = R"({"signature_name": "narrow_and_large", "inputs": )";
  BOOST_TEST(answer(parsed(begin + R"({"h": [0.1, -2], "v": [1.5, 0], "u": [18446744073709551615, 3]}})")) ==
             R"({"outputs":{"h":[0.099975586,-2],"u":[18446744073709551615,3],"v":[1.5,0]}})");
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({"h": [70000], "v": [1], "u": [1]}})",
       "inputs.h[0]: expected a half, found the number 70000, which is out of range"},
      {R"({"h": [1], "v": [1e39], "u": [1]}})",
       "inputs.v[0]: expected a bfloat16, found the number 1e+39, which is out of range"},
      {R"({"h": [1], "v": [1], "u": [-1]}})", "inputs.u[0]: expected a uint64, found the number -1"}};
  for (const auto& [inputs, expected] : cases)
    BOOST_TEST(mistake(begin + inputs).find(expected) != std::string::npos, mistake(begin + inputs));
}

BOOST_AUTO_TEST_CASE(numbers_that_json_lacks_become_null) {
  std::string text;
  const Tensor odd = Tensor::vector<float>({std::nanf(""), INFINITY, 1e-30f});
  BOOST_TEST(serve::append_predictions(model->signature(), std::vector{odd}, odd.elements(), text).ok());
  BOOST_TEST(text == R"({"predictions":[null,null,1e-30]})");
}

BOOST_AUTO_TEST_CASE(bytes_are_in_base64) {
  const Tensor texts = Tensor::vector<std::string>({"a\xff", "\xc3\xa9", ""});
  std::string text;
  const ModelSignature plain{"f", {}, {}, {{"text", DType::String, {}}}},
      bytes{"f", {}, {}, {{"image_bytes", DType::String, {}}, {"text", DType::String, {}}}};
  BOOST_TEST(serve::append_predictions(plain, std::vector{texts}, 3, text).ok());
  BOOST_TEST(text == R"({"predictions":[{"b64":"Yf8="},")"
                     "\xc3\xa9"
                     R"(",""]})");
  text.clear();
  BOOST_TEST(serve::append_predictions(bytes, std::vector{texts, texts}, {}, text).ok());
  BOOST_TEST(text == R"({"outputs":{"image_bytes":[{"b64":"Yf8="},{"b64":"w6k="},{"b64":""}],)"
                     R"("text":[{"b64":"Yf8="},")"
                     "\xc3\xa9"
                     R"(",""]}})");
}

BOOST_AUTO_TEST_CASE(outputs_without_a_row_for_each_instance_are_refused) {
  for (const Tensor& output :
       {Tensor::scalar(1.0f), Tensor::vector<float>({}), Tensor::vector<float>({1, 2})}) {
    std::string text;
    const Status status = serve::append_predictions(model->signature(), std::vector{output}, 3, text);
    BOOST_TEST((status.code() == Code::InvalidArgument));
    BOOST_TEST(
        status.text() ==
        "output 'x' is " + output.signature() +
            ", but the number of instances is 3; a request with \"inputs\" instead of \"instances\" returns "
            "it whole");
    BOOST_TEST(serve::append_predictions(model->signature(), std::vector{output}, {}, text).ok());
  }
}

BOOST_AUTO_TEST_CASE(mistakes_are_named) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "the body is not JSON"},
      {"[1]", "the body must be an object, found a list"},
      {"{}", "the body must have instances, inputs or examples"},
      {R"({"instances": 3})", "instances: expected a list, found the number 3"},
      {R"({"instances": []})", "instances: there are no instances"},
      {R"({"instances": [[1, 2], [3]]})", "instances[1]: expected a list of 2, as before, found one of 1"},
      {R"({"instances": [[1, 2], 3]})", "instances[1]: expected a list of 2, found the number 3"},
      {R"({"instances": [[1, "a"]]})", "instances[0][1]: expected a float, found text"},
      {R"({"instances": [[1, 2, 3]]})", "input 'x' must be float[?,2]; the lists have the dimensions [1,3]"},
      {R"({"instances": [{"y": [1, 2]}]})",
       "instances[0]: signature 'serving_default' has no input 'y'; its inputs are x (float[?,2])"},
      {R"({"instances": [[1, NaN]]})",
       "the body is not JSON: parse error at line 1, column 20: syntax error"},
      {R"({"instances": [1e500]})", "the body is not JSON: number overflow parsing '1e500'"},
      {R"({"signature_name": 3, "instances": []})", "signature_name: expected text, found the number 3"},
      {R"({"signature_name": "none", "instances": []})", "has no signature 'none'"},
      {R"({"signature_name": "all", "instances": [[1, 2]]})", "instances[0]: the model takes 4 inputs"},
      {R"({"signature_name": "all", "instances": [{"x": [1, 2], "n": 1, "t": "", "b": true}, {"x": [1, 2]}]})",
       "instances[1]: input 'b' is missing"},
      {R"({"signature_name": "all", "instances": [{"x": [1, 2], "n": 1.5, "t": "", "b": true}]})",
       "instances[0].n: expected a int32, found the number 1.5"},
      {R"({"signature_name": "all", "instances": [{"x": [1, 2], "n": 3000000000, "t": "", "b": true}]})",
       "instances[0].n: expected a int32"},
      {R"({"signature_name": "all", "instances": [{"x": [1, 2], "n": 1, "t": {"b64": "?"}, "b": true}]})",
       "instances[0].t: expected a string, found an object whose b64 is no text in base64"},
      {R"({"signature_name": "all", "instances": [{"x": [1, 2], "n": 1, "t": {"b64": "AA==\n"}, "b": true}]})",
       "instances[0].t: expected a string, found an object whose b64 is no text in base64"},
      {R"({"instances": [[1e39, 2]]})",
       "instances[0][0]: expected a float, found the number 1e+39, which is out of range"},
      {R"({"instances": [[1, 2]], "inputs": {"x": [[1, 2]]}})", "the body has both instances and inputs"},
      {R"({"instances": [[1, 2]], "signatur_name": "all"})", "the body has the member 'signatur_name'"},
      {R"({"examples": [{"x": [1, 2]}], "context": {}})", "context: not available yet"},
      {R"({"inputs": {"x": [[1, null]]}})", "inputs.x[0][1]: expected a float, found null"},
  };
  for (const auto& [body, expected] : cases)
    BOOST_TEST(mistake(body).find(expected) != std::string::npos, body << ": " << mistake(body));
}

// The lists of the first instance say how much memory a request takes, so they must not say more than its bytes can hold.
BOOST_AUTO_TEST_CASE(a_small_body_takes_little_memory) {
  std::string body = R"({"inputs": [[)";
  for (int i = 0; i < 2000; ++i) body += i == 0 ? "1" : ",1";
  body += ']';
  for (int i = 0; i < 2000; ++i) body += ",0";
  BOOST_TEST(mistake(body + "]}").find("the lists are of different lengths") != std::string::npos,
             mistake(body + "]}"));
}

BOOST_AUTO_TEST_CASE(deep_lists_are_refused) {
  const std::string deep = std::string(100'000, '[') + std::string(100'000, ']');
  BOOST_TEST(!parse(R"({"instances": )" + deep + '}').status().ok());
  BOOST_TEST(
      !parse(R"({"instances": [)" + std::string(300, '[') + std::string(300, ']') + "]}").status().ok());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::test::request_json_test
