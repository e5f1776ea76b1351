// Learns to balance a pole on a cart (Barto, Sutton and Anderson 1983) by the policy gradient (Williams 1992): the policy is a
// graph, the world a loop of the program. After each episode a step makes the actions that were followed by more reward than usual
// more likely. Prints the mean length of episodes, which end when the pole falls or after 200 moves.
#include <troupe/troupe.h>
#include <algorithm>
#include <array>
#include <cmath>
#include <iostream>
#include <random>
#include <vector>

using troupe::Tensor;

constexpr int max_moves = 200;
constexpr int64_t state_size = 4;

class CartPole {
 public:
  explicit CartPole(std::mt19937& random) {
    std::uniform_real_distribution<float> small(-0.05f, 0.05f);
    for (float& one : state_) one = small(random);
  }

  const std::array<float, state_size>& state() const {
    return state_;
  }  ///< position, speed, angle, its speed

  /// Pushes the cart to the right or left for 0.02 s. Returns false if the pole has fallen or the cart has left the track.
  bool push(bool right) {
    constexpr float gravity = 9.8f, cart = 1, pole = 0.1f, half_length = 0.5f, force = 10, time = 0.02f;
    auto& [x, speed, angle, turn] = state_;
    const float sine = std::sin(angle), cosine = std::cos(angle);
    const float thrust = ((right ? force : -force) + pole * half_length * turn * turn * sine) / (cart + pole);
    const float turning = (gravity * sine - cosine * thrust) /
                          (half_length * (4.0f / 3 - pole * cosine * cosine / (cart + pole)));
    const float acceleration = thrust - pole * half_length * turning * cosine / (cart + pole);
    x += time * speed;
    speed += time * acceleration;
    angle += time * turn;
    turn += time * turning;
    return std::abs(x) < 2.4f && std::abs(angle) < 0.21f;
  }

 private:
  std::array<float, state_size> state_{};
};

struct Episode {
  std::vector<float> states;
  std::vector<int32_t> actions;
  int64_t moves() const { return static_cast<int64_t>(actions.size()); }

  /// Returns for each move the rewards from then on, each later one counting less, relative to their mean and deviation.
  std::vector<float> advantages() const {
    std::vector<float> all(actions.size());
    float sum = 0;
    for (size_t i = all.size(); i-- > 0;) all[i] = sum = 1 + 0.99f * sum;
    float mean = 0, variance = 0;
    for (const float one : all) mean += one / static_cast<float>(all.size());
    for (const float one : all) variance += (one - mean) * (one - mean) / static_cast<float>(all.size());
    for (float& one : all) one = (one - mean) / (std::sqrt(variance) + 1e-6f);
    return all;
  }
};

int main() try {
  troupe::Runtime runtime{{.threads = 1}};  // the steps are small
  troupe::Graph graph{runtime.ops()};
  const troupe::Scope g{graph};
  const troupe::nn::Network policy(g);

  const auto states = placeholder(g, troupe::f32, {-1, state_size}, "states");
  const auto actions = placeholder(g, troupe::i32, {-1}, "actions");
  const auto advantages = placeholder(g, troupe::f32, {-1}, "advantages");
  const auto hidden = troupe::nn::dense(policy, states, {.units = 32, .activation = "tanh"});
  const auto logits = troupe::nn::dense(policy, hidden, {.units = 2});
  const auto right = slice(g, softmax(g, logits), {0, 1}, {-1, 1});  // the probability of a push to the right
  const auto surprise = sparse_softmax_cross_entropy_with_logits(g, logits, actions);
  const auto learn = troupe::nn::Adam{1e-2}.minimize(g, mean(g, mul(g, surprise, advantages)));

  auto session = runtime.session(graph, {.seed = 3});
  session.run({initializer(g)});
  const auto decide = session.prepare({states}, {right});  // a step that runs for every move
  std::mt19937 random(11);
  std::uniform_real_distribution<float> chance(0, 1);
  double usual = 0;
  for (int number = 1; number <= 400; ++number) {
    CartPole world(random);
    Episode episode;
    for (bool stands = true; stands && episode.moves() < max_moves;) {
      const auto state = Tensor::of<float>({1, state_size}, world.state());
      const bool to_the_right = chance(random) < decide.run({state})[0].as<float>()[0];
      episode.states.insert(episode.states.end(), world.state().begin(), world.state().end());
      episode.actions.push_back(to_the_right);
      stands = world.push(to_the_right);
    }
    session.run({{states, Tensor::of<float>({episode.moves(), state_size}, episode.states)},
                 {actions, Tensor::vector<int32_t>(episode.actions)},
                 {advantages, Tensor::vector<float>(episode.advantages())}},
                {learn});
    usual += 0.05 * (static_cast<double>(episode.moves()) - usual);
    if (number % 100 == 0) std::cout << "episode " << number << ": " << std::lround(usual) << " moves\n";
  }
} catch (const troupe::Error& error) {
  std::cerr << error.what() << '\n';
  return error.exit_code();
}
