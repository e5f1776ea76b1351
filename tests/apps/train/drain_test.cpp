// troupe ctl drain, add and backups: workers and servers leave a synchronous training over processes and take part again, and the
// weights stay those of an undisturbed run.
#include <boost/test/unit_test.hpp>

#include <csignal>

#include "tests/apps/commands/troupe_program.h"
#include "tests/apps/train/digits_runs.h"

namespace troupe::drain_test {
namespace {

using test::Program;

struct Fixture : test::DigitsRuns {
  Arguments arguments(const std::string& name, const Arguments& more) const {
    auto all = run("train", name,
                   {"--set", "train.max_epochs=30", "--set", "train.early_stop.patience=1000", "--set",
                    "train.replication.shards=3"});
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  /// Tells the run to do this. Returns the exit code and what troupe ctl has printed.
  std::pair<int, std::string> ctl(const Arguments& words, const std::string& name = "drained") const {
    Arguments all = {"ctl", folder.path() + '/' + name};
    all.insert(all.end(), words.begin(), words.end());
    Program program(test::troupe_program(), all);
    const int code = program.end();
    return {code, program.output()};
  }
  void done(const Arguments& words, const std::string& name = "drained") const {
    const auto [code, text] = ctl(words, name);
    BOOST_TEST(code == 0, text);
  }
  static bool says(const Program& program, const std::string& text) {
    return program.output().find(text) != std::string::npos;
  }
  void refused(const Arguments& words, const std::string& why, const std::string& name = "drained") const {
    const auto [code, text] = ctl(words, name);
    BOOST_TEST(code == 1, text);
    BOOST_TEST(text.find(why) != std::string::npos, text);
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(drain, Fixture)

BOOST_AUTO_TEST_CASE(a_drained_worker_may_be_stopped_and_one_that_is_added_takes_part_again) {
  BOOST_TEST(Program(test::troupe_program(), arguments("alone", {})).end() == 0);
  Program launcher(test::troupe_program(), arguments("drained", {"--local", "ps=1,worker=3"}));
  BOOST_TEST_REQUIRE(launcher.wait_for("epoch 3 "), launcher.output());
  done({"pause"});
  done({"drain", "worker/2"});
  done({"drain", "/job:worker/replica:0/task:1"});
  refused({"drain", "worker/0"}, "cannot be drained: no other worker takes part");
  refused({"drain", "worker/7"},
          "is no task of this training; there are: ps/0, worker/0, worker/1, worker/2");
  kill(test::children_of(launcher.process()).back(), SIGKILL);
  done({"add", "worker/1"});
  done({"resume"});
  BOOST_TEST(launcher.end() == 0, launcher.output());
  BOOST_TEST(launcher.output().find("lost /job:worker") == std::string::npos, launcher.output());
  check_equal(weights("drained"), weights("alone"));
}

// Each server is drained in turn, so the variables move to the other one and back, over those that it had before.
BOOST_AUTO_TEST_CASE(the_variables_of_a_drained_server_move_to_another_one) {
  const Arguments longer = {"--set", "train.max_epochs=300"};
  BOOST_TEST(Program(test::troupe_program(), arguments("alone", longer)).end() == 0);
  const auto alone = weights("alone");
  for (const std::string mirror : {"false", "true"}) {
    const std::string name = "drained_" + mirror;
    Program launcher(test::troupe_program(),
                     arguments(name, {"--local", "ps=2,worker=2", "--set", "train.max_epochs=300", "--set",
                                      "train.fault.mirror=" + mirror}));
    BOOST_TEST_REQUIRE(launcher.wait_for("epoch 3 "), launcher.output());
    done({"drain", "ps/0"}, name);
    done({"add", "ps/0"}, name);
    BOOST_TEST_REQUIRE(launcher.wait_for("epoch 100 "), launcher.output());
    done({"drain", "ps/1"}, name);
    BOOST_TEST_REQUIRE(
        launcher.wait_for("the variables of /job:ps/replica:0/task:1 are on /job:ps/replica:0/task:0"),
        launcher.output());
    kill(test::children_of(launcher.process()).at(1), SIGKILL);
    BOOST_TEST(launcher.end() == 0, launcher.output());
    check_equal(weights(name), alone);
  }
}

BOOST_AUTO_TEST_CASE(the_only_owner_of_variables_can_be_drained) {
  const Arguments longer = {"--set", "train.max_epochs=300"};
  BOOST_TEST(Program(test::troupe_program(), arguments("alone", longer)).end() == 0);
  const auto alone = weights("alone");
  for (const auto& [layout, owner] : {std::pair("ps=1,worker=3", "ps/0"), {"worker=3", "worker/0"}}) {
    const std::string name = std::string("drained_") + layout;
    Program launcher(test::troupe_program(),
                     arguments(name, {"--local", layout, "--set", "train.max_epochs=300", "--set",
                                      "train.replication.mode=sync"}));
    BOOST_TEST_REQUIRE(launcher.wait_for("epoch 3 "), launcher.output());
    done({"drain", owner}, name);
    kill(test::children_of(launcher.process()).at(0), SIGKILL);
    BOOST_TEST(launcher.end() == 0, launcher.output());
    BOOST_TEST(!says(launcher, "lost /job"), launcher.output());
    check_equal(weights(name), alone);
  }
}

BOOST_AUTO_TEST_CASE(a_server_that_is_added_gets_the_variables_back_from_a_worker) {
  const Arguments longer = {"--set", "train.max_epochs=300"};
  BOOST_TEST(Program(test::troupe_program(), arguments("alone", longer)).end() == 0);
  Program launcher(test::troupe_program(),
                   arguments("drained", {"--local", "ps=1,worker=2", "--set", "train.max_epochs=300"}));
  BOOST_TEST_REQUIRE(launcher.wait_for("epoch 3 "), launcher.output());
  done({"drain", "ps/0"});
  BOOST_TEST_REQUIRE(launcher.wait_for("epoch 20 "), launcher.output());
  done({"add", "ps/0"});
  BOOST_TEST_REQUIRE(launcher.wait_for("are on /job:ps/replica:0/task:0"), launcher.output());
  BOOST_TEST(launcher.end() == 0, launcher.output());
  check_equal(weights("drained"), weights("alone"));
}

BOOST_AUTO_TEST_CASE(a_run_among_peers_and_one_that_needs_its_only_worker_refuse) {
  for (const auto& [layout, why] :
       {std::pair("worker=2", "the workers exchange what they need among themselves"),
        {"ps=1,worker=1", "no other worker takes part"}}) {
    const std::string mode = std::string(layout).starts_with("ps") ? "sync" : "allreduce";
    const std::string name = "refuses_" + mode;
    Program launcher(
        test::troupe_program(),
        endless("train", name, {"--local", layout, "-q", "--set", "train.replication.mode=" + mode}));
    const auto trains = [&] { return ctl({"pause"}, name).first == 0; };
    for (int asked = 0; !trains(); ++asked) BOOST_TEST_REQUIRE(asked < 1000, launcher.output());
    refused({"drain", "worker/0"}, why, name);
    done({"stop"}, name);
    BOOST_TEST(launcher.end() == 128 + SIGTERM, launcher.output());
  }
}

BOOST_AUTO_TEST_CASE(the_number_of_backup_workers_changes_while_a_run_trains) {
  Program launcher(test::troupe_program(),
                   arguments("drained", {"--local", "ps=1,worker=3", "--set", "train.max_epochs=300", "--set",
                                         "train.replication.backup_workers=1"}));
  BOOST_TEST_REQUIRE(launcher.wait_for("epoch 3 "), launcher.output());
  done({"pause"});
  done({"backups", "0"});
  BOOST_TEST_REQUIRE(launcher.wait_for("a round waits for 3 of 3 shards"), launcher.output());
  done({"backups", "2"});
  BOOST_TEST_REQUIRE(launcher.wait_for("a round waits for 1 of 3 shards"), launcher.output());
  refused({"backups", "3"}, "a round would wait for none of the 3 shards; allowed: 0 to 2");
  done({"resume"});
  BOOST_TEST(launcher.end() == 0, launcher.output());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::drain_test
