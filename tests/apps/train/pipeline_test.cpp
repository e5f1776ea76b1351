// Models in stages, and micro-batches: whatever devices compute the stages, weights and losses are those of one device with the
// same micro-batches, bit for bit.
//
//   stage 0   F0 F1 B0 F2 B1 ...      F, B: forward and backward pass of a micro-batch
//   stage 1      F0 B0 F1 B1 ...
#include <boost/test/unit_test.hpp>

#include <csignal>
#include <nlohmann/json.hpp>

#include "tests/apps/commands/troupe_program.h"
#include "tests/apps/train/digits_runs.h"
#include "tests/apps/train/training_setting.h"

namespace troupe::train::pipeline_test {
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

// The sums of a split product are made in another order, so the last bits differ.
BOOST_AUTO_TEST_CASE(split_weights_learn_what_whole_ones_learn) {
  const auto check_near = [](const std::string& example, const Settings& model, const Settings& split) {
    const auto one = test::in_one_graph(example, model, 10),
               apart = test::in_one_graph(example, both(model, split), 10);
    for (size_t i = 0; i < one.losses.size(); ++i)
      BOOST_TEST(apart.losses[i] == one.losses[i], boost::test_tools::tolerance(1e-4));
  };
  const std::string hidden_units = "model.split={w1=1,b1=0,w2=0}", inputs = "model.split={w1=0}",
                    sgd = "train.optimizer={type=\"sgd\",lr=0.1}";
  for (const std::string& split : {hidden_units, inputs}) {
    const Settings over_two = {split, "model.split_over=2"};
    check_near("digits", {sgd}, over_two);
    check_near("digits", {sgd}, both(over_two, {"cluster.in_process={worker=4}"}));
    check_near("digits", {sgd, "train.micro_batches=3"},
               both(over_two, {two_stages, "cluster.in_process={worker=4}"}));
    check_near("digits", {sgd, "train.weight_decay=0.01", "train.clip={global_norm=0.5}"},
               {split, "model.split_over=3", "cluster.in_process={ps=2,worker=3}"});
  }
  for (const std::string dimension : {"0", "1"})
    check_near("digits", both(lookups, {sgd}),
               {"model.split={table=" + dimension + "}", "model.split_over=2"});
  for (const std::string dimension : {"2", "3"})
    check_near("digits_cnn", {"train.optimizer={type=\"sgd\",lr=0.003}", "model.layers.7.rate=0.0"},
               {"model.split={conv2d_2_weights=" + dimension + "}", "model.split_over=3"});
}

BOOST_AUTO_TEST_CASE(parts_of_weights_are_on_the_devices_of_their_stage) {
  const test::TrainingSetting setting("digits", {"model.split={w1=1,w2=0}", "model.split_over=2", two_stages,
                                                 "cluster.in_process={worker=4}"});
  const auto device = [&](const std::string& name) { return setting.graph.find(name)->device; };
  BOOST_TEST(device("w1/part_0") == "/job:worker/task:0");
  BOOST_TEST(device("w1/part_1") == "/job:worker/task:1");
  BOOST_TEST(device("w2/part_1") == "/job:worker/task:3");
  BOOST_TEST(device("b1") == "/job:worker/task:0");
}

// Rows are parts of one variable in checkpoints, so the number of devices may change.
BOOST_AUTO_TEST_CASE(a_run_with_split_rows_is_resumed_over_another_number_of_devices) {
  const Settings rows = {"--set", "model.split={w1=0,w2=0}", "--set", "train.early_stop.keep_best=false"};
  Program first(test::troupe_program(),
                run("rows", both(rows, {"--local", "worker=2", "--set", "model.split_over=2", "--set",
                                        "train.max_epochs=2"})));
  BOOST_TEST_REQUIRE(first.end() == 0, first.output());
  Program resumed(test::troupe_program(),
                  run("rows", both(rows, {"--resume", "auto", "--local", "worker=3", "--set",
                                          "model.split_over=3", "--set", "train.max_epochs=8"})));
  BOOST_TEST_REQUIRE(resumed.end() == 0, resumed.output());
  BOOST_TEST(resumed.output().find("resumed") != std::string::npos, resumed.output());
  const size_t at = resumed.output().rfind("valid/accuracy ");
  BOOST_TEST_REQUIRE(at != std::string::npos, resumed.output());
  BOOST_TEST(std::stod(resumed.output().substr(at + 15)) > 0.9, resumed.output());
}

BOOST_AUTO_TEST_CASE(a_run_with_split_columns_is_loaded) {
  for (const std::string average : {"", "0.9"}) {
    Settings columns = {"--set", "model.split={w1=1,w2=1}", "--set", "model.split_over=3",
                        "--set", "train.max_epochs=2",      "--json"};
    if (!average.empty()) columns = both(columns, {"--set", "train.average=" + average});
    Program trained(test::troupe_program(), run("columns" + average, columns));
    BOOST_TEST_REQUIRE(trained.end() == 0, trained.output());
    Program evaluated(test::troupe_program(), {"eval", folder.path() + "/columns" + average, "--json"});
    BOOST_TEST_REQUIRE(evaluated.end() == 0, evaluated.output());
    const auto result = nlohmann::json::parse(trained.output()),
               scores = nlohmann::json::parse(evaluated.output()).at("scores");
    BOOST_TEST(scores.at("accuracy") == result.at("valid/accuracy"));
  }
}

// Another worker takes the place of the one that was killed, and the run goes on from its last checkpoint.
BOOST_AUTO_TEST_CASE(a_lost_worker_is_replaced_and_the_run_ends_with_the_same_weights) {
  const Settings common = {"--set", "train.max_epochs=4", "--set", "train.early_stop.keep_best=false",
                           "--set", two_stages,           "--set", "train.checkpoint.every=\"5 steps\""};
  Program alone(test::troupe_program(), run("undisturbed", common));
  BOOST_TEST_REQUIRE(alone.end() == 0, alone.output());
  const test::Descendants started;
  Program apart(
      test::troupe_program(),
      run("disturbed", both(common, {"--local", "worker=2", "--set", "train.fault.max_restarts=1"})));
  BOOST_TEST_REQUIRE(apart.wait_for("epoch 2"), apart.output());
  const auto nodes = test::children_of(apart.process());
  BOOST_TEST_REQUIRE(nodes.size() >= 2u);
  kill(nodes.back(), SIGKILL);
  BOOST_TEST_REQUIRE(apart.end() == 0, apart.output());
  BOOST_TEST(apart.output().find("restart 1 of 1") != std::string::npos, apart.output());
  check_equal(weights("disturbed"), weights("undisturbed"));
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

// What a group computes of its shard, the sums of gradients included, is on its own devices.
BOOST_AUTO_TEST_CASE(a_group_computes_its_shards_by_itself) {
  const test::TrainingSetting setting("digits_lstm",
                                      {"cluster.in_process={worker=6}", "train.replication.mode=sync"});
  const std::vector<std::string> second = {"", "/job:worker/task:3", "/job:worker/task:4",
                                           "/job:worker/task:5"};
  for (const Node& node : setting.graph.nodes())
    if (node.name.starts_with("shard_1/"))
      BOOST_TEST(std::ranges::count(second, node.device) == 1, node.name + " is on " + node.device);
}

BOOST_AUTO_TEST_CASE(processes_yield_the_weights_of_one_process) {
  const Settings common = {"--set", "train.max_epochs=2", "--set", "train.early_stop.keep_best=false",
                           "--set", two_stages,           "--set", "train.micro_batches=4"};
  Program alone(test::troupe_program(), run("alone", common));
  BOOST_TEST_REQUIRE(alone.end() == 0, alone.output());
  for (const std::string tasks : {"worker=2", "worker=4", "ps=1,worker=2"}) {
    Program apart(test::troupe_program(), run(tasks, both(common, {"--local", tasks})));
    BOOST_TEST_REQUIRE(apart.end() == 0, apart.output());
    check_equal(weights(tasks), weights("alone"));
  }
}

BOOST_AUTO_TEST_CASE(a_deep_lstm_learns_with_a_process_for_each_layer) {
  Program apart(test::troupe_program(), run("lstm", {"--local", "worker=3"}, "digits_lstm"));
  BOOST_TEST_REQUIRE(apart.end() == 0, apart.output());
  const size_t at = apart.output().rfind("valid/accuracy ");
  BOOST_TEST_REQUIRE(at != std::string::npos, apart.output());
  BOOST_TEST(std::stod(apart.output().substr(at + 15)) > 0.92, apart.output());
}

BOOST_AUTO_TEST_CASE(a_cluster_that_does_not_fit_is_refused) {
  Program apart(test::troupe_program(), run("odd", {"--local", "worker=3", "--set", two_stages}));
  BOOST_TEST(apart.end() != 0);
  BOOST_TEST(apart.output().find(
                 "the model needs 2 devices (stages: 2, model.split_over: 1), but the 3 workers have 3") !=
                 std::string::npos,
             apart.output());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::train::pipeline_test
