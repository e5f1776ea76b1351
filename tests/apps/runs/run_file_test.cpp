// Run files in a program: RunFile trains as "troupe train" does, tells its callbacks what happens, and ends when they ask for it.
#include <boost/test/unit_test.hpp>

#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <thread>

#include "apps/cluster_file.h"
#include "apps/training.h"
#include "tests/apps/commands/troupe_program.h"
#include "tests/apps/train/digits_runs.h"
#include "tests/support/failure_of.h"
#include "tests/support/net/reserved_port.h"
#include "tests/support/project_files.h"

namespace troupe::run_file_test {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Settings = std::vector<std::string>;
using test::Program;

const std::string examples = test::project_path("examples/");

struct Fixture : test::DigitsRuns {
  /// The digits example, whose runs lie in `folder`.
  RunFile digits(const std::string& name, Settings more = {"train.max_epochs=3"}) const {
    more.insert(more.end(), {"run.directory=" + folder.path(), "run.name=" + name, "run.gpus=0"});
    return RunFile::read(examples + "digits.toml", more);
  }
  std::string path(const std::string& name) const { return folder.path() + '/' + name; }
};

double value_of(const Metrics& metrics, const std::string& name) {
  for (const auto& [metric, value] : metrics)
    if (metric == name) return value;
  BOOST_FAIL("there is no metric " + name);
  return 0;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(run_file, Fixture)

BOOST_AUTO_TEST_CASE(trains_as_the_program_does) {
  const TrainingOutcome outcome = digits("inside").train();
  BOOST_TEST((outcome.end == TrainingEnd::Completed));
  BOOST_TEST(outcome.epochs == 3u);
  BOOST_TEST(outcome.folder == path("inside/001"));
  BOOST_TEST(fs::exists(outcome.checkpoint));

  Program program(test::troupe_program(), run("train", "outside", {"--set", "train.max_epochs=3", "--json"}));
  BOOST_TEST(program.end() == 0, program.output());
  const auto result = nlohmann::json::parse(program.output());
  BOOST_TEST(result.at("steps").get<uint64_t>() == outcome.steps);
  BOOST_TEST(result.at("valid/loss").get<double>() == value_of(outcome.metrics, "valid/loss"));
  BOOST_TEST(result.at("valid/accuracy").get<double>() == value_of(outcome.metrics, "valid/accuracy"));
  check_equal(weights("inside"), weights("outside"));

  std::ifstream kept(outcome.folder + "/result.json");
  BOOST_TEST(nlohmann::json::parse(kept).at("ending").get<std::string>() == "completed");
}

BOOST_AUTO_TEST_CASE(callbacks_learn_what_happens) {
  std::vector<EpochReport> epochs;
  std::vector<TrainingProgress> steps;
  Settings lines;
  TrainingOptions options;
  options.epoch = [&](const EpochReport& report) { return epochs.push_back(report), true; };
  options.progress = [&](const TrainingProgress& progress) { return steps.push_back(progress), true; };
  options.progress_interval = 0s;
  options.log = [&](const std::string& line) { lines.push_back(line); };
  const TrainingOutcome outcome = digits("watched").train(options);

  BOOST_TEST_REQUIRE(epochs.size() == 3u);
  BOOST_TEST(epochs[0].epochs == 1);
  BOOST_TEST(epochs[2].step == outcome.steps);
  BOOST_TEST(epochs[0].metrics[0].first == "train/loss");
  BOOST_TEST(epochs[2].metrics[0].second < 0.5 * epochs[0].metrics[0].second);
  BOOST_TEST(value_of(epochs[2].metrics, "valid/accuracy") > 0.8);

  BOOST_TEST_REQUIRE(steps.size() > 3u);
  BOOST_TEST(steps.back().step == outcome.steps);
  BOOST_TEST(steps.back().last_step.value_or(0) == outcome.steps);
  BOOST_TEST(steps.back().epoch == 3u);
  for (size_t i = 1; i < steps.size(); ++i) BOOST_TEST(steps[i - 1].step < steps[i].step);
  BOOST_TEST(lines.size() >= 4u);  // what is trained, and the epochs
}

BOOST_AUTO_TEST_CASE(trainings_go_on_side_by_side) {
  std::vector<std::thread> threads;
  for (const char* const name : {"left", "middle", "right"})
    threads.emplace_back([this, name] { (void)digits(name).train(); });
  for (std::thread& thread : threads) thread.join();
  check_equal(weights("left"), weights("right"));
  check_equal(weights("middle"), weights("right"));
}

BOOST_AUTO_TEST_CASE(a_trained_model_computes_and_is_evaluated) {
  const TrainingOutcome outcome = digits("used").train();
  const auto results =
      load(outcome.folder).run({{"image", Tensor::of<float>({5, 64}, std::vector<float>(320))}});
  BOOST_TEST(results.at("class").shape()[0] == 5);
  const Metrics scores = evaluate(path("used"), {.part = "valid"});
  BOOST_TEST(value_of(scores, "loss") == value_of(outcome.metrics, "valid/loss"));
  BOOST_TEST(value_of(scores, "accuracy") == value_of(outcome.metrics, "valid/accuracy"));
  BOOST_TEST(value_of(evaluate(path("used"), {.files = {examples + "digits.csv"}}), "accuracy") > 0.8);
}

BOOST_AUTO_TEST_CASE(a_cancellation_ends_the_use_of_a_trained_model) {
  (void)digits("cancelled", {"train.max_epochs=1"}).train();
  const std::string run = path("cancelled");
  Cancellation cancellation, unused;
  cancellation.cancel();
  const auto code_with = [&](const Cancellation& given) {
    const Code predicting =
        test::failure_of([&] { (void)predict(run, {.part = "valid", .cancellation = &given}); }).code();
    const Code evaluating =
        test::failure_of([&] { (void)evaluate(run, {.part = "valid", .cancellation = &given}); }).code();
    BOOST_TEST((predicting == evaluating));
    return predicting;
  };
  BOOST_TEST((code_with(cancellation) == Code::Cancelled));
  BOOST_TEST((code_with(unused) == Code::Ok));
}

BOOST_AUTO_TEST_CASE(a_callback_ends_a_training_which_goes_on_later) {
  TrainingOptions options;
  options.epoch = [](const EpochReport& report) { return report.epochs < 2; };
  const TrainingOutcome stopped = digits("apart").train(options);
  BOOST_TEST((stopped.end == TrainingEnd::Stopped));
  BOOST_TEST(stopped.epochs == 2u);
  BOOST_TEST(fs::exists(stopped.checkpoint));

  const TrainingOutcome resumed = digits("apart").train({.resume = "auto"});
  BOOST_TEST((resumed.end == TrainingEnd::Completed));
  BOOST_TEST(resumed.folder == stopped.folder);
  const TrainingOutcome whole = digits("whole").train();
  BOOST_TEST(resumed.steps == whole.steps);
  check_equal(weights("apart"), weights("whole"));
}

BOOST_AUTO_TEST_CASE(a_cancellation_ends_a_training) {
  Cancellation cancellation;
  TrainingOptions options;
  options.cancellation = &cancellation;
  options.progress_interval = 0s;
  options.progress = [&](const TrainingProgress& progress) {
    if (progress.step >= 3) cancellation.cancel();
    return true;
  };
  const TrainingOutcome stopped = digits("endless", {"train.max_epochs=100000"}).train(options);
  BOOST_TEST((stopped.end == TrainingEnd::Stopped));
  BOOST_TEST(stopped.steps >= 3u);
  const TrainingOutcome none = digits("none").train(options);  // it is cancelled already
  BOOST_TEST((none.end == TrainingEnd::Stopped));
  BOOST_TEST(none.steps == 0u);
}

BOOST_AUTO_TEST_CASE(what_a_callback_throws_reaches_the_caller_when_the_training_has_ended) {
  int calls = 0;
  TrainingOptions options;
  options.epoch = [&](const EpochReport&) -> bool {
    ++calls;
    throw std::domain_error("enough");
  };
  BOOST_CHECK_EXCEPTION(digits("thrown").train(options), std::domain_error,
                        [](const auto& error) { return std::string(error.what()) == "enough"; });
  BOOST_TEST(calls == 1);
  BOOST_TEST(digits("thrown").train({.resume = "auto"}).epochs == 3u);  // from the checkpoint that was saved
}

BOOST_AUTO_TEST_CASE(a_training_may_write_nothing) {
  const TrainingOutcome outcome = digits("unwritten").train({.runs = ""});
  BOOST_TEST(outcome.epochs == 3u);
  BOOST_TEST(value_of(outcome.metrics, "valid/accuracy") > 0.8);
  BOOST_TEST(outcome.folder == "");
  BOOST_TEST(fs::is_empty(folder.path()));
  const Status refused =
      test::failure_of([&] { (void)digits("unwritten").train({.runs = "", .resume = "auto"}); });
  BOOST_TEST((refused.code() == Code::InvalidArgument));
}

BOOST_AUTO_TEST_CASE(the_folder_of_runs_is_an_option) {
  const std::string runs = path("123");  // which TOML would read as a number, were it relative
  BOOST_TEST(digits("named", {"train.max_epochs=1"}).train({.runs = runs}).folder == runs + "/named/001");
}

BOOST_AUTO_TEST_CASE(the_text_of_a_run_file_will_do) {
  std::ifstream file(examples + "digits.toml");
  const std::string text(std::istreambuf_iterator<char>(file), {});
  const RunFile run = RunFile::parse(text, examples, {"train.max_steps=2"}, "my digits");
  BOOST_TEST(run.effective().find("max_steps = 2") != std::string::npos);
  BOOST_TEST(run.train({.runs = ""}).steps == 2u);
  const Status mistake =
      test::failure_of([&] { RunFile::parse(text + "epochs = 3\n", examples, {}, "my digits"); });
  BOOST_TEST((mistake.code() == Code::InvalidArgument));
  BOOST_TEST(mistake.text().find("my digits:") != std::string::npos, mistake.text());
  BOOST_TEST(mistake.text().find("epochs") != std::string::npos, mistake.text());
}

BOOST_AUTO_TEST_CASE(what_is_wrong_is_said) {
  const auto fails = [&](const Settings& settings, const TrainingOptions& options, Code code,
                         const char* text) {
    const Status failure = test::failure_of([&] { (void)digits("wrong", settings).train(options); });
    BOOST_TEST((failure.code() == code), failure.message());
    BOOST_TEST(failure.text().find(text) != std::string::npos, failure.text());
  };
  fails({"train.optimizer.type=adamm"}, {}, Code::InvalidArgument, "adamm");
  fails({"data.train=absent.csv"}, {}, Code::NotFound, "absent.csv");
  fails({}, {.resume = path("absent")}, Code::InvalidArgument, "absent");
  fails({}, {.cluster = path("absent.toml")}, Code::InvalidArgument, "absent.toml");
  BOOST_TEST((test::failure_of([&] { RunFile::read(path("absent.toml")); }).code() == Code::InvalidArgument));
  BOOST_TEST((test::failure_of([&] { evaluate(path("absent")); }).code() == Code::NotFound));
}

BOOST_AUTO_TEST_CASE(a_cluster_file_names_its_tasks) {
  const ClusterSpec spec = read_cluster_file(examples + "cluster/cluster.toml", "worker", 1);
  BOOST_TEST(spec.endpoint("ps", 0) != "");
  BOOST_TEST_REQUIRE(spec.tls.has_value());
  BOOST_TEST(spec.tls->certificate.find("worker-1") != std::string::npos, spec.tls->certificate);
  const Status mistake =
      test::failure_of([&] { (void)read_cluster_file(folder.write("wrong.toml", "jbos = 1")); });
  BOOST_TEST((mistake.code() == Code::InvalidArgument));
  BOOST_TEST(mistake.text().find("wrong.toml:1") != std::string::npos, mistake.text());
}

BOOST_AUTO_TEST_CASE(a_running_cluster_trains) {
  const test::ReservedPort ps, worker;
  const std::string cluster =
      folder.write("cluster.toml", "cluster = { name = 'lab' }\n[jobs]\nps = '" + ps.endpoint() +
                                       "'\nworker = '" + worker.endpoint() + "'\n");
  std::vector<std::unique_ptr<Program>> nodes;
  for (const char* job : {"ps", "worker"})
    nodes.push_back(std::make_unique<Program>(
        test::troupe_program(),
        Arguments{"node", "--cluster", cluster, "--job", job, "--task", "0", "--root", "/", "--gpus", "0"}));
  const TrainingOutcome apart = digits("clustered").train({.cluster = cluster});
  BOOST_TEST(apart.epochs == 3u);
  (void)digits("alone").train();
  check_equal(weights("clustered"), weights("alone"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::run_file_test
