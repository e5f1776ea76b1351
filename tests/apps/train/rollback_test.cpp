// train.on_nan = "rollback": runs whose loss is no number at some samples, in one process and over a cluster.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>

#include "tests/apps/commands/troupe_program.h"
#include "tests/apps/train/digits_runs.h"

namespace troupe::rollback_test {
namespace {

using test::Program;

/// Steps of one sample in the order of the file. The logarithm of a negative x spoils the loss, and then the weight.
std::string run_file(const std::string& directory) {
  return "run = { name = \"run\", directory = \"" + directory + R"toml(" }
[data]
format = "csv"
train = "samples.csv"
header = true
label = "y"
batch = 1
shuffle = false
[data.inputs]
x = { from = "image" }
y = { from = "label", shape = [1], cast = "float" }
[model.variables]
w = { shape = [1], init = "zeros" }
[model.graph]
loss = "mean(square(w * log(x) - y))"
[train]
loss = "loss"
optimizer = { type = "sgd", lr = 0.05 }
max_epochs = 3
)toml";
}

struct Fixture : test::DigitsRuns {
  /// Trains on samples with these x, and y = 2 log(x) where that is a number. Returns the output.
  std::string trained(const std::vector<double>& x, const std::string& on_nan, const std::string& every,
                      int code, const Arguments& more = {}) {
    std::string table = "x,y\n";
    for (const double one : x)
      table += std::to_string(one) + ',' + std::to_string(2 * std::log(std::abs(one))) + '\n';
    folder.write("samples.csv", table);
    Arguments arguments{"train", folder.write("run.toml", run_file(folder.path())),
                        "--set", "train.on_nan=" + on_nan,
                        "--set", "train.checkpoint={every=\"" + every + "\",keep=3}"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    Program program(test::troupe_program(), arguments);
    BOOST_TEST(program.end() == code, program.output());
    return program.output();
  }
  float weight() {
    const auto saved = weights("run");
    const auto found = std::ranges::find(saved.tensors, "w", &SavedTensor::name);
    BOOST_TEST_REQUIRE((found != saved.tensors.end()));
    return found->value.as<float>()[0];
  }
};

bool says(const std::string& output, const std::string& text) {
  return output.find(text) != std::string::npos;
}

const std::vector<double> spoiled = {2, 3, 4, 5, 6, -1, 3, 2};

BOOST_FIXTURE_TEST_SUITE(rollback, Fixture)

BOOST_AUTO_TEST_CASE(a_run_stops_unless_it_is_told_otherwise) {
  const std::string output = trained(spoiled, "stop", "2 steps", 4);
  BOOST_TEST(says(output, "stopped at step 6, because the loss is"), output);
}

BOOST_AUTO_TEST_CASE(a_run_that_checks_numbers_names_the_op_in_one_process_and_in_workers) {
  const Arguments check{"--set", "train.check_finite=true"};
  const std::string text = "stopped after step 5: InvalidArgument: [Log]";
  BOOST_TEST(says(trained(spoiled, "stop", "2 steps", 4, check), text));
  const std::string output = trained(spoiled, "stop", "2 steps", 4,
                                     {"--set", "train.check_finite=true", "--local", "ps=1,worker=2"});
  BOOST_TEST(says(output, "[Log]"), output);
  BOOST_TEST(says(output, "output 0 has NaN, the first numbers of the step that are not finite"), output);
  BOOST_TEST(std::isfinite(weight()));
}

BOOST_AUTO_TEST_CASE(a_run_goes_on_from_the_last_checkpoint_with_the_next_batch) {
  const std::string output = trained(spoiled, "rollback", "2 steps", 0);
  for (const std::string step : {"step 6 is nan: the weights go back to those of step 4",
                                 "step 14 is nan: the weights go back to those of step 12",
                                 "step 22 is nan: the weights go back to those of step 20"})
    BOOST_TEST(says(output, step), output);
  BOOST_TEST(std::abs(weight() - 2) < 0.5, weight());
}

BOOST_AUTO_TEST_CASE(workers_go_back_too) {
  const std::string output = trained(spoiled, "rollback", "2 steps", 0, {"--local", "ps=1,worker=2"});
  BOOST_TEST(says(output, "step 22 is nan: the weights go back to those of step 20"), output);
  BOOST_TEST(std::abs(weight() - 2) < 0.5, weight());
}

// No sample after the checkpoint has a finite loss, so every checkpoint is tried, the newest one first.
BOOST_AUTO_TEST_CASE(a_run_that_no_checkpoint_helps_stops) {
  const std::string output = trained({2, 3, 4, 5, -1, -2, -3, -4}, "rollback", "2 steps", 4);
  BOOST_TEST(says(output, "step 5 is nan: the weights go back to those of step 4"), output);
  BOOST_TEST(says(output, "step 6 is nan: the weights go back to those of step 2"), output);
  BOOST_TEST(says(output, "there is no checkpoint to go back to that has not been tried"), output);
  BOOST_TEST(says(output, "stopped at step 7, because the loss is nan"), output);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::rollback_test
