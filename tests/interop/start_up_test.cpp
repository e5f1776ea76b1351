// What TensorFlow's collections start: initialisers, and the queue runners that make batches or apply the gradients of replicas.
#include "apps/interop/start_up.h"

#include <boost/test/unit_test.hpp>

#include <thread>

#include "actors/runtime.h"
#include "apps/golden/graph_file.h"
#include "apps/inference/graph_def.h"
#include "apps/interop/write_graph.h"
#include "graph/build/input_queues.h"
#include "graph/build/queue_runner.h"
#include "graph/build/variables.h"
#include "messages/env/real_disk.h"
#include "tests/interop/graph_file.h"
#include "tests/support/failure_of.h"
#include "tests/support/ops/run_op.h"
#include "tests/support/project_files.h"
#include "tests/support/temporary_folder.h"

namespace troupe::test::start_up_test {
namespace {

std::string golden(const std::string& name) { return project_file("tests/golden/graphs/" + name); }

interop::MetaGraph read_meta(const std::string& name, const Runtime& runtime) {
  return value_or_throw(interop::read_meta_graph(golden(name), runtime.ops()));
}

BOOST_AUTO_TEST_SUITE(start_up)

// Two queue runners, one after the other, yield every number twice. Then the input has ended.
BOOST_AUTO_TEST_CASE(an_input_pipeline_of_tensorflow_runs_to_its_end) {
  RealDisk disk;
  const TemporaryFolder folder;
  golden::GraphFileOptions options;
  options.file = folder.write("pipeline.meta", golden("input_pipeline.meta"));
  options.fetches = {"numbers:0", "added:0"};
  const golden::GraphFile graph(disk, options);
  BOOST_TEST(graph.has_queue_runners());
  std::vector<int32_t> numbers;
  int32_t sum = 0;
  for (int step = 0; step < 5; ++step) {
    const auto fetched = graph.run();
    for (const int32_t number : fetched[0].as<int32_t>()) numbers.push_back(number);
    sum = fetched[1].item<int32_t>();
  }
  BOOST_TEST(numbers.size() == 20u);
  for (size_t i = 0; i < numbers.size(); ++i) BOOST_TEST(numbers[i] == static_cast<int32_t>(i % 10));
  BOOST_TEST(sum == 570);
  BOOST_TEST((failure_of([&] { graph.run(); }).code() == Code::OutOfRange));
}

// The squared errors of the two points have the gradients -8 (1, 0) and 8 (0, 1); half of a quarter of them is subtracted.
BOOST_AUTO_TEST_CASE(a_synchronous_optimizer_of_tensorflow_applies_the_mean_of_two_replicas) {
  Runtime runtime;
  const auto meta = read_meta("sync_replicas.meta", runtime);
  auto session = runtime.session(meta.graph);
  for (const char* collection : {"init_op", "local_init_op"})
    session.run(value_or_throw(interop::targets_of(meta, collection)));
  session.start_queue_runners(value_or_throw(interop::queue_runners_of(meta)));
  const auto output = [&](const char* name) { return value_or_throw(meta.graph.find_output(name)); };
  const Output step = value_or_throw(meta.graph.find_target("step"));
  const auto train = [&](float x1, float x2, float y) {
    session.run({{output("x"), floats({2}, {x1, x2})}, {output("y"), Tensor::scalar(y)}}, {step});
  };
  std::jthread replica([&] { train(1, 0, 5); });
  train(0, 1, -2);  // each waits until the mean of both is applied
  replica.join();
  BOOST_TEST(identical(session.run({output("w")}).at(0), floats({2}, {2, 1})));
  session.stop_queue_runners();
}

BOOST_AUTO_TEST_CASE(damaged_collections_are_refused) {
  Runtime runtime;
  auto meta = read_meta("input_pipeline.meta", runtime);
  const auto runners = std::get<interop::MetaGraph::Bytes>(meta.collections.at("queue_runners"));
  const auto refusal = [&](interop::MetaGraph::Collection collection) {
    meta.collections["queue_runners"] = std::move(collection);
    return interop::queue_runners_of(meta).status();
  };
  BOOST_TEST(
      (refusal(interop::MetaGraph::Bytes{{runners.values[0].substr(0, 30)}}).code() == Code::DataLoss));
  BOOST_TEST((refusal(interop::MetaGraph::Bytes{{std::string("\x2a\x01\x63")}}).code() == Code::DataLoss));
  BOOST_TEST((refusal(interop::MetaGraph::Bytes{{std::string("\x12\x04none")}}).code() == Code::NotFound));
  BOOST_TEST((refusal(std::vector<int64_t>{1}).code() == Code::DataLoss));
  meta.collections["init_op"] = std::vector<std::string>{"none"};
  BOOST_TEST((interop::targets_of(meta, "init_op").status().code() == Code::NotFound));
  BOOST_TEST(interop::targets_of(meta, "ready_op")->empty());
}

/// Returns the message VariableDef of a variable and its initialiser, with names of at most 100 characters.
std::string variable_def(const std::string& name, const std::string& initializer) {
  const auto field = [](char tag, const std::string& text) {
    return std::string{tag, static_cast<char>(text.size())} + text;
  };
  return field('\x0a', name) + field('\x12', initializer);
}

BOOST_AUTO_TEST_CASE(variables_name_their_initialisers) {
  Runtime runtime;
  interop::MetaGraph meta{Graph(runtime.ops()), {}, {}, {}, {}};
  const Scope g(meta.graph);
  const Output w = variable(g, g.constant(Tensor::scalar(4.0f)), "w"),
               count = local_variable(g, g.constant(Tensor::scalar(5.0f)), "count");
  meta.collections["variables"] = interop::MetaGraph::Bytes{{variable_def("w:0", "w/Assign")}};
  meta.collections["local_variables"] = interop::MetaGraph::Bytes{{variable_def("count:0", "count/Assign")}};
  BOOST_TEST(interop::initializers_of(meta, "model_variables")->empty());
  {
    Session session = runtime.session(meta.graph);
    session.run(value_or_throw(interop::initializers_of(meta, "local_variables")));
    BOOST_TEST(session.run({count})[0].item<float>() == 5.0f);
    BOOST_TEST((failure_of([&] { session.run({w}); }).code() == Code::FailedPrecondition));
  }
  RealDisk disk;
  const TemporaryFolder folder;
  golden::GraphFileOptions options;
  options.file = folder.write("model.meta", interop::write_meta_graph(meta, interop::Format::Binary));
  options.fetches = {"w:0", "count:0"};
  const auto values = golden::GraphFile(disk, options).run();
  BOOST_TEST(values[0].item<float>() == 4.0f);
  BOOST_TEST(values[1].item<float>() == 5.0f);

  meta.collections["variables"] = interop::MetaGraph::Bytes{{variable_def("w:0", "gone")}};
  BOOST_TEST((interop::initializers_of(meta, "variables").status().code() == Code::NotFound));
  meta.collections["variables"] = interop::MetaGraph::Bytes{{std::string("\x12\x7f")}};
  BOOST_TEST((interop::initializers_of(meta, "variables").status().code() == Code::DataLoss));
  meta.collections["variables"] = std::vector<int64_t>{1};
  BOOST_TEST((interop::initializers_of(meta, "variables").status().code() == Code::DataLoss));
}

std::vector<std::string> names_of(const Graph& graph, const std::vector<Output>& outputs) {
  std::vector<std::string> names;
  for (const Output& output : outputs) names.push_back(graph.node(output.node).name);
  return names;
}

BOOST_AUTO_TEST_CASE(the_variables_and_queue_runners_of_tensorflow_are_those_of_the_graph) {
  Runtime runtime;
  for (const char* file : {"training.meta", "training_resource.meta"}) {
    Graph graph = read_meta_graph(golden(file), runtime.ops());
    const auto trainable = names_of(graph, trainable_variables(graph));
    const std::vector<std::string> expected = {"w1", "w2", "table/part_0", "table/part_1"};
    BOOST_TEST(trainable == expected);
    BOOST_TEST(std::ranges::count(names_of(graph, variables(graph)), "beta1_power") == 1);
    const RowSlice parts[] = {{"table", 5, 0, 1, 3}, {"table", 5, 3, 1, 2}};
    for (const int part : {0, 1})
      BOOST_TEST((row_slice_of(*graph.find("table/part_" + std::to_string(part))) == parts[part]));
    const Output initialize = initializer(Scope(graph));
    Session session = runtime.session(graph);
    session.run({initialize});
    const auto lacking = session.run({report_uninitialized_variables(Scope(graph))});
    BOOST_TEST(lacking[0].elements() == 0);
  }
  const Graph pipeline = read_meta_graph(golden("input_pipeline.meta"), runtime.ops());
  BOOST_TEST(queue_runners(pipeline).size() == 2u);
  BOOST_TEST(local_variables(pipeline).size() == 1u);
}

BOOST_AUTO_TEST_CASE(files_of_tensorflow_keep_what_a_graph_notes) {
  Runtime runtime;
  Graph graph(runtime.ops());
  const Scope g(graph);
  variable(g, g.constant(Tensor::scalar(4.0f)), "w");
  variable(g, g.constant(Tensor::scalar(1.0f)), "steps", false);
  local_variable(g, g.constant(Tensor::scalar(5.0f)), "count");
  const RowSlice rows{"table", 6, 4, 1, 2};
  variable_part(g, g.constant(Tensor::vector<float>({1, 2})), "table/part_1", rows);
  string_input_producer(g, g.constant(Tensor::vector<std::string>({"a", "b"})), {});
  const Graph copies[] = {read_graph_def(write_graph_def(graph), runtime.ops()),
                          read_meta_graph(write_meta_graph(graph), runtime.ops())};
  for (const Graph& copy : copies) {
    BOOST_TEST(copy.size() == graph.size());
    BOOST_TEST((names_of(copy, trainable_variables(copy)) == std::vector<std::string>{"w", "table/part_1"}));
    BOOST_TEST((names_of(copy, variables(copy)) == std::vector<std::string>{"w", "steps", "table/part_1"}));
    BOOST_TEST((row_slice_of(*copy.find("table/part_1")) == rows));
    BOOST_TEST(names_of(copy, local_variables(copy)) == names_of(graph, local_variables(graph)));
    const auto before = queue_runners(graph), after = queue_runners(copy);
    BOOST_TEST_REQUIRE(after.size() == before.size());
    BOOST_TEST(names_of(copy, after[0].enqueue) == names_of(graph, before[0].enqueue));
    BOOST_TEST(
        (after[0].ends == before[0].ends && after[0].close.has_value() == before[0].close.has_value()));
  }
  const auto meta = value_or_throw(interop::read_meta_graph(write_meta_graph(graph), runtime.ops()));
  const auto runners = value_or_throw(interop::queue_runners_of(meta));
  BOOST_TEST(names_of(meta.graph, runners.at(0).enqueue) == names_of(graph, queue_runners(graph)[0].enqueue));
  BOOST_TEST(value_or_throw(interop::initializers_of(meta, "variables")).size() == 3u);
}

// A file may note anything of any node.
BOOST_AUTO_TEST_CASE(notes_that_make_no_sense_are_passed_over) {
  Runtime runtime;
  Graph graph(runtime.ops());
  const Scope g(graph);
  for (const char* note : {"_initializer", "_trainable", "_local"}) g.add("NoOp", {}, {{note, true}});
  g.add("Const", {}, {{"value", Tensor::scalar(1.0f)}, {"dtype", DType::Float}, {"_initializer", true}});
  g.add("NoOp", {}, {{"_slice_of", std::string("w")}, {"_slice", std::vector<int64_t>{4, 0, 1, 2}}});
  Graph copy = read_graph_def(write_graph_def(graph), runtime.ops());
  BOOST_TEST(variables(copy).empty());
  BOOST_TEST(trainable_variables(copy).empty());
  BOOST_TEST(!row_slice_of(copy.nodes().back()));
  const Output initialize = initializer(Scope(copy));
  BOOST_TEST(copy.node(initialize.node).control_inputs.empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::test::start_up_test
