// A client that the nodes of a cluster refuse permanently reports the reason at once, whatever its timeout for the start.
#include <boost/test/unit_test.hpp>

#include "tests/apps/commands/troupe_program.h"
#include "tests/apps/train/digits_runs.h"
#include "tests/support/net/reserved_port.h"

namespace troupe::refusal_test {
namespace {

using test::Program;
using Arguments = test::DigitsRuns::Arguments;

constexpr const char* tls =
    ", tls = { cert = 'certs/{job}-{task}.pem', key = 'certs/{job}-{task}.key', ca = 'certs/ca.pem' }";
constexpr const char* other_tls =
    ", tls = { cert = 'others/{job}-{task}.pem', key = 'others/{job}-{task}.key', ca = 'others/ca.pem' }";

struct Fixture : test::DigitsRuns {
  /// Writes a cluster file with one worker.
  std::string cluster_file(const std::string& file, const std::string& name,
                           const std::string& more = {}) const {
    return folder.write(file, "cluster = { name = '" + name + "'" + more + " }\n[jobs]\nworker = '" +
                                  worker.endpoint() + "'\n");
  }
  void make_certificates(const std::string& cluster) const {
    for (const char* name : {"/certs", "/others"})
      BOOST_TEST(
          Program(test::troupe_program(), {"certs", folder.path() + name, "--cluster", cluster}).end() == 0);
  }
  Arguments node(const std::string& cluster) const {
    return {"node", "--cluster", cluster, "--job", "worker", "--task", "0", "--root", "/"};
  }
  /// Runs a training on the node that must end because it is refused, long before the start timeout of a minute.
  void check_refused(const std::string& node_file, const std::string& client_file,
                     const std::string& why) const {
    Program member(test::troupe_program(), node(node_file));
    BOOST_TEST_REQUIRE(member.wait_for(" at " + worker.endpoint()), member.output());
    Program client(
        test::troupe_program(),
        run("train", "refused", {"--cluster", client_file, "--set", "train.fault.start_timeout=1h"}));
    BOOST_TEST(client.end() == 1);
    BOOST_TEST(client.output().find("the cluster cannot be complete:\n  /job:worker/replica:0/task:0 at " +
                                    worker.endpoint()) != std::string::npos,
               client.output());
    BOOST_TEST(client.output().find(why) != std::string::npos, client.output());
  }

  const test::ReservedPort worker;
};

BOOST_FIXTURE_TEST_SUITE(refusals, Fixture)

BOOST_AUTO_TEST_CASE(a_permanent_refusal_ends_the_run_at_once) {
  const std::string plain = cluster_file("plain.toml", "lab"), other = cluster_file("other.toml", "lib");
  check_refused(plain, other, "is of another cluster than");
  const std::string secure = cluster_file("secure.toml", "lab", tls),
                    foreign = cluster_file("foreign.toml", "lab", other_tls);
  make_certificates(secure);
  check_refused(secure, plain, "this node speaks TLS, but the node that connected does not");
  check_refused(plain, secure, "it does not speak TLS as this node does");
  check_refused(secure, foreign, "its certificate is not signed by the authority of the cluster");
}

BOOST_AUTO_TEST_CASE(a_node_that_is_refused_says_so) {
  const test::ReservedPort ps;
  const auto file = [&](const std::string& path, const std::string& name) {
    return folder.write(path, "cluster = { name = '" + name + "' }\n[jobs]\nps = '" + ps.endpoint() +
                                  "'\nworker = '" + worker.endpoint() + "'\n");
  };
  Program server(test::troupe_program(),
                 {"node", "--cluster", file("one.toml", "lab"), "--job", "ps", "--task", "0"});
  BOOST_TEST_REQUIRE(server.wait_for(ps.endpoint()), server.output());
  Program member(test::troupe_program(), node(file("two.toml", "lib")));
  BOOST_TEST(member.wait_for("no link to /job:ps/replica:0/task:0: "), member.output());
  BOOST_TEST(member.output().find("is of another cluster than") != std::string::npos, member.output());
}

BOOST_AUTO_TEST_CASE(who_is_waited_for_is_said) {
  Program client(test::troupe_program(), run("train", "waiting",
                                             {"--cluster", cluster_file("plain.toml", "lab"), "--set",
                                              "train.fault.start_timeout=1h"}));
  BOOST_TEST(client.wait_for("waiting for /job:worker/replica:0/task:0: no link to"), client.output());
  BOOST_TEST(client.wait_for("the run goes on waiting for "), client.output());
  BOOST_TEST(client.output().find("Connection refused") != std::string::npos, client.output());
}

BOOST_AUTO_TEST_CASE(a_run_names_the_tasks_for_which_it_has_waited) {
  const test::ReservedPort server, first;
  const std::string file = folder.write(
      "cluster.toml", "cluster = { name = 'lab' }\n[jobs]\nps = '" + server.endpoint() + "'\nworker = ['" +
                          first.endpoint() + "', '" + worker.endpoint() + "']\n");
  Program ps(test::troupe_program(),
             {"node", "--cluster", file, "--job", "ps", "--task", "0", "--root", "/"});
  Program one(test::troupe_program(), node(file));
  BOOST_TEST_REQUIRE(ps.wait_for(" at " + server.endpoint()), ps.output());
  BOOST_TEST_REQUIRE(one.wait_for(" at " + first.endpoint()), one.output());
  Program client(test::troupe_program(),
                 run("train", "incomplete", {"--cluster", file, "--set", "train.fault.start_timeout=2s"}));
  BOOST_TEST(client.end() == 1);
  BOOST_TEST(client.output().find("the cluster is not complete after 2 s (train.fault.start_timeout):\n"
                                  "  /job:worker/replica:0/task:1 at " +
                                  worker.endpoint() + ": ") != std::string::npos,
             client.output());
  BOOST_TEST(client.output().find("task:0 at ") == std::string::npos, client.output());
}

BOOST_AUTO_TEST_CASE(files_of_certificates_are_named_with_what_is_wrong) {
  const std::string secure = cluster_file("secure.toml", "lab", tls),
                    foreign = cluster_file("foreign.toml", "lab", other_tls);
  const auto refused = [&](const std::string& file, const std::string& why) {
    for (const auto& arguments : {node(file), run("train", "refused", {"--cluster", file})}) {
      Program program(test::troupe_program(), arguments);
      BOOST_TEST(program.end() == 2, program.output());
      BOOST_TEST(program.output().find(why) != std::string::npos, program.output());
    }
  };
  refused(secure, " cannot be read: No such file or directory");
  make_certificates(secure);
  folder.write("certs/ca.pem", "nonsense");
  refused(secure, "/certs/ca.pem holds no certificate in PEM form");
  for (const char* task : {"worker", "client"})
    folder.write("others/" + std::string(task) + "-0.key", "nonsense");
  refused(foreign, "-0.key holds no private key in PEM form");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::refusal_test
