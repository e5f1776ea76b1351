// ServedRun: a trained run of digits, and servers of it, for tests. Servers are the real program, and end with the test.
#pragma once

#include <boost/test/unit_test.hpp>

#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "tests/apps/commands/troupe_program.h"
#include "tests/apps/http/http_client.h"
#include "tests/apps/train/digits_runs.h"
#include "tests/support/project_files.h"

namespace troupe::test {

using PlainClient = Client<boost::asio::ip::tcp::socket>;

struct ServedRun : DigitsRuns {
  ServedRun() {
    Program training(troupe_program(), run("train", "served", {"--set", "train.max_epochs=3"}));
    BOOST_TEST_REQUIRE(training.end() == 0, training.output());
  }

  std::string path(const std::string& name) const { return folder.path() + '/' + name; }
  /// Starts a server of a run, on any free port.
  void serve(const Arguments& arguments) {
    Arguments all = {"serve", "--port", "0", "--json"};
    all.insert(all.end(), arguments.begin(), arguments.end());
    begin(troupe_program(), all);
  }
  void serve() { serve({path("served/001")}); }
  /// Starts a program that prints the address of a server.
  void begin(const std::string& program, const Arguments& arguments) {
    server.emplace(program, arguments);
    BOOST_TEST_REQUIRE(server->wait_for("url"), server->output());
    const std::string url = nlohmann::json::parse(server->output()).at("url");
    port = static_cast<uint16_t>(std::stoi(url.substr(url.rfind(':') + 1)));
  }

  /// Returns the pixels of the first digits as a request.
  static std::string digits(size_t rows) {
    std::ifstream file(project_path("examples/digits.csv"));
    std::string text = R"({"instances":[)", line;
    for (size_t i = 0; i < rows && std::getline(file, line); ++i)
      text += (i == 0 ? "[" : ",[") + line.substr(0, line.rfind(',')) + ']';
    return text + "]}";
  }

  std::optional<Program> server;
  uint16_t port = 0;
};

}  // namespace troupe::test
