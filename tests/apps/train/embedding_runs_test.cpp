// Trainings with a table whose rows parameter servers share yield the same weights as one process, whatever happens to the
// processes, and learn in every kind of replication.
#include <boost/test/unit_test.hpp>

#include <csignal>

#include "tests/apps/commands/troupe_program.h"
#include "tests/apps/train/digits_runs.h"

namespace troupe::embedding_runs_test {
namespace {

using test::Program;
using Arguments = std::vector<std::string>;

struct Fixture : test::DigitsRuns {
  /// Runs an example to its end and returns what it printed.
  std::string train(const std::string& name, const Arguments& more, const std::string& example = "ratings") {
    Program program(test::troupe_program(), run("train", name, more, example));
    BOOST_TEST(program.end() == 0, program.output());
    return program.output();
  }
  test::WholeCheckpoint whole_weights(const std::string& name) {
    return test::with_joined_parts(weights(name));
  }
};

Arguments epochs(int count, const Arguments& more = {}) {
  Arguments result = {"--set", "train.max_epochs=" + std::to_string(count)};
  result.insert(result.end(), more.begin(), more.end());
  return result;
}

BOOST_FIXTURE_TEST_SUITE(embedding_runs, Fixture)

BOOST_AUTO_TEST_CASE(weights_are_those_of_one_process) {
  const std::vector<std::pair<std::string, std::string>> optimizers = {
      {"adam", "train.optimizer={type=\"adam\",lr=0.01,lazy=true}"},
      {"adagrad", "train.optimizer={type=\"adagrad\",lr=0.1}"}};
  for (const auto& [name, optimizer] : optimizers) {
    const Arguments set = epochs(2, {"--set", optimizer, "--set", "train.average=0.9"});
    train(name + " alone", set);
    const auto expected = whole_weights(name + " alone");
    for (const std::string layout : {"ps=1,worker=2", "ps=2,worker=2", "worker=2"}) {
      auto more = set;
      more.insert(more.end(), {"--local", layout});
      train(name + layout, more);
      check_equal(whole_weights(name + layout), expected);
    }
  }
}

// The sums over the classes depend on the cut, so that all runs have the same number of parts.
BOOST_AUTO_TEST_CASE(weights_of_classes_in_parts_are_those_of_one_process) {
  for (const std::string loss :
       {"softmax_loss(hidden, label, classes=10, partitions=2)",
        "sampled_softmax_loss(hidden, label, classes=10, partitions=2, sampled=5, distribution='uniform')"}) {
    const Arguments set =
        epochs(2, {"--set", "model.variables={}", "--set", "train.metrics={}", "--set",
                   "model.graph={hidden=\"nn.dense(image, units=32, activation='relu')\",loss=\"mean(nn." +
                       loss + ")\"}",
                   "--set", "train.early_stop={monitor=\"valid/loss\",mode=\"min\",patience=9}"});
    const std::string name = loss.substr(0, loss.find('('));
    train(name, set, "digits");
    auto apart = set;
    apart.insert(apart.end(), {"--local", "ps=2,worker=2"});
    train(name + " apart", apart, "digits");
    check_equal(whole_weights(name + " apart"), whole_weights(name));
    Program eval(test::troupe_program(), {"eval", folder.path() + '/' + name});
    BOOST_TEST(eval.end() == 0, eval.output());
  }
}

BOOST_AUTO_TEST_CASE(a_run_is_resumed_with_another_number_of_servers) {
  const auto until = [](int count, Arguments more) {
    more.insert(
        more.end(),
        {"--set", "train.early_stop={monitor=\"valid/error\",mode=\"min\",patience=50,keep_best=true}"});
    return epochs(count, more);
  };
  train("alone", until(4, {}));
  train("moved", until(1, {"--local", "ps=2,worker=1"}));
  int count = 1;
  for (const std::string layout : {"ps=1,worker=2", "ps=2,worker=2"})
    train("moved", until(++count, {"--resume", folder.path() + "/moved/001", "--local", layout}));
  train("moved", until(4, {"--resume", "auto"}));
  check_equal(whole_weights("moved"), whole_weights("alone"));
}

// The other worker reads the rows of the lost one's shard as they were before the round.
BOOST_AUTO_TEST_CASE(a_worker_that_is_killed_is_replaced) {
  train("undisturbed", epochs(20));
  Program launcher(test::troupe_program(),
                   run("train", "replaced", epochs(20, {"--local", "ps=2,worker=2"}), "ratings"));
  BOOST_TEST_REQUIRE(launcher.wait_for("epoch 2"));
  kill(test::children_of(launcher.process()).at(2), SIGKILL);
  BOOST_TEST_REQUIRE(launcher.wait_for("taken over by"), launcher.output());
  BOOST_TEST(launcher.end() == 0, launcher.output());
  check_equal(whole_weights("replaced"), whole_weights("undisturbed"));
}

BOOST_AUTO_TEST_CASE(every_kind_of_replication_learns) {
  for (const std::string mode :
       {"mode=\"async\"", "mode=\"ssp\",staleness=1", "mode=\"sync\",shards=3,backup_workers=1"}) {
    const std::string output =
        train("other", epochs(10, {"--local", "ps=2,worker=3", "--set", "train.replication={" + mode + "}"}));
    const std::string key = "valid/error ";
    const size_t at = output.rfind(key);
    BOOST_TEST_REQUIRE(at != std::string::npos, output);
    BOOST_TEST(std::stod(output.substr(at + key.size())) < 0.8, output);
  }
}

BOOST_AUTO_TEST_CASE(workers_without_servers_keep_whole_tables) {
  train("alone", epochs(2));
  train("together", epochs(2, {"--local", "worker=2", "--set", "train.replication.mode=allreduce"}));
  check_equal(whole_weights("together"), whole_weights("alone"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::embedding_runs_test
