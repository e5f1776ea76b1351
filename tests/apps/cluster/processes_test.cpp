// Training with several real processes yields the same weights as in one process. If a process dies, the run reports it, and no
// process is left behind.
#include <boost/test/unit_test.hpp>

#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <map>
#include <random>
#include <thread>

#include "tests/apps/commands/troupe_program.h"
#include "tests/apps/train/digits_runs.h"

namespace troupe::processes_test {
namespace {

using namespace std::chrono_literals;
using test::Program;

struct Fixture : test::DigitsRuns {
  std::vector<std::string> endless(const std::string& name) const {
    return DigitsRuns::endless("train", name, {"--local", "ps=1,worker=2"});
  }
  std::vector<std::string> run(const std::string& name, const std::vector<std::string>& more) const {
    return DigitsRuns::run("train", name, more);
  }
};

BOOST_FIXTURE_TEST_SUITE(processes, Fixture)

BOOST_AUTO_TEST_CASE(weights_are_those_of_one_process) {
  const std::vector<std::string> epochs = {"--set", "train.max_epochs=3", "--set",
                                           "train.early_stop.keep_best=false"};
  BOOST_TEST(Program(test::troupe_program(), run("alone", epochs)).end() == 0);
  const auto alone = weights("alone");
  for (const std::string layout : {"ps=1,worker=2", "ps=2,worker=2"}) {
    auto more = epochs;
    more.insert(more.end(), {"--local", layout});
    Program apart(test::troupe_program(), run(layout, more));
    BOOST_TEST(apart.end() == 0, apart.output());
    check_equal(weights(layout), alone);
  }
}

// Lowering the learning rate begins the training of the workers anew.
BOOST_AUTO_TEST_CASE(a_plateau_lowers_the_learning_rate_of_all_workers) {
  const std::vector<std::string> epochs = {
      "--set", "train.plateau={monitor=\"valid/loss\",mode=\"min\",patience=1,min_delta=0.2}",
      "--set", "train.max_epochs=6",
      "--set", "train.early_stop.keep_best=false"};
  BOOST_TEST(Program(test::troupe_program(), run("flat", epochs)).end() == 0);
  auto more = epochs;
  more.insert(more.end(), {"--local", "ps=1,worker=2"});
  Program apart(test::troupe_program(), run("apart", more));
  BOOST_TEST(apart.end() == 0, apart.output());
  BOOST_TEST(apart.output().find("the learning rate is lowered") != std::string::npos, apart.output());
  check_equal(weights("apart"), weights("flat"));
}

// Moving averages are pushed as gradients are, and dropout draws the same numbers everywhere.
BOOST_AUTO_TEST_CASE(weights_of_a_convolutional_network_are_those_of_one_process) {
  const std::vector<std::string> brief = {"--set", "train.max_steps=12", "--set",
                                          "train.early_stop.keep_best=false"};
  auto parted = brief;
  parted.insert(parted.end(), {"--local", "ps=1,worker=2"});
  Program together(test::troupe_program(), DigitsRuns::run("train", "together", brief, "digits_cnn"));
  BOOST_TEST(together.end() == 0, together.output());
  Program apart(test::troupe_program(), DigitsRuns::run("train", "apart", parted, "digits_cnn"));
  BOOST_TEST(apart.end() == 0, apart.output());
  check_equal(weights("apart"), weights("together"));
}

// The steps of a sequence whose length is known only in the step are a loop, which reads the variables of the server.
BOOST_AUTO_TEST_CASE(weights_of_a_recurrent_network_are_those_of_one_process) {
  const std::vector<std::string> brief = {"--set", "train.max_steps=4", "--set",
                                          "train.replication={mode=\"sync\",shards=2}"};
  auto parted = brief;
  parted.insert(parted.end(), {"--local", "ps=1,worker=2"});
  Program together(test::troupe_program(), DigitsRuns::run("train", "together", brief, "reversal"));
  BOOST_TEST(together.end() == 0, together.output());
  Program apart(test::troupe_program(), DigitsRuns::run("train", "apart", parted, "reversal"));
  BOOST_TEST(apart.end() == 0, apart.output());
  check_equal(weights("apart"), weights("together"));
}

// There are more than ten tasks because "10" sorts before "2" as text.
BOOST_AUTO_TEST_CASE(a_dozen_workers_know_their_numbers) {
  const std::vector<std::string> brief = {"--set", "train.max_steps=3",
                                          "--set", "train.early_stop.keep_best=false",
                                          "--set", "train.replication.shards=12"};
  auto apart = brief;
  apart.insert(apart.end(), {"--local", "ps=1,worker=12"});
  BOOST_TEST(Program(test::troupe_program(), run("one", brief)).end() == 0);
  Program dozen(test::troupe_program(), run("dozen", apart));
  BOOST_TEST(dozen.end() == 0, dozen.output());
  check_equal(weights("dozen"), weights("one"));
}

BOOST_AUTO_TEST_CASE(a_run_is_resumed_by_another_number_of_processes) {
  const auto epochs = [](int max_epochs) {
    return std::vector<std::string>{"--set", "train.max_epochs=" + std::to_string(max_epochs), "--set",
                                    "train.early_stop.keep_best=false"};
  };
  BOOST_TEST(Program(test::troupe_program(), run("alone", epochs(6))).end() == 0);
  BOOST_TEST(Program(test::troupe_program(), run("moved", epochs(1))).end() == 0);
  int max_epochs = 1;
  for (const std::string layout : {"ps=1,worker=2", "worker=2", "ps=2,worker=1", "ps=1,worker=2"}) {
    auto more = epochs(++max_epochs);
    more.insert(more.end(), {"--resume", folder.path() + "/moved/001", "--local", layout});
    Program apart(test::troupe_program(), run("moved", more));
    BOOST_TEST(apart.end() == 0, apart.output());
  }
  auto more = epochs(6);
  more.insert(more.end(), {"--resume", "auto"});
  BOOST_TEST(Program(test::troupe_program(), run("moved", more)).end() == 0);
  check_equal(weights("moved"), weights("alone"));
}

// With staleness s no worker is more than s rounds ahead, so at most 2 s + 2 updates of each of the two others come in between.
BOOST_AUTO_TEST_CASE(workers_train_asynchronously_and_with_bounded_staleness) {
  const auto number_after = [](const std::string& output, const std::string& key) {
    const size_t at = output.rfind(key);
    BOOST_TEST_REQUIRE(at != std::string::npos, output);
    return std::stod(output.substr(at + key.size()));
  };
  for (const std::string mode : {"mode=\"async\"", "mode=\"ssp\",staleness=1"}) {
    Program program(test::troupe_program(),
                    run("async", {"--local", "ps=2,worker=3", "--set", "train.replication={" + mode + "}",
                                  "--set", "train.max_epochs=15"}));
    BOOST_TEST(program.end() == 0, program.output());
    BOOST_TEST(number_after(program.output(), "valid/accuracy ") > 0.9);
    const double most = number_after(program.output(), "updates in the mean, ");
    BOOST_TEST((most >= 0 && (mode.find("ssp") == std::string::npos || most <= 8)), most);
  }
}

BOOST_AUTO_TEST_CASE(a_parameter_server_that_is_killed_is_named_and_ends_the_run) {
  Program launcher(test::troupe_program(), endless("victim"));
  BOOST_TEST_REQUIRE(launcher.wait_for("epoch 2"));
  const auto nodes = test::children_of(launcher.process());
  BOOST_TEST_REQUIRE(nodes.size() == 3u);
  const auto begin = std::chrono::steady_clock::now();
  kill(nodes[0], SIGKILL);
  BOOST_TEST(launcher.end() == 1);
  BOOST_TEST((std::chrono::steady_clock::now() - begin < 20s));  // a limit for hangs; the test takes 0.1 s
  const std::string loss = "(process " + std::to_string(nodes[0]) + ") was killed by signal 9";
  BOOST_TEST(launcher.output().find(loss) != std::string::npos, launcher.output());
  BOOST_TEST(gone_within(nodes, 0ms));
}

// The other worker takes over its shards within the round; with a restart it gets them back. A node that is told to end, as by
// systemd or Kubernetes, is a lost one, too.
BOOST_AUTO_TEST_CASE(a_worker_that_ends_is_replaced_by_the_others) {
  const std::vector<std::string> epochs = {"--set", "train.max_epochs=30", "--set",
                                           "train.early_stop.patience=1000"};
  BOOST_TEST(Program(test::troupe_program(), run("undisturbed", epochs)).end() == 0);
  const auto undisturbed = weights("undisturbed");
  for (const int signal : {SIGKILL, SIGTERM, SIGINT})
    for (const std::string restarts : {"0", "1"}) {
      auto more = epochs;
      more.insert(more.end(), {"--local", "ps=1,worker=3", "--set", "train.fault.max_restarts=" + restarts,
                               "--set", "train.replication.shards=2"});
      const std::string name = "replaced" + restarts + '_' + std::to_string(signal);
      Program launcher(test::troupe_program(), run(name, more));
      BOOST_TEST_REQUIRE(launcher.wait_for("epoch 2"));
      kill(test::children_of(launcher.process()).at(1), signal);
      BOOST_TEST_REQUIRE(launcher.wait_for("shard 0 taken over by"), launcher.output());
      if (restarts == "1")
        BOOST_TEST(launcher.wait_for("worker/replica:0/task:0 is back"), launcher.output());
      BOOST_TEST(launcher.end() == 0, launcher.output());
      check_equal(weights(name), undisturbed);
    }
}

// One of three workers is stopped for a while again and again; its rounds go on without it.
BOOST_AUTO_TEST_CASE(a_round_does_not_wait_for_a_backup_worker) {
  Program launcher(test::troupe_program(),
                   run("backup", {"--local", "ps=1,worker=3", "--set", "train.max_epochs=40", "--set",
                                  "train.replication={mode=\"sync\",backup_workers=1}", "--set",
                                  "train.early_stop.patience=1000"}));
  BOOST_TEST_REQUIRE(launcher.wait_for("epoch 2"));
  const pid_t slow = test::children_of(launcher.process()).at(2);
  for (int i = 0; i < 3; ++i) {
    kill(slow, SIGSTOP);
    BOOST_TEST_REQUIRE(launcher.wait_for("epoch " + std::to_string(4 + 3 * i) + " "), launcher.output());
    kill(slow, SIGCONT);
  }
  BOOST_TEST(launcher.end() == 0, launcher.output());
  BOOST_TEST(launcher.output().find("rounds without a shard that came too late: ") != std::string::npos,
             launcher.output());
  const std::string key = "valid/accuracy ";
  const size_t at = launcher.output().rfind(key);
  BOOST_TEST_REQUIRE(at != std::string::npos, launcher.output());
  BOOST_TEST(std::stod(launcher.output().substr(at + key.size())) > 0.9);
}

// Shard 2 comes too late in nearly every round, because its worker has another one before.
BOOST_AUTO_TEST_CASE(the_loss_is_known_without_the_shards_that_came_too_late) {
  for (const std::string layout : {"worker=1", "ps=1,worker=2"}) {
    Program launcher(test::troupe_program(),
                     run("late", {"--local", layout, "--set", "train.max_epochs=4", "--set",
                                  "train.replication={mode=\"sync\",shards=3,backup_workers=1}"}));
    BOOST_TEST(launcher.end() == 0, launcher.output());
    const std::string output = launcher.output();
    double before = 10;
    for (const std::string epoch : {"1", "2", "3", "4"}) {
      const std::string key = "epoch " + epoch + " of 4  loss ";
      const size_t at = output.find(key);
      BOOST_TEST_REQUIRE(at != std::string::npos, output);
      const double loss = std::stod(output.substr(at + key.size()));
      BOOST_TEST((loss > 0.01 && loss < before), output);
      before = loss;
    }
  }
}

// Whichever process is killed at whatever time, with restarts or a resume by hand, the final weights equal those of an
// uninterrupted run.
BOOST_AUTO_TEST_CASE(weights_do_not_depend_on_who_was_killed_when) {
  constexpr int kills = 20, epochs = 30;
  const auto arguments = [&](const std::string& name, const std::vector<std::string>& more) {
    auto all = run(name, {"--set", "train.max_epochs=" + std::to_string(epochs), "--set",
                          "train.early_stop.patience=1000", "--set", "train.checkpoint.every=40 steps"});
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  BOOST_TEST(Program(test::troupe_program(), arguments("alone", {})).end() == 0);
  const auto alone = weights("alone");
  std::mt19937 random(7);
  for (int i = 0; i < kills; ++i) {
    const bool restarts = i % 2 == 0;
    const size_t victim = random() % (restarts ? 3 : 5);  // ps, worker 0, worker 1; the launcher; all
    const std::string name = "killed" + std::to_string(i);
    const std::vector<std::string> local = {"--local", "ps=1,worker=2", "--set",
                                            "train.fault.max_restarts=" + std::to_string(restarts ? 3 : 0)};
    Program launcher(test::troupe_program(), arguments(name, local));
    const std::string moment = "epoch " + std::to_string(1 + random() % (epochs - 5)) + " ";
    BOOST_TEST_REQUIRE(launcher.wait_for(moment), launcher.output());
    const auto nodes = test::children_of(launcher.process());
    BOOST_TEST_REQUIRE(nodes.size() == 3u);
    for (size_t node = 0; node < nodes.size(); ++node)
      if (victim == node || victim == 4) kill(nodes[node], SIGKILL);
    const int code = launcher.end(victim >= 3 ? SIGKILL : 0);
    BOOST_TEST_CONTEXT("killed " << victim << " at " << moment << launcher.output()) {
      const bool goes_on = restarts || victim == 1 || victim == 2;  // the other worker takes over the shards
      BOOST_TEST(code == (victim >= 3 ? -SIGKILL : goes_on ? 0 : 1));
      BOOST_TEST(gone_within(nodes, 20s));
      if (!restarts) {
        auto resume = local;
        resume.insert(resume.end(), {"--resume", "auto"});
        Program again(test::troupe_program(), arguments(name, resume));
        BOOST_TEST(again.end() == 0, again.output());
      }
      check_equal(weights(name), alone);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_node_that_stops_answering_is_replaced) {
  Program launcher(test::troupe_program(),
                   run("frozen", {"--local", "ps=1,worker=2", "--set", "train.max_epochs=300", "--set",
                                  "train.early_stop.patience=1000", "--set", "train.fault.max_restarts=1"}));
  BOOST_TEST_REQUIRE(launcher.wait_for("epoch 2"));
  const pid_t frozen = test::children_of(launcher.process()).at(0);
  kill(frozen, SIGSTOP);
  BOOST_TEST(launcher.end() == 0, launcher.output());
  BOOST_TEST(launcher.output().find("silent") != std::string::npos, launcher.output());
  BOOST_TEST(gone_within({frozen}, 20s));
}

// As when a machine is suspended and goes on: nobody has heard from anybody, but nobody is lost.
BOOST_AUTO_TEST_CASE(a_cluster_that_is_suspended_as_a_whole_goes_on) {
  Program launcher(test::troupe_program(), endless("suspended"));
  BOOST_TEST_REQUIRE(launcher.wait_for("epoch 2 "));
  auto all = test::children_of(launcher.process());
  all.push_back(launcher.process());
  for (const pid_t process : all) kill(process, SIGSTOP);
  std::this_thread::sleep_for(3s);  // three times what a silent process may take
  for (const pid_t process : all) kill(process, SIGCONT);
  for (int i = 0; i < 20; ++i) BOOST_TEST_REQUIRE(launcher.wait_for("epoch "), launcher.output());
  BOOST_TEST(launcher.output().find("silent") == std::string::npos, launcher.output());
  launcher.end(SIGTERM);
}

// A process is lost after five times 50 ms; with the default heartbeat it would be a second.
BOOST_AUTO_TEST_CASE(a_short_heartbeat_notices_a_frozen_node_soon) {
  auto arguments = endless("heartbeat");
  arguments.insert(arguments.end(), {"--set", "train.fault.heartbeat=50ms"});
  Program launcher(test::troupe_program(), arguments);
  BOOST_TEST_REQUIRE(launcher.wait_for("epoch 2"));
  kill(test::children_of(launcher.process()).at(0), SIGSTOP);
  BOOST_TEST(launcher.end() == 1);
  const std::string words = "/job:ps/replica:0/task:0 has been silent for ";
  const size_t at = launcher.output().find(words);
  BOOST_TEST_REQUIRE(at != std::string::npos, launcher.output());
  const int silence = std::stoi(launcher.output().substr(at + words.size()));
  BOOST_TEST(silence >= 250);
  BOOST_TEST(silence < 1000);
}

BOOST_AUTO_TEST_CASE(a_heartbeat_has_its_bounds) {
  const std::string cluster =
      folder.write("cluster.toml", "cluster = { name = 'lab' }\n[jobs]\nps = '127.0.0.1:1'\n");
  for (const auto& [heartbeat, text] : std::map<std::string, std::string>{
           {"19ms", "a heartbeat of 19 ms: allowed are 20 ms to 60 s"},
           {"61s", "a heartbeat of 61000 ms: allowed are 20 ms to 60 s"},
           {"often", "--heartbeat 'often' is not a time such as \"200ms\" or \"2s\""}}) {
    Program node(test::troupe_program(),
                 {"node", "--cluster", cluster, "--job", "ps", "--task", "0", "--heartbeat", heartbeat});
    BOOST_TEST(node.end() == 2);
    BOOST_TEST(node.output().find(text) != std::string::npos, node.output());
  }
}

BOOST_AUTO_TEST_CASE(nodes_end_with_whoever_started_them) {
  for (const int signal : {SIGKILL, SIGTERM}) {
    Program launcher(test::troupe_program(), endless("signal" + std::to_string(signal)));
    BOOST_TEST_REQUIRE(launcher.wait_for("epoch 2"));
    const auto nodes = test::children_of(launcher.process());
    BOOST_TEST(launcher.end(signal) == (signal == SIGKILL ? -SIGKILL : 128 + signal));
    BOOST_TEST(gone_within(nodes, 20s));
  }
  BOOST_TEST(weights("signal15").round > 0u);
}

size_t descriptors() {
  return static_cast<size_t>(std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {}));
}

BOOST_AUTO_TEST_CASE(a_hundred_clusters_leave_nothing) {
  const test::Descendants descendants;
  const size_t open = descriptors();
  for (int i = 0; i < 100; ++i) {
    Program program(test::troupe_program(), run("cycle", {"--local", "ps=1,worker=1", "--dry-run", "1"}));
    BOOST_TEST_REQUIRE(program.end() == 0, program.output());
    BOOST_TEST_REQUIRE(test::children_of(getpid()).empty());
    BOOST_TEST_REQUIRE(descendants.count() == 0u);
  }
  BOOST_TEST(descriptors() == open);
}

BOOST_AUTO_TEST_CASE(bad_calls_name_what_is_wrong) {
  const auto refused = [&](const std::vector<std::string>& arguments, const std::string& text) {
    Program program(test::troupe_program(), arguments);
    BOOST_TEST(program.end() != 0);
    BOOST_TEST(program.output().find(text) != std::string::npos, program.output());
  };
  refused(run("bad", {"--local", "ps"}), "'ps' is not of the form JOB=COUNT");
  refused(run("bad", {"--local", "worker=0"}), "'worker=0' is not of the form JOB=COUNT");
  const std::string cluster =
      folder.write("cluster.toml", "cluster = { name = 'lab' }\n[jobs]\nps = ['127.0.0.1:1', 'x']\n");
  refused({"node", "--cluster", cluster, "--job", "ps"},
          "cluster.toml:3:22: jobs.ps: expected \"host:port\"");
  const std::string good =
      folder.write("good.toml", "cluster = { name = 'lab' }\n[jobs]\nps = '127.0.0.1:1'\n");
  refused({"node", "--cluster", good, "--job", "worker"}, "has no job 'worker'; its jobs are ps");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::processes_test
