// The models of examples/models: their sizes are those of the literature, and each learns a batch of small images by heart.
#include <boost/test/unit_test.hpp>
#include <functional>
#include <numeric>

#include "convnets.h"
#include "tests/support/ops/op_case.h"
#include "tests/support/ops/run_op.h"

namespace troupe::test::models_test {
namespace {

using Model = std::function<Output(const nn::Network&, Output images, int64_t classes)>;

/// Returns the number of elements of all trainable weights for images of `size` x `size` and 1,000 classes.
int64_t parameters(const Model& model, int64_t size) {
  Graph graph(op_library()->ops);
  const Scope g(graph);
  const nn::Network network(g);
  model(network, placeholder(g, f32, {-1, size, size, 3}), 1000);
  int64_t total = 0;
  for (const auto& [weight, edge] : network.weights())
    if (weight.trainable)
      total += std::accumulate(weight.shape.dims().begin(), weight.shape.dims().end(), int64_t{1},
                               std::multiplies());
  return total;
}

/// Trains on one batch and returns the loss of each step.
std::vector<float> losses(const Model& model, int64_t size, double rate, int steps) {
  Runtime runtime;
  Graph graph{runtime.ops()};
  const Scope g(graph);
  const nn::Network network(g);
  const Output images = placeholder(g, f32, {-1, size, size, 3}), labels = placeholder(g, i32, {-1});
  const Output logits = model(network, images, 4);
  const Output loss = mean(g, sparse_softmax_cross_entropy_with_logits(g, logits, labels));
  const Output update = g.group({nn::Adam(rate).minimize(g, loss), network.update_averages()});
  auto session = runtime.session(graph, {.seed = 7});
  session.run({initializer(g)});
  const Tensor batch = converted(random_doubles(Shape{4, size, size, 3}, -1, 1), f32),
               truth = ints({0, 1, 2, 3});
  std::vector<float> result;
  for (int i = 0; i < steps; ++i)
    result.push_back(session.run({{images, batch}, {labels, truth}}, {loss, update})[0].item<float>());
  return result;
}

void check_learning(const char* name, const Model& model, int64_t size, double rate) {
  const auto history = losses(model, size, rate, 30);
  BOOST_TEST(history.back() < 0.5f * history.front(),
             name << ": the loss was " << history.front() << ", then " << history.back());
}

BOOST_AUTO_TEST_SUITE(models_of_images)

BOOST_AUTO_TEST_CASE(have_the_sizes_of_the_literature) {
  BOOST_TEST(parameters(models::alexnet, 224) == 61100840);
  BOOST_TEST(parameters(models::overfeat, 231) == 145920872);
  BOOST_TEST(parameters(models::oxfordnet, 224) == 132863336);
  BOOST_TEST(parameters(models::googlenet, 224) == 6998552);
  BOOST_TEST(parameters(models::resnet50, 224) == 25557032);
  const Model inception = [](const nn::Network& network, Output images, int64_t classes) {
    return models::inception_v3(network, images, {.classes = classes}).logits;
  };
  BOOST_TEST(parameters(inception, 299) == 23817352 + 3325800);  // and its auxiliary head
}

BOOST_AUTO_TEST_CASE(learn_a_batch) {
  check_learning("AlexNet", models::alexnet, 64, 1e-3);
  check_learning("GoogLeNet", models::googlenet, 32, 3e-4);
  check_learning("ResNet-50", models::resnet50, 32, 1e-3);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::test::models_test
