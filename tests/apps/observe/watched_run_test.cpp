// A training that is watched and controlled by other processes: troupe status, top and ctl, and the servers of [observe].
#include <boost/test/unit_test.hpp>

#include <sys/stat.h>

#include <algorithm>
#include <boost/asio/connect.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/read_until.hpp>
#include <boost/asio/streambuf.hpp>
#include <boost/asio/write.hpp>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/apps/commands/troupe_program.h"
#include "tests/apps/train/digits_runs.h"
#include "tests/support/comes_true.h"

namespace troupe::watched_run_test {
namespace {

namespace asio = boost::asio;
namespace fs = std::filesystem;
using test::Program;
using Arguments = test::DigitsRuns::Arguments;
using Json = nlohmann::json;

bool says(const std::string& text, const std::string& what) { return text.find(what) != std::string::npos; }

/// Returns whether a process has a handler for a signal.
bool catches(pid_t process, int signal) {
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with("SigCgt:"))
      return (std::stoull(line.substr(7), nullptr, 16) >> (signal - 1) & 1) != 0;
  return false;
}

/// A connection to a server, as a browser has it.
class Browser {
 public:
  explicit Browser(uint16_t port) : socket_(context_) {
    socket_.connect({asio::ip::make_address("127.0.0.1"), port});
  }
  /// Sends a request and returns what comes until this text, or until the end.
  std::string ask(const std::string& method, const std::string& target, const std::string& host,
                  const std::string& until) {
    asio::write(socket_, asio::buffer(method + ' ' + target + " HTTP/1.1\r\nHost: " + host +
                                      "\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"));
    return read(until);
  }
  std::string read(const std::string& until) {
    boost::system::error_code end;
    asio::streambuf buffer;
    asio::read_until(socket_, buffer, until, end);
    return {asio::buffers_begin(buffer.data()), asio::buffers_end(buffer.data())};
  }

 private:
  asio::io_context context_;
  asio::ip::tcp::socket socket_;
};

struct Fixture : test::DigitsRuns {
  struct Output {
    int code = 0;
    std::string text;
  };
  static Output call(const Arguments& arguments) {
    Program program(test::troupe_program(), arguments);
    const int code = program.end();
    return {code, program.output()};
  }
  static Json json(Arguments arguments) {
    arguments.emplace_back("--json");
    const Output output = call(arguments);
    BOOST_TEST(output.code == 0, output.text);
    return Json::parse(output.text, nullptr, false);
  }
  /// Begins a training that does not end by itself, and waits for its first epochs. It prints nothing meanwhile, because nobody
  /// reads that.
  void train(Arguments more = {}) {
    more.emplace_back("-q");
    training.emplace(test::troupe_program(), endless("train", "watched", more));
    (void)await([](const Json& state) { return state.value("epoch", 0) >= 2; });
  }
  /// Waits until the state of the run is as it should be. Returns the state.
  template <class Condition>
  Json await(Condition is_so) const {
    Json state;
    const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
    do {
      Program status(test::troupe_program(), {"status", run_folder, "--json"});
      status.end();
      state = Json::parse(status.output(), nullptr, false);
    } while (!(state.is_object() && is_so(state)) && std::chrono::steady_clock::now() < end);
    BOOST_TEST_REQUIRE((state.is_object() && is_so(state)), state.dump());
    return state;
  }
  Json await_phase(const std::string& phase) const {
    return await([&](const Json& state) { return state.value("phase", "") == phase; });
  }
  Json await_step_after(const Json& before) const {
    return await([&](const Json& state) { return state.value("step", 0) > before.at("step"); });
  }
  uint16_t port_of(const std::string& what) const {
    std::ifstream file(run_folder + "/addresses.json");
    const std::string url = Json::parse(file).at(what).at(0);
    return static_cast<uint16_t>(std::stoi(url.substr(url.rfind(':') + 1)));
  }

  const std::string run_folder = folder.path() + "/watched/001";
  std::optional<Program> training;
};

BOOST_FIXTURE_TEST_SUITE(watched_run, Fixture)

BOOST_AUTO_TEST_CASE(a_run_pauses_goes_on_saves_and_stops_when_it_is_told) {
  train();
  struct stat info {};
  BOOST_TEST_REQUIRE(::stat((run_folder + "/control").c_str(), &info) == 0);
  BOOST_TEST((info.st_mode & 0777) == 0600u);

  const Json first = json({"status", folder.path() + "/watched"});
  BOOST_TEST(first.at("name") == "watched");
  BOOST_TEST(first.at("epoch") >= 2);
  BOOST_TEST(first.at("scores").size() >= 1u);
  BOOST_TEST(says(call({"status", run_folder}).text, "watched: "));

  BOOST_TEST(call({"ctl", run_folder, "pause"}).code == 0);
  const Json paused = await_phase("paused");
  const Json saved = json({"ctl", run_folder, "checkpoint"});
  BOOST_TEST(fs::is_directory(saved.at("checkpoint").get<std::string>()));
  const Json still = json({"status", run_folder});
  BOOST_TEST(still.at("phase") == "paused");
  BOOST_TEST(still.at("step") == paused.at("step"));
  BOOST_TEST(still.at("checkpoint").at("step") == paused.at("step"));
  BOOST_TEST(weights("watched").round == paused.at("step"));

  BOOST_TEST(call({"ctl", run_folder, "resume"}).code == 0);
  (void)await_step_after(paused);
  const Json again = json({"ctl", run_folder, "checkpoint"});  // while it trains
  BOOST_TEST(fs::is_directory(again.at("checkpoint").get<std::string>()));

  BOOST_TEST(call({"ctl", run_folder, "stop"}).code == 0);
  BOOST_TEST(training->end() == 128 + SIGTERM, training->output());
  BOOST_TEST(says(training->output(), "stopped by SIGTERM"));
  BOOST_TEST(!fs::exists(run_folder + "/control"));
}

BOOST_AUTO_TEST_CASE(a_paused_run_can_be_stopped) {
  train();
  BOOST_TEST(call({"ctl", run_folder, "pause"}).code == 0);
  (void)await_phase("paused");
  BOOST_TEST(call({"ctl", run_folder, "stop"}).code == 0);
  BOOST_TEST(training->end() == 128 + SIGTERM, training->output());
}

BOOST_AUTO_TEST_CASE(a_cluster_pauses_and_goes_on) {
  train({"--local", "ps=1,worker=2"});
  BOOST_TEST(call({"ctl", run_folder, "pause"}).code == 0);
  const Json paused = await_phase("paused");
  BOOST_TEST_REQUIRE(paused.at("nodes").size() == 3u);
  for (const Json& node : paused.at("nodes")) {
    BOOST_TEST(node.at("linked") == true);
    BOOST_TEST(node.at("unsent_bytes") < 1e6);  // nobody is slow
  }
  // What the nodes tell of themselves comes a little later than the state.
  (void)await([](const Json& state) {
    const auto works = [](const Json& node) {
      return node.at("sent_bytes") > 0 && node.at("received_bytes") > 0 && node.at("cores") > 0;
    };
    return std::ranges::all_of(state.at("nodes"), works);
  });
  BOOST_TEST(call({"ctl", run_folder, "resume"}).code == 0);
  (void)await_step_after(paused);
  BOOST_TEST(training->end(SIGINT) == 128 + SIGINT, training->output());
}

BOOST_AUTO_TEST_CASE(a_run_that_has_ended_says_how) {
  const Output trained = call(run("train", "watched", {"--set", "train.max_epochs=1"}));
  BOOST_TEST_REQUIRE(trained.code == 0, trained.text);
  const Json state = json({"status", run_folder});
  BOOST_TEST(state.at("phase") == "ended");
  BOOST_TEST(state.at("ending") == "completed");
  BOOST_TEST(state.at("time") > 1.6e9);
  BOOST_TEST(says(call({"status", run_folder}).text, "ended: completed"));
  for (const Arguments& asked : {Arguments{"ctl", run_folder, "pause"}, Arguments{"top", run_folder}}) {
    const Output refused = call(asked);
    BOOST_TEST(refused.code == 1);
    BOOST_TEST(says(refused.text, "no training runs in " + run_folder + ": its last one ended at "),
               refused.text);
  }
}

BOOST_AUTO_TEST_CASE(a_run_that_was_killed_says_so_and_can_be_watched_when_it_is_resumed) {
  train();
  BOOST_TEST(training->end(SIGKILL) == -SIGKILL);
  const Output killed = call({"status", run_folder});
  BOOST_TEST(killed.code == 1);
  BOOST_TEST(says(killed.text, "its last one ended without a result"), killed.text);
  train({"--resume", "auto"});
  BOOST_TEST(json({"status", run_folder}).at("phase") != "ended");
  BOOST_TEST(training->end(SIGTERM) == 128 + SIGTERM);
}

BOOST_AUTO_TEST_CASE(what_is_no_run_and_what_is_not_there_yet_is_refused) {
  const Output none = call({"status", folder.path() + "/none"});
  BOOST_TEST(none.code == 2);
  BOOST_TEST(says(none.text, "there is no run '" + folder.path() + "/none'"));
  train();
  const Output alone = call({"ctl", run_folder, "drain", "worker/1"});
  BOOST_TEST(alone.code == 1);
  BOOST_TEST(says(alone.text, "this run trains in one session, without 'worker/1'"), alone.text);
  const Output many = call({"ctl", run_folder, "backups", "1"});
  BOOST_TEST(many.code == 1);
  BOOST_TEST(says(many.text, "only trainings over parameter servers"), many.text);
  for (const Arguments& wrong : {Arguments{"explode"}, {"drain"}, {"pause", "worker/1"}, {"backups"}}) {
    Arguments all = {"ctl", run_folder};
    all.insert(all.end(), wrong.begin(), wrong.end());
    BOOST_TEST(call(all).code == 2);
  }
}

BOOST_AUTO_TEST_CASE(top_repeats_the_state_until_the_run_ends) {
  train();
  Program top(test::troupe_program(), {"top", run_folder});
  for (int i = 0; i < 2; ++i) BOOST_TEST_REQUIRE(top.wait_for("watched: "), top.output());
  BOOST_TEST(training->end(SIGTERM) == 128 + SIGTERM);
  BOOST_TEST(top.end() == 0, top.output());
  BOOST_TEST(says(top.output(), "ended: stopped"), top.output());
}

BOOST_AUTO_TEST_CASE(a_frozen_run_is_not_waited_for) {
  train();
  Program top(test::troupe_program(), {"top", run_folder});
  BOOST_TEST_REQUIRE(top.wait_for("watched: "), top.output());
  BOOST_TEST_REQUIRE(::kill(training->process(), SIGSTOP) == 0);
  const std::string why = "the training in " + run_folder + " has not answered for 5 s";
  const Output status = call({"status", run_folder});
  BOOST_TEST(status.code != 0);
  BOOST_TEST(says(status.text, why), status.text);
  BOOST_TEST(says(call({"ctl", run_folder, "checkpoint"}).text, why));
  BOOST_TEST(top.end() != 0);
  BOOST_TEST(says(top.output(), why), top.output());

  Program waiting(test::troupe_program(), {"top", run_folder});
  BOOST_TEST(test::comes_true([&] { return catches(waiting.process(), SIGINT); }));
  const auto begin = std::chrono::steady_clock::now();
  BOOST_TEST(waiting.end(SIGINT) == 0, waiting.output());
  BOOST_TEST((std::chrono::steady_clock::now() - begin < std::chrono::seconds(4)));
  BOOST_TEST_REQUIRE(::kill(training->process(), SIGCONT) == 0);
  BOOST_TEST(call({"ctl", run_folder, "checkpoint"}).code == 0);
}

BOOST_AUTO_TEST_CASE(a_folder_with_a_long_path_has_a_socket) {
  const std::string deep = folder.path() + '/' + std::string(120, 'd');
  training.emplace(test::troupe_program(),
                   endless("train", "watched", {"-q", "--set", "run.directory=" + deep}));
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!fs::exists(deep + "/watched/001/control") && std::chrono::steady_clock::now() < end)
    std::this_thread::yield();
  BOOST_TEST(json({"status", deep + "/watched"}).at("name") == "watched");
}

BOOST_AUTO_TEST_CASE(a_page_and_counters_are_served) {
  train({"--set", "observe={page='127.0.0.1:0',metrics='localhost:0',hosts='lab.example'}"});
  const uint16_t page = port_of("page"), metrics = port_of("metrics");
  const auto get = [&](uint16_t port, const std::string& target) {
    return Browser(port).ask("GET", target, "127.0.0.1", "\n\n\n");
  };
  BOOST_TEST(says(get(page, "/"), "<title>Troupe"));
  for (const char* file : {"/page.css", "/page.js", "/charts.js"})
    BOOST_TEST(says(get(page, file), "200 OK"));
  BOOST_TEST(says(get(page, "/status"), "\"name\":\"watched\""));
  BOOST_TEST(says(get(metrics, "/metrics"), "troupe_steps_total{run=\"watched\"} "));
  BOOST_TEST(says(get(page, "/../config.toml"), "404 Not Found"));
  BOOST_TEST(says(get(metrics, "/"), "404 Not Found"));
  BOOST_TEST(says(get(page, "/"), "Content-Security-Policy: default-src 'self'"));

  // Nobody controls the run over the network, or reads it through the browser of somebody who can.
  const std::string refused = Browser(page).ask("POST", "/ctl/stop", "127.0.0.1", "\n\n\n");
  BOOST_TEST(says(refused, "405 Method Not Allowed"));
  BOOST_TEST(says(refused, "Allow: GET, HEAD\r\n"));
  BOOST_TEST(says(refused, "X-Frame-Options: DENY\r\n"));
  BOOST_TEST(says(Browser(page).ask("GET", "/status", "evil.example", "\n\n\n"), "403 Forbidden"));
  BOOST_TEST(says(Browser(page).ask("GET", "/status", "lab.example:80", "\n\n\n"), "200 OK"));

  Browser watcher(page);
  BOOST_TEST(says(watcher.ask("GET", "/events", "localhost", "\n\n"), "text/event-stream"));
  BOOST_TEST(says(watcher.read("\"phase\":"), "data: {"));
  BOOST_TEST(training->end(SIGTERM) == 128 + SIGTERM);
  BOOST_TEST(says(watcher.read("\n\n\n"), "\"ending\":\"stopped\""));  // up to the end of the connection
  BOOST_TEST(!fs::exists(run_folder + "/addresses.json"));
}

BOOST_AUTO_TEST_CASE(an_address_that_is_taken_or_wrong_is_refused_before_the_training) {
  train({"--set", "observe.page='127.0.0.1:0'"});
  const std::string taken = "127.0.0.1:" + std::to_string(port_of("page"));
  const Output second = call(run("train", "second", {"--set", "observe.metrics='" + taken + "'"}));
  BOOST_TEST(second.code == 1);
  BOOST_TEST(says(second.text, "observe.metrics: cannot listen on 127.0.0.1:"), second.text);
  const Output wrong = call(run("train", "second", {"--set", "observe.page='somewhere:80'"}));
  BOOST_TEST(wrong.code == 2);
  BOOST_TEST(says(wrong.text, "observe.page: 'somewhere' is not an IP address"), wrong.text);
}

BOOST_AUTO_TEST_CASE(a_quiet_run_prints_its_result_alone) {
  const Output quiet = call(run("train", "watched", {"--set", "train.max_epochs=1", "-q"}));
  BOOST_TEST(quiet.code == 0);
  BOOST_TEST(quiet.text.starts_with("completed after "), quiet.text);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::watched_run_test
