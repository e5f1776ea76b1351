// The models of examples/models that are neither convolutional networks nor language models learn what they are made for.
#include <algorithm>
#include <boost/test/unit_test.hpp>

#include <cmath>
#include <random>
#include <set>
#include <sstream>

#include "autoencoder.h"
#include "mixture_of_experts.h"
#include "regression.h"
#include "tests/support/ops/op_case.h"
#include "tests/support/ops/run_op.h"
#include "tests/support/project_files.h"
#include "word2vec.h"

namespace troupe::test::small_models_test {
namespace {

struct Model {
  Runtime runtime;
  Graph graph{runtime.ops()};
  const Scope g{graph};
};

/// Runs a target a number of times with the same feeds, after initialising the variables; returns the session.
Session trained(Model& model, const std::vector<std::pair<Output, Tensor>>& feeds, Output update, int steps) {
  auto session = model.runtime.session(model.graph, {.seed = 7});
  session.run({initializer(model.g)});
  for (int i = 0; i < steps; ++i) session.run(feeds, {update});
  return session;
}

/// Returns the pixels of examples/digits.csv, from 0 to 1: [n, 64].
Tensor digits() {
  std::istringstream lines(project_file("examples/digits.csv"));
  std::vector<float> pixels;
  int64_t rows = 0;
  for (std::string line; std::getline(lines, line); ++rows) {
    std::istringstream numbers(line);
    std::string number;
    for (int i = 0; i < 64 && std::getline(numbers, number, ','); ++i)
      pixels.push_back(std::stof(number) / 16);
  }
  return Tensor::of<float>(Shape{rows, 64}, pixels);
}

BOOST_AUTO_TEST_SUITE(small_models)

BOOST_AUTO_TEST_CASE(regression_by_descent_reaches_the_closed_form) {
  const Tensor x = random_doubles(Shape{50, 4}, -1, 1), y = random_doubles(Shape{50, 2}, -1, 1, 2);
  for (const double penalty : {0.0, 5.0}) {
    Model model;
    const Scope& g = model.g;
    const Output rows = g.constant(x), targets = g.constant(y);
    const Output solved = models::regression_weights(g, rows, targets, penalty);
    const Output weights = variable(g, g.constant(doubles(Shape{4, 2}, {0, 0, 0, 0, 0, 0, 0, 0})), "weights");
    const Output loss = models::regression_loss(g, rows, targets, weights, penalty);
    const Output update = nn::Momentum(0.3, 0.9).minimize(g, loss, {weights});
    Session session = trained(model, {}, update, 800);
    const auto results = session.run({solved, weights});
    for (int64_t i = 0; i < 8; ++i)
      BOOST_TEST(results[0].as<double>()[i] == results[1].as<double>()[i],
                 boost::test_tools::tolerance(1e-9));
  }
}

BOOST_AUTO_TEST_CASE(an_autoencoder_keeps_most_of_an_image_in_few_numbers) {
  Model model;
  const Scope& g = model.g;
  const nn::Network network(g);
  const Output x = placeholder(g, f32, {-1, 64});
  const models::Autoencoded coded = models::autoencoder(network, x, {40, 8});
  const Output error = mean(g, squared_difference(g, coded.reconstruction, x));
  const Output update = nn::Adam(1e-2).minimize(g, error);
  const Tensor images = digits();
  Session session = trained(model, {{x, images}}, update, 300);
  const auto results = session.run({{x, images}}, {error, coded.code});
  const Output variance = mean(g, square(g, sub(g, x, mean(g, x, {0}, true))));
  const float whole = session.run({{x, images}}, {variance})[0].item<float>();
  BOOST_TEST(results[0].item<float>() < 0.35f * whole);
  BOOST_TEST(results[1].shape().text() == "[1797,8]");
}

// The target is a different linear function of x in each quarter of the plane, which no single linear model fits.
BOOST_AUTO_TEST_CASE(a_mixture_of_experts_divides_the_plane) {
  Model model;
  const Scope& g = model.g;
  const Tensor points = converted(random_doubles(Shape{400, 2}, -1, 1), f32);
  std::vector<float> targets;
  for (size_t i = 0; i < 400; ++i) {
    const float a = points.as<float>()[2 * i], b = points.as<float>()[2 * i + 1];
    targets.push_back(std::abs(a) - std::abs(b));
  }
  const Output x = placeholder(g, f32, {-1, 2}), y = placeholder(g, f32, {-1, 1});
  const auto loss_of = [&](const nn::Network& network, int64_t experts) {
    const auto linear = [](const nn::Network& at, Output rows) { return nn::dense(at, rows, {.units = 1}); };
    const auto mixture = models::mixture_of_experts(
        network, x, {.experts = experts, .chosen = std::min<int64_t>(experts, 2)}, linear);
    return std::pair(mean(g, squared_difference(g, mixture.y, y)), mixture.imbalance);
  };
  const auto [loss, imbalance] = loss_of(nn::Network(g.with_prefix("mixture")), 6);
  const auto [single, balanced] = loss_of(nn::Network(g).at("single"), 1);
  const Output update = g.group({nn::Adam(1e-2).minimize(g, add(g, loss, mul(g, imbalance, 0.01))),
                                 nn::Adam(1e-2).minimize(g, single)});
  const std::vector<std::pair<Output, Tensor>> feeds = {{x, points},
                                                        {y, Tensor::of<float>(Shape{400, 1}, targets)}};
  Session session = trained(model, feeds, update, 400);
  const auto results = session.run(feeds, {loss, single, balanced});
  BOOST_TEST(results[0].item<float>() < 0.1f * results[1].item<float>());
  BOOST_TEST(results[2].item<float>() == 0);
}

// Words of one topic occur with each other, and only with each other.
BOOST_AUTO_TEST_CASE(vectors_of_words_of_one_topic_are_neighbours) {
  constexpr int32_t topics = 4, of_topic = 15, words = topics * of_topic;
  Model model;
  const Scope& g = model.g;
  const nn::Network network(g);
  const Output word = placeholder(g, i32, {-1}), context = placeholder(g, i32, {-1});
  const Output loss =
      models::skip_gram_loss(network, word, context, {.vocabulary = words, .units = 8, .sampled = 8});
  const Output update = nn::Adam(2e-2).minimize(g, loss);
  auto session = model.runtime.session(model.graph, {.seed = 7});
  session.run({initializer(g)});
  std::mt19937 random(7);
  for (int step = 0; step < 300; ++step) {
    std::vector<int32_t> from, to;
    for (int i = 0; i < 128; ++i) {  // word w has topic w % topics
      from.push_back(static_cast<int32_t>(random() % words));
      to.push_back(from.back() % topics + topics * static_cast<int32_t>(random() % of_topic));
    }
    session.run({{word, Tensor::vector<int32_t>(from)}, {context, Tensor::vector<int32_t>(to)}}, {update});
  }
  const Output vectors = network.weights()[0].second;
  const Output unit = div(g, vectors, sqrt(g, sum(g, square(g, vectors), {1}, true)));
  const Tensor products = session.run({matmul(g, unit, unit, false, true)})[0];
  const auto cosines = products.as<float>();
  const auto nearest_to = [&](size_t i) {
    size_t nearest = i == 0 ? 1 : 0;
    for (size_t j = 0; j < words; ++j)
      if (j != i && cosines[i * words + j] > cosines[i * words + nearest]) nearest = j;
    return nearest;
  };
  int right = 0;
  for (size_t i = 0; i < words; ++i) right += nearest_to(i) % topics == i % topics ? 1 : 0;
  BOOST_TEST(right >= words * 95 / 100);
}

BOOST_AUTO_TEST_CASE(losses_over_sampled_classes_change_few_rows) {
  for (const auto loss_of : {nn::sampled_softmax_loss, nn::nce_loss}) {
    Model model;
    const Scope& g = model.g;
    const Output x = placeholder(g, f32, {-1, 8}), labels = placeholder(g, i32, {-1});
    const Output loss = mean(g, loss_of(nn::Network(g), x, labels, {.classes = 1000, .sampled = 16}));
    std::vector<Output> rows;
    for (const auto& [gradient, variable] : nn::compute_gradients(g, loss))
      rows.push_back(std::get<IndexedSlices>(gradient).indices);
    auto session = model.runtime.session(model.graph, {.seed = 7});
    session.run({initializer(g)});
    const auto found = session.run(
        {{x, converted(random_doubles(Shape{4, 8}, -1, 1), f32)}, {labels, ints({1, 2, 3, 999})}}, rows);
    BOOST_TEST(found.size() == 2u);  // of the weights and of the bias
    for (const Tensor& indices :
         found) {  // of the 16 classes that are drawn, and of the labels that are not among them
      BOOST_TEST((indices.elements() >= 16 && indices.elements() <= 20));
      const auto all = indices.as<int64_t>();
      BOOST_TEST(std::set<int64_t>(all.begin(), all.end()).size() == all.size());
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::test::small_models_test
