// What TensorFlow's collections start: initialisers, and the queue runners that make batches or apply the gradients of replicas.
#include "apps/interop/start_up.h"

#include <boost/test/unit_test.hpp>

#include <thread>

#include "actors/runtime.h"
#include "apps/golden/graph_file.h"
#include "apps/interop/write_graph.h"
#include "graph/build/variables.h"
#include "messages/env/real_disk.h"
#include "tests/interop/graph_file.h"
#include "tests/support/failure_of.h"
#include "tests/support/run_op.h"
#include "tests/support/temporary_folder.h"

namespace troupe::test {
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

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::test
