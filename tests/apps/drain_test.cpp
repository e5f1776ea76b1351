// troupe ctl drain and add: workers leave a synchronous training over processes and take part again, and the weights stay those
// of an undisturbed run.
#include <boost/test/unit_test.hpp>

#include <csignal>

#include "tests/apps/digits_runs.h"

namespace troupe {
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
  std::pair<int, std::string> ctl(const Arguments& words) const {
    Arguments all = {"ctl", folder.path() + "/drained"};
    all.insert(all.end(), words.begin(), words.end());
    Program program(TROUPE_PROGRAM, all);
    const int code = program.end();
    return {code, program.output()};
  }
  void done(const Arguments& words) const {
    const auto [code, text] = ctl(words);
    BOOST_TEST(code == 0, text);
  }
  void refused(const Arguments& words, const std::string& why) const {
    const auto [code, text] = ctl(words);
    BOOST_TEST(code == 1, text);
    BOOST_TEST(text.find(why) != std::string::npos, text);
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(drain, Fixture)

BOOST_AUTO_TEST_CASE(a_drained_worker_may_be_stopped_and_one_that_is_added_takes_part_again) {
  BOOST_TEST(Program(TROUPE_PROGRAM, arguments("alone", {})).end() == 0);
  Program launcher(TROUPE_PROGRAM, arguments("drained", {"--local", "ps=1,worker=3"}));
  BOOST_TEST_REQUIRE(launcher.wait_for("epoch 3 "), launcher.output());
  done({"pause"});
  done({"drain", "worker/2"});
  done({"drain", "/job:worker/replica:0/task:1"});
  refused({"drain", "worker/0"}, "cannot be drained: no other worker takes part");
  refused({"drain", "worker/7"}, "is no worker of this training; there are: worker/0, worker/1, worker/2");
  kill(test::children_of(launcher.process()).back(), SIGKILL);
  done({"add", "worker/1"});
  done({"resume"});
  BOOST_TEST(launcher.end() == 0, launcher.output());
  BOOST_TEST(launcher.output().find("lost /job:worker") == std::string::npos, launcher.output());
  check_equal(weights("drained"), weights("alone"));
}

BOOST_AUTO_TEST_CASE(a_worker_that_owns_the_variables_cannot_be_drained) {
  Program launcher(TROUPE_PROGRAM, endless("train", "drained", {"--local", "worker=3", "-q"}));
  const auto trains = [&] { return ctl({"pause"}).first == 0; };
  for (int asked = 0; !trains(); ++asked) BOOST_TEST_REQUIRE(asked < 1000, launcher.output());
  refused({"drain", "worker/0"}, "owns variables of the model, so it cannot be drained");
  done({"drain", "worker/2"});
  done({"stop"});
  BOOST_TEST(launcher.end() == 128 + SIGTERM, launcher.output());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe
