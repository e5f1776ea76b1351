// Mode "hogwild": threads of one process that train the same variables without locks.
#include <boost/test/unit_test.hpp>

#include <algorithm>

#include "apps/train/rounds/local_rounds.h"
#include "tests/apps/commands/troupe_program.h"
#include "tests/apps/train/digits_runs.h"
#include "tests/apps/train/training_setting.h"

namespace troupe::train::hogwild_test {
namespace {

using Settings = std::vector<std::string>;

std::string hogwild(int threads) {
  return "train.replication={mode=\"hogwild\",shards=" + std::to_string(threads) + "}";
}

/// Trains for a number of rounds with the rounds that the trainer would use.
test::TrainingOutcome trained(const std::string& example, const Settings& set, uint64_t rounds) {
  test::TrainingSetting setting(example, set);
  const auto& config = setting.config;
  const auto batches = setting.data->batches(config.batch, config.run.seed, config.shuffle);
  const auto runs = rounds_in_process(*setting.session, setting.model,
                                      setting.graph.dtype(setting.model.loss), config, *batches);
  test::TrainingOutcome outcome;
  while (outcome.losses.size() < rounds)
    for (const double loss : runs->advance(outcome.losses.size(), rounds)) outcome.losses.push_back(loss);
  outcome.weights = setting.weights();
  return outcome;
}

double mean_of_last(const std::vector<double>& losses, size_t count) {
  double sum = 0;
  for (size_t i = losses.size() - count; i < losses.size(); ++i) sum += losses[i];
  return sum / static_cast<double>(count);
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(hogwild_mode, test::DigitsRuns)

BOOST_AUTO_TEST_CASE(one_thread_does_what_one_graph_does) {
  for (const Settings& set :
       {Settings{}, Settings{"train.optimizer={type=\"adam\",lr=0.01}", "train.average=0.5"}}) {
    Settings alone = set, local = set;
    alone.push_back(hogwild(1));
    local.emplace_back("train.replication={mode=\"local\"}");
    const auto expected = test::in_one_graph("digits", local, 30), found = trained("digits", alone, 30);
    BOOST_TEST(found.losses == expected.losses);
    BOOST_TEST_REQUIRE(found.weights.size() == expected.weights.size());
    for (size_t i = 0; i < found.weights.size(); ++i)
      BOOST_TEST(identical(found.weights[i], expected.weights[i]), i);
  }
}

BOOST_AUTO_TEST_CASE(threads_train_a_model_together) {
  for (const std::string example : {"digits", "digits_cnn"}) {
    const auto outcome = trained(example, {hogwild(3)}, 230);  // ten epochs
    BOOST_TEST(outcome.losses.size() == 230u);
    BOOST_TEST(mean_of_last(outcome.losses, 23) < 0.3 * outcome.losses.front(), example);
  }
}

BOOST_AUTO_TEST_CASE(threads_look_up_and_update_rows_together) {
  const auto outcome = trained("ratings", {hogwild(2)}, 255);  // three epochs
  BOOST_TEST(mean_of_last(outcome.losses, 85) < 0.3 * outcome.losses.front());
}

BOOST_AUTO_TEST_CASE(a_run_learns_and_goes_on_from_its_checkpoint) {
  const auto until = [this](int epochs, const Settings& more) {
    Settings arguments = {"--set", hogwild(2),
                          "--set", "train.max_epochs=" + std::to_string(epochs),
                          "--set", "train.early_stop.keep_best=false"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return run("train", "hogwild", arguments);
  };
  test::Program first(test::troupe_program(), until(2, {}));
  BOOST_TEST(first.end() == 0, first.output());
  test::Program resumed(test::troupe_program(), until(12, {"--resume", "auto"}));
  BOOST_TEST(resumed.end() == 0, resumed.output());
  BOOST_TEST(resumed.output().find("at step 46") != std::string::npos, resumed.output());
  // Threads that overwrite each other's updates may lose in one epoch what they learnt in another.
  const std::string output = resumed.output(), key = "valid/accuracy ";
  double best = 0;
  for (size_t at = output.find(key); at != std::string::npos; at = output.find(key, at + 1))
    best = std::max(best, std::stod(output.substr(at + key.size())));
  BOOST_TEST(best > 0.92, output);
}

BOOST_AUTO_TEST_CASE(other_processes_are_refused) {
  test::Program refused(test::troupe_program(),
                        run("train", "apart", {"--set", hogwild(2), "--local", "worker=2"}));
  BOOST_TEST(refused.end() == 2);
  BOOST_TEST(
      refused.output().find("the mode \"hogwild\" of train.replication trains with threads of one process") !=
          std::string::npos,
      refused.output());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::train::hogwild_test
