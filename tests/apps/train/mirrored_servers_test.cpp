// Training over processes with mirrored servers: whichever server is killed or stopped, and whenever, the run goes on by itself
// from where it was, without a checkpoint. In synchronous modes its weights are those of an undisturbed run.
#include <boost/test/unit_test.hpp>

#include <unistd.h>

#include <csignal>
#include <random>

#include "tests/apps/commands/troupe_program.h"
#include "tests/apps/train/digits_runs.h"

namespace troupe::mirrored_servers_test {
namespace {

using namespace std::chrono_literals;
using test::Program;

constexpr int epochs = 30;

struct Fixture : test::DigitsRuns {
  Arguments arguments(const std::string& name, const Arguments& more) const {
    auto all = run("train", name,
                   {"--set", "train.max_epochs=" + std::to_string(epochs), "--set",
                    "train.early_stop.patience=1000", "--set", "train.checkpoint.every=1h"});
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  static Arguments mirrored(const std::string& layout, const std::string& replication = "mode=\"sync\"") {
    return {"--local", layout,
            "--set",   "train.fault.mirror=true",
            "--set",   "train.replication={" + replication + "}"};
  }
  std::string epoch_between(int first, int last) {
    return "epoch " + std::to_string(std::uniform_int_distribution(first, last)(random)) + " ";
  }
  static bool says(const Program& program, const std::string& text) {
    return program.output().find(text) != std::string::npos;
  }

  std::mt19937 random{11};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(mirrored_servers, Fixture)

BOOST_AUTO_TEST_CASE(the_loss_of_any_server_loses_nothing) {
  BOOST_TEST(
      Program(test::troupe_program(), arguments("alone", {"--set", "train.replication.shards=2"})).end() ==
      0);
  const auto alone = weights("alone");
  int i = 0;
  for (const std::string layout : {"ps=2,worker=2", "ps=1,worker=2", "worker=2", "ps=3,worker=2"})
    for (size_t victim = 0; victim < (layout.starts_with("ps=3") ? 3 : 1); ++victim) {
      const std::string name = "killed" + std::to_string(i++);
      Program launcher(test::troupe_program(), arguments(name, mirrored(layout)));
      const std::string moment = epoch_between(2, epochs - 5);
      BOOST_TEST_REQUIRE(launcher.wait_for(moment), launcher.output());
      kill(test::children_of(launcher.process()).at(victim), SIGKILL);
      BOOST_TEST_CONTEXT("victim " << victim << " of " << layout << " at " << moment) {
        BOOST_TEST(launcher.end() == 0, launcher.output());
        BOOST_TEST(says(launcher, "the variables of "), launcher.output());
        check_equal(weights(name), alone);
      }
    }
}

// The second server has all variables when it is lost, and a new mirror: on the first one, which has come back, or on a worker.
BOOST_AUTO_TEST_CASE(a_new_mirror_takes_the_place_of_one_that_was_adopted) {
  BOOST_TEST(
      Program(test::troupe_program(), arguments("alone", {"--set", "train.replication.shards=2"})).end() ==
      0);
  auto more = mirrored("ps=2,worker=2");
  more.insert(more.end(), {"--set", "train.fault.max_restarts=3"});
  Program launcher(test::troupe_program(), arguments("killed", more));
  for (const std::string epoch : {"epoch 3 ", "epoch 15 "}) {
    BOOST_TEST_REQUIRE(launcher.wait_for(epoch), launcher.output());
    kill(test::children_of(launcher.process()).at(0), SIGKILL);
    BOOST_TEST_REQUIRE(launcher.wait_for("the variables of "), launcher.output());
  }
  BOOST_TEST(launcher.end() == 0, launcher.output());
  BOOST_TEST(!says(launcher, "; restart 1 of"), launcher.output());
  check_equal(weights("killed"), weights("alone"));
}

// The only server is lost, so a worker takes over its variables, and gives them back.
BOOST_AUTO_TEST_CASE(a_server_that_comes_back_gets_its_variables_again) {
  auto more = mirrored("ps=1,worker=2");
  more.insert(more.end(), {"--set", "train.fault.max_restarts=1", "--set", "train.max_epochs=60"});
  const Arguments longer = {"--set", "train.replication.shards=2", "--set", "train.max_epochs=60"};
  BOOST_TEST(Program(test::troupe_program(), arguments("longer", longer)).end() == 0);
  Program launcher(test::troupe_program(), arguments("moved", more));
  BOOST_TEST_REQUIRE(launcher.wait_for("epoch 3 "), launcher.output());
  kill(test::children_of(launcher.process()).at(0), SIGKILL);
  BOOST_TEST_REQUIRE(launcher.wait_for("the variables of /job:ps/replica:0/task:0 are on /job:worker"),
                     launcher.output());
  BOOST_TEST_REQUIRE(launcher.wait_for("are on /job:ps/replica:0/task:0"), launcher.output());
  BOOST_TEST(launcher.end() == 0, launcher.output());
  check_equal(weights("moved"), weights("longer"));
}

BOOST_AUTO_TEST_CASE(a_frozen_server_is_superseded) {
  BOOST_TEST(
      Program(test::troupe_program(), arguments("alone", {"--set", "train.replication.shards=2"})).end() ==
      0);
  Program launcher(test::troupe_program(), arguments("frozen", mirrored("ps=2,worker=2")));
  BOOST_TEST_REQUIRE(launcher.wait_for("epoch 4 "), launcher.output());
  const pid_t frozen = test::children_of(launcher.process()).at(0);
  kill(frozen, SIGSTOP);
  BOOST_TEST_REQUIRE(launcher.wait_for("the variables of "), launcher.output());
  kill(frozen, SIGCONT);
  BOOST_TEST(launcher.end() == 0, launcher.output());
  check_equal(weights("frozen"), weights("alone"));
}

BOOST_AUTO_TEST_CASE(other_modes_go_on_from_the_mirror_too) {
  for (const std::string replication :
       {"mode=\"async\"", "mode=\"ssp\",staleness=2", "mode=\"sync\",shards=3,backup_workers=1"}) {
    auto more = mirrored("ps=2,worker=3", replication);
    more.insert(more.end(), {"--set", "train.fault.max_restarts=1"});
    Program launcher(test::troupe_program(), arguments("mode", more));
    BOOST_TEST_REQUIRE(launcher.wait_for("epoch 5 "), launcher.output());
    kill(test::children_of(launcher.process()).at(0), SIGKILL);
    BOOST_TEST_CONTEXT(replication) {
      BOOST_TEST(launcher.end() == 0, launcher.output());
      const std::string key = "valid/accuracy ";
      const size_t at = launcher.output().rfind(key);
      BOOST_TEST_REQUIRE(at != std::string::npos, launcher.output());
      BOOST_TEST(std::stod(launcher.output().substr(at + key.size())) > 0.9);
    }
  }
}

// The worker has not run the rounds of an epoch when the trainer's own step finds the server lost.
BOOST_AUTO_TEST_CASE(a_worker_that_has_fallen_behind_goes_on_from_the_mirror) {
  Program launcher(test::troupe_program(),
                   arguments("late", mirrored("ps=2,worker=3", R"(mode="sync",shards=3,backup_workers=1)")));
  BOOST_TEST_REQUIRE(launcher.wait_for("epoch 4 "), launcher.output());
  const auto tasks = test::children_of(launcher.process());
  kill(tasks.back(), SIGSTOP);
  BOOST_TEST_REQUIRE(launcher.wait_for("epoch 6 "), launcher.output());
  kill(tasks.front(), SIGKILL);
  kill(tasks.back(), SIGCONT);
  BOOST_TEST(launcher.end() == 0, launcher.output());
  BOOST_TEST(says(launcher, "the variables of "), launcher.output());
}

BOOST_AUTO_TEST_CASE(a_run_without_servers_cannot_mirror_them) {
  for (const Arguments& where : {Arguments{}, mirrored("worker=2", "mode=\"allreduce\"")}) {
    auto more = where;
    more.insert(more.end(), {"--set", "train.fault.mirror=true"});
    Program program(test::troupe_program(), arguments("none", more));
    BOOST_TEST(program.end() == 2);
    BOOST_TEST(says(program, "train.fault.mirror needs variables that tasks of a cluster own"),
               program.output());
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::mirrored_servers_test
