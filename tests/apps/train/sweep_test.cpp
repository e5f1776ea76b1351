// Sweeps: which trials there are, which of them go on, and the subcommand with real runs.
#include "apps/train/sweep.h"

#include <boost/test/unit_test.hpp>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/apps/commands/troupe_program.h"
#include "tests/apps/train/digits_runs.h"
#include "tests/support/failure_of.h"

namespace troupe::train::sweep_test {
namespace {

using test::Program;

SweepKey key(const std::string& text) { return value_or_throw(parse_sweep_key(text)); }

}  // namespace

BOOST_AUTO_TEST_SUITE(sweep_plan)

BOOST_AUTO_TEST_CASE(values_are_lists_or_ranges) {
  const std::vector<std::string> values = {"1e-3", "[1, 2]", "\"a,b\""};
  BOOST_TEST(key("train.x=1e-3,[1, 2],\"a,b\"").values == values, boost::test_tools::per_element());
  const std::vector<std::string> losses = {"nn.huber(output, label, delta=2)",
                                           "mean(square(output - label))"};
  BOOST_TEST(key("train.loss=nn.huber(output, label, delta=2),mean(square(output - label))").values == losses,
             boost::test_tools::per_element());
  const SweepKey range = key("train.lr=log:1e-4..0.1");
  BOOST_TEST((range.logarithmic && !range.whole && range.low == 1e-4 && range.high == 0.1));
  BOOST_TEST(key("data.batch=16..128").whole);
  for (const std::string wrong :
       {"lr", "=1,2", "lr=", "lr=1,,2", "lr=2..1", "lr=log:0..1", "lr=a..b", "lr=1.."})
    BOOST_TEST((parse_sweep_key(wrong).status().code() == Code::InvalidArgument), wrong);
}

BOOST_AUTO_TEST_CASE(a_grid_has_all_combinations) {
  const auto trials = value_or_throw(grid({key("a=1,2"), key("b=x,y,z")}));
  BOOST_TEST_REQUIRE(trials.size() == 6u);
  BOOST_TEST(trials[1] == (TrialSettings{"a=1", "b=y"}), boost::test_tools::per_element());
  BOOST_TEST((grid({key("a=1..2")}).status().code() == Code::InvalidArgument));
  std::string many = "a=1";
  for (int i = 0; i < 200; ++i) many += ",1";
  BOOST_TEST((grid({key(many), key(many)}).status().code() == Code::ResourceExhausted));
}

BOOST_AUTO_TEST_CASE(drawn_values_lie_in_their_ranges_and_depend_on_the_seed_alone) {
  const std::vector<SweepKey> keys = {key("lr=log:1e-4..1e-1"), key("n=2..4"), key("x=0.5..1.5"),
                                      key("c=p,q")};
  const auto trials = draw_trials(keys, 200, 7);
  std::set<std::string> whole, choices;
  int small = 0;
  for (const TrialSettings& trial : trials) {
    const double lr = std::stod(trial[0].substr(3)), x = std::stod(trial[2].substr(2));
    BOOST_TEST_REQUIRE((lr >= 1e-4 && lr <= 1e-1 && x >= 0.5 && x <= 1.5));
    small += lr < 3.2e-3 ? 1 : 0;
    whole.insert(trial[1]);
    choices.insert(trial[3]);
  }
  BOOST_TEST(whole == (std::set<std::string>{"n=2", "n=3", "n=4"}), boost::test_tools::per_element());
  BOOST_TEST(choices == (std::set<std::string>{"c=p", "c=q"}), boost::test_tools::per_element());
  BOOST_TEST((small > 70 && small < 130));  // half of the decades
  BOOST_TEST((draw_trials(keys, 200, 7) == trials));
  BOOST_TEST((draw_trials(keys, 200, 8) != trials));
}

BOOST_AUTO_TEST_CASE(trials_that_would_all_be_the_same_are_not_drawn) {
  BOOST_TEST((check_draws({key("a=1"), key("b=x")}, 3).code() == Code::InvalidArgument));
  BOOST_TEST(check_draws({key("a=1"), key("b=x")}, 1).ok());
  BOOST_TEST(check_draws({key("a=1"), key("b=x,y")}, 3).ok());
  BOOST_TEST(check_draws({key("a=1"), key("b=1..2")}, 3).ok());
}

BOOST_AUTO_TEST_CASE(with_halving_only_the_best_go_on) {
  std::vector<TrialSettings> trials;
  for (int i = 0; i < 9; ++i) trials.push_back({"v=" + std::to_string(i)});
  std::vector<std::pair<std::string, int64_t>> runs;
  const auto results =
      sweep(trials, {.higher_is_better = true, .halving = 3, .first_epochs = 2, .max_epochs = 12},
            [&](Trial& trial, int64_t epochs) {
              runs.emplace_back(trial.settings[0], epochs);
              const int value = trial.settings[0].back() - '0';
              if (value == 8) {
                trial.failure = internal("broken");
              } else {
                trial.score = value;
              }
              trial.epochs = static_cast<uint64_t>(epochs);
              return true;
            });
  const std::vector<std::pair<std::string, int64_t>> later(runs.begin() + 9, runs.end());
  const std::vector<std::pair<std::string, int64_t>> expected = {
      {"v=7", 6}, {"v=6", 6}, {"v=5", 6}, {"v=7", 12}};
  BOOST_TEST((later == expected));
  BOOST_TEST(results.front().settings[0] == "v=7");
  BOOST_TEST(results.back().settings[0] == "v=8");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(sweep_runs, test::DigitsRuns)

BOOST_AUTO_TEST_CASE(the_best_trial_comes_first_in_one_process_and_in_a_cluster) {
  for (const Arguments& where :
       {Arguments{}, Arguments{"--local", "ps=1,worker=2", "--set", "train.replication={mode=\"sync\"}"}}) {
    auto arguments =
        run("sweep", "swept",
            {"--try", "train.optimizer.lr=1e-5,1e-2,1e30", "--set", "train.max_epochs=2", "--json"});
    arguments.insert(arguments.end(), where.begin(), where.end());
    Program program(test::troupe_program(), arguments);
    BOOST_TEST_REQUIRE(program.end() == 0, program.output());
    const auto trials = nlohmann::json::parse(program.output())["trials"];
    BOOST_TEST_REQUIRE(trials.size() == 3u);
    BOOST_TEST(trials[0]["settings"][0] == "train.optimizer.lr=1e-2");
    BOOST_TEST(trials[0]["valid/loss"] < trials[1]["valid/loss"]);
    BOOST_TEST(trials[0]["epochs"] == 2);
    BOOST_TEST(trials[2]["valid/loss"].is_null());
    BOOST_TEST(trials[2]["failure"].get<std::string>().find("train.optimizer.lr") != std::string::npos);
  }
}

// A trial that goes on ends with the weights of a run that was never interrupted.
BOOST_AUTO_TEST_CASE(trials_go_on_from_where_they_were) {
  const std::string lr = "train.optimizer.lr=1e-2";
  Program alone(test::troupe_program(),
                run("train", "alone", {"--set", "train.max_epochs=4", "--set", lr, "--json"}));
  BOOST_TEST_REQUIRE(alone.end() == 0, alone.output());
  Program program(test::troupe_program(), run("sweep", "halved",
                                              {"--try", "train.optimizer.lr=1e-5,1e-2", "--halving", "2",
                                               "--set", "train.max_epochs=4", "--json"}));
  BOOST_TEST_REQUIRE(program.end() == 0, program.output());
  const auto trials = nlohmann::json::parse(program.output())["trials"];
  BOOST_TEST(trials[0]["epochs"] == 4);
  BOOST_TEST(trials[1]["epochs"] == 1);
  BOOST_TEST(trials[0]["valid/loss"] == nlohmann::json::parse(alone.output())["valid/loss"]);
}

BOOST_AUTO_TEST_CASE(the_mean_of_the_last_epoch_counts_and_failures_have_reasons) {
  const Arguments options = {
      "--try", "train.optimizer.lr=1e-2,1e30", "--metric", "train/loss", "--set", "train.max_epochs=2"};
  const auto with = [&](const std::string& more) {
    Arguments all = options;
    all.push_back(more);
    Program program(test::troupe_program(), run("sweep", "means", all));
    BOOST_TEST_REQUIRE(program.end() == 0, program.output());
    return program.output();
  };
  const auto trial = nlohmann::json::parse(with("--json"))["trials"][0];
  std::ifstream metrics(trial["folders"][0].get<std::string>() + "/metrics.jsonl");
  nlohmann::json last;
  for (std::string line; std::getline(metrics, line);) last = nlohmann::json::parse(line);
  BOOST_TEST(trial["train/loss"] == last["train/loss"]);
  BOOST_TEST(with("-q").find("a lower train.optimizer.lr than 1e+30") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(a_value_that_a_key_does_not_take_is_refused_before_the_first_trial) {
  for (const std::string bad : {"-1", "abc"}) {
    Program program(test::troupe_program(),
                    run("sweep", "refused", {"--try", "train.optimizer.lr=1e-2," + bad}));
    BOOST_TEST(program.end() == 2, program.output());
    BOOST_TEST(program.output().find("--try train.optimizer.lr: ") != std::string::npos, program.output());
  }
  BOOST_TEST(!std::filesystem::exists(folder.path() + "/refused"));
}

BOOST_AUTO_TEST_CASE(with_folds_the_mean_over_the_parts_that_are_held_out_counts) {
  Program program(test::troupe_program(), run("sweep", "folded",
                                              {"--try", "train.optimizer.lr=1e-2", "--folds", "2", "--set",
                                               "train.max_epochs=1", "--json"}));
  BOOST_TEST_REQUIRE(program.end() == 0, program.output());
  const auto trial = nlohmann::json::parse(program.output())["trials"][0];
  BOOST_TEST(trial["folders"].size() == 2u);
  double sum = 0, difference = 0;
  for (const std::string fold : {"0", "1"}) {
    Program alone(test::troupe_program(),
                  run("train", "fold" + fold,
                      {"--set", "train.max_epochs=1", "--set", "train.optimizer.lr=1e-2", "--set",
                       "data.valid={split=0.5,fold=" + fold + "}", "--json"}));
    BOOST_TEST_REQUIRE(alone.end() == 0, alone.output());
    const double loss = nlohmann::json::parse(alone.output())["valid/loss"];
    sum += loss;
    difference = loss - difference;
  }
  BOOST_TEST(trial["valid/loss"].get<double>() == sum / 2, boost::test_tools::tolerance(1e-12));
  BOOST_TEST(trial["deviation"].get<double>() == std::abs(difference) / 2,
             boost::test_tools::tolerance(1e-9));
  BOOST_TEST(difference != 0);
}

BOOST_AUTO_TEST_CASE(an_unknown_metric_is_refused_with_the_known_ones) {
  Program program(test::troupe_program(),
                  run("sweep", "wrong",
                      {"--try", "data.batch=64", "--set", "train.max_epochs=1", "--metric", "valid/f1"}));
  BOOST_TEST(program.end() != 0);
  BOOST_TEST(program.output().find("valid/accuracy") != std::string::npos, program.output());
}

BOOST_AUTO_TEST_CASE(an_unknown_metric_is_refused_before_the_first_trial) {
  const auto refused = [&](const Arguments& more, const std::string& text) {
    Arguments arguments = run("sweep", "untrained", {"--try", "data.batch=64"});
    arguments.insert(arguments.end(), more.begin(), more.end());
    Program program(test::troupe_program(), arguments);
    BOOST_TEST(program.end() == 2, program.output());
    BOOST_TEST(program.output().find(text) != std::string::npos, program.output());
    BOOST_TEST(!std::filesystem::exists(folder.path() + "/untrained"));
  };
  refused({"--metric", "accuracy"}, "valid/accuracy; write --metric valid/accuracy");
  refused({"--metric", "valid/f2"}, "but the run has train/loss, valid/loss, valid/accuracy");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::train::sweep_test
