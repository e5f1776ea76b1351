// Tests of recurrent layers as loops: they compute what a graph with a node for each step computes, with gradients; and sequences
// of different lengths are independent of what stands behind their ends.
#include <boost/test/unit_test.hpp>

#include <functional>

#include "apps/nn/layers.h"
#include "apps/nn/network.h"
#include "graph/build/gradients.h"
#include "kernels/constructors.h"
#include "tests/support/local_graph.h"
#include "tests/support/ops/golden_values.h"
#include "tests/support/ops/op_case.h"

namespace troupe::test::recurrent_test {
namespace {

constexpr int64_t batch = 3, features = 4, units = 5;

using LayerFunction = Output (*)(const nn::Network&, Output, const nn::Recurrent&);

Output relu_rnn(const nn::Network& network, Output x, const nn::Recurrent& options) {
  nn::Recurrent changed = options;
  changed.activation = "relu";
  return nn::rnn(network, x, changed);
}

Output gru_that_resets_before(const nn::Network& network, Output x, const nn::Recurrent& options) {
  nn::Recurrent changed = options;
  changed.reset_after = false;
  return nn::gru(network, x, changed);
}

constexpr LayerFunction all_kinds[] = {nn::rnn, relu_rnn, nn::lstm, nn::gru, gru_that_resets_before};

struct Fixture : LocalGraph {
  std::map<std::string, Output> weights;

  /// The layers of one kind share their weights.
  Output weight(const nn::Weight& weight) {
    const std::string what = weight.name.substr(weight.name.rfind('_') + 1);
    const auto known = weights.find(what);
    if (known != weights.end()) return known->second;
    const Tensor value =
        random_doubles(value_or_throw(weight.shape.to_shape(f64)), -0.7, 0.7, weights.size() + 1);
    return weights[what] = g.constant(value);
  }
  Output layer(LayerFunction function, Output x, const nn::Recurrent& options) {
    const nn::Network network(g, nn::Mode::Training, [&](const nn::Weight& one) { return weight(one); });
    return function(network, x, options);
  }
  Output input(int64_t time) { return g.constant(random_doubles(Shape{batch, time, features}, -1, 1)); }
  /// Returns y and its gradients by x and the weights.
  std::vector<Tensor> results(Output y, Output x) {
    std::vector<Output> by = {x};
    for (const auto& [name, edge] : weights) by.push_back(edge);
    std::vector<Output> fetches = {y};
    const auto found = gradients(g, {square(g, y)}, by);
    for (size_t i = 0; i < by.size(); ++i) fetches.push_back(dense(g, found[i], by[i]));
    return value_or_throw(runtime.run(graph, {}, fetches));
  }
  void check_equal(const std::vector<Tensor>& found, const std::vector<Tensor>& expected) {
    for (size_t i = 0; i < found.size(); ++i) {
      const std::string what = difference(found[i], expected[i], {1e-12, 1e-12});
      BOOST_TEST(what.empty(), "result " << i << ": " << what);
    }
  }
};

BOOST_FIXTURE_TEST_SUITE(recurrent_layers, Fixture)

BOOST_AUTO_TEST_CASE(loops_compute_what_unrolled_steps_do) {
  for (const LayerFunction function : all_kinds)
    for (const bool sequences : {false, true}) {
      weights.clear();
      const Output x = input(6);
      const Output steps = layer(function, x, {.units = units, .sequences = sequences});
      const Output loop = layer(function, x, {.units = units, .sequences = sequences, .loop = true});
      check_equal(results(loop, x), results(steps, x));
    }
}

BOOST_AUTO_TEST_CASE(loops_have_the_same_gradients_in_segments) {
  const Output x = input(6);
  const auto loop = [&](bool recomputed) {
    const nn::Network network(g, nn::Mode::Training, [&](const nn::Weight& one) { return weight(one); });
    return nn::lstm(recomputed ? network.recomputed("part") : network, x, {.units = units, .loop = true});
  };
  const Output kept = loop(false), again = loop(true);
  check_equal(results(again, x), results(kept, x));
}

BOOST_AUTO_TEST_CASE(decoders_with_attention_compute_the_same_in_loops) {
  const Output x = input(5), memory = input(3);
  const auto decoder = [&](bool loop) {
    const nn::Network network(g, nn::Mode::Training, [&](const nn::Weight& one) { return weight(one); });
    return nn::attention_lstm(network, x, memory, {.units = units, .loop = loop});
  };
  const Output steps = decoder(false), loop = decoder(true);
  BOOST_TEST(g.shape(steps).text() == "[3,5,5]");
  check_equal(results(loop, x), results(steps, x));
  check_equal(results(loop, memory), results(steps, memory));
}

// Row i of a memory with lengths is row i of a memory that has this length.
BOOST_AUTO_TEST_CASE(attention_does_not_see_what_stands_behind_the_end_of_its_memory) {
  const std::vector<int32_t> lengths = {2, 4, 1};
  const Output x = input(3), memory = input(4);
  const auto decoder = [&](Output steps, Output seen, std::optional<Output> edges) {
    const nn::Network network(g, nn::Mode::Training, [&](const nn::Weight& one) { return weight(one); });
    return nn::attention_lstm(network, steps, seen, {.units = units, .memory_lengths = edges});
  };
  const Output all =
      decoder(x, memory, g.constant(Tensor::vector<int32_t>(std::span<const int32_t>(lengths))));
  for (int64_t i = 0; i < batch; ++i) {
    const Output row = slice(g, x, {i, 0, 0}, {1, 3, features}),
                 seen = slice(g, memory, {i, 0, 0}, {1, lengths[static_cast<size_t>(i)], features});
    const Output expected = decoder(row, seen, {}), of_row = slice(g, all, {i, 0, 0}, {1, 3, units});
    check_equal(results(of_row, memory), results(expected, memory));
  }
}

BOOST_AUTO_TEST_CASE(the_number_of_steps_need_not_be_known) {
  const Output x =
      g.add_one("Placeholder", {}, {{"dtype", f64}, {"shape", PartialShape{batch, unknown_dim, features}}});
  for (const LayerFunction function : all_kinds) {
    weights.clear();
    const Output y = layer(function, x, {.units = units});
    for (const int64_t time : {1, 4}) {
      const Tensor value = random_doubles(Shape{batch, time, features}, -1, 1);
      const Output fixed = layer(function, g.constant(value), {.units = units});
      const auto found = value_or_throw(runtime.run(graph, {{x, value}}, {y, fixed}));
      check_equal({found[0]}, {found[1]});
    }
  }
}

BOOST_AUTO_TEST_CASE(loops_over_outputs_of_loops_compute_what_unrolled_steps_do) {
  const Output x = input(4);
  for (const LayerFunction function : all_kinds) {
    weights.clear();
    const auto two_layers = [&](bool loop) {
      const Output lower = layer(function, x, {.units = features, .sequences = true, .loop = loop});
      return layer(function, lower, {.units = features, .loop = loop});
    };
    check_equal(results(two_layers(true), x), results(two_layers(false), x));
  }
}

// Row i of a batch with lengths is row i of a batch that has this length.
BOOST_AUTO_TEST_CASE(what_stands_behind_the_end_of_a_sequence_does_not_count) {
  const std::vector<int32_t> lengths = {2, 5, 3};
  const Output x = input(5), edge = g.constant(Tensor::vector<int32_t>(std::span<const int32_t>(lengths)));
  for (const LayerFunction function : all_kinds) {
    weights.clear();
    const Output last = layer(function, x, {.units = units, .lengths = edge});
    const Output all = layer(function, x, {.units = units, .sequences = true, .lengths = edge});
    for (int64_t i = 0; i < batch; ++i) {
      const int64_t length = lengths[static_cast<size_t>(i)];
      const Output row = slice(g, x, {i, 0, 0}, {1, length, features});
      const Output expected = layer(function, row, {.units = units}),
                   of_row = slice(g, last, {i, 0}, {1, units});
      const Output steps = layer(function, row, {.units = units, .sequences = true});
      check_equal(results(of_row, x), results(expected, x));
      check_equal(results(slice(g, all, {i, 0, 0}, {1, length, units}), x), results(steps, x));
      const Output rest = slice(g, all, {i, length, 0}, {1, 5 - length, units});
      const auto zeros = value_or_throw(runtime.run(graph, {}, {rest}));
      for (const double value : zeros[0].as<double>()) BOOST_TEST(value == 0);
    }
  }
}

// The weights of both directions are the same here, so that the backward half is what the layer yields for the reversed sequence.
BOOST_AUTO_TEST_CASE(the_second_half_of_both_directions_reads_from_the_end) {
  const std::vector<int32_t> lengths = {2, 5, 3};
  const Output x = input(5), edge = g.constant(Tensor::vector<int32_t>(std::span<const int32_t>(lengths)));
  for (const LayerFunction function : all_kinds) {
    weights.clear();
    const Output last = layer(function, x, {.units = units, .bidirectional = true, .lengths = edge});
    const Output all =
        layer(function, x, {.units = units, .sequences = true, .bidirectional = true, .lengths = edge});
    BOOST_TEST(g.shape(all).text() == "[3,?,10]");
    for (int64_t i = 0; i < batch; ++i) {
      const int64_t length = lengths[static_cast<size_t>(i)];
      const Output row = slice(g, x, {i, 0, 0}, {1, length, features}), turned = reverse(g, row, {1});
      const Output steps = layer(function, turned, {.units = units, .sequences = true});
      check_equal(results(slice(g, last, {i, units}, {1, units}), x),
                  results(layer(function, turned, {.units = units}), x));
      check_equal(results(slice(g, all, {i, 0, units}, {1, length, units}), x),
                  results(reverse(g, steps, {1}), x));
      check_equal(results(slice(g, last, {i, 0}, {1, units}), x),
                  results(layer(function, row, {.units = units}), x));
    }
  }
}

BOOST_AUTO_TEST_CASE(lengths_of_another_type_are_refused) {
  BOOST_CHECK_THROW(
      layer(nn::lstm, input(2), {.units = units, .lengths = g.constant(Tensor::vector<double>({1, 2, 2}))}),
      Error);
}

BOOST_AUTO_TEST_CASE(another_number_of_lengths_than_sequences_is_refused) {
  const nn::Network network(g, nn::Mode::Training, [&](const nn::Weight& one) { return weight(one); });
  const Output x = input(2), given = placeholder(g, f64, {unknown_dim, 2, features}, "given");
  const std::vector<std::function<Output(Output, Output)>> layers = {
      [&](Output of, Output lengths) { return nn::lstm(network, of, {.units = units, .lengths = lengths}); },
      [&](Output of, Output lengths) {
        return nn::gru(network, of, {.units = units, .bidirectional = true, .lengths = lengths});
      },
      [&](Output of, Output lengths) {
        return nn::attention_lstm(network, of, of, {.units = units, .memory_lengths = lengths});
      },
      [&](Output of, Output lengths) { return nn::attention(network, of, of, {.memory_lengths = lengths}); }};
  for (const auto& make : layers) {
    weights.clear();
    for (const std::vector<int32_t>& numbers : {std::vector{2}, std::vector{1, 2}}) {
      const Output lengths = g.constant(Tensor::vector<int32_t>(std::span<const int32_t>(numbers)));
      BOOST_CHECK_EXCEPTION(make(x, lengths), Error, [&](const Error& error) {
        return std::string(error.what())
                   .find("there are " + std::to_string(numbers.size()) + " lengths for 3 sequences") !=
               std::string::npos;
      });
      const Tensor three = random_doubles(Shape{batch, 2, features}, -1, 1);
      const auto status = runtime.run(graph, {{given, three}}, {make(given, lengths)}).status();
      BOOST_TEST(status.message().find("/lengths/") != std::string::npos, status.message());
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::test::recurrent_test
