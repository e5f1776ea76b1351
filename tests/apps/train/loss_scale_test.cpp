// train.loss_scale in every kind of training: a scale that is a power of two changes no bits, and a dynamic one trains models that
// compute in half.
#include <boost/test/unit_test.hpp>

#include "tests/apps/commands/troupe_program.h"
#include "tests/apps/train/digits_runs.h"
#include "tests/apps/train/training_setting.h"

namespace troupe::loss_scale_test {
namespace {

using test::Program;
using Settings = std::vector<std::string>;
constexpr uint64_t rounds = 12;

void check_same_bits(const test::TrainingOutcome& given, const test::TrainingOutcome& expected) {
  BOOST_TEST(given.losses == expected.losses, boost::test_tools::per_element());
  BOOST_TEST_REQUIRE(given.weights.size() == expected.weights.size());
  for (size_t i = 0; i < expected.weights.size(); ++i)
    BOOST_TEST(identical(given.weights[i], expected.weights[i]));
}

bool says(const std::string& output, const std::string& text) {
  return output.find(text) != std::string::npos;
}

/// The model of digits.toml in half. The loss is so small that its gradients in half are 0 if it is not scaled.
const Settings in_half = {"train.metrics={accuracy=\"mean(cast(equal(argmax(logits, 1), label), 'float'))\"}",
                          "model.graph={small=\"cast(image, 'half')\","
                          "hidden=\"relu(matmul(small, cast(w1, 'half')) + cast(b1, 'half'))\","
                          "logits=\"cast(matmul(hidden, cast(w2, 'half')) + cast(b2, 'half'), 'float')\","
                          "loss=\"1e-8 * mean(sparse_softmax_cross_entropy_with_logits(logits, label))\"}"};

struct Runs : test::DigitsRuns {
  /// Runs `troupe train` on digits.toml and returns what it prints.
  std::string trained(const std::string& name, const Settings& set, const Settings& more, int code = 0) {
    Settings arguments = run("train", name, more);
    for (const std::string& each : set) arguments.insert(arguments.end(), {"--set", each});
    Program program(test::troupe_program(), arguments);
    BOOST_TEST(program.end() == code, program.output());
    return program.output();
  }
  double accuracy(const std::string& output) {
    const std::string key = "valid/accuracy ";
    const size_t at = output.rfind(key);
    return at == std::string::npos ? 0 : std::stod(output.substr(at + key.size()));
  }
};

BOOST_FIXTURE_TEST_SUITE(loss_scale, Runs)

BOOST_AUTO_TEST_CASE(a_fixed_power_of_two_changes_no_bits) {
  const std::vector<Settings> kinds = {{},
                                       {"train.clip={global_norm=0.5}", "train.weight_decay=0.01"},
                                       {"train.micro_batches=2"},
                                       {"train.replication={mode=\"local_sgd\",average_every=2,shards=2}"},
                                       {"train.replication={mode=\"allreduce\",shards=3}"}};
  for (const Settings& kind : kinds) {
    Settings scaled = kind;
    scaled.emplace_back("train.loss_scale={type=\"fixed\",value=1024}");
    BOOST_TEST_CONTEXT((kind.empty() ? "" : kind.back()))
    check_same_bits(test::in_one_graph("digits", scaled, rounds), test::in_one_graph("digits", kind, rounds));
  }
}

BOOST_AUTO_TEST_CASE(servers_get_gradients_that_are_not_scaled) {
  const Settings few = {"train.max_epochs=2"}, cluster = {"--local", "ps=1,worker=2"};
  trained("plain", few, cluster);
  trained("scaled", {few[0], "train.loss_scale={type=\"fixed\",value=1024}"}, cluster);
  check_equal(weights("scaled"), weights("plain"));
}

BOOST_AUTO_TEST_CASE(a_dynamic_scale_trains_what_would_not_train_without) {
  Settings set = in_half;
  set.insert(set.end(), {"train.max_epochs=8", "train.optimizer={type=\"sgd\",lr=3e7}"});
  BOOST_TEST(accuracy(trained("plain", set, {})) < 0.3);
  set.emplace_back("train.loss_scale={type=\"dynamic\",initial=1e12,grow_after=20}");
  BOOST_TEST(accuracy(trained("scaled", set, {})) > 0.9);
}

BOOST_AUTO_TEST_CASE(a_dynamic_scale_needs_all_gradients_in_one_place) {
  const Settings dynamic = {"train.loss_scale=\"dynamic\""};
  for (const Settings& more :
       {Settings{"--local", "ps=1,worker=2"}, Settings{"--set", "train.replication.mode=hogwild"},
        Settings{"--set", "train.replication={mode=\"local_sgd\",average_every=2}"}})
    BOOST_TEST(
        says(trained("refused", dynamic, more, 2), "train.loss_scale is dynamic, which needs the gradients"));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::loss_scale_test
