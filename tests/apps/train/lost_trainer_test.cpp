// A trainer that is killed while the nodes of its cluster live: its successor goes on from where the workers are, in every mode,
// and what it trains is what an undisturbed run trains.
#include <boost/test/unit_test.hpp>

#include <csignal>
#include <list>
#include <memory>
#include <random>

#include "tests/apps/commands/troupe_program.h"
#include "tests/apps/train/digits_runs.h"
#include "tests/support/net/reserved_port.h"

namespace troupe::lost_trainer_test {
namespace {

using test::Program;
using Arguments = test::DigitsRuns::Arguments;

constexpr int epochs = 40;

/// Nodes that outlive trainers.
class Nodes {
 public:
  Nodes(const test::TemporaryFolder& folder, int servers, int workers) : folder_(folder) {
    std::string jobs;
    for (const auto& [job, tasks] : {std::pair{"ps", servers}, {"worker", workers}}) {
      if (tasks == 0) continue;
      jobs += std::string(job) + " = [";
      for (int task = 0; task < tasks; ++task)
        jobs += (task == 0 ? "'" : ", '") + ports_.emplace_back().endpoint() + "'";
      jobs += "]\n";
      for (int task = 0; task < tasks; ++task) places_.emplace_back(job, task);
    }
    file_ = folder_.write("cluster.toml", "cluster = { name = 'lab' }\n[jobs]\n" + jobs);
    programs_.resize(places_.size());
    for (size_t i = 0; i < places_.size(); ++i) start(i);
  }

  const std::string& file() const { return file_; }
  /// Kills a node, the servers first, then the workers, and starts it again.
  void restart(size_t i) {
    programs_[i]->end(SIGKILL);
    start(i);
  }

 private:
  void start(size_t i) {
    programs_[i] = std::make_unique<Program>(
        test::troupe_program(), Arguments{"node", "--cluster", file_, "--job", places_[i].first, "--task",
                                          std::to_string(places_[i].second), "--root", "/", "--gpus", "0"});
  }

  const test::TemporaryFolder& folder_;
  std::list<test::ReservedPort> ports_;
  std::vector<std::pair<std::string, int>> places_;
  std::string file_;
  std::vector<std::unique_ptr<Program>> programs_;
};

struct Fixture : test::DigitsRuns {
  /// No checkpoint is written before the end of a run.
  Arguments arguments(const std::string& name, const std::string& replication, const Arguments& more) const {
    auto all = run("train", name,
                   {"--resume", "auto", "--set", "train.max_epochs=" + std::to_string(epochs), "--set",
                    "train.early_stop.patience=1000", "--set", "train.checkpoint.every=1h", "--set",
                    "train.replication={" + replication + "}"});
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  /// Runs a training whose trainer is killed in several epochs. Returns the output of the last trainer.
  std::string killed(const std::string& name, const std::string& replication, const Nodes& nodes,
                     const Arguments& more = {}) {
    auto all = arguments(name, replication, {"--cluster", nodes.file()});
    all.insert(all.end(), more.begin(), more.end());
    for (int first = 2; first < epochs - 10; first += 12) {
      Program trainer(test::troupe_program(), all);
      BOOST_TEST_REQUIRE(trainer.wait_for(epoch_between(first, first + 10)), trainer.output());
      trainer.end(SIGKILL);
      if (first > 2) BOOST_TEST(says(trainer.output(), ", where its workers are"), trainer.output());
    }
    Program trainer(test::troupe_program(), all);
    BOOST_TEST(trainer.end() == 0, trainer.output());
    BOOST_TEST(says(trainer.output(), ", where its workers are"), trainer.output());
    return trainer.output();
  }
  /// Kills the trainer and a node of a cluster, starts both again, and checks the weights.
  /// Returns the output of the second trainer.
  std::string lost_together(const std::string& name, int servers, int workers, size_t node) {
    const std::string mode =
        (servers > 0 ? "mode=\"sync\",shards=" : "mode=\"allreduce\",shards=") + std::to_string(workers);
    Program alone(test::troupe_program(), arguments("alone", mode, {}));
    BOOST_TEST(alone.end() == 0, alone.output());
    Nodes nodes(folder, servers, workers);
    const auto all = arguments(name, mode, {"--cluster", nodes.file()});
    Program trainer(test::troupe_program(), all);
    BOOST_TEST_REQUIRE(trainer.wait_for(epoch_between(3, 10)), trainer.output());
    trainer.end(SIGKILL);
    nodes.restart(node);
    Program successor(test::troupe_program(), all);
    BOOST_TEST(successor.end() == 0, successor.output());
    check_equal(weights(name), weights("alone"));
    return successor.output();
  }
  std::string epoch_between(int first, int last) {
    return "epoch " + std::to_string(std::uniform_int_distribution(first, last)(random)) + " ";
  }
  static bool says(const std::string& output, const std::string& text) {
    return output.find(text) != std::string::npos;
  }
  void check_accuracy(const std::string& output) {
    const std::string key = "valid/accuracy ";
    const size_t at = output.rfind(key);
    BOOST_TEST_REQUIRE(at != std::string::npos, output);
    BOOST_TEST(std::stod(output.substr(at + key.size())) > 0.9);
  }

  std::mt19937 random{5};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(lost_trainer, Fixture)

BOOST_AUTO_TEST_CASE(with_servers_the_training_goes_on_with_the_same_bits) {
  Program alone(test::troupe_program(), arguments("alone", "mode=\"sync\",shards=2", {}));
  BOOST_TEST(alone.end() == 0, alone.output());
  const Nodes nodes(folder, 2, 2);
  killed("sync", "mode=\"sync\",shards=2", nodes);
  check_equal(weights("sync"), weights("alone"));
  killed("mirrored", "mode=\"sync\",shards=2", nodes, {"--set", "train.fault.mirror=true"});
  check_equal(weights("mirrored"), weights("alone"));
}

BOOST_AUTO_TEST_CASE(another_trainer_is_refused_and_changes_nothing) {
  const std::string mode = "mode=\"sync\",shards=2", many = "train.max_epochs=400";
  Program alone(test::troupe_program(), arguments("alone", mode, {"--set", many}));
  BOOST_TEST(alone.end() == 0, alone.output());
  const Nodes nodes(folder, 1, 2);
  Program trainer(test::troupe_program(),
                  arguments("first", mode, {"--set", many, "--cluster", nodes.file()}));
  BOOST_TEST_REQUIRE(trainer.wait_for(epoch_between(2, 6)), trainer.output());
  Program other(test::troupe_program(), arguments("other", mode, {"--cluster", nodes.file()}));
  BOOST_TEST(other.end() != 0);
  BOOST_TEST(says(other.output(), "/job:client/replica:0/task:0 is there already"), other.output());
  BOOST_TEST(trainer.end() == 0, trainer.output());
  check_equal(weights("first"), weights("alone"));
}

BOOST_AUTO_TEST_CASE(without_servers_the_training_goes_on_with_the_same_bits) {
  Program alone(test::troupe_program(), arguments("alone", "mode=\"sync\",shards=2", {}));
  BOOST_TEST(alone.end() == 0, alone.output());
  const Nodes nodes(folder, 0, 2);
  for (const std::string options : {"", ",shard_optimizer=true"}) {
    killed("peers" + options, "mode=\"allreduce\",shards=2" + options, nodes);
    check_equal(weights("peers" + options), weights("alone"));
  }
}

BOOST_AUTO_TEST_CASE(copies_that_are_averaged_go_on_with_the_same_bits) {
  const std::string mode = "mode=\"local_sgd\",average_every=8,shards=2";
  Program alone(test::troupe_program(), arguments("alone", mode, {}));
  BOOST_TEST(alone.end() == 0, alone.output());
  killed("apart", mode, Nodes(folder, 0, 2));
  check_equal(weights("apart"), weights("alone"));
}

BOOST_AUTO_TEST_CASE(other_modes_go_on_too) {
  const Nodes nodes(folder, 1, 3);
  for (const std::string mode :
       {"mode=\"async\"", "mode=\"ssp\",staleness=2", "mode=\"sync\",shards=3,backup_workers=1"})
    BOOST_TEST_CONTEXT(mode) {
      check_accuracy(killed(mode.substr(6, 3) + std::to_string(mode.size()), mode, nodes));
    }
}

// What the lost worker had in hand is done by the others, and the worker that is started anew joins them.
BOOST_AUTO_TEST_CASE(a_worker_may_be_lost_with_the_trainer) {
  const std::string output = lost_together("worker", 1, 3, 2);
  BOOST_TEST(says(output, ", where its workers are"), output);
}

// Without servers no worker can be replaced, so the others begin again, too.
BOOST_AUTO_TEST_CASE(without_servers_a_worker_that_is_lost_with_the_trainer_means_the_last_checkpoint) {
  const std::string output = lost_together("peer", 0, 2, 1);
  BOOST_TEST(says(output, "the run starts from the beginning"), output);
}

// The variables are lost with their server: the successor begins again.
BOOST_AUTO_TEST_CASE(a_server_that_is_lost_with_the_trainer_means_the_last_checkpoint) {
  const std::string output = lost_together("server", 1, 2, 0);
  BOOST_TEST(says(output, "cannot go on from where its workers are"), output);
  BOOST_TEST(says(output, "the run starts from the beginning"), output);
}

// Workers do not go on with a training of another run file, and they give up a training after a while.
BOOST_AUTO_TEST_CASE(a_run_file_that_has_changed_begins_from_the_last_checkpoint) {
  const Nodes nodes(folder, 1, 2);
  const auto begin = [&](const Arguments& more) {
    auto all = arguments("changed", "mode=\"sync\",shards=2", {"--cluster", nodes.file()});
    all.insert(all.end(), more.begin(), more.end());
    return std::make_unique<Program>(test::troupe_program(), all);
  };
  const auto first = begin({});
  BOOST_TEST_REQUIRE(first->wait_for("epoch 3 "), first->output());
  first->end(SIGKILL);
  const auto second = begin({"--set", "train.optimizer.lr=2e-3", "--set", "train.fault.trainer_timeout=1ms"});
  BOOST_TEST_REQUIRE(second->wait_for("epoch 3 "), second->output());
  BOOST_TEST(says(second->output(), "the run starts from the beginning"), second->output());
  second->end(SIGKILL);
  const auto third = begin({"--set", "train.optimizer.lr=2e-3", "--set", "train.fault.trainer_timeout=1ms"});
  BOOST_TEST_REQUIRE(third->wait_for("epoch 3 "), third->output());
  BOOST_TEST(says(third->output(), "the run starts from the beginning"), third->output());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::lost_trainer_test
