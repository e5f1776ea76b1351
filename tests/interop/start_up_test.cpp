// What TensorFlow's collections start: initialisers, and the queue runners that make batches or apply the gradients of replicas.
#include "apps/interop/start_up.h"

#include <boost/test/unit_test.hpp>

#include <thread>

#include "actors/runtime.h"
#include "apps/golden/graph_file.h"
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

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::test
