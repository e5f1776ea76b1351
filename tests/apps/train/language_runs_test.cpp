// Trainings of examples/language.toml: an LSTM learns a text, with all classes or with drawn ones, in one process and in clusters.
#include <boost/test/unit_test.hpp>

#include "tests/apps/commands/troupe_program.h"
#include "tests/apps/train/digits_runs.h"

namespace troupe::language_runs_test {
namespace {

using test::Program;

struct Fixture : test::DigitsRuns {
  /// Runs the example to its end and returns the perplexity of the held-out text.
  double perplexity(const std::string& name, Arguments more) {
    more.insert(more.end(), {"--set", "train.max_epochs=3"});
    Program program(test::troupe_program(), run("train", name, more, "language"));
    BOOST_TEST(program.end() == 0, program.output());
    const std::string output = program.output(), key = "valid/perplexity ";
    const size_t at = output.rfind(key);
    BOOST_TEST_REQUIRE(at != std::string::npos, output);
    return std::stod(output.substr(at + key.size()));
  }
};

BOOST_FIXTURE_TEST_SUITE(language_runs, Fixture)

// The frequencies of the characters alone give a perplexity of about 20.
BOOST_AUTO_TEST_CASE(a_text_is_learned_with_the_same_results_in_a_cluster) {
  BOOST_TEST(perplexity("alone", {}) < 9);
  perplexity("apart", {"--local", "ps=1,worker=2"});
  check_equal(weights("apart"), weights("alone"));
  perplexity("together", {"--local", "worker=2", "--set", "train.replication.mode=allreduce"});
  check_equal(weights("together"), weights("alone"));
}

BOOST_AUTO_TEST_CASE(a_text_is_learned_with_drawn_classes) {
  const std::string losses =
      "model.graph.losses=nn.sampled_softmax_loss(features, next, classes=128, sampled=32)";
  BOOST_TEST(perplexity("sampled", {"--set", losses}) < 16);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::language_runs_test
