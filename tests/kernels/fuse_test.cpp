// Tests that products are fused with what follows them, and elementwise ops with each other, where that is right, and that they
// then give the same bits.
#include "graph/passes/fuse/fuse.h"

#include <boost/test/unit_test.hpp>

#include "graph/build/gradients.h"
#include "kernels/constructors.h"
#include "tests/support/net/local_host.h"
#include "tests/support/ops/op_case.h"
#include "tests/support/ops/run_op.h"

namespace troupe::test::fuse_test {
namespace {

Tensor random(const Shape& shape, uint64_t seed) {
  return converted(random_doubles(shape, -1, 1, seed), f32);
}

/// A graph of a step, which runs as it is and fused.
struct Fixture {
  std::shared_ptr<const OpLibrary> library = op_library();
  LocalRuntime runtime{library};
  Graph graph{library->ops};
  const Scope g{graph};
  Feeds feeds;

  /// A placeholder that is fed random floats. The graph knows `known` of its shape.
  Output fed(const Shape& shape, const PartialShape& known) {
    const Output x = placeholder(g, f32, known);
    feeds.emplace_back(x, random(shape, feeds.size() + 1));
    return x;
  }
  Output fed(const Shape& shape) { return fed(shape, PartialShape(shape)); }

  /// The parameters of a batch norm that does not train, and the norm.
  Output normalised(Output x, int64_t channels, bool training = false) {
    const Output scale = fed(Shape{channels}), offset = fed(Shape{channels}), mean = fed(Shape{channels});
    const Output variance = square(g, fed(Shape{channels}));
    return fused_batch_norm(g, x, scale, offset, mean, variance, 0.01f, 1.0f, "NHWC", training);
  }

  Subgraph subgraph(const std::vector<Output>& fetches) {
    RunSignature signature{{}, fetches, {}};
    for (const auto& [output, value] : feeds) signature.feeds.push_back(output);
    return value_or_throw(cut_subgraph(graph, signature));
  }
  Result<std::vector<Tensor>> run(const Graph& step) {
    const DeviceInfo device{runtime.device().name(), 1, 0};
    TROUPE_ASSIGN(const auto parts, partition(step, std::vector<DeviceId>(step.size(), 0), {&device, 1}));
    TROUPE_ASSIGN(const auto plan, runtime.prepare(parts[0]));
    std::vector<Tensor> values;
    for (const PartitionEnd& feed : parts[0].feeds) values.push_back(feeds[feed.position].second);
    return runtime.run(plan, std::move(values));
  }

  /// Fuses the step and returns what its fused products are followed by, such as "BiasAdd,Relu", or with `list`
  /// "program" its elementwise programs.
  std::vector<std::string> fused_in(Graph& step, const CanRun& can_run,
                                    const std::string& list = "fused_ops") {
    std::vector<DeviceId> device(step.size(), 0);
    value_or_throw(fuse(step, device, can_run));
    BOOST_TEST(device.size() == step.size());
    std::vector<std::string> result;
    for (const Node& node : step.nodes()) {
      if (!node.type().starts_with("_Fused") || !node.attrs.find(list)) continue;
      std::string stages;
      for (const auto& stage : node.attrs.get<std::vector<std::string>>(list))
        stages += (stages.empty() ? "" : ",") + stage;
      result.push_back(stages);
    }
    return result;
  }
  std::vector<std::string> fused_in(Graph& step, const std::string& list = "fused_ops") {
    return fused_in(
        step, [&](const Node& node, DeviceId) { return library->kernels.has(node, "CPU"); }, list);
  }

  /// Checks which stages are fused, and that the results keep their bits.
  void check(const std::vector<Output>& fetches, const std::vector<std::string>& expected,
             const std::string& list = "fused_ops") {
    Subgraph step = subgraph(fetches);
    const auto before = value_or_throw(run(step.graph));
    BOOST_TEST(fused_in(step.graph, list) == expected, boost::test_tools::per_element());
    const auto after = value_or_throw(run(step.graph));
    for (size_t i = 0; i < fetches.size(); ++i) BOOST_TEST(identical(before[i], after[i]));
  }

  void check_program(const std::vector<Output>& fetches, const std::vector<std::string>& expected) {
    check(fetches, expected, "program");
  }

  Output convolution(const Shape& images, const Shape& filter, const std::string& padding = "SAME",
                     int64_t stride = 1) {
    return conv2d(g, fed(images), fed(filter), {1, stride, stride, 1}, padding);
  }
};

Output bias_add(const Scope& g, Output value, Output bias) { return g.add_one("BiasAdd", {value, bias}); }

}  // namespace

BOOST_FIXTURE_TEST_SUITE(fusing, Fixture)

// By oneDNN, by Winograd's algorithm for few and for many tiles, by products of a few rows, by products in groups, with dilations
// that oneDNN refuses, and of no channels.
BOOST_AUTO_TEST_CASE(every_algorithm_of_convolutions_applies_all_stages) {
  struct Sample {
    Shape images, filter;
    int64_t stride;
  };
  const Sample samples[] = {{{2, 17, 9, 3}, {3, 3, 3, 20}, 1},   {{1, 40, 40, 24}, {5, 5, 24, 40}, 2},
                            {{1, 9, 11, 32}, {3, 3, 32, 48}, 1}, {{3, 33, 30, 32}, {3, 3, 32, 64}, 1},
                            {{1, 8, 7, 96}, {1, 1, 96, 80}, 1},  {{1, 8, 7, 96}, {3, 1, 96, 80}, 1},
                            {{2, 6, 5, 12}, {3, 3, 4, 9}, 1},    {{2, 6, 5, 0}, {3, 3, 0, 9}, 1},
                            {{0, 6, 5, 4}, {3, 3, 4, 9}, 1}};
  for (const Sample& sample : samples) {
    const int64_t channels = sample.filter[3];
    const Shape out{sample.images[0], (sample.images[1] - 1) / sample.stride + 1,
                    (sample.images[2] - 1) / sample.stride + 1, channels};
    const auto product = [&] { return convolution(sample.images, sample.filter, "SAME", sample.stride); };
    check({relu(g, bias_add(g, product(), fed(Shape{channels})))}, {"BiasAdd,Relu"});
    check({bias_add(g, product(), fed(Shape{channels}))}, {"BiasAdd"});
    check({relu(g, product())}, {"Relu"});
    check({normalised(product(), channels)}, {"FusedBatchNorm"});
    const Output sum = add(g, fed(out), normalised(product(), channels));
    check({relu(g, sum)}, {"FusedBatchNorm,Add,Relu"});
    check({add(g, product(), fed(out))}, {"Add"});
  }
}

BOOST_AUTO_TEST_CASE(products_of_matrices_apply_all_stages) {
  for (const int64_t rows : {1, 9, 300})
    for (const int64_t columns : {10, 512}) {
      const Output x = fed(Shape{rows, 320}), w = fed(Shape{320, columns}), b = fed(Shape{columns});
      const Output same = fed(Shape{rows, columns});
      check({relu(g, bias_add(g, matmul(g, x, w), b))}, {"BiasAdd,Relu"});
      check({relu(g, add(g, matmul(g, x, w), b))}, {"BiasAdd,Relu"});
      check({relu(g, add(g, add(g, b, matmul(g, x, w)), same))}, {"BiasAdd,Add,Relu"});
      check({bias_add(g, matmul(g, transpose(g, x, {1, 0}), transpose(g, w, {1, 0}), true, true), b)},
            {"BiasAdd"});
      check({g.add_one("AddN", {same, matmul(g, x, w)})}, {"Add"});
    }
}

// Only some of the inner dimension is copied at a time.
BOOST_AUTO_TEST_CASE(deep_products_apply_all_stages_once) {
  const Output x = fed(Shape{97, 2500}), w = fed(Shape{2500, 130}), b = fed(Shape{130}),
               same = fed(Shape{97, 130});
  check({relu(g, add(g, bias_add(g, matmul(g, x, w), b), same))}, {"BiasAdd,Add,Relu"});
}

BOOST_AUTO_TEST_CASE(sums_are_fused_only_if_their_terms_are_known_to_have_one_shape) {
  const PartialShape any_batch{unknown_dim, 4, 4, 8};
  const Output x = fed(Shape{2, 4, 4, 8}, any_batch), other = fed(Shape{2, 4, 4, 8}, any_batch);
  const Output filter = fed(Shape{3, 3, 8, 8});
  const auto product = [&](Output of) { return conv2d(g, of, filter, {1, 1, 1, 1}, "SAME"); };
  check({add(g, product(x), x)}, {"Add"});
  check({add(g, product(relu(g, product(x))), max_pool(g, x, {1, 1, 1, 1}, {1, 1, 1, 1}, "SAME"))},
        {"Relu", "Add"});
  check({add(g, product(x), other)}, {});
  check({add(g, product(x), fed(Shape{1, 4, 4, 8}))}, {});
  check({add(g, product(x), fed(Shape{4, 8}))}, {});
  check({add(g, product(x), fed(Shape()))}, {});
}

BOOST_AUTO_TEST_CASE(what_others_need_stays) {
  const Output bias = fed(Shape{8});
  const auto product = [&] { return convolution({1, 5, 5, 4}, {3, 3, 4, 8}); };
  const Output seen = product(), twice = product(), waited = product();
  check({seen, bias_add(g, seen, bias)}, {});
  check({add(g, relu(g, twice), bias_add(g, twice, bias))}, {});
  const Output after = g.with_control({waited}).add_one("Identity", {bias});
  check({relu(g, bias_add(g, waited, after))}, {});
  const Output first = bias_add(g, product(), bias);
  check({first, relu(g, first)}, {"BiasAdd"});
  check({g.with_control({bias}).add_one("Relu", {product()})}, {});
}

BOOST_AUTO_TEST_CASE(a_norm_whose_mean_is_used_stays) {
  const auto norm = [&] { return normalised(convolution({1, 5, 5, 4}, {3, 3, 4, 8}), 8); };
  const Output fetched = norm(), read = norm();
  check({fetched, g.outputs(fetched)[1]}, {});
  check({relu(g, read), g.add_one("Neg", {g.outputs(read)[2]})}, {});
}

BOOST_AUTO_TEST_CASE(other_types_layouts_and_training_stay) {
  const auto product = [&] { return convolution({2, 5, 5, 4}, {3, 3, 4, 8}); };
  check({normalised(product(), 8, true)}, {});
  const Output wide = matmul(g, cast(g, fed(Shape{3, 4}), f64), cast(g, fed(Shape{4, 5}), f64));
  check({relu(g, wide)}, {});
  const Output first =
      conv2d(g, fed(Shape{2, 4, 5, 5}), fed(Shape{3, 3, 4, 8}), {1, 1, 1, 1}, "SAME", "NCHW");
  check({relu(g, first)}, {});
  Subgraph step = subgraph({relu(g, product())});
  BOOST_TEST(fused_in(step.graph, [](const Node&, DeviceId) { return false; }).empty());
  BOOST_TEST(value_or_throw(run(step.graph)).size() == 1);
}

BOOST_AUTO_TEST_CASE(a_fused_node_has_the_name_of_the_product_and_its_controls) {
  const Output bias = fed(Shape{8});
  const Output product =
      g.with_name("product").with_control({bias}).add_one("MatMul", {fed(Shape{2, 4}), fed(Shape{4, 8})});
  const Output last = relu(g, bias_add(g, product, bias));
  const Output waits = g.with_control({last}).add_one("Identity", {bias});
  Subgraph step = subgraph({waits, last});
  fused_in(step.graph);
  const Node* const fused = step.graph.find("product");
  BOOST_REQUIRE(fused);
  BOOST_TEST(fused->type() == "_FusedMatMul");
  BOOST_TEST(fused->control_inputs.size() == 1);
  BOOST_TEST((step.graph.find(graph.node(waits.node).name)->control_inputs == std::vector{fused->id}));
}

BOOST_AUTO_TEST_CASE(arguments_that_do_not_fit_are_refused) {
  const Tensor a = random(Shape{2, 4}, 1), b = random(Shape{4, 8}, 2), bias = random(Shape{7}, 3);
  const auto attrs = [](std::vector<std::string> stages, int64_t arguments) {
    return Attributes{{"fused_ops", std::move(stages)}, {"num_args", arguments}};
  };
  check_refused("_FusedMatMul", {a, b, bias}, attrs({"BiasAdd"}, 1),
                "bias of shape [7] must have the shape [8]");
  check_refused("_FusedMatMul", {a, b, bias}, attrs({"Relu", "BiasAdd"}, 1), "\"BiasAdd\" at position 1");
  check_refused("_FusedMatMul", {a, b, bias}, attrs({"Relu"}, 1), "take 0 arguments");
  check_refused("_FusedMatMul", {a, b, bias}, attrs({"Gelu"}, 1), "allowed are BiasAdd or FusedBatchNorm");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_FIXTURE_TEST_SUITE(fusing_elementwise, Fixture)

// Sizes below, at and beyond the blocks in which they are computed.
BOOST_AUTO_TEST_CASE(every_op_is_computed_in_blocks) {
  const std::vector<std::string> unary = {"Abs",      "Ceil",   "Elu",      "Erf",     "Exp",  "Expm1",
                                          "Floor",    "Log",    "Log1p",    "Neg",     "Relu", "Reciprocal",
                                          "Relu6",    "Rsqrt",  "Selu",     "Sigmoid", "Sign", "Sqrt",
                                          "Softplus", "Square", "Softsign", "Tanh"};
  const std::vector<std::string> binary = {
      "Add",       "AddV2",    "Div",          "EluGrad",           "Maximum",
      "Minimum",   "Mul",      "RealDiv",      "ReluGrad",          "Relu6Grad",
      "RsqrtGrad", "SeluGrad", "SigmoidGrad",  "SoftplusGrad",      "SqrtGrad",
      "Sub",       "TanhGrad", "SoftsignGrad", "SquaredDifference", "ReciprocalGrad"};
  for (const int64_t n : {1, 512, 1300}) {
    const Output x = fed(Shape{n}), y = fed(Shape{n});
    for (const std::string& op : unary) check_program({neg(g, g.add_one(op, {x}))}, {op + " 0,Neg 1"});
    for (const std::string& op : binary) check_program({neg(g, g.add_one(op, {x, y}))}, {op + " 0 1,Neg 2"});
    check_program({neg(g, g.add_one("AddN", {x, y, y}))}, {"Add 0 1,Add 2 1,Neg 3"});
  }
}

BOOST_AUTO_TEST_CASE(scalars_and_equal_shapes_of_unknown_size) {
  const PartialShape any{unknown_dim, 3};
  const Output x = fed(Shape{700, 3}, any), other = fed(Shape{700, 3}, any), rate = fed(Shape());
  check_program({add(g, mul(g, x, rate), sigmoid(g, x))}, {"Sigmoid 0,Mul 0 1,Add 3 2"});
  check_program({square(g, sub(g, 1.0f, tanh(g, x)))}, {"Tanh 0,Sub 1 2,Square 3"});
  check_program({neg(g, mul(g, x, other))}, {});  // one of them may be broadcast
  check_program({neg(g, mul(g, x, fed(Shape{3})))}, {});
}

BOOST_AUTO_TEST_CASE(results_that_others_need_are_kept) {
  const Output x = fed(Shape{5});
  const Output root = exp(g, x), sum = add(g, root, sigmoid(g, root));
  check_program({sum, root}, {"Sigmoid 0,Add 0 1"});
  const Output waited = exp(g, x);
  const Output after = g.with_control({waited}).add_one("Identity", {x});
  check_program({neg(g, waited), after}, {});
  const Output awaited = exp(g, x);
  std::vector<Output> fetches{neg(g, awaited)};
  for (int i = 0; i < 256; ++i) fetches.push_back(g.with_control({awaited}).add_one("Identity", {x}));
  check_program(fetches, {});
  const Output late = g.with_control({x}).add_one("Exp", {x});
  check_program({neg(g, late)}, {});
  const Output last = g.with_control({x}).add_one("Neg", {exp(g, x)});
  check_program({last}, {"Exp 0,Neg 1"});
  const Output wide = cast(g, x, f64);
  check_program({neg(g, exp(g, wide))}, {});
}

// The gradient of gelu follows from x and the gradient of its output alone, so the step keeps nothing else.
BOOST_AUTO_TEST_CASE(gradients_compute_what_they_need_again) {
  const Output x = fed(Shape{1000}), dy = fed(Shape{1000});
  const Output half = mul(g, x, 0.5f), cdf = add(g, erf(g, mul(g, x, 0.7f)), 1.0f);
  const Output y = mul(g, half, cdf);
  const Output dx = dense(g, gradients(g, {y}, {x}, {dy})[0], x);
  Subgraph step = subgraph({y, dx});
  const auto before = value_or_throw(run(step.graph));
  BOOST_TEST(fused_in(step.graph, "program").size() == 2);
  for (const Node& node : step.graph.nodes()) {
    const bool fused = node.type() == "_FusedElementwise";
    BOOST_TEST((fused || node.type() == "Const" || node.type() == "_Arg" || node.type() == "_Retval"),
               node.type());
    for (const Output& input : node.inputs)
      BOOST_TEST((!fused || step.graph.node(input.node).type() != "_FusedElementwise"));
  }
  const auto after = value_or_throw(run(step.graph));
  for (size_t i = 0; i < before.size(); ++i) BOOST_TEST(identical(before[i], after[i]));
}

BOOST_AUTO_TEST_CASE(programs_that_make_no_sense_are_refused) {
  const Tensor x = random(Shape{4}, 1), y = random(Shape{3}, 2);
  const auto attrs = [](std::vector<std::string> program, int64_t arguments) {
    return Attributes{{"program", std::move(program)}, {"num_args", arguments}};
  };
  const char* const op = "_FusedElementwise";
  check_refused(op, {x}, attrs({"Gelu 0"}, 1), "the op 'Gelu' is not elementwise");
  check_refused(op, {x}, attrs({"Neg 1"}, 1), "the operand '1' is not a number below 1");
  check_refused(op, {x}, attrs({"Neg 0", "Add 0 x"}, 1), "step 1 of program");
  check_refused(op, {x}, attrs({"Add 0"}, 1), "it has 1 operands, expected 2");
  check_refused(op, {x}, attrs({}, 1), "no steps");
  check_refused(op, {x, y}, attrs({"Add 0 1"}, 2), "[4]");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::test::fuse_test
