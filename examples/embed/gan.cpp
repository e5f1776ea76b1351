// Trains a generative adversarial network (Goodfellow et al. 2014): a generator makes points of noise, a discriminator tells them
// from points of a ring, and each has an optimizer of its own. Prints how many of the generated points lie near the ring, and on
// how many of its eight sectors.
#include <troupe/troupe.h>
#include <cmath>
#include <iostream>
#include <numbers>
#include <random>
#include <set>
#include <vector>

using troupe::Output;
using troupe::Tensor;
using troupe::nn::Network;

constexpr int64_t batch = 256, noise = 8;

Tensor points_of_the_ring(std::mt19937& random) {
  std::normal_distribution<float> near(1, 0.05f);
  std::uniform_real_distribution<float> angle(0, 2 * std::numbers::pi_v<float>);
  std::vector<float> points;
  for (int64_t i = 0; i < batch; ++i) {
    const float radius = near(random), at = angle(random);
    points.insert(points.end(), {radius * std::cos(at), radius * std::sin(at)});
  }
  return Tensor::of<float>({batch, 2}, points);
}

/// Two hidden layers of 64 units.
Output layers(const Network& network, Output x, int64_t results) {
  for (int i = 0; i < 2; ++i) x = troupe::nn::dense(network, x, {.units = 64, .activation = "relu"});
  return troupe::nn::dense(network, x, {.units = results});
}

std::vector<Output> weights_of(const Network& network) {
  std::vector<Output> weights;
  for (const auto& [weight, edge] : network.weights()) weights.push_back(edge);
  return weights;
}

int main() try {
  troupe::Runtime runtime;
  troupe::Graph graph{runtime.ops()};
  const troupe::Scope g{graph};

  const auto real = placeholder(g, troupe::f32, {batch, 2}, "real");
  const Network generator = Network(g).at("generator"), discriminator = Network(g).at("discriminator");
  const auto made = layers(generator, random_normal(g, {batch, noise}, troupe::f32), 2);
  const auto of_real = layers(discriminator, real, 1);
  // The same weights judge the points that the generator made.
  const auto of_made = layers(discriminator.rebuilt(g.with_prefix("made"), discriminator.mode()), made, 1);

  const auto cross_entropy = [&](Output logits, bool is_real) {
    return troupe::nn::binary_cross_entropy(g, logits,
                                            is_real ? ones_like(g, logits) : zeros_like(g, logits));
  };
  const auto judged = add(g, cross_entropy(of_real, true), cross_entropy(of_made, false));
  const auto fooled = cross_entropy(of_made, true);
  const auto judge = troupe::nn::Adam{1e-3, 0.5}.minimize(g, judged, weights_of(discriminator));
  const auto fool =
      troupe::nn::Adam{1e-3, 0.5}.minimize(g.with_prefix("fool"), fooled, weights_of(generator));

  auto session = runtime.session(graph, {.seed = 5});
  session.run({initializer(g)});
  std::mt19937 random(7);
  for (int step = 0; step < 3000; ++step) {
    session.run({{real, points_of_the_ring(random)}}, {judge});
    session.run({fool});
  }

  const auto points = session.run({made})[0];
  int near = 0;
  std::set<int> sectors;
  for (size_t i = 0; i < batch; ++i) {
    const float x = points.as<float>()[2 * i], y = points.as<float>()[2 * i + 1];
    if (std::abs(std::hypot(x, y) - 1) > 0.2f) continue;
    ++near;
    sectors.insert(static_cast<int>(std::floor(std::atan2(y, x) / std::numbers::pi_v<float> * 4)));
  }
  std::cout << near * 100 / batch << " % of the points lie near the ring, on " << sectors.size()
            << " of its 8 sectors\n";
} catch (const troupe::Error& error) {
  std::cerr << error.what() << '\n';
  return error.exit_code();
}
