// troupe node --join: real nodes that know one member of their cluster and ask it for a task, and the errors if there is none for
// them.
#include <boost/test/unit_test.hpp>

#include <csignal>
#include <memory>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "tests/apps/commands/troupe_program.h"
#include "tests/apps/train/digits_runs.h"
#include "tests/support/net/reserved_port.h"

namespace troupe::join_test {
namespace {

using test::Program;
using Arguments = test::DigitsRuns::Arguments;

struct Fixture : test::DigitsRuns {
  std::string cluster_file(const std::string& more = {}) const {
    return folder.write("cluster.toml", "cluster = { name = 'lab'" + more + " }\n[jobs]\nps = '" +
                                            ps.endpoint() + "'\nworker = ['" + worker0.endpoint() + "', '" +
                                            worker1.endpoint() + "']\n");
  }
  std::string certificates() const {
    const std::string file = cluster_file(
        ", tls = { cert = 'certs/{job}-{task}.pem', key = 'certs/{job}-{task}.key', ca = 'certs/ca.pem' }");
    BOOST_TEST(
        Program(test::troupe_program(), {"certs", folder.path() + "/certs", "--cluster", file}).end() == 0);
    return file;
  }
  /// Returns the options for a certificate in the folder to which troupe certs wrote it.
  Arguments certificate(const std::string& task, const std::string& authority = "certs") const {
    const std::string file = folder.path() + "/certs/" + task;
    return {"--cert",      file + ".pem", "--key",
            file + ".key", "--ca",        folder.path() + "/" + authority + "/ca.pem"};
  }
  static std::unique_ptr<Program> node(Arguments arguments) {
    arguments.insert(arguments.begin(), "node");
    arguments.insert(arguments.end(), {"--root", "/", "--gpus", "0"});
    return std::make_unique<Program>(test::troupe_program(), arguments);
  }
  std::unique_ptr<Program> member(const std::string& file) const {
    return node({"--cluster", file, "--job", "ps", "--task", "0"});
  }
  std::unique_ptr<Program> joining(const Arguments& how, const std::string& name = "lab") const {
    Arguments arguments = {"--join", ps.endpoint(), "--name", name};
    arguments.insert(arguments.end(), how.begin(), how.end());
    return node(arguments);
  }
  void refused(const Arguments& how, const std::string& text, const std::string& name = "lab") const {
    const auto asking = joining(how, name);
    BOOST_TEST(asking->end() != 0);
    BOOST_TEST(asking->output().find(text) != std::string::npos, asking->output());
  }
  /// Returns the task that a node prints, such as "worker/1".
  static std::string place(Program& program) {
    if (!program.wait_for(" of cluster lab at ")) return program.output();
    return program.output().substr(0, program.output().find(' '));
  }
  void train(const std::string& name, const Arguments& more) {
    Arguments arguments = {"--set", "train.max_epochs=2", "--set", "train.early_stop.keep_best=false"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    Program program(test::troupe_program(), run("train", name, arguments));
    BOOST_TEST(program.end() == 0, program.output());
  }

  const test::ReservedPort ps, worker0, worker1;
};

const Arguments worker = {"--job", "worker"};

BOOST_FIXTURE_TEST_SUITE(join, Fixture)

BOOST_AUTO_TEST_CASE(two_that_ask_at_once_get_two_places_and_the_third_none) {
  const auto server = member(cluster_file());
  const auto one = joining(worker), two = joining(worker);
  BOOST_TEST((std::set{place(*one), place(*two)} == std::set<std::string>{"worker/0", "worker/1"}));
  refused(worker, "no task of job 'worker' is free:\n  /job:worker/replica:0/task:0 ");
  train("joined", {"--cluster", cluster_file()});
  train("alone", {"--set", "train.replication.shards=2"});
  check_equal(weights("joined"), weights("alone"));
  refused(worker, "/job:worker/replica:0/task:1 is there already");

  const std::string left = one->output().substr(0, one->output().find(' '));
  one->end(SIGKILL);
  BOOST_TEST(place(*joining(worker)) == left);
}

BOOST_AUTO_TEST_CASE(of_two_that_want_one_place_one_gets_it) {
  const auto server = member(cluster_file());
  const Arguments second = {"--job", "worker", "--task", "1"};
  const auto one = joining(second), two = joining(second);
  const std::string first_says = place(*one), second_says = place(*two);
  BOOST_TEST(((first_says == "worker/1") != (second_says == "worker/1")), first_says + second_says);
  Program& loser = first_says == "worker/1" ? *two : *one;
  BOOST_TEST(loser.end() == 1);
  BOOST_TEST(loser.output().find("/job:worker/replica:0/task:1 ") != std::string::npos, loser.output());
}

BOOST_AUTO_TEST_CASE(explaining_takes_no_place) {
  const auto server = member(cluster_file());
  for (int i = 0; i < 2; ++i) {
    const auto asking = joining({"--job", "worker", "--explain"});
    BOOST_TEST(asking->end() == 0, asking->output());
    BOOST_TEST(asking->output().starts_with("worker/0 of cluster lab at " + worker0.endpoint()),
               asking->output());
    for (const std::string& part :
         {"found by asking " + ps.endpoint() + ", which is /job:ps/replica:0/task:0",
          "\"worker\" = [\"" + worker0.endpoint() + "\", \"" + worker1.endpoint() + "\"]"})
      BOOST_TEST(asking->output().find(part) != std::string::npos, asking->output());
  }
}

BOOST_AUTO_TEST_CASE(what_happens_to_a_node_is_told_as_json) {
  const auto server = node({"--cluster", cluster_file(), "--job", "ps", "--task", "0", "--json"});
  const auto other = joining(worker);
  BOOST_TEST(server->wait_for("\"event\":\"linked\",\"text\":\"/job:worker/replica:0/task:0 is linked\"}"));
  BOOST_TEST(other->wait_for("/job:ps/replica:0/task:0 is linked"), other->output());
  other->end(SIGKILL);
  BOOST_TEST(server->wait_for("\"event\":\"lost\",\"text\":\"/job:worker/replica:0/task:0 is lost: "));
  BOOST_TEST(server->end(SIGTERM) == 0);
  std::vector<std::string> events;
  std::istringstream lines(server->output());
  for (std::string line; std::getline(lines, line);) {
    const auto json = nlohmann::json::parse(line);
    BOOST_TEST(json.at("time").get<double>() > 1e9);
    BOOST_TEST(json.at("task") == "/job:ps/replica:0/task:0");
    events.push_back(json.at("event"));
  }
  BOOST_TEST(events == (std::vector<std::string>{"place", "linked", "lost", "ended"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_certificate_says_which_place) {
  const std::string file = certificates();
  const auto server = member(file);
  const auto one = joining(certificate("worker-1")), two = joining(certificate("worker-0"));
  BOOST_TEST(place(*one) == "worker/1");
  BOOST_TEST(place(*two) == "worker/0");
  train("tls", {"--cluster", file});
  refused(certificate("worker-1"), "/job:worker/replica:0/task:1 is there already");
  refused(certificate("ps-0"), "is /job:ps/replica:0/task:0 itself");
  refused(certificate("client-0"), "cluster lab has no task 0 of job 'client': growing a cluster");

  BOOST_TEST(Program(test::troupe_program(), {"certs", folder.path() + "/others", "--cluster", file}).end() ==
             0);
  refused(certificate("worker-0", "others"),
          "worker-0.pem is not signed by the authority of the cluster, " + folder.path() + "/others/ca.pem");
  refused(worker, "this node speaks TLS, but the node that connected does not");
}

BOOST_AUTO_TEST_CASE(who_cannot_join_is_told_why) {
  refused(worker, "asked " + ps.endpoint() + " for a task: " + ps.endpoint() + ": Connection refused");
  const auto server = member(cluster_file());
  refused(worker, "is of another cluster than", "other");
  refused({"--job", "cook"},
          "cluster lab has no job 'cook': growing a cluster at run time is not available yet");
  refused({"--job", "worker", "--task", "2"}, "cluster lab has no task 2 of job 'worker'");
  refused({"--job", "ps"}, "no task of job 'ps' is free:\n  /job:ps/replica:0/task:0 is there already");
  refused({}, "--join needs --job, or a certificate (--cert) that names the task of this node");
  refused(worker, "--join needs --name", "");
  const auto frozen = joining(worker);
  BOOST_TEST(place(*frozen) == "worker/0");
  kill(server->process(), SIGSTOP);
  refused(worker, ps.endpoint() + " did not send its Hello in time");
  kill(server->process(), SIGCONT);
}

BOOST_AUTO_TEST_CASE(a_place_whose_address_is_taken_is_none) {
  test::ReservedPort taken;
  taken.listen();
  const std::string file =
      folder.write("taken.toml", "cluster = { name = 'lab' }\n[jobs]\nps = '" + ps.endpoint() +
                                     "'\nworker = '" + taken.endpoint() + "'\n");
  const auto server = member(file);
  refused(worker, taken.endpoint() + " is in use");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::join_test
