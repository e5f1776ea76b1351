// Models served over HTTP by the real program: answers, versions, limits, and ends.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <atomic>
#include <boost/asio/ssl.hpp>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "apps/interop/write_graph.h"
#include "kernels/constructors.h"
#include "messages/records/decompressor.h"
#include "tests/apps/commands/troupe_program.h"
#include "tests/apps/http/http_client.h"
#include "tests/apps/serve/served_run.h"
#include "tests/support/comes_true.h"
#include "tests/support/compressed.h"
#include "tests/support/ops/op_library.h"
#include "tests/support/project_files.h"

namespace troupe::serve_test {
namespace {

namespace asio = boost::asio;
namespace fs = std::filesystem;
namespace http = boost::beast::http;
using test::Answer;
using test::Client;
using test::Program;
using Arguments = test::DigitsRuns::Arguments;
using Json = nlohmann::json;

using Plain = test::PlainClient;

constexpr const char* predict = "/v1/models/served:predict";

}  // namespace

BOOST_FIXTURE_TEST_SUITE(serve, test::ServedRun)

BOOST_AUTO_TEST_CASE(predictions_are_those_of_predict) {
  const std::string in = folder.write("in.csv", "");
  fs::copy_file(test::project_path("examples/digits.csv"), in, fs::copy_options::overwrite_existing);
  Program program(test::troupe_program(),
                  {"predict", path("served"), in, "--probabilities", "-o", path("out.jsonl")});
  BOOST_TEST_REQUIRE(program.end() == 0, program.output());
  serve();
  const Json answer = Plain(port).post(predict, digits(100)).json().at("predictions");
  BOOST_TEST_REQUIRE(answer.size() == 100u);
  std::ifstream expected(path("out.jsonl"));
  std::string line;
  for (size_t i = 0; i < 100 && std::getline(expected, line); ++i) {
    const Json object = Json::parse(line);
    BOOST_TEST(answer[i].at("class") == object.at("class"));
    for (size_t k = 0; k < 10; ++k)
      BOOST_TEST(std::abs(answer[i].at("probabilities")[k].get<double>() -
                          object.at("probabilities")[k].get<double>()) < 1e-6);
  }
}

BOOST_AUTO_TEST_CASE(every_kind_of_request_is_answered) {
  serve();
  Plain client(port);
  BOOST_TEST(client.get("/healthz").body == "ok\n");
  const Json classes = client.post("/v1/models/served:classify", digits(2)).json().at("results");
  BOOST_TEST(classes.size() == 2u);
  BOOST_TEST(classes[0].size() == 10u);
  BOOST_TEST(classes[0][3][0] == "3");
  const Json status = client.get("/v1/models/served").json().at("model_version_status")[0];
  BOOST_TEST(status.at("state") == "AVAILABLE");
  const std::string version = status.at("version");
  const Json metadata = client.get("/v1/models/served/metadata").json();
  BOOST_TEST(metadata.at("model_spec").at("version") == version);
  const Json signature =
      metadata.at("metadata").at("signature_def").at("signature_def").at("serving_default");
  BOOST_TEST(signature.at("inputs").at("image").at("dtype") == "DT_FLOAT");
  BOOST_TEST(client.post("/v1/models/served/versions/" + version + ":predict", digits(1)).status == 200u);
  BOOST_TEST(client.get("/v1/models").json().at("models")[0].at("name") == "served");
  const std::string metrics = client.get("/metrics").body;
  BOOST_TEST(
      metrics.find("troupe_serving_requests_total{model=\"served\",status=\"200\"} 4\n") != std::string::npos,
      metrics);
}

BOOST_AUTO_TEST_CASE(bad_requests_leave_the_connection_usable) {
  serve();
  Plain client(port);
  const std::vector<std::tuple<http::verb, std::string, std::string, unsigned>> requests = {
      {http::verb::get, "/", "", 404},
      {http::verb::get, "/v1/models/none", "", 404},
      {http::verb::get, "/v1/models/served/versions/7", "", 404},
      {http::verb::get, "/v1/models/served/versions/x", "", 404},
      {http::verb::get, "/v1/models/served/labels/none", "", 404},
      {http::verb::get, predict, "", 405},
      {http::verb::post, predict, "", 400},
      {http::verb::post, predict, "{", 400},
      {http::verb::post, predict, R"({"instances": [[1]]})", 400},
      {http::verb::post, predict, R"({"instances": [1e500]})", 400},
      {http::verb::post, "/v1/models/served:regress", digits(1), 400},
      {http::verb::post, predict, digits(1), 200}};
  for (const auto& [method, target, body, status] : requests) {
    const Answer answer = client.ask(method, target, body);
    BOOST_TEST(answer.status == status, target << ": " << answer.status << ' ' << answer.body);
    if (status != 200) BOOST_TEST(answer.json().contains("error"));
  }
}

BOOST_AUTO_TEST_CASE(other_methods_than_those_of_a_path_are_refused) {
  serve();
  Plain client(port);
  for (const char* const target : {"/healthz", "/metrics", "/v1/models", "/v1/models/served", "/v2",
                                   "/v2/health/live", "/v2/health/ready"}) {
    for (const auto method : {http::verb::post, http::verb::put, http::verb::delete_, http::verb::options}) {
      const Answer refused = client.ask(method, target);
      BOOST_TEST(refused.status == 405u, target);
      BOOST_TEST(refused.headers[http::field::allow] == "GET, HEAD");
      BOOST_TEST(refused.json().at("error") ==
                 "the method must be GET, it is " + std::string(http::to_string(method)));
    }
    BOOST_TEST(client.head(target).result_int() == 200u, target);
    BOOST_TEST(client.get(target).status == 200u, target);
  }
  BOOST_TEST(client.get(predict).headers[http::field::allow] == "POST");
}

BOOST_AUTO_TEST_CASE(unknown_models_are_counted_under_one_name) {
  serve();
  Plain client(port);
  for (const char* const name : {"none", "other"})
    BOOST_TEST(client.get(std::string("/v1/models/") + name).status == 404u);
  const std::string metrics = client.get("/metrics").body;
  BOOST_TEST(
      metrics.find("troupe_serving_requests_total{model=\"\",status=\"404\"} 2\n") != std::string::npos,
      metrics);
  BOOST_TEST(metrics.find("other") == std::string::npos, metrics);
}

BOOST_AUTO_TEST_CASE(a_loss_has_no_rows_for_instances) {
  serve();
  Json request = Json::parse(digits(1));
  request["signature_name"] = "evaluate";
  const Json image = request.at("instances").at(0);
  request["instances"] = Json::array({{{"image", image}, {"label", 0}}});
  const Answer by_rows = Plain(port).post(predict, request.dump());
  BOOST_TEST(by_rows.status == 400u);
  BOOST_TEST(by_rows.body.find("but the number of instances is 1") != std::string::npos, by_rows.body);
  request.erase("instances");
  request["inputs"] = {{"image", Json::array({image})}, {"label", Json::array({0})}};
  const Answer by_columns = Plain(port).post(predict, request.dump());
  BOOST_TEST(by_columns.status == 200u);
  BOOST_TEST(by_columns.json().at("outputs").at("loss").is_number());
}

BOOST_AUTO_TEST_CASE(many_clients_at_once_get_their_own_answers) {
  serve();
  const Json all = Plain(port).post(predict, digits(40)).json().at("predictions");
  std::atomic<int> wrong = 0;
  std::vector<std::thread> clients;
  for (size_t i = 0; i < 16; ++i)
    clients.emplace_back([&, i] {
      Plain client(port);
      const std::string mine = digits(i + 1);
      for (int round = 0; round < 20; ++round) {
        const Json got = client.post(predict, mine).json().at("predictions");
        wrong += got.size() != i + 1;
        for (size_t row = 0; row < got.size(); ++row) wrong += got[row].at("class") != all[row].at("class");
      }
    });
  for (std::thread& client : clients) client.join();
  BOOST_TEST(wrong == 0);
}

BOOST_AUTO_TEST_CASE(a_new_checkpoint_takes_over_without_a_lost_request) {
  serve();
  const auto version = [&] {
    return Plain(port)
        .get("/v1/models/served")
        .json()
        .at("model_version_status")[0]
        .at("version")
        .get<std::string>();
  };
  const std::string before = version();
  std::atomic<bool> ends = false;
  std::atomic<int> failed = 0, answered = 0;
  std::thread client([&] {
    Plain connection(port);
    while (!ends) {
      failed += connection.post(predict, digits(3)).status != 200;
      ++answered;
    }
  });
  Program training(test::troupe_program(),
                   run("train", "served", {"--resume", "auto", "--set", "train.max_epochs=5"}));
  BOOST_TEST(training.end() == 0, training.output());
  const auto limit = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (version() == before && std::chrono::steady_clock::now() < limit)
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  ends = true;
  client.join();
  BOOST_TEST(version() != before);
  BOOST_TEST(failed == 0);
  BOOST_TEST(answered > 0);
}

BOOST_AUTO_TEST_CASE(live_weights_are_those_of_the_running_training) {
  Program training(test::troupe_program(), endless("train", "live", {"--set", "train.checkpoint.every=1h"}));
  BOOST_TEST_REQUIRE(training.wait_for("epoch 1"), training.output());
  serve({path("live/001"), "--live", "0.1"});
  Plain client(port);
  const auto version = [&] {
    const Json status = client.get("/v1/models/live").json();
    return std::stoll(status.at("model_version_status")[0].at("version").get<std::string>());
  };
  const long long first = version();
  BOOST_TEST(first >= 23);  // the steps of an epoch
  const auto limit = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  long long last = first, changes = 0;
  while (changes < 3 && std::chrono::steady_clock::now() < limit) {
    BOOST_TEST_REQUIRE(client.post("/v1/models/live:predict", digits(1)).status == 200u);
    if (const long long now = version(); now != last) {
      BOOST_TEST(now > last);
      last = now;
      ++changes;
    }
  }
  BOOST_TEST(changes == 3);
  training.end(SIGTERM);
  BOOST_TEST(client.post("/v1/models/live:predict", digits(1)).status == 200u);
}

BOOST_AUTO_TEST_CASE(a_model_may_have_no_default_signature) {
  interop::MetaGraph meta{Graph(test::op_library()->ops), {"serve"}, {}, {}, {}};
  const Scope g(meta.graph);
  const Output x = placeholder(g, f32, {-1}, "x");
  meta.signatures["negate"] = {{}, {{"x", x}}, {{"y", neg(g, x)}}};
  std::filesystem::create_directories(path("negation"));
  std::ofstream(path("negation/saved_model.pb"), std::ios::binary) << interop::write_saved_model(meta);
  serve({path("negation"), path("served/001")});
  Plain client(port);
  const auto ask = [&](const std::string& more) {
    return client.post("/v1/models/negation:predict", R"({"instances": [1, -2])" + more + '}');
  };
  BOOST_TEST(ask(R"(, "signature_name": "negate")").json().at("predictions") == Json({-1, 2}));
  const std::string refusal = ask("").body;
  BOOST_TEST(refusal.find("has no signature 'serving_default'; it has negate") != std::string::npos, refusal);
  BOOST_TEST(client.get("/v2/models/negation").json().at("outputs")[0].at("name") == "y");
  std::ofstream(path("in.jsonl")) << "{\"x\": 1}\n";
  Program predict(test::troupe_program(), {"predict", path("negation"), path("in.jsonl")});
  BOOST_TEST(predict.end() != 0);
  BOOST_TEST(predict.output().find("its lines are wrong") == std::string::npos, predict.output());
}

BOOST_AUTO_TEST_CASE(labels_and_all_versions) {
  for (const char* const number : {"1", "2"}) {
    Program exporting(test::troupe_program(), {"export", path("served"), path("models/") + number});
    BOOST_TEST_REQUIRE(exporting.end() == 0, exporting.output());
  }
  serve({"digits=" + path("models"), "--label", "stable=1"});
  Plain client(port);
  BOOST_TEST(client.get("/v1/models/digits").json().at("model_version_status").size() == 2u);
  BOOST_TEST(client.post("/v1/models/digits/labels/stable:predict", digits(1)).status == 200u);
  BOOST_TEST(
      client.get("/v1/models/digits/labels/stable").json().at("model_version_status")[0].at("version") ==
      "1");
  BOOST_TEST(client.get("/v1/models/digits/metadata").json().at("model_spec").at("version") == "2");
}

BOOST_AUTO_TEST_CASE(a_version_whose_folder_is_removed_is_served_no_more) {
  for (const char* const number : {"1", "2"}) {
    Program exporting(test::troupe_program(), {"export", path("served"), path("models/") + number});
    BOOST_TEST_REQUIRE(exporting.end() == 0, exporting.output());
  }
  serve({"my digits=" + path("models")});
  Plain client(port);
  const auto newest = [&] {
    return client.get("/v1/models/my%20digits/metadata").json().at("model_spec").at("version");
  };
  BOOST_TEST(newest() == "2");
  fs::remove_all(path("models/2"));
  BOOST_TEST(test::comes_true([&] { return newest() == "1"; }));
  BOOST_TEST(client.get("/v1/models/my%20digits").json().at("model_version_status").size() == 1u);
  BOOST_TEST(client.post("/v1/models/my%20digits:predict", digits(1)).status == 200u);
  BOOST_TEST(client.post("/v1/models/my%20digits/versions/2:predict", digits(1)).status == 404u);
  fs::create_directory(path("models/3"));
  std::ofstream(path("models/3/saved_model.pb")) << "no model";
  BOOST_TEST(server->wait_for("version 3 was not loaded"), server->output());
  const Json states = client.get("/v1/models/my%20digits").json().at("model_version_status");
  BOOST_TEST(states[0].at("state") == "END");
  BOOST_TEST(!states[0].at("status").at("error_message").get<std::string>().empty());
  BOOST_TEST(states[1].at("state") == "AVAILABLE");
  BOOST_TEST(newest() == "1");
}

BOOST_AUTO_TEST_CASE(a_broken_version_is_reported_once) {
  for (const char* const number : {"1", "2"}) {
    Program exporting(test::troupe_program(), {"export", path("served"), path("models/") + number});
    BOOST_TEST_REQUIRE(exporting.end() == 0, exporting.output());
  }
  fs::rename(path("models/2"), path("whole"));
  serve({"digits=" + path("models")});
  fs::copy(path("whole"), path("models/3"), fs::copy_options::recursive);
  fs::resize_file(path("models/3/saved_model.pb"), 1000);
  BOOST_TEST(server->wait_for("was not loaded"), server->output());
  fs::resize_file(path("models/3/saved_model.pb"), 900);  // another change of the files
  BOOST_TEST(server->wait_for("was not loaded"), server->output());
  fs::rename(path("whole"), path("models/4"));
  Plain client(port);
  const auto is_newest = [&] {
    return client.get("/v1/models/digits").json().at("model_version_status")[0].at("version") == "4";
  };
  BOOST_TEST(test::comes_true(is_newest));
  server->end(SIGTERM);
  BOOST_TEST(std::count(server->output().begin(), server->output().end(), '\n') == 4, server->output());
}

// Limits.

BOOST_AUTO_TEST_CASE(large_requests_are_refused) {
  serve({path("served/001"), "--max-body", "1000"});
  BOOST_TEST(Plain(port).post(predict, digits(1)).status == 200u);
  BOOST_TEST(Plain(port).post(predict, digits(100)).status == 413u);
  // A client that reads when it has sent everything.
  const std::string body(size_t{8} << 20, ' ');
  Plain client(port);
  asio::write(client.stream(), asio::buffer(std::string("POST ") + predict + " HTTP/1.1\r\nContent-Length: " +
                                            std::to_string(body.size()) + "\r\n\r\n" + body));
  BOOST_TEST(client.read().status == 413u);
}

BOOST_AUTO_TEST_CASE(requests_and_answers_may_be_compressed) {
  serve();
  Plain client(port), compressing(port), strange(port);
  compressing.set(http::field::content_encoding, "gzip");
  compressing.set(http::field::accept_encoding, "gzip");
  const Answer plain = client.post(predict, digits(100));
  const Answer answer = compressing.post(predict, test::compressed(digits(100), Compression::Gzip));
  BOOST_TEST(answer.status == 200u, answer.body);
  BOOST_TEST(answer.headers[http::field::content_encoding] == "gzip");
  std::string text(plain.body.size() + 1, '\0');
  const auto decompressor = make_decompressor(Compression::Gzip);
  decompressor->feed(answer.body);
  text.resize(value_or_throw(decompressor->decompress(text)));
  BOOST_TEST(text == plain.body);
  BOOST_TEST(compressing.post(predict, digits(1)).status == 400u);
  strange.set(http::field::content_encoding, "br");
  BOOST_TEST(strange.post(predict, digits(1)).status == 415u);
}

BOOST_AUTO_TEST_CASE(what_is_not_http_is_refused) {
  serve();
  Plain client(port);
  asio::write(client.stream(), asio::buffer(std::string("\x16\x03\x01 nonsense\r\n\r\n")));
  BOOST_TEST(client.read().status == 400u);
  BOOST_TEST(Plain(port).get("/healthz").status == 200u);
}

BOOST_AUTO_TEST_CASE(silent_clients_are_dropped) {
  serve({path("served/001"), "--idle-timeout", "0.2"});
  Plain silent(port), slow(port);
  asio::write(slow.stream(), asio::buffer(std::string("POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\n12")));
  for (Plain* const client : {&silent, &slow}) {
    char byte = 0;
    boost::system::error_code error;
    client->stream().read_some(asio::buffer(&byte, 1), error);
    BOOST_TEST(error.failed());
  }
}

BOOST_AUTO_TEST_CASE(more_connections_than_allowed_are_closed) {
  serve({path("served/001"), "--max-connections", "1"});
  Plain first(port);
  BOOST_TEST(first.get("/healthz").status == 200u);
  Plain second(port);
  char byte = 0;
  boost::system::error_code error;
  second.stream().read_some(asio::buffer(&byte, 1), error);
  BOOST_TEST(error.failed());
  BOOST_TEST(first.get("/healthz").status == 200u);
}

// Each connection is an open file, of which a quarter is left for the models.
BOOST_AUTO_TEST_CASE(connections_leave_files_for_models) {
  begin("/bin/sh",
        {"-c", "ulimit -n 128; exec \"$0\" serve \"$1\" --port 0 --json --threads 1 --idle-timeout 20",
         test::troupe_program(), path("served/001")});
  std::vector<std::unique_ptr<Plain>> clients;
  for (int i = 0; i < 97; ++i) clients.push_back(std::make_unique<Plain>(port));
  char byte = 0;
  boost::system::error_code error;
  clients.back()->stream().read_some(asio::buffer(&byte, 1), error);
  BOOST_TEST(error.failed());
  const std::string metrics = clients.front()->get("/metrics").body;
  BOOST_TEST(metrics.find("troupe_serving_connections 96\n") != std::string::npos, metrics);
}

BOOST_AUTO_TEST_CASE(clients_that_wait_for_permission_get_it) {
  serve();
  Plain client(port);
  const std::string body = digits(1);
  asio::write(client.stream(), asio::buffer(std::string("POST ") + predict +
                                            " HTTP/1.1\r\nExpect: 100-continue\r\nContent-Length: " +
                                            std::to_string(body.size()) + "\r\n\r\n"));
  BOOST_TEST(client.read().status == 100u);
  asio::write(client.stream(), asio::buffer(body));
  BOOST_TEST(client.read().status == 200u);
}

// Ends.

BOOST_AUTO_TEST_CASE(models_need_a_token_where_there_are_some_and_their_health_needs_none) {
  serve({path("served/001"), "--tokens", folder.write("tokens", "secret\n"), "--allow-origin",
         "https://a.example"});
  Plain client(port);
  client.set(http::field::origin, "https://a.example");
  BOOST_TEST(client.get("/healthz").status == 200u);
  for (const char* target : {predict, "/v1/models", "/metrics"})
    BOOST_TEST(client.get(target).status == 401u, target);
  client.set(http::field::authorization, "Bearer secret");
  const Answer answer = client.post(predict, digits(1));
  BOOST_TEST(answer.status == 200u);
  BOOST_TEST(answer.headers[http::field::access_control_allow_origin] == "https://a.example");
}

BOOST_AUTO_TEST_CASE(a_signal_ends_the_server_though_clients_are_connected) {
  serve();
  Plain idle(port);
  BOOST_TEST(idle.get("/healthz").status == 200u);
  BOOST_TEST(server->end(SIGTERM) == 143);
}

BOOST_AUTO_TEST_CASE(what_cannot_be_served_is_said) {
  serve();
  const auto says = [&](const Arguments& arguments, int code, const std::string& what) {
    Program program(test::troupe_program(), arguments);
    BOOST_TEST(program.end() == code, program.output());
    BOOST_TEST(program.output().find(what) != std::string::npos, program.output());
  };
  says({"serve", path("served"), "--port", std::to_string(port)}, 1, "cannot listen on 127.0.0.1:");
  says({"serve", path("none")}, 2, "none");
  says({"serve", path("served"), path("served/001")}, 2,
       "two models have the name 'served'; NAME=PATH gives one another name");
  says({"serve", path("served"), "--label", "stable"}, 2, "expected LABEL=VERSION");
  says({"serve", path("served"), "--label", "stable=1", "--label", "stable=2"}, 2,
       "model 'served' has this label already");
  says({"serve", path("served"), "--label", "none:stable=1"}, 2, "no model has the name 'none'");
  says({"serve", path("served"), "--label", "stable=7"}, 2,
       "the label 'stable' stands for version 7, which is not in");
  for (const std::string name : {"", "a:b"})
    says({"serve", name + '=' + path("served")}, 2, "is no name of a model");
  says({"serve", path("served"), "--address", "nowhere"}, 2, "'nowhere' is not an IP address");
  says({"serve", path("served"), "--certificate", path("none.pem"), "--key", path("none.key")}, 2,
       "none.pem cannot be read: No such file or directory");
  says({"serve", path("served"), "--tokens", folder.write("blank", "\n")}, 2, "blank has no token");
  says({"serve", path("served"), "--allow-origin", "a.example"}, 2, "--allow-origin: 'a.example' is no site");
}

BOOST_AUTO_TEST_CASE(https) {
  const std::string cluster =
      folder.write("cluster.toml",
                   "cluster = { name = \"lab\", tls = { cert = \"node.pem\", key = \"node.key\", ca = "
                   "\"ca.pem\" } }\n[jobs]\nworker = [\"127.0.0.1:1\"]\n");
  Program certs(test::troupe_program(), {"certs", path("certs"), "--cluster", cluster});
  BOOST_TEST_REQUIRE(certs.end() == 0, certs.output());
  serve(
      {path("served/001"), "--certificate", path("certs/worker-0.pem"), "--key", path("certs/worker-0.key")});
  asio::ssl::context tls(asio::ssl::context::tls_client);
  Client<asio::ssl::stream<asio::ip::tcp::socket>> client(port, tls);
  client.stream().handshake(asio::ssl::stream_base::client);
  BOOST_TEST(client.post(predict, digits(1)).status == 200u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::serve_test
