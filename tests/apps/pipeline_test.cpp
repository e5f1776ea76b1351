// Models in stages, and micro-batches: whatever devices compute the stages, weights and losses are those of one device with the
// same micro-batches, bit for bit.
//
//   stage 0   F0 F1 B0 F2 B1 ...      F, B: forward and backward pass of a micro-batch
//   stage 1      F0 B0 F1 B1 ...
#include <boost/test/unit_test.hpp>

#include "tests/apps/digits_runs.h"
#include "tests/apps/training_setting.h"

namespace troupe::train {
namespace {

using Settings = std::vector<std::string>;
using test::Program;
constexpr uint64_t rounds = 25;  // an epoch has 23 rounds, and its last batch is smaller than the others

Settings both(Settings a, const Settings& b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

void check_same(const std::string& example, const Settings& model, const Settings& stages,
                uint64_t count = rounds) {
  const auto one = test::in_one_graph(example, model, count),
             apart = test::in_one_graph(example, both(model, stages), count);
  BOOST_TEST(apart.losses == one.losses, boost::test_tools::per_element());
  BOOST_TEST_REQUIRE(apart.weights.size() == one.weights.size());
  for (size_t i = 0; i < one.weights.size(); ++i) BOOST_TEST(identical(apart.weights[i], one.weights[i]), i);
}

const std::string two_stages = "model.stages=[[\"hidden\"],[\"logits\"]]";

/// The devices of workers, two of which compute the stages of a shard.
const std::vector<Settings> clusters = {{},
                                        {"cluster.in_process={worker=2}"},
                                        {"cluster.in_process={worker=1}", "cluster.devices=2"},
                                        {"cluster.in_process={worker=4}"},
                                        {"cluster.in_process={ps=1,worker=2}"}};

/// A model that looks its pixels up in a table, so that the gradient of the table is rows.
const Settings lookups = {
    "data.inputs={token={from=\"image\",cast=\"int32\"},label={from=\"label\"}}", "data.scale=1",
    "model.variables={table={shape=[17,4],init=\"normal\"},w={shape=[256,10],init=\"glorot_uniform\"}}",
    "model.graph={hidden=\"reshape(gather(table, token), [-1, 256])\",logits=\"matmul(hidden, w)\","
    "loss=\"mean(sparse_softmax_cross_entropy_with_logits(logits, label))\"}"};

const std::vector<Settings> models = {
    {"train.replication={mode=\"local\"}", "train.micro_batches=4"},
    {"train.replication.shards=2"},
    {"train.replication.shards=3", "train.micro_batches=5"},
    {"train.optimizer={type=\"adamw\",lr=0.01}", "train.schedule={type=\"cosine\",steps=10,warm_up=3}",
     "train.clip={global_norm=0.5}", "train.weight_decay=0.01", "train.average=0.9", "train.micro_batches=3",
     "train.plateau={monitor=\"valid/loss\",mode=\"min\",patience=1}"},
    {"train.replication={mode=\"sync\",shards=2,compression=\"bfloat16\"}", "train.micro_batches=2"},
    both(lookups, {"train.optimizer={type=\"adagrad\",lr=0.1}", "train.micro_batches=2",
                   "train.clip={norm=0.1}", "train.weight_decay=0.01"})};

/// Returns the nodes on which a node depends.
std::vector<bool> ancestors(const Graph& graph, const std::string& name) {
  std::vector<bool> found(graph.size(), false);
  std::vector<NodeId> waiting = {graph.find(name)->id};
  while (!waiting.empty()) {
    const Node& node = graph.node(waiting.back());
    waiting.pop_back();
    const auto add = [&](NodeId source) {
      if (!found[source]) waiting.push_back(source);
      found[source] = true;
    };
    for (const Output& input : node.inputs) add(input.node);
    for (const NodeId control : node.control_inputs) add(control);
  }
  return found;
}

std::string part(int micro_batch, int stage, const std::string& name) {
  return "shard_0/micro_" + std::to_string(micro_batch) + "/stage_" + std::to_string(stage) + '/' + name;
}

struct Runs : test::DigitsRuns {
  Settings run(const std::string& name, const Settings& more, const std::string& example = "digits") const {
    return DigitsRuns::run("train", name, more, example);
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(pipeline, Runs)

BOOST_AUTO_TEST_CASE(stages_do_what_one_device_does) {
  for (const Settings& model : models)
    for (const Settings& cluster : clusters) check_same("digits", model, both(cluster, {two_stages}));
}

BOOST_AUTO_TEST_CASE(stages_of_convolutions_and_recurrent_layers_do_what_one_device_does) {
  const Settings devices = {"cluster.in_process={worker=3}"};
  check_same("digits_cnn", {"train.micro_batches=4", "train.replication={mode=\"local\"}"},
             both(devices, {"model.stages=[\"conv2d_1\",\"conv2d_2\",\"flatten_7\"]"}), 3);
  check_same("digits_lstm", {"model.stages=[\"first\"]"},
             both(devices, {"model.stages=[\"first\",\"second\",\"third\"]"}), 3);
  check_same("reversal", {"train.micro_batches=2"},
             {"model.stages=[\"memory\",\"outputs\"]", "cluster.in_process={worker=2}"}, 3);
}

BOOST_AUTO_TEST_CASE(micro_batches_yield_what_as_many_shards_yield) {
  const auto shards = test::in_one_graph("digits", {"train.replication.shards=4"}, rounds),
             parts = test::in_one_graph(
                 "digits", {"train.replication={mode=\"local\"}", "train.micro_batches=4"}, rounds);
  BOOST_TEST(parts.losses == shards.losses, boost::test_tools::per_element());
  for (size_t i = 0; i < shards.weights.size(); ++i)
    BOOST_TEST(identical(parts.weights[i], shards.weights[i]), i);
}

// Stage s of S begins a micro-batch after the backward pass of the one S - s before it, and need not wait for a later one.
BOOST_AUTO_TEST_CASE(a_stage_keeps_few_micro_batches) {
  constexpr int stages = 3, micro_batches = 6;
  const test::TrainingSetting setting("digits_lstm", {"train.micro_batches=6"});
  for (int stage = 0; stage < stages; ++stage)
    for (int i = 0; i < micro_batches; ++i) {
      const auto before = ancestors(setting.graph, part(i, stage, "enter"));
      const auto waits_for = [&](int other, const std::string& name) {
        return bool{before[setting.graph.find(part(other, stage, name))->id]};
      };
      const int ended = i - (stages - stage);
      for (int other = 0; other < i; ++other) BOOST_TEST(waits_for(other, "end") == (other <= ended));
      const auto product = ancestors(setting.graph, "shard_0/micro_" + std::to_string(i) + "/logits/MatMul");
      BOOST_TEST(bool{product[setting.graph.find(part(i, stage, "enter"))->id]});
    }
}

BOOST_AUTO_TEST_CASE(a_stage_has_its_variables_and_gradients) {
  const test::TrainingSetting setting("digits_lstm", {"cluster.in_process={worker=3}"});
  const auto device = [&](const std::string& name) { return setting.graph.find(name)->device; };
  BOOST_TEST(device("first_weights") == "/job:worker/task:0");
  BOOST_TEST(device("third_weights") == "/job:worker/task:2");
  BOOST_TEST(device("logits_bias") == "/job:worker/task:2");
  for (const Node& node : setting.graph.nodes())
    if (node.name.starts_with("shard_0/micro_1/gradients/shard_0/micro_1/second/"))
      BOOST_TEST(node.device == "/job:worker/task:1", node.name);
}

BOOST_AUTO_TEST_CASE(processes_yield_the_weights_of_one_process) {
  const Settings common = {"--set", "train.max_epochs=2", "--set", "train.early_stop.keep_best=false",
                           "--set", two_stages,           "--set", "train.micro_batches=4"};
  Program alone(TROUPE_PROGRAM, run("alone", common));
  BOOST_TEST_REQUIRE(alone.end() == 0, alone.output());
  for (const std::string tasks : {"worker=2", "worker=4", "ps=1,worker=2"}) {
    Program apart(TROUPE_PROGRAM, run(tasks, both(common, {"--local", tasks})));
    BOOST_TEST_REQUIRE(apart.end() == 0, apart.output());
    check_equal(weights(tasks), weights("alone"));
  }
}

BOOST_AUTO_TEST_CASE(a_deep_lstm_learns_with_a_process_for_each_layer) {
  Program apart(TROUPE_PROGRAM, run("lstm", {"--local", "worker=3"}, "digits_lstm"));
  BOOST_TEST_REQUIRE(apart.end() == 0, apart.output());
  const size_t at = apart.output().rfind("valid/accuracy ");
  BOOST_TEST_REQUIRE(at != std::string::npos, apart.output());
  BOOST_TEST(std::stod(apart.output().substr(at + 15)) > 0.92, apart.output());
}

BOOST_AUTO_TEST_CASE(a_cluster_that_does_not_fit_is_refused) {
  Program apart(TROUPE_PROGRAM, run("odd", {"--local", "worker=3", "--set", two_stages}));
  BOOST_TEST(apart.end() != 0);
  BOOST_TEST(
      apart.output().find("model.stages has 2 stages, but the 3 workers have 3 devices") != std::string::npos,
      apart.output());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::train
