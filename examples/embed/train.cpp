// Trains a classifier of points around three centres and prints its loss.
#include <troupe/troupe.h>
#include <cmath>
#include <iostream>
#include <random>

struct Batch {
  troupe::Tensor points, labels;  // float [64, 2], int32 [64]
};

Batch draw(std::mt19937& random) {
  std::normal_distribution<float> noise(0, 0.4f);
  std::vector<float> points;
  std::vector<int32_t> labels;
  for (int i = 0; i < 64; ++i) {
    const auto label = static_cast<int32_t>(random() % 3);
    labels.push_back(label);
    points.push_back(std::cos(2.1f * static_cast<float>(label)) + noise(random));
    points.push_back(std::sin(2.1f * static_cast<float>(label)) + noise(random));
  }
  return {troupe::Tensor::of<float>({64, 2}, points), troupe::Tensor::of<int32_t>({64}, labels)};
}

int main() try {
  troupe::Runtime runtime;
  troupe::Graph graph{runtime.ops()};
  const troupe::Scope g{graph};

  const auto x = placeholder(g, troupe::f32, {-1, 2}, "x"), y = placeholder(g, troupe::i32, {-1}, "y");
  const auto w = variable(g, zeros(g, {2, 3}), "w"), b = variable(g, zeros(g, {3}), "b");
  const auto logits = add(g, matmul(g, x, w), b);
  const auto loss = mean(g, sparse_softmax_cross_entropy_with_logits(g, logits, y));
  const auto correct = mean(g, cast(g, equal(g, argmax(g, logits, 1), y), troupe::f32));
  const auto step = troupe::nn::Adam{0.05}.minimize(g, loss);

  auto session = runtime.session(graph);
  session.run({initializer(g)});
  std::mt19937 random(7);
  for (int i = 0; i <= 200; ++i) {
    const auto [points, labels] = draw(random);
    const auto fetched = session.run({{x, points}, {y, labels}}, {loss, correct, step});
    if (i % 50 == 0)
      std::cout << "step " << i << ": loss " << fetched[0].item<float>() << ", correct "
                << fetched[1].item<float>() << '\n';
  }
} catch (const troupe::Error& error) {
  std::cerr << error.what() << '\n';
  return error.exit_code();
}
