// Models served over HTTP by the real program with the Open Inference Protocol, beside TensorFlow Serving's interface.
#include <boost/test/unit_test.hpp>

#include <atomic>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/apps/serve/served_run.h"
#include "tests/support/compressed.h"

namespace troupe::infer_test {
namespace {

namespace http = boost::beast::http;
using test::Answer;
using Json = nlohmann::json;
using Plain = test::PlainClient;

constexpr const char* infer = "/v2/models/served/infer";
constexpr const char* json_length = "Inference-Header-Content-Length";

struct Fixture : test::ServedRun {
  /// Returns the pixels of the first digits.
  static std::vector<float> pixels(size_t rows) {
    std::vector<float> all;
    const Json request = Json::parse(digits(rows));
    for (const Json& row : request.at("instances"))
      for (const Json& pixel : row) all.push_back(pixel.get<float>());
    return all;
  }
  /// Returns a request for the first digits, whose pixels are these members.
  static Json request(size_t rows, const Json& members) {
    Json image = {{"name", "image"}, {"datatype", "FP32"}, {"shape", {rows, 64}}};
    image.update(members);
    return {{"inputs", Json::array({image})}};
  }
  static std::string as_json(size_t rows) { return request(rows, {{"data", pixels(rows)}}).dump(); }
  /// Sends the first digits as binary data, for binary outputs.
  static Answer ask_binary(Plain& client, size_t rows) {
    const std::vector<float> numbers = pixels(rows);
    const size_t bytes = numbers.size() * sizeof(float);
    Json json = request(rows, {{"parameters", {{"binary_data_size", bytes}}}});
    json["parameters"] = {{"binary_data_output", true}};
    const std::string text = json.dump();
    client.set(json_length, std::to_string(text.size()));
    return client.post(infer, text + std::string(reinterpret_cast<const char*>(numbers.data()), bytes));
  }
};

/// Returns the output of this name in an answer.
Json output(const Json& answer, const std::string& name) {
  for (const Json& one : answer.at("outputs"))
    if (one.at("name") == name) return one;
  throw std::runtime_error("there is no output " + name + " in " + answer.dump());
}

/// Returns the numbers at the front of binary data, and takes them off.
template <class T>
std::vector<T> take(std::string& data, size_t bytes) {
  std::vector<T> numbers(bytes / sizeof(T));
  std::memcpy(numbers.data(), data.data(), bytes);
  data.erase(0, bytes);
  return numbers;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(infer_protocol, Fixture)

BOOST_AUTO_TEST_CASE(answers_are_those_of_the_other_interface) {
  serve();
  Plain client(port);
  const Json expected = client.post("/v1/models/served:predict", digits(5)).json().at("predictions");
  const Answer answer = client.post(infer, as_json(5));
  BOOST_TEST_REQUIRE(answer.status == 200u, answer.body);
  const Json classes = output(answer.json(), "class"), probabilities = output(answer.json(), "probabilities");
  BOOST_TEST(classes.at("datatype") == "INT64");
  BOOST_TEST(classes.at("shape") == Json::parse("[5]"));
  BOOST_TEST(probabilities.at("datatype") == "FP32");
  BOOST_TEST(probabilities.at("shape") == Json::parse("[5, 10]"));
  const Answer binary = ask_binary(client, 5);
  BOOST_TEST_REQUIRE(binary.status == 200u, binary.body);
  BOOST_TEST(binary.headers[http::field::content_type] == "application/octet-stream");
  const size_t length = std::stoul(std::string(binary.headers[json_length]));
  const Json head = Json::parse(binary.body.substr(0, length));
  std::string data = binary.body.substr(length);
  BOOST_TEST_REQUIRE(data.size() == 5 * 8 + 5 * 10 * 4u);
  BOOST_TEST_REQUIRE(head.at("outputs").at(0).at("name") == "class");
  const auto binary_classes = take<int64_t>(data, 5 * sizeof(int64_t));
  const auto binary_probabilities = take<float>(data, 5 * 10 * sizeof(float));
  for (size_t row = 0; row < 5; ++row) {
    BOOST_TEST(classes.at("data").at(row) == expected.at(row).at("class"));
    BOOST_TEST(Json(binary_classes.at(row)) == expected.at(row).at("class"));
    for (size_t k = 0; k < 10; ++k) {
      const double wanted = expected.at(row).at("probabilities").at(k);
      BOOST_TEST(std::abs(probabilities.at("data").at(row * 10 + k).get<double>() - wanted) < 1e-6);
      BOOST_TEST(std::abs(binary_probabilities.at(row * 10 + k) - wanted) < 1e-6);
    }
  }
}

BOOST_AUTO_TEST_CASE(the_server_and_its_models_describe_themselves) {
  serve();
  Plain client(port);
  for (const char* const target : {"/v2", "/v2/"}) {
    const Json server_says = client.get(target).json();
    BOOST_TEST(server_says.at("name") == "troupe");
    BOOST_TEST(!server_says.at("version").get<std::string>().empty());
    BOOST_TEST(server_says.at("extensions") == Json::parse(R"(["binary_tensor_data"])"));
  }
  BOOST_TEST(client.get("/v2/health/live").json() == Json::parse(R"({"live": true})"));
  BOOST_TEST(client.get("/v2/health/ready").json() == Json::parse(R"({"ready": true})"));
  const Json model = client.get("/v2/models/served").json();
  BOOST_TEST(model.at("name") == "served");
  BOOST_TEST(model.at("platform") == "troupe_model");
  BOOST_TEST(model.at("versions").size() == 1u);
  BOOST_TEST(model.at("inputs") ==
             Json::parse(R"([{"name": "image", "datatype": "FP32", "shape": [-1, 64]}])"));
  BOOST_TEST(output(model, "class").at("datatype") == "INT64");
  BOOST_TEST(output(model, "probabilities").at("shape").at(0) == -1);
  const std::string version = model.at("versions").at(0);
  BOOST_TEST(client.get("/v2/models/served/versions/" + version).json() == model);
  const Json ready = {{"name", "served"}, {"ready", true}};
  BOOST_TEST(client.get("/v2/models/served/ready").json() == ready);
  BOOST_TEST(client.get("/v2/models/served/versions/" + version + "/ready").json() == ready);
  const Json answer = client.post("/v2/models/served/versions/" + version + "/infer", as_json(1)).json();
  BOOST_TEST(answer.at("model_name") == "served");
  BOOST_TEST(answer.at("model_version") == version);
  const std::string metrics = client.get("/metrics").body;
  BOOST_TEST(
      metrics.find("troupe_serving_requests_total{model=\"served\",status=\"200\"} 5\n") != std::string::npos,
      metrics);
}

BOOST_AUTO_TEST_CASE(bad_requests_leave_the_connection_usable) {
  serve();
  Plain client(port);
  Json other_type = Json::parse(as_json(1)), sequence = other_type, no_signature = other_type;
  other_type["inputs"][0]["datatype"] = "INT32";
  sequence["parameters"] = {{"sequence_id", 1}};
  no_signature["parameters"] = {{"signature_name", "none"}};
  const std::vector<std::tuple<http::verb, std::string, std::string, unsigned>> requests = {
      {http::verb::get, "/v2/models", "", 404},
      {http::verb::get, "/v2/health", "", 404},
      {http::verb::get, "/v2/models/none", "", 404},
      {http::verb::get, "/v2/models/none/ready", "", 404},
      {http::verb::get, "/v2/models/served/versions/7/ready", "", 404},
      {http::verb::get, "/v2/models/served/versions/x", "", 404},
      {http::verb::get, "/v2/models/served/labels/none", "", 404},
      {http::verb::get, "/v2/models/served:predict", "", 404},
      {http::verb::post, "/v1/models/served/infer", as_json(1), 404},
      {http::verb::get, infer, "", 405},
      {http::verb::post, "/v2/models/served", "", 405},
      {http::verb::post, "/v2/models/none/infer", as_json(1), 404},
      {http::verb::post, infer, "", 400},
      {http::verb::post, infer, "{", 400},
      {http::verb::post, infer, digits(1), 400},
      {http::verb::post, infer, other_type.dump(), 400},
      {http::verb::post, infer, no_signature.dump(), 404},
      {http::verb::post, infer, sequence.dump(), 501},
      {http::verb::post, infer, as_json(1), 200}};
  for (const auto& [method, target, body, status] : requests) {
    const Answer answer = client.ask(method, target, body);
    BOOST_TEST(answer.status == status, target << ": " << answer.status << ' ' << answer.body);
    if (status != 200) BOOST_TEST(answer.json().at("error").is_string());
  }
  for (const char* const length : {"0", "1", "100000", "-1", "x"}) {
    client.set(json_length, length);
    BOOST_TEST(client.post(infer, as_json(1)).status == 400u, length);
  }
  BOOST_TEST(ask_binary(client, 1).status == 200u);
}

BOOST_AUTO_TEST_CASE(another_signature_can_be_chosen) {
  serve();
  Json body = Json::parse(as_json(2));
  body["parameters"] = {{"signature_name", "evaluate"}};
  body["outputs"] = Json::array({{{"name", "loss"}}});
  const Json metadata = Plain(port).get("/v1/models/served/metadata").json();
  const std::string dtype = metadata.at("metadata")
                                .at("signature_def")
                                .at("signature_def")
                                .at("evaluate")
                                .at("inputs")
                                .at("label")
                                .at("dtype");
  body["inputs"].push_back({{"name", "label"},
                            {"datatype", dtype == "DT_INT64" ? "INT64" : "INT32"},
                            {"shape", Json::array({2})},
                            {"data", {0, 1}}});
  const Answer answer = Plain(port).post(infer, body.dump());
  BOOST_TEST_REQUIRE(answer.status == 200u, answer.body);
  BOOST_TEST(answer.json().at("outputs").size() == 1u);
  BOOST_TEST(output(answer.json(), "loss").at("shape") == Json::array());
  BOOST_TEST(output(answer.json(), "loss").at("data").size() == 1u);
}

BOOST_AUTO_TEST_CASE(binary_requests_may_be_compressed) {
  serve();
  Plain client(port);
  const std::vector<float> numbers = pixels(2);
  const size_t bytes = numbers.size() * sizeof(float);
  const std::string json = request(2, {{"parameters", {{"binary_data_size", bytes}}}}).dump();
  client.set(json_length, std::to_string(json.size()));
  client.set(http::field::content_encoding, "gzip");
  const std::string body = json + std::string(reinterpret_cast<const char*>(numbers.data()), bytes);
  const Answer answer = client.post(infer, test::compressed(body, Compression::Gzip));
  BOOST_TEST(answer.status == 200u, answer.body);
  BOOST_TEST(answer.body == Plain(port).post(infer, as_json(2)).body);
}

BOOST_AUTO_TEST_CASE(clients_of_both_interfaces_at_once_get_their_own_answers) {
  serve();
  const Json all = Plain(port).post("/v1/models/served:predict", digits(8)).json().at("predictions");
  std::atomic<int> wrong = 0;
  std::vector<std::thread> clients;
  for (size_t i = 0; i < 8; ++i)
    clients.emplace_back([&, rows = i + 1] {
      Plain client(port);
      for (int round = 0; round < 20; ++round) {
        if (rows % 2 == 0) {
          wrong +=
              client.post("/v1/models/served:predict", digits(rows)).json().at("predictions").size() != rows;
          continue;
        }
        const Json classes = output(client.post(infer, as_json(rows)).json(), "class").at("data");
        wrong += classes.size() != rows;
        for (size_t row = 0; row < classes.size(); ++row) wrong += classes[row] != all[row].at("class");
      }
    });
  for (std::thread& client : clients) client.join();
  BOOST_TEST(wrong == 0);
}

BOOST_AUTO_TEST_CASE(health_needs_no_token_and_models_do) {
  serve({path("served/001"), "--tokens", folder.write("tokens", "secret\n")});
  Plain client(port);
  for (const char* const target : {"/v2/health/live", "/v2/health/ready"})
    BOOST_TEST(client.get(target).status == 200u, target);
  for (const char* const target : {"/v2", "/v2/models/served", "/v2/models/served/ready", infer})
    BOOST_TEST(client.get(target).status == 401u, target);
  client.set(http::field::authorization, "Bearer secret");
  BOOST_TEST(client.post(infer, as_json(1)).status == 200u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::infer_test
