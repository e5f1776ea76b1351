// What is written and read again is the same graph: every op of the table, loops, conditionals, colocation, devices.
#include <boost/test/unit_test.hpp>
#include <set>

#include "apps/interop/write_graph.h"
#include "graph/build/control_flow.h"
#include "graph/build/functions.h"
#include "graph/build/gradients.h"
#include "graph/build/graph_text.h"
#include "graph/build/recomputation.h"
#include "graph/build/variables.h"
#include "kernels/constructors.h"
#include "tests/interop/graph_file.h"
#include "tests/kernels/cases/all_cases.h"
#include "tests/support/project_files.h"

namespace troupe::test::round_trip_test {
namespace {

using interop::Format;
using interop::MetaGraph;

void check_same(const Node& a, const Node& b) {
  BOOST_TEST(a.name == b.name);
  BOOST_TEST(a.op == b.op);
  BOOST_TEST((a.attrs == b.attrs), a.name << ": attributes differ");
  BOOST_TEST((a.inputs == b.inputs), a.name << ": inputs differ");
  BOOST_TEST((a.control_inputs == b.control_inputs), a.name << ": control inputs differ");
  BOOST_TEST(a.device == b.device);
  BOOST_TEST((a.colocate_with == b.colocate_with), a.name << ": colocation differs");
  BOOST_TEST((a.output_types == b.output_types), a.name << ": types differ");
  BOOST_TEST((a.output_shapes == b.output_shapes), a.name << ": shapes differ");
}

void check_same(const Graph& a, const Graph& b) {
  BOOST_TEST_REQUIRE(a.size() == b.size());
  for (NodeId id = 0; id < a.size(); ++id) check_same(a.node(id), b.node(id));
}

void check_round_trip(const Graph& graph) {
  for (const Format format : {Format::Binary, Format::Text}) {
    const std::string bytes = interop::write_graph_def(graph, format);
    const auto again = read(bytes);
    BOOST_TEST_REQUIRE(again.status().message() == "Ok", again.status().message() << "\n"
                                                                                  << graph_text(graph));
    check_same(graph, *again);
    BOOST_TEST((interop::write_graph_def(*again, format) == bytes), "written anew it differs");
  }
}

void check_round_trip(const OpCase& sample) {
  for (const Known known : {Known::Values, Known::Shapes, Known::Nothing}) {
    const auto op = SingleOp::make(sample.op, sample.inputs, sample.attrs, known);
    if (op) check_round_trip(op->graph);
  }
}

MetaGraph read_meta(std::string_view bytes) {
  return value_or_throw(interop::read_meta_graph(bytes, op_library()->ops));
}

void check_round_trip(const MetaGraph& meta) {
  for (const Format format : {Format::Binary, Format::Text}) {
    const std::string bytes = interop::write_meta_graph(meta, format);
    const MetaGraph again = read_meta(bytes);
    check_same(meta.graph, again.graph);
    BOOST_TEST(meta.tags == again.tags, boost::test_tools::per_element());
    BOOST_TEST(meta.tensorflow_version == again.tensorflow_version);
    BOOST_TEST((meta.saver == again.saver));
    BOOST_TEST((meta.collections == again.collections));
    BOOST_TEST((meta.signatures == again.signatures));
    BOOST_TEST((interop::write_meta_graph(again, format) == bytes), "written anew it differs");
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(round_trip)

BOOST_AUTO_TEST_CASE(every_op) {
  for (const auto& [name, op] : op_library()->ops->ops()) {
    if (is_call(*op)) continue;  // it needs a function, and is read as several nodes
    for (const OpCase& sample : all_cases().good(name)) check_round_trip(sample);
    for (const ServedCase& served : all_cases().served(name)) check_round_trip(served.sample);
  }
}

// A function that calls itself, with a conditional, and its gradient function. What is read has more nodes around each call, so the
// second file has what the third one has.
BOOST_AUTO_TEST_CASE(functions_that_call_themselves) {
  Graph graph(op_library()->ops);
  const Scope g(graph);
  const FunctionSignature power{"power", {f64, i32}, {f64}};
  define_function(graph, power, [&](const Scope& s, const std::vector<Output>& in) {
    return cond(
        s, less(s, in[1], 1), [&](const Scope& t) { return std::vector{ones_like(t, in[0])}; },
        [&](const Scope& t) {
          return std::vector{mul(t, in[0], call(t, power, {in[0], sub(t, in[1], 1)})[0])};
        });
  });
  const Output x = placeholder(g, f64, {-1}, "x"),
               y = call(g, power, {x, g.constant(Tensor::scalar(int32_t{3}))})[0];
  gradients(g, {y}, {x});
  for (const Format format : {Format::Binary, Format::Text}) {
    const auto again = read(interop::write_graph_def(graph, format));
    BOOST_TEST_REQUIRE(again.status().message() == "Ok");
    BOOST_TEST(again->functions().size() == 2U);
    for (const auto& [name, function] : graph.functions()) {
      const Function* const read_again = again->find_function(name);
      BOOST_TEST_REQUIRE(read_again);
      BOOST_TEST(read_again->arguments.size() == function.arguments.size());
      BOOST_TEST(read_again->results.size() == function.results.size());
      BOOST_TEST(graph_text(*read_again->body).find("PartitionedCall(") != std::string::npos);
    }
    const auto third = read(interop::write_graph_def(*again, format));
    BOOST_TEST_REQUIRE(third.status().message() == "Ok");
    BOOST_TEST(third->functions().size() == 2U);
  }
}

BOOST_AUTO_TEST_CASE(loops_in_conditionals_in_loops) {
  Graph graph(op_library()->ops);
  const Scope g(graph);
  const Output x = placeholder(g, f32, {-1, 2}, "x"), zero = g.constant(Tensor::scalar<int32_t>(0));
  const auto rounds = while_loop(
      g, {zero, x}, [&](const Scope& s, auto v) { return less(s, v[0], 5); },
      [&](const Scope& s, auto v) {
        const auto branch = cond(
            s, less(s, v[0], 2), [&](const Scope& t) { return std::vector{neg(t, v[1])}; },
            [&](const Scope& t) {
              return while_loop(
                  t, {v[1]}, [&](const Scope& u, auto w) { return less(u, sum(u, w[0]), 9.0); },
                  [&](const Scope& u, auto w) { return std::vector{add(u, w[0], x)}; },
                  {.shape_invariants = {{-1, 2}}});
            });
        return std::vector{add(s, v[0], 1), branch[0]};
      },
      {.parallel_iterations = 3, .shape_invariants = {PartialShape::scalar(), {-1, 2}}});
  BOOST_TEST(rounds.size() == 2u);
  check_round_trip(graph);
}

BOOST_AUTO_TEST_CASE(graphs_of_tensorflow) {
  for (const char* name : {"calls", "conditional", "conditional_v2", "effects", "loop", "loop_v2", "training",
                           "training_resource"}) {
    const auto graph = read(project_file(std::string("tests/golden/graphs/") + name + ".pb"));
    BOOST_TEST_REQUIRE(graph.status().message() == "Ok");
    check_round_trip(*graph);
  }
}

BOOST_AUTO_TEST_CASE(meta_graphs) {
  MetaGraph meta{.graph = Graph(op_library()->ops),
                 .tags = {"serve", "cpu"},
                 .tensorflow_version = "1.15.0",
                 .saver = interop::Saver{"save/Const:0", "save/save:0", "save/restore_all", 5, true, 0.5f, 2},
                 .collections = {}};
  const Output x = placeholder(Scope(meta.graph), f32, {2}, "x"), y = neg(Scope(meta.graph), x);
  meta.signatures["negative"] = {"tensorflow/serving/predict", {{"number", x}}, {{"result", y}, {"same", x}}};
  check_round_trip(meta);
  const std::string odd("\0\xff\n'\"", 5);
  meta.collections = {
      {"empty", std::vector<std::string>{}},
      {"floats", std::vector<float>{0.1f, -1e-40f}},
      {"messages", MetaGraph::Bytes{{odd, ""}}},
      {"names", std::vector<std::string>{"x:0", "y"}},
      {"numbers", std::vector<int64_t>{INT64_MIN, 0, INT64_MAX}},
      {"of any type", std::vector<MetaGraph::Any>{{"type.googleapis.com/tensorflow.Any", odd}}}};
  check_round_trip(meta);
}

BOOST_AUTO_TEST_CASE(saved_models) {
  MetaGraph meta{.graph = Graph(op_library()->ops),
                 .tags = {"serve"},
                 .tensorflow_version = "2.21.0",
                 .saver = {},
                 .collections = {}};
  const Output x = placeholder(Scope(meta.graph), f32, {-1, 2}, "x");
  meta.signatures["twice"] = {
      "tensorflow/serving/predict", {{"x", x}}, {{"y", add(Scope(meta.graph), x, x)}}};
  const std::string bytes = interop::write_saved_model(meta);
  const auto again = interop::read_saved_model(bytes, {"serve"}, op_library()->ops);
  BOOST_TEST_REQUIRE(again.status().message() == "Ok");
  check_same(meta.graph, again->graph);
  BOOST_TEST((meta.signatures == again->signatures));
  BOOST_TEST(interop::read_saved_model(bytes, {"serve", "gpu"}, op_library()->ops).status().message() ==
             "NotFound: the saved model has no graph with 'gpu' and 'serve'; there are graphs with 'serve'");
  BOOST_TEST(interop::read_saved_model("", {"serve"}, op_library()->ops).status().message() ==
             "NotFound: the saved model has no graph with 'serve'; it has no graph at all");
}

BOOST_AUTO_TEST_CASE(meta_graphs_of_tensorflow) {
  for (const char* name : {"training", "training_resource"})
    check_round_trip(read_meta(project_file(std::string("tests/golden/graphs/") + name + ".meta")));
}

BOOST_AUTO_TEST_CASE(devices_colocation_variables) {
  Graph graph(op_library()->ops);
  const Scope g(graph);
  const Output w = variable(g.with_device("/job:ps/task:3"), zeros(g, {2, 3}), "w");
  const Output y = add(g.colocated_with(w).with_control({w}).with_device("/device:CPU:1"), w, 1.0);
  initializer(g);
  BOOST_TEST(graph.node(y.node).colocate_with.size() == 1u);
  check_round_trip(graph);
}

// The gradient of what a segment multiplies by a random mask draws the mask again: the copy of the random node names the original.
Output gradient_of_masked(const Scope& g, Output x) {
  const Scope part = g.recomputed("part");
  const Output masked = mul(part, sin(part, x), random_uniform(part, shape(part, x), f32));
  return dense(g, gradients(g, {sum(g, square(g, masked))}, {x})[0], x);
}

BOOST_AUTO_TEST_CASE(segments_that_gradients_compute_again) {
  Graph graph(op_library()->ops);
  const Scope g(graph);
  gradient_of_masked(g, placeholder(g, f32, {3}));
  check_round_trip(graph);
}

BOOST_AUTO_TEST_CASE(segments_in_functions) {
  Graph graph(op_library()->ops);
  const Scope g(graph);
  const FunctionSignature slope{"slope", {f32}, {f32}, true};
  define_function(graph, slope, [](const Scope& s, const std::vector<Output>& in) {
    return std::vector{gradient_of_masked(s, in[0])};
  });
  const Output x = placeholder(g, f32, {3}, "x");
  call(g, slope, {call(g, slope, {x})[0]});
  const Graph again = value_or_throw(read(interop::write_graph_def(graph, Format::Binary)));
  std::set<std::string> originals;
  for (const Node& node : again.nodes())
    if (const AttrValue* const original = node.attrs.find(original_attr)) {
      originals.insert(std::get<std::string>(*original));
      BOOST_TEST(again.find(std::get<std::string>(*original)) != nullptr);
    }
  BOOST_TEST(originals.size() == 2U);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::test::round_trip_test
