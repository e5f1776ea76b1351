// What is known of a run while it trains: the monitor, its text for Prometheus and for terminals, and what is asked of the run.
#include "apps/observe/run_monitor.h"

#include <boost/test/unit_test.hpp>

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>

#include "apps/http/known_host.h"
#include "apps/observe/run_control.h"
#include "apps/observe/run_metrics.h"
#include "apps/observe/status_json.h"
#include "apps/observe/status_text.h"

namespace troupe::observe::run_monitor_test {
namespace {

using namespace std::chrono_literals;

bool says(const std::string& text, const std::string& what) { return text.find(what) != std::string::npos; }

/// A run of 4 epochs of 10 steps, of which 25 steps are done.
struct Fixture {
  Fixture() {
    monitor.describe({.name = "digits \"7\"",
                      .samples = 640,
                      .parameters = 7510,
                      .batch = 64,
                      .steps_per_epoch = 10,
                      .last_step = 40,
                      .max_epochs = 4});
    monitor.enter(Phase::Training);
    monitor.rounds(25, 0.5, 0.75, 0);
    monitor.scored({20, 2, 0, {{"train/loss", 0.9}, {"valid/accuracy", 0.8}}});
  }
  RunMonitor monitor;
};

BOOST_AUTO_TEST_SUITE(run_monitor)

BOOST_AUTO_TEST_CASE(a_curve_keeps_the_mean_of_all_steps_in_few_points) {
  LossCurve curve(8);
  for (uint64_t step = 1; step <= 1024; ++step) curve.add(step, static_cast<double>(step));
  const auto& points = curve.points();
  BOOST_TEST(points.size() < 8u);
  BOOST_TEST_REQUIRE(points.size() >= 4u);
  const uint64_t width = points[0].first;
  uint64_t before = 0;
  for (const auto& [step, loss] : points) {
    BOOST_TEST(step - before == width);
    BOOST_TEST(loss == static_cast<double>(before + 1 + step) / 2);  // of the steps before + 1, ..., step
    before = step;
  }
}

BOOST_FIXTURE_TEST_CASE(a_snapshot_says_where_the_run_is, Fixture) {
  const RunSnapshot run = monitor.snapshot();
  BOOST_TEST(run.pace.epoch == 3u);
  BOOST_TEST(run.pace.step == 25u);
  BOOST_TEST(run.pace.epoch_loss == 0.75);
  BOOST_TEST(run.loss == 0.5);
  BOOST_TEST(!run.pace.left());  // one point tells no pace
  BOOST_TEST((run.phase == Phase::Training));
  BOOST_TEST(!run.input.has_value());
  monitor.input({3, 16});
  BOOST_TEST(status_json(monitor.snapshot()).at("input").dump() ==
             R"({"batches_ready":3,"batches_most":16})");
}

BOOST_FIXTURE_TEST_CASE(the_newest_costs_of_each_device_are_shown, Fixture) {
  const std::string device = "/job:worker/replica:0/task:0/device:CPU:0";
  monitor.costs({{device, 100, {{"Add", 1, 90}}, 0, 10, 0}});
  monitor.costs({});
  monitor.costs({{device, 200, {{"MatMul", 3, 100}, {"Add", 1, 20}}, 20, 50, 10}});
  const RunSnapshot run = monitor.snapshot();
  BOOST_TEST(status_json(run).at("devices").dump() ==
             R"([{"device":")" + device +
                 R"(","step_us":200.0,"ops":[{"op":"MatMul","runs":3.0,"us":100.0,"share":0.5},)"
                 R"({"op":"Add","runs":1.0,"us":20.0,"share":0.1}],)"
                 R"("between_nodes_us":20.0,"waiting_us":50.0,"outside_us":10.0}])");
  std::string text;
  for (const auto& line : status_lines(status_json(run))) text += line + '\n';
  BOOST_TEST(says(text, device + " MatMul 50 %, Add 10 %, waiting for others 30 %"), text);
  const std::string metrics = run_metrics(run);
  for (const std::string& line :
       {R"(troupe_step_waiting_ratio{run="digits \"7\"",device=")" + device + "\"} 0.3",
        R"(troupe_step_computing_ratio{run="digits \"7\"",device=")" + device + "\"} 0.6"})
    BOOST_TEST(says(metrics, line), metrics);
}

BOOST_FIXTURE_TEST_CASE(the_parts_of_the_time_are_the_whole, Fixture) {
  {
    const PhaseScope evaluating(monitor, Phase::Evaluating);
    monitor.enter(Phase::Paused);
  }
  monitor.rounds(26, 0.5, 0.75, 1e9);  // no more than all of the training
  monitor.ended("completed");
  const RunSnapshot run = monitor.snapshot();
  double all = 0;
  for (const auto& [what, seconds] : run.spent) {
    BOOST_TEST(seconds >= 0);
    all += seconds;
  }
  BOOST_TEST(all > 0);
  BOOST_TEST(all <= run.time - run.started + 0.01);
}

BOOST_AUTO_TEST_CASE(the_pace_is_that_of_the_last_seconds_without_pauses) {
  RunMonitor monitor;
  monitor.describe({.name = "run", .batch = 64, .steps_per_epoch = 1000, .last_step = 1000, .max_epochs = 1});
  const RunMonitor::Clock::time_point begin;
  for (uint64_t i = 0; i <= 60; ++i) monitor.rounds(i, 1, 1, 0, begin + i * 1s);  // one step per second
  for (uint64_t i = 61; i <= 80; ++i) monitor.rounds(60 + 5 * (i - 60), 1, 1, 0, begin + i * 1s);
  BOOST_TEST(monitor.pace().steps_per_second == 5, boost::test_tools::tolerance(1e-9));
  BOOST_TEST(monitor.pace().samples_per_second == 320, boost::test_tools::tolerance(1e-9));
  BOOST_TEST(monitor.pace().left().value() == 168, boost::test_tools::tolerance(1e-9));
  const PhaseScope paused(monitor, Phase::Paused);
  BOOST_TEST(monitor.pace().steps_per_second == 0);
  BOOST_TEST(!monitor.pace().left());
}

BOOST_FIXTURE_TEST_CASE(nodes_are_remembered_with_what_happened_to_them, Fixture) {
  bool linked = true;
  monitor.set_probe([&] {
    return std::vector<NodeState>{
        {.task = "/job:ps/replica:0/task:0", .linked = linked, .problem = "refused"}};
  });
  BOOST_TEST(monitor.snapshot().nodes.at(0).last_seen > 0);
  monitor.restarted("/job:ps/replica:0/task:0");
  linked = false;
  monitor.set_probe({});
  const NodeState node = monitor.snapshot().nodes.at(0);
  BOOST_TEST(!node.linked);
  BOOST_TEST(node.last_seen > 0);
  BOOST_TEST(node.restarts == 1u);
}

BOOST_FIXTURE_TEST_CASE(counters_are_in_the_format_of_prometheus, Fixture) {
  monitor.gradients({10, 25, 4, 0});
  const std::string text = run_metrics(monitor.snapshot());
  for (const std::string line :
       {"# HELP troupe_steps_total ", "# TYPE troupe_steps_total counter",
        R"(troupe_steps_total{run="digits \"7\""} 25)", R"(troupe_last_step{run="digits \"7\""} 40)",
        R"(troupe_score{run="digits \"7\"",metric="valid/accuracy"} 0.8)",
        R"(troupe_phase{run="digits \"7\"",phase="training"} 1)",
        R"(troupe_gradient_staleness_updates_total{run="digits \"7\""} 25)"})
    BOOST_TEST(says(text, line), text);
  BOOST_TEST(text.ends_with('\n'));
}

BOOST_FIXTURE_TEST_CASE(a_state_is_shown_as_text, Fixture) {
  monitor.note("lost\033[2J a worker");
  std::string text;
  for (const auto& line : status_lines(status_json(monitor.snapshot()))) text += line + '\n';
  for (const std::string part : {"digits \"7\": training", "epoch 3 of 4   step 25 of 40 (62 %)",
                                 "valid/accuracy 0.8", "lost\\x1b[2J a worker"})
    BOOST_TEST(says(text, part), text);
}

BOOST_AUTO_TEST_CASE(anything_may_be_in_the_state_that_is_shown) {
  for (const char* text :
       {"{}", R"({"step":"x"})", R"({"step":1,"nodes":3,"notes":[1],"scores":[[]],"spent":[]})",
        R"({"step":null,"ending":7})", R"({"step":1,"devices":[7,{"ops":[1]}]})"})
    BOOST_TEST(!status_lines(nlohmann::ordered_json::parse(text)).empty());
}

BOOST_AUTO_TEST_CASE(a_control_refuses_while_nothing_trains) {
  int stops = 0;
  RunControl control([&] { ++stops; });
  std::map<std::string, Code> answers;  // by action
  const auto ask = [&](const std::string& action, const std::string& task = {}) {
    answers.erase(action);
    control.ask(action, task,
                [&, action](const Result<std::string>& done) { answers[action] = done.status().code(); });
    return answers.contains(action) ? answers[action] : Code::Unknown;
  };
  for (const char* action : {"pause", "resume", "checkpoint"})
    BOOST_TEST((ask(action) == Code::FailedPrecondition), action);
  BOOST_TEST((ask("drain", "worker/1") == Code::FailedPrecondition));
  control.open();
  BOOST_TEST((ask("checkpoint") == Code::Unknown));
  BOOST_TEST((ask("drain", "worker/1") == Code::Unknown));
  BOOST_TEST((ask("drain") == Code::InvalidArgument));
  for (const char* wrong : {"", "-1", "1.5", "2x", "99999999999"})
    BOOST_TEST((ask("backups", wrong) == Code::InvalidArgument), wrong);
  BOOST_TEST((ask("backups", "2") == Code::Unknown));
  BOOST_TEST_REQUIRE(control.take_requests().size() == 3u);
  BOOST_TEST((ask("checkpoint") == Code::Unknown));
  BOOST_TEST((ask("pause", "worker/1") == Code::InvalidArgument));
  BOOST_TEST((ask("explode") == Code::NotFound));
  BOOST_TEST((ask("add", "worker/1") == Code::Unknown));
  BOOST_TEST((ask("pause") == Code::Ok));
  BOOST_TEST(control.paused());
  control.close();  // before the trainer has taken what was asked
  BOOST_TEST((answers.at("checkpoint") == Code::FailedPrecondition));
  BOOST_TEST((answers.at("add") == Code::FailedPrecondition));
  BOOST_TEST(!control.paused());
  BOOST_TEST((ask("stop") == Code::Ok));  // a run may end before it trains
  BOOST_TEST(stops == 1);
}

BOOST_AUTO_TEST_CASE(a_paused_trainer_wakes_up_when_something_is_asked) {
  RunControl control([] {});
  control.open();
  const auto ignore = [](const Result<std::string>&) {};
  control.ask("pause", {}, ignore);
  BOOST_TEST(control.paused());
  std::thread other([&] { control.ask("resume", {}, ignore); });
  while (control.paused()) control.await(1h);
  other.join();
}

BOOST_AUTO_TEST_CASE(names_of_strangers_are_refused) {
  const std::vector<std::string> hosts = {"lab.example"};
  for (const char* known : {"127.0.0.1:8080", "127.0.0.1", "localhost:1", "localhost", "[::1]:8080", "[::1]",
                            "10.1.2.3:80", "lab.example:8080"})
    BOOST_TEST(http::is_known_host(known, hosts), known);
  for (const char* strange : {"", ":80", "evil.example", "evil.example:8080", "127.0.0.1.evil.example",
                              "localhost.evil.example", "[", "[]", "[::1", "lab.example.evil", "::1"})
    BOOST_TEST(!http::is_known_host(strange, hosts), strange);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::observe::run_monitor_test
