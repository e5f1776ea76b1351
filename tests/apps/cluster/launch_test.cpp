// troupe launch: starts nodes of a cluster file on this machine and through ssh on others. In these tests ssh is replaced by a
// program that runs commands on this machine.
#include "apps/cluster/launch.h"

#include <boost/test/unit_test.hpp>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include "tests/apps/commands/troupe_program.h"
#include "tests/apps/train/digits_runs.h"
#include "tests/support/net/reserved_port.h"

namespace troupe::launch_test {
namespace {

using namespace std::chrono_literals;
using test::Program;
using Arguments = test::DigitsRuns::Arguments;

const Arguments brief = {"--set", "train.max_epochs=3", "--set", "train.early_stop.keep_best=false"};

Arguments operator+(Arguments left, const Arguments& right) {
  left.insert(left.end(), right.begin(), right.end());
  return left;
}

struct Fixture : test::DigitsRuns {
  /// Writes a cluster file with one parameter server and two workers, the second on another host. `more` adds keys of [cluster].
  std::string cluster_file(const std::string& more = {}) const {
    return folder.write("cluster.toml", "cluster = { name = 'lab'" + more + " }\n[jobs]\nps = '" +
                                            ps.endpoint() + "'\nworker = ['" + worker0.endpoint() + "', '" +
                                            worker1.endpoint() + "']\n");
  }
  /// Writes a script that replaces ssh. `script` handles $host and the command, "$*".
  std::string ssh(const std::string& script) const {
    const std::string file = folder.write("ssh", "#!/bin/sh\nhost=$1; shift\n" + script + "\n");
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    return file;
  }
  Arguments by_ssh(const std::string& script = "sh -c \"$*\"") const {
    return {"--cluster", cluster_file(), "--ssh-everywhere",    "--ssh",
            ssh(script), "--program",    test::troupe_program()};
  }

  const test::ReservedPort ps, worker0, worker1{"127.0.0.2"};
  const test::Descendants descendants;
};

BOOST_FIXTURE_TEST_SUITE(launch, Fixture)

BOOST_AUTO_TEST_CASE(hosts_of_this_machine_are_known) {
  BOOST_TEST(cluster::is_this_machine("127.0.0.1:4242"));
  BOOST_TEST(cluster::is_this_machine("localhost:4242"));
  BOOST_TEST(!cluster::is_this_machine("192.0.2.1:4242"));  // an address for documentation (RFC 5737)
}

BOOST_AUTO_TEST_CASE(nodes_that_others_have_started_are_not_used) {
  const std::string file = cluster_file();
  Program node(test::troupe_program(), {"node", "--cluster", file, "--job", "ps", "--task", "0"});
  BOOST_TEST_REQUIRE(node.wait_for(ps.endpoint()), node.output());
  Program launched(test::troupe_program(), run("launch", "run", Arguments{"--cluster", file, "-q"} + brief));
  BOOST_TEST(launched.end() == 1);
  BOOST_TEST(launched.output().find("ps/0: " + ps.endpoint() + " is in use") != std::string::npos,
             launched.output());
}

BOOST_AUTO_TEST_CASE(weights_are_those_of_one_process) {
  BOOST_TEST(Program(test::troupe_program(), run("train", "alone", brief)).end() == 0);
  const auto alone = weights("alone");

  Program here(test::troupe_program(),
               run("launch", "here", brief + Arguments{"--cluster", cluster_file(), "--ssh", "false"}));
  BOOST_TEST(here.end() == 0, here.output());
  check_equal(weights("here"), alone);

  const std::string there = folder.path() + "/it's there";
  std::filesystem::create_directory(there);
  const Arguments elsewhere = by_ssh("echo \"reached $host: $*\" >&2; sh -c \"$*\"");
  Program apart(test::troupe_program(),
                run("launch", "apart", brief + elsewhere + Arguments{"--folder", there}));
  BOOST_TEST(apart.end() == 0, apart.output());
  check_equal(weights("apart"), alone);
  for (const std::string line : {"[ps/0] reached 127.0.0.1: cd ", "[worker/1] reached 127.0.0.2: cd "})
    BOOST_TEST(apart.output().find(line) != std::string::npos, apart.output());
  BOOST_TEST(descendants.count() == 0u);
}

BOOST_AUTO_TEST_CASE(certificates_are_told_to_every_node) {
  const Arguments how = by_ssh();
  const std::string file = cluster_file(
      ", tls = { cert = 'certs/{job}-{task}.pem', key = 'certs/{job}-{task}.key', ca = 'certs/ca.pem' }");
  BOOST_TEST(Program(test::troupe_program(), {"certs", folder.path() + "/certs", "--cluster", file}).end() ==
             0);
  Program program(test::troupe_program(), run("launch", "tls", brief + how + Arguments{"--json"}));
  BOOST_TEST(program.end() == 0, program.output());
  BOOST_TEST(program.output().starts_with("{\"ending\":\"completed\""), program.output());
}

BOOST_AUTO_TEST_CASE(a_signal_ends_the_run_in_order) {
  for (const Arguments& how : {by_ssh(), Arguments{"--cluster", cluster_file()}}) {
    const std::string name = "signal" + std::to_string(how.size());
    Program launcher(test::troupe_program(), endless("launch", name, how));
    BOOST_TEST_REQUIRE(launcher.wait_for("epoch 2"), launcher.output());
    BOOST_TEST(launcher.end(SIGINT) == 128 + SIGINT, launcher.output());
    BOOST_TEST(launcher.output().find("stopped after") != std::string::npos, launcher.output());
    BOOST_TEST(descendants.count() == 0u);
    BOOST_TEST(weights(name).round > 0u);
  }
}

/// Returns whether a signal that was sent to the process is still pending.
bool is_pending(pid_t process, int signal) {
  std::ifstream status("/proc/" + std::to_string(process) + "/status");
  const std::string key = "ShdPnd:";
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(key))
      return ((std::stoull(line.substr(key.size()), nullptr, 16) >> (signal - 1)) & 1) != 0;
  return false;
}

// With this heartbeat a server that does not answer is lost only after a minute, and the orderly end waits for it until then.
BOOST_AUTO_TEST_CASE(a_second_signal_ends_it_at_once) {
  const Arguments patient = {"--cluster", cluster_file(), "--set", "train.fault.heartbeat=12s"};
  Program launcher(test::troupe_program(), endless("launch", "twice", patient));
  BOOST_TEST_REQUIRE(launcher.wait_for("epoch 2"), launcher.output());
  const auto nodes = test::children_of(launcher.process());
  BOOST_TEST_REQUIRE(nodes.size() == 3u);
  kill(nodes[0], SIGSTOP);
  kill(launcher.process(), SIGINT);
  while (is_pending(launcher.process(), SIGINT)) std::this_thread::yield();
  BOOST_TEST(launcher.end(SIGINT) == -SIGINT);
  BOOST_TEST(gone_within(nodes, 20s));
}

BOOST_AUTO_TEST_CASE(nodes_end_with_a_launcher_that_is_killed) {
  Program launcher(test::troupe_program(), endless("launch", "killed", by_ssh()));
  BOOST_TEST_REQUIRE(launcher.wait_for("epoch 2"), launcher.output());
  const auto all = descendants.all();
  BOOST_TEST(all.size() >= 7u);  // the launcher, and for each node its ssh and the node
  kill(launcher.process(), SIGKILL);
  BOOST_TEST(gone_within(all, 20s));
}

BOOST_AUTO_TEST_CASE(a_node_that_is_killed_is_started_anew) {
  const Arguments more = {"--cluster", cluster_file(),         "--set", "train.fault.max_restarts=1",
                          "--set",     "train.max_epochs=300", "--set", "train.early_stop.patience=1000"};
  Program launcher(test::troupe_program(), run("launch", "anew", more));
  BOOST_TEST_REQUIRE(launcher.wait_for("epoch 2"), launcher.output());
  kill(test::children_of(launcher.process()).at(1), SIGKILL);
  BOOST_TEST(launcher.end() == 0, launcher.output());
  BOOST_TEST(launcher.output().find("worker/0 (process ") != std::string::npos, launcher.output());
}

BOOST_AUTO_TEST_CASE(a_node_that_cannot_start_is_named_with_the_reason) {
  const auto fails = [&](const Arguments& how, const std::string& who, const std::string& why) {
    const auto begin = std::chrono::steady_clock::now();
    Program program(test::troupe_program(), run("launch", "bad", how + Arguments{"-q"}));
    BOOST_TEST(program.end() == 1);
    BOOST_TEST((std::chrono::steady_clock::now() - begin < 30s));  // half of the start timeout
    BOOST_TEST(program.output().find(who) != std::string::npos, program.output());
    BOOST_TEST(program.output().find(why) != std::string::npos, program.output());
    BOOST_TEST(descendants.count() == 0u);
  };
  const std::string refusal = "ssh: connect to host 127.0.0.2 port 22: Connection refused";
  fails(by_ssh("[ $host = 127.0.0.2 ] || exec sh -c \"$*\"; echo '" + refusal + "' >&2; exit 255"),
        "worker/1 on 127.0.0.2 (process ", ") ended with code 255: " + refusal);
  fails({"--cluster", cluster_file(), "--ssh-everywhere", "--ssh", "no-such-ssh"},
        "ps/0: no-such-ssh cannot be started", "No such file or directory");
  test::ReservedPort taken;
  taken.listen();
  const std::string file =
      folder.write("taken.toml", "cluster = { name = 'lab' }\n[jobs]\nps = '" + taken.endpoint() + "'\n");
  fails({"--cluster", file}, "ps/0: ", taken.endpoint() + " is in use");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::launch_test
