// Training runs from end to end: examples/digits.toml through config, data, graph, session and checkpoints.
#include "apps/train/trainer.h"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>

#include "actors/runtime.h"
#include "apps/nn/optimizer.h"
#include "apps/train/folder/progress.h"
#include "apps/train/monitored_metric.h"
#include "graph/build/variables.h"
#include "kernels/constructors.h"
#include "messages/env/real_disk.h"
#include "tests/apps/commands/troupe_program.h"
#include "tests/support/failure_of.h"
#include "tests/support/ops/op_library.h"
#include "tests/support/program.h"
#include "tests/support/project_files.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/whole_checkpoint.h"

extern char** environ;

namespace troupe::train::train_test {
namespace {

namespace fs = std::filesystem;
using test::Program;

const std::string digits = test::project_path("examples/digits.toml");

struct Fixture {
  config::RunConfig config(std::vector<std::string> set) {
    set.push_back("run.directory=" + folder);
    return value_or_throw(config::load_run_config(disk, example, set, test::op_library()->ops));
  }
  TrainingResult run(const std::vector<std::string>& set, const std::string& resume = {}) {
    TrainerOptions options;
    options.resume = resume;
    return run(set, options);
  }
  TrainingResult run(const std::vector<std::string>& set, const TrainerOptions& options) {
    const auto checked = config(set);
    return value_or_throw(
        train(checked, value_or_throw(data::load(disk, checked.data, checked.run.seed)), options));
  }
  /// Returns all variables of the newest checkpoint of a run by name.
  test::WholeCheckpoint weights(const std::string& run_folder) {
    std::vector<std::string> skipped;
    auto newest = value_or_throw(test::load_newest(disk, run_folder + "/checkpoints", skipped));
    std::ranges::sort(newest.tensors, {}, &SavedTensor::name);
    return newest;
  }
  static void check_equal(const test::WholeCheckpoint& a, const test::WholeCheckpoint& b) {
    BOOST_TEST_REQUIRE(a.tensors.size() == b.tensors.size());
    for (size_t i = 0; i < a.tensors.size(); ++i) {
      BOOST_TEST(a.tensors[i].name == b.tensors[i].name);
      BOOST_TEST(identical(a.tensors[i].value, b.tensors[i].value), a.tensors[i].name << " differs");
    }
  }

  std::string example = digits;
  const test::TemporaryFolder temporary;
  const std::string folder = temporary.path();
  RealDisk disk;
};

double score(const TrainingResult& result, const std::string& name) {
  for (const auto& [key, value] : result.evaluation)
    if (key == name) return value;
  return 0;
}

// What is computed on several devices differs in the last bits, so GPUs are left out.
const std::vector<std::string> five_epochs = {"train.max_epochs=5", "train.early_stop.keep_best=false",
                                              "run.gpus=0"};

std::vector<std::string> with(std::vector<std::string> set, const std::string& more) {
  set.push_back(more);
  return set;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(training, Fixture)

BOOST_AUTO_TEST_CASE(the_digits_are_learned) {
  const auto result = run({});
  BOOST_TEST(score(result, "valid/accuracy") > 0.94);
  BOOST_TEST(fs::exists(result.folder + "/metrics.jsonl"));
  BOOST_TEST(fs::exists(result.folder + "/config.toml"));
}

BOOST_AUTO_TEST_CASE(a_learning_rate_that_changes_is_a_metric) {
  const auto rates = [&](const std::vector<std::string>& set) {
    std::ifstream metrics(run(set).folder + "/metrics.jsonl");
    std::vector<double> found;
    for (std::string line; std::getline(metrics, line);) {
      const auto json = nlohmann::json::parse(line);
      if (json.contains("train/learning_rate")) found.push_back(json.at("train/learning_rate"));
    }
    return found;
  };
  const std::vector<std::string> short_run = {"train.max_epochs=2", "train.optimizer.lr=0.5",
                                              "train.early_stop.keep_best=false"};
  BOOST_TEST(rates(short_run).empty());
  // 23 steps are an epoch.
  const auto found =
      rates(with(short_run, "train.schedule={type=\"piecewise\",boundaries=[30],factors=[1,0.5]}"));
  BOOST_TEST(found == std::vector<double>({0.5, 0.25}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(the_digits_are_learned_better_by_convolutions) {
  example = test::project_path("examples/digits_cnn.toml");
  BOOST_TEST(score(run({}), "valid/accuracy") > 0.985);
}

BOOST_AUTO_TEST_CASE(weights_depend_on_shards_alone_not_on_threads_or_tasks) {
  const auto alone = weights(run(with(five_epochs, "run.threads=1")).folder);
  for (const auto& layout :
       std::vector<std::vector<std::string>>{{"run.threads=2"},
                                             {"cluster.in_process.worker=2"},
                                             {"cluster.in_process.ps=2", "cluster.in_process.worker=2"}}) {
    auto set = five_epochs;
    set.insert(set.end(), layout.begin(), layout.end());
    check_equal(alone, weights(run(set).folder));
  }
}

BOOST_AUTO_TEST_CASE(a_run_that_is_resumed_with_other_samples_says_so) {
  const auto first = run(with(five_epochs, "train.max_steps=47"));
  std::string lines;
  TrainerOptions options;
  options.resume = first.folder;
  options.line = [&](const std::string& line) { lines += line + '\n'; };
  run(five_epochs, options);
  BOOST_TEST(lines.find("samples, and had") == std::string::npos, lines);
  run(with(five_epochs, "data.valid={files=['digits.csv']}"), options);
  BOOST_TEST(lines.find("the training data has 1797 samples, and had 1438 before") != std::string::npos,
             lines);
}

BOOST_AUTO_TEST_CASE(the_best_scores_of_other_samples_do_not_count) {
  const data::Fingerprint before{100, 7};
  const auto with_scores = [&] {
    return Progress{.step = 20,
                    .early_stop = {0.5, 2},
                    .plateau = {0.25, 1},
                    .epoch_loss = {},
                    .steps_per_epoch = 10,
                    .data = before};
  };
  for (const data::Fingerprint same : {before, data::Fingerprint{100, 0}}) {  // 0: not known
    Progress progress = with_scores();
    BOOST_TEST(progress.go_on_with(same, 10) == "");
    BOOST_TEST((progress.early_stop == Best{0.5, 2}));
    BOOST_TEST((progress.plateau == Best{0.25, 1}));
  }
  for (const auto& [other, told] :
       {std::pair{data::Fingerprint{120, 7}, "has 120 samples, and had 100 before"},
        std::pair{data::Fingerprint{100, 8}, "has other samples than before"}}) {
    Progress progress = value_or_throw(from_note(to_note(with_scores())));
    const std::string warning = progress.go_on_with(other, 10);
    BOOST_TEST(warning.find(told) != std::string::npos, warning);
    BOOST_TEST(!progress.early_stop.score.has_value());
    BOOST_TEST(!progress.plateau.score.has_value());
  }
}

BOOST_AUTO_TEST_CASE(a_training_without_a_folder_ends_with_its_best_model_too) {
  std::vector<double> losses;
  TrainerOptions options;
  options.dry_run_steps = std::numeric_limits<int64_t>::max();  // so it has no folder
  options.scored = [&](const observe::Scores& scores) {
    for (const auto& [name, value] : scores.values)
      if (name == "valid/loss") losses.push_back(value);
  };
  const auto result = run({"train.max_epochs=6", "train.optimizer.lr=0.05", "run.gpus=0",
                           "train.early_stop={monitor='valid/loss', mode='min', patience=6, keep_best=true}"},
                          options);
  BOOST_TEST_REQUIRE(losses.size() == 6u);
  const double best = std::ranges::min(losses);
  BOOST_TEST(best < losses.back());  // otherwise this tests nothing
  BOOST_TEST(score(result, "valid/loss") == best);
}

BOOST_AUTO_TEST_CASE(a_run_whose_model_has_changed_is_not_resumed) {
  const auto first = run(with(five_epochs, "train.max_steps=23"));
  auto changed = five_epochs;
  for (const char* const shape : {"w1.shape=[64,50]", "b1.shape=[50]", "w2.shape=[50,10]"})
    changed.push_back(std::string("model.variables.") + shape);
  const std::string why = test::failure_of([&] { run(changed, first.folder); }).text();
  BOOST_TEST(why.find("model.variables.w1.shape.1 is 50, but 100 in " + first.folder) != std::string::npos,
             why);
}

BOOST_AUTO_TEST_CASE(a_resumed_run_ends_as_an_undisturbed_one) {
  const auto undisturbed = weights(run(five_epochs).folder);
  const auto first = run(with(five_epochs, "train.max_steps=47"));
  const auto resumed = run(five_epochs, first.folder);
  BOOST_TEST(resumed.steps == 5u * 23);
  check_equal(undisturbed, weights(resumed.folder));
}

BOOST_AUTO_TEST_CASE(a_run_that_reads_its_files_again_in_every_epoch_is_resumed) {
  auto stream = five_epochs;
  stream.insert(stream.end(), {"data.read=stream", "data.buffer=300"});
  const auto undisturbed = run(stream);
  BOOST_TEST(score(undisturbed, "valid/accuracy") > 0.9);
  const auto first = run(with(stream, "train.max_steps=47"));
  check_equal(weights(undisturbed.folder), weights(run(stream, first.folder).folder));
}

BOOST_AUTO_TEST_CASE(a_score_that_is_no_number_is_never_the_best) {
  const config::Monitor monitor{.metric = "valid/f1", .higher_is_better = true, .patience = 2};
  const auto improved = [&](double score, uint64_t epoch, Best& best) {
    return improves(monitor, {{"valid/f1", score}}, epoch, best).value();
  };
  Best best;
  BOOST_TEST(!improved(std::nan(""), 1, best));
  BOOST_TEST(improved(0.5, 2, best));
  BOOST_TEST(!improved(std::nan(""), 3, best));
  BOOST_TEST(improved(0.6, 4, best));
  BOOST_TEST(best.epoch == 4u);
}

BOOST_AUTO_TEST_CASE(a_run_that_has_stopped_early_goes_on_only_with_more_patience) {
  const auto patience = [](const std::string& epochs) {  // no loss improves by 1000
    return std::vector<std::string>{
        "train.max_epochs=9",
        "train.early_stop={ monitor='valid/loss', mode='min', patience=" + epochs + ", min_delta=1000.0 }"};
  };
  const auto first = run(patience("2"));
  BOOST_TEST(first.steps == 3u * 23);
  const auto again = run(patience("2"), first.folder);
  BOOST_TEST((again.ending == Ending::EarlyStopped));
  BOOST_TEST(again.steps == 3u * 23);
  BOOST_TEST(run(patience("3"), first.folder).steps == 4u * 23);
}

BOOST_AUTO_TEST_CASE(a_rate_is_not_lowered_below_its_least_value) {
  std::vector<std::string> lines;
  TrainerOptions options;
  options.line = [&](const std::string& line) { lines.push_back(line); };
  run({"train.max_epochs=6",
       "train.plateau={ monitor='valid/loss', mode='min', patience=1, min_delta=1000.0, "
       "factor=0.5, min_factor=0.25 }"},
      options);
  BOOST_TEST(std::ranges::count_if(lines, [](const std::string& line) {
               return line.starts_with("the learning rate is lowered");
             }) == 2);
}

BOOST_AUTO_TEST_CASE(a_rate_lowered_on_a_plateau_is_that_of_a_schedule_and_is_resumed) {
  // No loss improves by 1000, so every epoch from the second on lowers the rate. An epoch has 23 updates.
  const std::string plateau =
      "train.plateau={ monitor='valid/loss', mode='min', patience=1, min_delta=1000.0, factor=0.5 }";
  const std::string schedule =
      "train.schedule={ type='piecewise', boundaries=[45, 68, 91], factors=[1.0, 0.5, 0.25, 0.125] }";
  const auto loss = [](const TrainingResult& result) { return score(result, "valid/loss"); };
  const double lowered = loss(run(with(five_epochs, plateau)));
  BOOST_TEST(lowered == loss(run(with(five_epochs, schedule))));
  BOOST_TEST(lowered != loss(run(five_epochs)));
  const auto half = run(with({"train.max_epochs=3", "train.early_stop.keep_best=false"}, plateau));
  BOOST_TEST(loss(run(with(five_epochs, plateau), half.folder)) == lowered);
}

BOOST_AUTO_TEST_CASE(moving_averages_of_the_weights_are_evaluated) {
  BOOST_TEST(score(run(five_epochs), "valid/accuracy") > 0.9);
  // Averages that hardly move are the initial weights.
  BOOST_TEST(score(run(with(five_epochs, "train.average=0.9999999")), "valid/accuracy") < 0.5);
}

// The slots of the optimizer have the same names in all graphs.
BOOST_AUTO_TEST_CASE(a_program_goes_on_from_what_a_run_has_saved) {
  const auto saved = run(with(five_epochs, "train.max_steps=30"));
  Runtime runtime;
  Graph graph(runtime.ops());
  const Scope g(graph);
  const Output image = placeholder(g, f32, {-1, 64}, "image"), label = placeholder(g, i32, {-1}, "label");
  const Output w1 = variable(g, zeros(g, {64, 100}), "w1"), b1 = variable(g, zeros(g, {100}), "b1"),
               w2 = variable(g, zeros(g, {100, 10}), "w2"), b2 = variable(g, zeros(g, {10}), "b2");
  const Output hidden = relu(g, add(g, matmul(g, image, w1), b1));
  const Output logits = add(g, matmul(g, hidden, w2), b2);
  nn::Adam(5e-3).minimize(g, mean(g, sparse_softmax_cross_entropy_with_logits(g, logits, label)));
  Session session = runtime.session(graph);
  BOOST_TEST(session.restore(saved.folder + "/checkpoints").missing.empty());
  const auto checkpoint = weights(saved.folder);
  for (const Output& variable : variables(graph)) {
    const auto name = graph.node(variable.node).name;
    const auto tensor = std::ranges::find(checkpoint.tensors, name, &SavedTensor::name);
    BOOST_TEST_REQUIRE((tensor != checkpoint.tensors.end()), name);
    BOOST_TEST(identical(session.run({variable}).at(0), tensor->value), name);
  }
}

BOOST_AUTO_TEST_CASE(a_checkpoint_in_which_slots_have_their_former_names_is_resumed) {
  const auto undisturbed = weights(run(five_epochs).folder);
  const auto first = run(with(five_epochs, "train.max_steps=47"));
  auto checkpoint = weights(first.folder);
  size_t renamed = 0;
  for (SavedTensor& tensor : checkpoint.tensors)
    if (tensor.name.starts_with("adam/")) tensor.name = "train/" + tensor.name, ++renamed;
  BOOST_TEST(renamed == 10u);  // two moments of four variables, two powers
  throw_if_failed(test::save(disk, first.folder + "/checkpoints", checkpoint, 1));
  check_equal(undisturbed, weights(run(five_epochs, first.folder).folder));
}

// A run does not start from the beginning if its folder has checkpoints of another model.
BOOST_AUTO_TEST_CASE(a_checkpoint_of_another_model_is_not_passed_over) {
  const auto first = run(with(five_epochs, "train.max_steps=3"));
  auto checkpoint = weights(first.folder);
  for (SavedTensor& tensor : checkpoint.tensors) tensor.name = "other/" + tensor.name;
  throw_if_failed(test::save(disk, first.folder + "/checkpoints", checkpoint, 1));
  const auto checked = config(five_epochs);
  TrainerOptions options;
  options.resume = "auto";
  const auto again =
      train(checked, value_or_throw(data::load(disk, checked.data, checked.run.seed)), options);
  BOOST_TEST((again.status().code() == Code::NotFound), again.status().message());
  BOOST_TEST(again.status().text().find("has no variable of this session") != std::string::npos);
}

// If the best model is kept, the run ends with it, no matter whether it was found before or after the process was killed.
BOOST_AUTO_TEST_CASE(a_killed_run_is_resumed_and_ends_as_an_undisturbed_one) {
  for (const std::string keep_best : {"false", "true"}) {
    const std::vector<std::string> set = {"train.max_epochs=5", "train.early_stop.keep_best=" + keep_best};
    const auto undisturbed = weights(run(set).folder);
    const std::string here = folder + "/killed_" + keep_best;
    std::vector<std::string> arguments = {
        "train", digits, "--set", "run.directory=" + here, "--set", "train.checkpoint.every=10 steps"};
    for (const auto& option : set) arguments.insert(arguments.end(), {"--set", option});
    Program killed(test::troupe_program(), arguments);
    BOOST_REQUIRE(killed.wait_for("epoch 3"));
    BOOST_TEST(killed.end(SIGKILL) == -SIGKILL);
    arguments.insert(arguments.end(), {"--resume", "auto"});
    Program resumed(test::troupe_program(), arguments);
    BOOST_TEST(resumed.wait_for("resumed"));
    BOOST_TEST(resumed.end() == 0);
    check_equal(undisturbed, weights(here + "/digits/001"));
  }
}

BOOST_AUTO_TEST_CASE(a_terminated_run_saves_and_ends_well) {
  Program program(test::troupe_program(),
                  {"train", digits, "--set", "run.directory=" + folder, "--set", "train.max_epochs=100000",
                   "--set", "train.early_stop.patience=100000"});
  BOOST_REQUIRE(program.wait_for("epoch 2"));
  const int code = program.end(SIGTERM);
  BOOST_TEST_CONTEXT(program.output()) {
    BOOST_TEST_REQUIRE(code == 128 + SIGTERM);
    BOOST_TEST(weights(folder + "/digits/001").round > 0u);
  }
}

BOOST_AUTO_TEST_CASE(a_dry_run_writes_nothing) {
  TrainerOptions options;
  options.dry_run_steps = 3;
  BOOST_TEST(run({}, options).steps == 3u);
  BOOST_TEST(fs::is_empty(folder));
}

// Its state is in one place, so it cannot be applied by the tasks that own the variables.
BOOST_AUTO_TEST_CASE(lbfgs_trains_in_one_process_alone) {
  const std::vector<std::string> arguments = {"train", digits,
                                              "--set", "run.directory=" + folder,
                                              "--set", "train.max_epochs=1",
                                              "--set", "train.optimizer={type='lbfgs',lr=0.1,history=5}"};
  BOOST_TEST(Program(test::troupe_program(), arguments).end() == 0);
  auto replicated = arguments;
  replicated.insert(replicated.end(), {"--set", "train.replication.mode=sync", "--local", "ps=1,worker=1"});
  Program program(test::troupe_program(), replicated);
  BOOST_TEST(program.end() != 0);
  BOOST_TEST(program.output().find(
                 "train.optimizer.type is 'lbfgs', which needs all variables and gradients in one place") !=
                 std::string::npos,
             program.output());
}

BOOST_AUTO_TEST_CASE(the_program_tells_usage_config_and_data_apart_by_its_exit_code) {
  BOOST_TEST(Program(test::troupe_program(), {"version"}).end() == 0);
  BOOST_TEST(Program(test::troupe_program(), {"train"}).end() == 2);
  BOOST_TEST(Program(test::troupe_program(), {"check", digits, "--set", "train.optimizer.type=sgdd"}).end() ==
             2);
  BOOST_TEST(Program(test::troupe_program(), {"check", digits, "--set", "data.train=[\"none.csv\"]"}).end() ==
             3);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::train::train_test
