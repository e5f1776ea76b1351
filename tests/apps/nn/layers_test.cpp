// Compares layers with what Keras computes: tests/golden/layers/NAME.npz, written by tests/golden/make_layers.py, which says
// what the arrays are.
#include "apps/nn/layers.h"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <cmath>

#include "actors/runtime.h"
#include "apps/data/arrays/npz.h"
#include "apps/nn/activations.h"
#include "graph/build/gradients.h"
#include "kernels/constructors.h"
#include "tests/support/failure_of.h"
#include "tests/support/ops/golden_values.h"
#include "tests/support/ops/op_library.h"
#include "tests/support/ops/run_op.h"
#include "tests/support/project_files.h"

namespace troupe::test::layers_test {
namespace {

using Arrays = std::map<std::string, Tensor>;
/// Adds the layer to a network; the inputs are x and, if the layer has a second input, memory.
using Add = std::function<Output(const nn::Network&, const std::vector<Output>& inputs)>;

struct LayerCase {
  std::string name;
  nn::Mode mode = nn::Mode::Training;
  Add add;
};

const std::vector<LayerCase>& layer_cases() {
  using Inputs = const std::vector<Output>&;
  using nn::Network;
  const auto normalised = [](const Network& n, Inputs in) {
    return nn::batch_norm(n, in[0], {.decay = 0.9});
  };
  static const std::vector<LayerCase> cases = {
      {"dense",
       {},
       [](const Network& n, Inputs in) { return nn::dense(n, in[0], {.units = 5, .activation = "tanh"}); }},
      {"dense_of_sequences",
       {},
       [](const Network& n, Inputs in) { return nn::dense(n, in[0], {.units = 5}); }},
      {"embedding",
       {},
       [](const Network& n, Inputs in) { return nn::embedding(n, in[0], {.rows = 6, .units = 3}); }},
      {"conv2d",
       {},
       [](const Network& n, Inputs in) {
         return nn::conv2d(n, in[0],
                           {.filters = 6, .kernel = {3, 2}, .strides = {2, 1}, .activation = "relu"});
       }},
      {"conv2d_groups",
       {},
       [](const Network& n, Inputs in) {
         return nn::conv2d(n, in[0],
                           {.filters = 6, .kernel = 3, .padding = "VALID", .groups = 2, .bias = false});
       }},
      {"depthwise_conv2d",
       {},
       [](const Network& n, Inputs in) {
         return nn::depthwise_conv2d(n, in[0], {.kernel = 3, .multiplier = 2});
       }},
      {"conv2d_transpose_same",
       {},
       [](const Network& n, Inputs in) {
         return nn::conv2d_transpose(n, in[0], {.filters = 3, .kernel = {3, 2}, .strides = 2});
       }},
      {"conv2d_transpose_valid",
       {},
       [](const Network& n, Inputs in) {
         return nn::conv2d_transpose(n, in[0],
                                     {.filters = 3, .kernel = {3, 2}, .strides = 2, .padding = "VALID"});
       }},
      {"batch_norm_images_training", nn::Mode::Training, normalised},
      {"batch_norm_images_inference", nn::Mode::Inference, normalised},
      {"batch_norm_rows_training", nn::Mode::Training, normalised},
      {"batch_norm_rows_inference", nn::Mode::Inference, normalised},
      {"layer_norm", {}, [](const Network& n, Inputs in) { return nn::layer_norm(n, in[0]); }},
      {"group_norm", {}, [](const Network& n, Inputs in) { return nn::group_norm(n, in[0], {.groups = 2}); }},
      {"upsample2d_nearest",
       {},
       [](const Network& n, Inputs in) {
         return nn::upsample2d(n, in[0], {.size = {3, 2}});
       }},
      {"upsample2d_bilinear",
       {},
       [](const Network& n, Inputs in) {
         return nn::upsample2d(n, in[0], {.size = {3, 2}, .method = "bilinear"});
       }},
      {"global_max_pool2d", {}, [](const Network& n, Inputs in) { return nn::global_max_pool2d(n, in[0]); }},
      {"conv1d",
       {},
       [](const Network& n, Inputs in) {
         return nn::conv1d(n, in[0], {.filters = 6, .kernel = 3, .strides = 2, .activation = "tanh"});
       }},
      {"conv1d_causal",
       {},
       [](const Network& n, Inputs in) {
         return nn::conv1d(n, in[0],
                           {.filters = 6, .kernel = 3, .dilations = 2, .padding = "CAUSAL", .groups = 2});
       }},
      {"max_pool1d",
       {},
       [](const Network& n, Inputs in) { return nn::max_pool1d(n, in[0], {.window = 3, .strides = 2}); }},
      {"avg_pool1d",
       {},
       [](const Network& n, Inputs in) { return nn::avg_pool1d(n, in[0], {.padding = "SAME"}); }},
      {"global_avg_pool1d", {}, [](const Network& n, Inputs in) { return nn::global_avg_pool1d(n, in[0]); }},
      {"global_max_pool1d", {}, [](const Network& n, Inputs in) { return nn::global_max_pool1d(n, in[0]); }},
      {"lstm_bidirectional",
       {},
       [](const Network& n, Inputs in) { return nn::lstm(n, in[0], {.units = 6, .bidirectional = true}); }},
      {"lstm_bidirectional_sequences",
       {},
       [](const Network& n, Inputs in) {
         return nn::lstm(n, in[0], {.units = 6, .sequences = true, .bidirectional = true});
       }},
      {"attention_lengths",
       {},
       [](const Network& n, Inputs in) {
         const Output lengths = n.scope().constant(Tensor::vector<int32_t>({2, 5}));
         return nn::attention(n, in[0], in[1], {.heads = 2, .memory_lengths = lengths});
       }},
      {"lstm", {}, [](const Network& n, Inputs in) { return nn::lstm(n, in[0], {.units = 6}); }},
      {"lstm_sequences",
       {},
       [](const Network& n, Inputs in) { return nn::lstm(n, in[0], {.units = 6, .sequences = true}); }},
      {"gru",
       {},
       [](const Network& n, Inputs in) { return nn::gru(n, in[0], {.units = 6, .sequences = true}); }},
      {"gru_reset_before",
       {},
       [](const Network& n, Inputs in) {
         return nn::gru(n, in[0], {.units = 6, .sequences = true, .reset_after = false});
       }},
      {"gru_reset_before_bidirectional",
       {},
       [](const Network& n, Inputs in) {
         return nn::gru(n, in[0], {.units = 6, .bidirectional = true, .reset_after = false});
       }},
      {"rnn", {}, [](const Network& n, Inputs in) { return nn::rnn(n, in[0], {.units = 6}); }},
      {"rnn_relu",
       {},
       [](const Network& n, Inputs in) {
         return nn::rnn(n, in[0], {.units = 6, .sequences = true, .activation = "relu"});
       }},
      {"rnn_bidirectional",
       {},
       [](const Network& n, Inputs in) {
         return nn::rnn(n, in[0], {.units = 6, .sequences = true, .bidirectional = true});
       }},
      {"attention",
       {},
       [](const Network& n, Inputs in) { return nn::attention(n, in[0], in[1], {.heads = 2}); }},
      {"attention_shared",
       {},
       [](const Network& n, Inputs in) {
         return nn::attention(n, in[0], in[1], {.heads = 4, .kv_heads = 2});
       }},
      {"attention_rotary",
       {},
       [](const Network& n, Inputs in) {
         return nn::attention(n, in[0], {.heads = 2, .causal = true, .rotary = true});
       }},
      {"rms_norm", {}, [](const Network& n, Inputs in) { return nn::rms_norm(n, in[0]); }},
      {"prelu", {}, [](const Network& n, Inputs in) { return nn::prelu(n, in[0]); }},
      {"glu", {}, [](const Network& n, Inputs in) { return nn::glu(n, in[0]); }}};
  return cases;
}

/// The functions of activations.h, as layers apply them.
std::vector<LayerCase> activation_cases() {
  using nn::Network;
  std::vector<LayerCase> cases;
  for (const nn::Activation& activation : nn::activations()) {
    const std::string name(activation.name);
    cases.push_back({name, {}, [name](const Network& n, const std::vector<Output>& in) {
                       return nn::Layer(n, "activation").activated(in[0], name);
                     }});
  }
  return cases;
}

/// A placeholder for batches of tensors like this one, of which so many dimensions are not known.
Output batches_of(const Scope& scope, const Tensor& tensor, size_t unknown) {
  std::vector<int64_t> dims(tensor.shape().dims().begin(), tensor.shape().dims().end());
  std::fill_n(dims.begin(), unknown, unknown_dim);
  return placeholder(scope, tensor.dtype(), PartialShape(std::move(dims)));
}

/// What a layer is compared in: outputs of the graph, and the arrays that they equal.
struct Comparison {
  std::vector<std::pair<std::string, Output>> outputs;
  void add(const std::string& array, Output output) { outputs.emplace_back(array, output); }
};

void check_layer(const LayerCase& layer, size_t unknown = 1) {
  const std::string file = "tests/golden/layers/" + layer.name + ".npz";
  const Arrays arrays = value_or_throw(data::read_npz(project_file(file), file));
  Runtime runtime;
  Graph graph{runtime.ops()};
  const Scope scope(graph);
  std::vector<std::pair<Output, Tensor>> feeds;
  std::vector<Output> inputs, edges;
  std::vector<std::string> names;  // of edges
  for (const char* name : {"x", "memory"})
    if (const auto array = arrays.find(name); array != arrays.end()) {
      inputs.push_back(batches_of(scope, array->second, unknown));
      feeds.emplace_back(inputs.back(), array->second);
      if (!is_floating(array->second.dtype())) continue;
      edges.push_back(inputs.back());
      names.emplace_back(name);
    }
  const nn::Network network(scope, layer.mode, [&](const nn::Weight& weight) {
    BOOST_TEST_REQUIRE(arrays.contains("w." + weight.name), weight.name);
    const Output edge = scope.constant(arrays.at("w." + weight.name));
    if (weight.trainable) {
      edges.push_back(edge);
      names.push_back(weight.name);
    }
    return edge;
  });
  Comparison comparison;
  const Output y = layer.add(network, inputs);
  comparison.add("y", y);
  BOOST_TEST(scope.shape(y).dims().back() == arrays.at("y").shape().dims().back(),
             layer.name << ": the last dimension");
  const auto found = gradients(scope, {mul(scope, y, scope.constant(arrays.at("c")))}, edges);
  for (size_t i = 0; i < edges.size(); ++i) comparison.add("g." + names[i], dense(scope, found[i], edges[i]));
  for (const nn::MovingAverage& average : network.averages())
    comparison.add("a." + average.weight.name,
                   sub(scope, average.value, mul(scope, average.difference, average.rate)));
  std::vector<Output> fetches;
  for (const auto& [array, output] : comparison.outputs) fetches.push_back(output);
  auto session = runtime.session(graph);
  const auto results = session.run(feeds, fetches);
  for (size_t i = 0; i < results.size(); ++i) {
    const auto& array = comparison.outputs[i].first;
    BOOST_TEST_REQUIRE(arrays.contains(array), layer.name << ": there is no array " << array);
    const std::string what = difference(results[i], arrays.at(array), {1e-4, 1e-5});
    BOOST_TEST(what.empty(), layer.name << ": " << array << ": " << what);
  }
}

/// Returns the distance of two tensors of float, relative to the length of the second.
double distance(const Tensor& a, const Tensor& b) {
  double apart = 0, length = 0;
  for (size_t i = 0; i < b.as<float>().size(); ++i) {
    apart += std::pow(a.as<float>()[i] - b.as<float>()[i], 2);
    length += std::pow(b.as<float>()[i], 2);
  }
  return std::sqrt(apart / length);
}

/// Compares the results and the gradients of a small model whose layers compute in `dtype`, with weights of float, with those of
/// the same model in float.
void check_mixed_precision(DType dtype, double tolerance) {
  Runtime runtime;
  Graph graph(runtime.ops());
  const Scope scope(graph);
  const Output images = reshape(scope, sin(scope, cast(scope, range(scope, 0, 432, 1), f32)), {4, 6, 6, 3});
  const auto model = [](const nn::Network& network, Output in) {
    Output y = nn::conv2d(network, in, {.filters = 5, .kernel = 3, .bias = false});
    y = nn::batch_norm(network, y, {.activation = "relu"});
    y = nn::layer_norm(network, reshape(network.scope(), y, {4, -1}));
    return nn::dense(network, y, {.units = 3});
  };
  const nn::Network wide(scope.with_prefix("wide"));
  const Output expected = model(wide, images);
  const nn::Network narrow = wide.rebuilt(scope.with_prefix("narrow"), nn::Mode::Training);
  const Output y = model(narrow, cast(scope, images, dtype));
  BOOST_TEST((scope.dtype(y) == dtype));
  std::vector<Output> edges, initial;
  for (const auto& [weight, edge] : narrow.weights()) {
    BOOST_TEST((weight.dtype == f32), weight.name);
    if (weight.trainable) edges.push_back(edge);
    initial.push_back(assign(scope, edge, weight.initial(scope, weight.shape, f32)));
  }
  // With these weights no input of relu is so near to zero that its sign differs between the types.
  auto session = runtime.session(graph, {.seed = 5});
  session.run({scope.group(initial)});
  const auto of = [&](Output result) {
    std::vector<Output> results = {cast(scope, result, f32)};
    for (const auto& gradient : gradients(scope, {square(scope, result)}, edges))
      results.push_back(dense(scope, gradient, edges[results.size() - 1]));
    return session.run(results);
  };
  const auto found = of(y), values = of(expected);
  for (size_t i = 0; i < found.size(); ++i) {
    BOOST_TEST((found[i].shape() == values[i].shape()));
    BOOST_TEST(distance(found[i], values[i]) < tolerance, name(dtype) << ", result " << i);
  }
}

BOOST_AUTO_TEST_SUITE(layers)

BOOST_AUTO_TEST_CASE(compute_what_keras_does) {
  for (const LayerCase& layer : layer_cases()) check_layer(layer);
  for (const LayerCase& layer : activation_cases()) check_layer(layer);
}

BOOST_AUTO_TEST_CASE(transposed_convolutions_take_images_of_any_size) {
  for (const LayerCase& layer : layer_cases())
    if (layer.name.starts_with("conv2d_transpose")) check_layer(layer, 3);
}

BOOST_AUTO_TEST_CASE(activations_without_functions_have_names) {
  Runtime runtime;
  Graph graph(runtime.ops());
  const Scope scope(graph);
  const nn::Network network(scope);
  const Output x = scope.constant(Tensor::of<float>({2, 1}, {-2, 0.5f}));
  std::vector<Output> results, initial;
  for (const char* const name : {"leaky_relu", "selu", "softsign"})
    results.push_back(
        nn::dense(network, x, {.units = 1, .activation = name, .bias = false, .init = nn::all_equal(1)}));
  for (const auto& [weight, edge] : network.weights())
    initial.push_back(assign(scope, edge, weight.initial(scope, weight.shape, f32)));
  auto session = runtime.session(graph);
  session.run({scope.group(initial)});
  const auto values = session.run(results);
  const float expected[3][2] = {{-0.4f, 0.5f}, {-1.5201665f, 0.5253505f}, {-2.0f / 3, 1.0f / 3}};
  for (size_t i = 0; i < values.size(); ++i)
    for (size_t k = 0; k < 2; ++k)
      BOOST_TEST(values[i].as<float>()[k] == expected[i][k], boost::test_tools::tolerance(1e-6f));
}

/// Returns the values of an output, after all weights have got their first values.
Tensor value_of(Graph& graph, Runtime& runtime, const nn::Network& network, Output output) {
  const Scope scope(graph);
  std::vector<Output> initial;
  for (const auto& [weight, edge] : network.weights())
    initial.push_back(assign(scope, edge, weight.initial(scope, weight.shape, weight.dtype)));
  auto session = runtime.session(graph);
  session.run({scope.group(initial)});
  return session.run({output}).at(0);
}

BOOST_AUTO_TEST_CASE(positions_differ_by_their_weights) {
  Runtime runtime;
  Graph graph(runtime.ops());
  const Scope scope(graph);
  const nn::Network network(scope);
  const nn::Initial rows = [](const Scope& s, const PartialShape&, DType) {
    return s.constant(Tensor::of<float>({3, 2}, {1, 2, 3, 4, 5, 6}));
  };
  const Output x = placeholder(scope, f32, PartialShape{unknown_dim, unknown_dim, 2});
  const Output two = scope.constant(Tensor::of<float>({1, 2, 2}, {0, 0, 10, 10}));
  const Output fixed = nn::position_embedding(network, two, {.steps = 3, .init = rows});
  BOOST_TEST(
      identical(value_of(graph, runtime, network, fixed), Tensor::of<float>({1, 2, 2}, {1, 2, 13, 14})));
  BOOST_TEST(scope.shape(nn::position_embedding(network, x, {.steps = 3})).text() == "[?,?,2]");
  const Output four = scope.constant(Tensor::of<float>({1, 4, 1}, {0, 0, 0, 0}));
  BOOST_CHECK_EXCEPTION(nn::position_embedding(network, four, {.steps = 3}), Error, [](const Error& error) {
    return std::string(error.what()).find("at most 3 steps") != std::string::npos;
  });
}

BOOST_AUTO_TEST_CASE(hidden_scores_are_numbers_of_every_type) {
  for (const DType dtype : {f32, f64, DType::Half, DType::BFloat16}) {
    Runtime runtime;
    Graph graph(runtime.ops());
    const Scope scope(graph);
    const nn::Network network(scope);
    const Output x = cast(scope, scope.constant(Tensor::of<float>({1, 3, 2}, {1, 2, 3, 4, 5, 6})), dtype);
    const Output lengths = scope.constant(Tensor::vector<int64_t>({0}));
    const Output y = nn::attention(network, x, x, {.causal = true, .memory_lengths = lengths});
    const Tensor values = value_of(graph, runtime, network, cast(scope, y, f32));
    for (const float value : values.as<float>()) BOOST_TEST(std::isfinite(value), name(dtype));
  }
}

BOOST_AUTO_TEST_CASE(options_that_do_not_fit_the_input_are_refused) {
  Runtime runtime;
  Graph graph(runtime.ops());
  const Scope scope(graph);
  const nn::Network network(scope);
  const Output x = scope.constant(Tensor::of<float>({1, 3, 2}, {1, 2, 3, 4, 5, 6}));
  const auto is_refused = [](const auto& layer, const std::string& text) {
    BOOST_CHECK_EXCEPTION(layer(), Error, [&](const Error& error) {
      return std::string(error.what()).find(text) != std::string::npos;
    });
  };
  is_refused(
      [&] { return nn::conv1d(network, x, {.filters = 1, .kernel = 2, .dilations = 3, .padding = "VALID"}); },
      "kernel covers 4 steps, which is more than the 3 of a sequence");
  is_refused([&] { return nn::max_pool1d(network, x, {.window = 4}); }, "window covers 4 steps");
  is_refused([&] { return nn::conv1d(network, x, {.filters = 2, .kernel = 1, .groups = 3}); },
             "it must divide the 2 features");
  for (const double decay : {2.0, -0.1, std::nan("")})
    is_refused([&] { return nn::batch_norm(network, x, {.decay = decay}); },
               "it must be at least 0 and at most 1");
  is_refused([&] { return nn::group_norm(network, x, {.groups = 3}); }, "it must divide the 2 channels");
  is_refused([&] { return nn::attention(network, x, {.heads = 2, .kv_heads = 4}); },
             "kv_heads is 4; it must divide the 2 heads");
  is_refused([&] { return nn::attention(network, x, {.heads = 2, .rotary = true}); },
             "2 units are 1 for each of the 2 heads");
  is_refused(
      [&] {
        return nn::glu(network, scope.constant(Tensor::of<float>({1, 3}, {1, 2, 3})));
      },
      "the input has 3 features; their number must be even");
  is_refused([&] { return nn::rnn(network, x, {.units = 3, .activation = "elu"}); },
             "activation is 'elu'; it must be tanh or relu");
  is_refused([&] { return nn::lstm(network, x, {.units = 3, .activation = "relu"}); },
             "activation is 'relu'; it must be tanh, and relu is for rnn only");
  is_refused([&] { return nn::gru(network, x, {.units = 3, .activation = "relu"}); }, "relu is for rnn only");
  for (const auto layer : {nn::rnn, nn::lstm})
    is_refused([&] { return layer(network, x, {.units = 3, .reset_after = false}); },
               "reset_after is false; this is for gru only");
  const Output image = scope.constant(Tensor::of<float>({1, 1, 2, 1}, {1, 2}));
  is_refused(
      [&] {
        return nn::upsample2d(network, image, {.size = {1, int64_t{1} << 30}});
      },
      "images that are 2 wide or high can grow 1073741823-fold at most");
}

BOOST_AUTO_TEST_CASE(a_network_that_was_moved_is_refused) {
  Graph graph(op_library()->ops);
  const Scope g(graph);
  const Output x = placeholder(g, f32, {-1, 3});
  nn::Network first(g);
  nn::dense(first, x, {.units = 2});
  const nn::Network second = std::move(first);
  // NOLINTBEGIN(bugprone-use-after-move): that is what is tested
  const std::vector<std::function<void()>> calls = {
      [&] { nn::dense(first, x, {.units = 2}); }, [&] { (void)first.weights(); },
      [&] { first.join_tables(); }, [&] { (void)first.update_averages(); }};
  // NOLINTEND(bugprone-use-after-move)
  for (const auto& call : calls)
    BOOST_TEST(failure_of(call).text() == "the network has been moved to another object");
  BOOST_TEST(second.weights().size() == 2u);
}

BOOST_AUTO_TEST_CASE(weights_of_layers_that_compute_in_narrow_numbers_are_float) {
  check_mixed_precision(DType::Half, 0.003);
  check_mixed_precision(DType::BFloat16, 0.02);
}

BOOST_AUTO_TEST_CASE(a_network_that_is_rebuilt_has_no_other_weights) {
  Graph graph(test::op_library()->ops);
  const Scope scope(graph);
  const Output x = zeros(scope, {2, 3}, f32);
  const nn::Network network(scope);
  const auto build = [&](const nn::Network& net, int layers) {
    Output y = x;
    for (int i = 0; i < layers; ++i) y = nn::dense(net, y, {.units = 3});
    return y;
  };
  const nn::Network empty = network.rebuilt(scope, nn::Mode::Inference);
  build(empty, 2);  // there was none to have them
  build(network, 2);
  const nn::Network again = network.rebuilt(scope, nn::Mode::Inference);
  BOOST_TEST(again.weights().empty());
  build(again, 2);
  BOOST_TEST(again.weights().size() == network.weights().size());
  const nn::Network more = again.rebuilt(scope, nn::Mode::Inference);
  const Status why = test::failure_of([&] { build(more, 3); });
  BOOST_TEST((why.code() == Code::NotFound));
  BOOST_TEST(why.text().find("no weight 'dense_2_weights'") != std::string::npos, why.text());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::test::layers_test
