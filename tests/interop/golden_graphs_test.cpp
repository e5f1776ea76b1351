// Graphs that TensorFlow has written (tests/golden/make_graphs.py): they are read, and those without variables yield what they say.
#include <boost/test/unit_test.hpp>
#include <cmath>

#include "actors/runtime.h"
#include "tests/interop/graph_file.h"
#include "tests/support/ops/run_op.h"
#include "tests/support/project_files.h"
#include "tests/support/temporary_folder.h"

namespace troupe::test::golden_graphs_test {
namespace {

std::string golden(const std::string& name) { return project_file("tests/golden/graphs/" + name); }

Graph graph_of(const std::string& name, const std::shared_ptr<const OpTable>& ops) {
  return value_or_throw(interop::read_graph_def(golden(name), ops));
}

class Fixture {
 protected:
  /// The tensor `fetch` when x is fed.
  Tensor run(const std::string& name, const std::string& fetch, const Tensor& x) {
    const Graph graph = graph_of(name, runtime_.ops());
    auto session = runtime_.session(graph);
    const Output y = value_or_throw(graph.find_output(fetch));
    return session.run({{value_or_throw(graph.find_output("x")), x}}, {y}).at(0);
  }
  Runtime runtime_{RuntimeOptions{.threads = 1}};
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(golden_graphs, Fixture)

BOOST_AUTO_TEST_CASE(loops) {
  for (const char* name : {"loop.pb", "loop.pbtxt", "loop_v2.pb"}) {
    BOOST_TEST(identical(run(name, "power", floats({3}, {1, 2, -3})), floats({3}, {1, 32, -243})), name);
    BOOST_TEST(identical(run(name, "rounds", floats({3}, {1, 2, -3})), int_scalar(4)), name);
  }
}

BOOST_AUTO_TEST_CASE(conditionals) {
  for (const char* name : {"conditional.pb", "conditional_v2.pb"}) {
    BOOST_TEST(identical(run(name, "y", floats({3}, {1, 2, 3})), floats({3}, {2, 4, 6})), name);
    BOOST_TEST(identical(run(name, "y", floats({3}, {1, 2, -3})), floats({3}, {0, 1, -4})), name);
  }
}

BOOST_AUTO_TEST_CASE(calls_of_functions) {
  BOOST_TEST(identical(run("calls.pb", "y", floats({3}, {1, 2, -3})), floats({3}, {6, 15, 30})));
}

BOOST_AUTO_TEST_CASE(effects_of_functions) {
  const Graph graph = graph_of("effects.pb", runtime_.ops());
  auto session = runtime_.session(graph);
  session.run({Output{graph.find("init")->id, Output::control}});
  const Output count = value_or_throw(graph.find_output("count"));
  for (const float expected : {2.0f, 4.0f}) BOOST_TEST(session.run({count}).at(0).item<float>() == expected);
}

BOOST_AUTO_TEST_CASE(effects_of_branches_and_loops) {
  const Graph graph = graph_of("effects_v2.pb", runtime_.ops());
  auto session = runtime_.session(graph);
  session.run({Output{graph.find("init")->id, Output::control}});
  const Output x = value_or_throw(graph.find_output("x")), count = value_or_throw(graph.find_output("count"));
  for (const auto& [fed, expected] : {std::pair{1.0f, 2.0f}, {-1.0f, -1.0f}, {1.0f, 1.0f}})
    BOOST_TEST(session.run({{x, floats({3}, {fed, fed, fed})}}, {count}).at(0).item<float>() == expected);
}

BOOST_AUTO_TEST_CASE(steps_of_training) {
  for (const char* name : {"training.pb", "training_resource.pb"}) {
    const Graph graph = graph_of(name, runtime_.ops());
    auto session = runtime_.session(graph);
    session.run({Output{graph.find("init")->id, Output::control}});
    const auto output = [&](const char* node) { return value_or_throw(graph.find_output(node)); };
    const std::vector<std::pair<Output, Tensor>> feeds = {
        {output("x"), floats({2, 4}, {1, 2, 3, 4, 4, 3, 2, 1})}, {output("y"), ints({0, 1})}};
    const float before = session.run(feeds, {output("loss")}).at(0).item<float>();
    session.run(feeds, {Output{graph.find("step")->id, Output::control}});
    const float after = session.run(feeds, {output("loss")}).at(0).item<float>();
    BOOST_TEST(before == 2 * std::log(3.0f), boost::test_tools::tolerance(1e-5f));
    BOOST_TEST(after < before, name);
  }
}

BOOST_AUTO_TEST_CASE(meta_graphs_run_with_their_saver) {
  for (const char* name : {"training.meta", "training_resource.meta"}) {
    const auto meta = value_or_throw(interop::read_meta_graph(golden(name), runtime_.ops()));
    BOOST_TEST_REQUIRE(meta.saver.has_value());
    const test::TemporaryFolder folder;
    const auto output = [&](const std::string& tensor) {
      return value_or_throw(meta.graph.find_output(tensor));
    };
    const std::vector<std::pair<Output, Tensor>> file = {
        {output(meta.saver->filename_tensor), Tensor::scalar<std::string>(folder.path() + "/model")}};
    const Output sum = output(std::get<std::vector<std::string>>(meta.collections.at("tables")).at(0));
    {
      auto session = runtime_.session(meta.graph);
      session.run({Output{meta.graph.find("init_1")->id, Output::control}});
      BOOST_TEST(session.run({sum}).at(0).item<float>() == 10, name);
      const Tensor saved = session.run(file, {output(meta.saver->save_tensor)}).at(0);
      BOOST_TEST(saved.item<std::string>() == folder.path() + "/model");
    }
    auto session = runtime_.session(meta.graph);
    BOOST_CHECK_THROW(session.run({sum}), Error);
    session.run(file, {value_or_throw(meta.graph.find_target(meta.saver->restore_node))});
    BOOST_TEST(session.run({sum}).at(0).item<float>() == 10, name);
  }
}

BOOST_AUTO_TEST_CASE(collections_are_as_tensorflow_filled_them) {
  using interop::MetaGraph;
  using Names = std::vector<std::string>;
  const auto meta = value_or_throw(interop::read_meta_graph(golden("training.meta"), runtime_.ops()));
  BOOST_TEST(meta.tensorflow_version == "2.21.0");
  const auto& all = meta.collections;
  BOOST_TEST((std::get<Names>(all.at("losses")) == Names{"loss:0"}));
  BOOST_TEST((std::get<Names>(all.at("steps")) == Names{"step"}));
  BOOST_TEST(
      (std::get<std::vector<int64_t>>(all.at("numbers")) == std::vector<int64_t>{1, -(int64_t{1} << 40)}));
  BOOST_TEST((std::get<std::vector<float>>(all.at("rates")) == std::vector<float>{0.5f, 0.25f}));
  BOOST_TEST((std::get<MetaGraph::Bytes>(all.at("notes")).values == Names{"a", "b"}));
  BOOST_TEST(std::get<MetaGraph::Bytes>(all.at("variables")).values.size() == 10u);
}

BOOST_AUTO_TEST_CASE(the_gradient_of_a_loop_is_read) {
  const auto graph = read(golden("loop_gradient.pb"));
  BOOST_TEST(graph.ok(), graph.status().message());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::test::golden_graphs_test
