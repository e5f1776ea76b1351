// The language models of examples/models learn a text that stands in the repository, examples/constitution.txt.
#include "language.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <functional>
#include <random>
#include <set>

#include "tests/support/ops/run_op.h"
#include "tests/support/project_files.h"

namespace troupe::test::language_test {
namespace {

constexpr int64_t time_steps = 32, batch = 32;

/// A text as numbers of characters, from which windows are drawn.
class Text {
 public:
  /// Characters get numbers by falling frequency.
  explicit Text(const std::string& text) {
    const std::set<char> known(text.begin(), text.end());
    std::string alphabet(known.begin(), known.end());
    std::ranges::sort(alphabet, std::greater(),
                      [&](char character) { return std::ranges::count(text, character); });
    vocabulary_ = static_cast<int64_t>(alphabet.size());
    for (const char character : text) codes_.push_back(static_cast<int32_t>(alphabet.find(character)));
  }
  int64_t vocabulary() const { return vocabulary_; }

  struct Batch {
    Tensor tokens, next;  ///< [batch, time_steps]
  };
  /// Draws windows from the first nine tenths of the text.
  Batch draw(std::mt19937& random) const {
    const size_t limit = codes_.size() * 9 / 10 - time_steps - 1;
    return windows([&](int64_t) { return random() % limit; });
  }
  /// Windows of the last tenth, which is not trained on.
  Batch held_out() const {
    const size_t begin = codes_.size() * 9 / 10;
    return windows([&](int64_t i) {
      return begin + static_cast<size_t>(i) * (codes_.size() / 10 - time_steps - 1) / batch;
    });
  }

 private:
  Batch windows(const std::function<size_t(int64_t)>& begin) const {
    std::vector<int32_t> tokens, next;
    for (int64_t i = 0; i < batch; ++i) {
      const auto from = codes_.begin() + static_cast<std::ptrdiff_t>(begin(i));
      tokens.insert(tokens.end(), from, from + time_steps);
      next.insert(next.end(), from + 1, from + 1 + time_steps);
    }
    const Shape shape{batch, time_steps};
    return {Tensor::of<int32_t>(shape, tokens), Tensor::of<int32_t>(shape, next)};
  }

  int64_t vocabulary_ = 0;
  std::vector<int32_t> codes_;
};

/// Returns the mean cross entropy of a model whose logits are those of the next token.
using Loss = std::function<Output(const nn::Network&, Output tokens, Output next, int64_t vocabulary)>;

/// Returns the perplexity on the held-out text after a number of training steps.
double perplexity(const Loss& loss_of_model, int steps) {
  const Text text(project_file("examples/constitution.txt"));
  Runtime runtime;
  Graph graph{runtime.ops()};
  const Scope g(graph);
  const Output tokens = placeholder(g, i32, {-1, time_steps}), next = placeholder(g, i32, {-1, time_steps});
  const auto loss_of = [&](const nn::Network& network) {
    return loss_of_model(network, tokens, next, text.vocabulary());
  };
  const nn::Network training(g.with_prefix("training"));
  const Output loss = loss_of(training);
  const Output held_out = loss_of(training.rebuilt(g.with_prefix("inference"), nn::Mode::Inference));
  const Output update = nn::Adam(3e-3).minimize(g, loss);
  auto session = runtime.session(graph, {.seed = 7});
  session.run({initializer(g)});
  std::mt19937 random(7);
  for (int i = 0; i < steps; ++i) {
    const auto [drawn, following] = text.draw(random);
    session.run({{tokens, drawn}, {next, following}}, {update});
  }
  const auto [drawn, following] = text.held_out();
  return std::exp(session.run({{tokens, drawn}, {next, following}}, {held_out})[0].item<float>());
}

BOOST_AUTO_TEST_SUITE(models_of_language)

// A uniform guess has a perplexity of about 65, the frequencies of the characters one of about 20.
BOOST_AUTO_TEST_CASE(lstms_predict_characters) {
  const double found = perplexity(
      [](const nn::Network& network, Output tokens, Output next, int64_t vocabulary) {
        const Output logits =
            models::lstm_language_model(network, tokens, {.vocabulary = vocabulary, .units = 128});
        return models::language_loss(network, logits, next);
      },
      150);
  BOOST_TEST(found < 10);
}

BOOST_AUTO_TEST_CASE(lstms_learn_from_samples_of_the_vocabulary) {
  const double found = perplexity(
      [](const nn::Network& network, Output tokens, Output next, int64_t vocabulary) {
        const Output features =
            models::lstm_features(network, tokens, {.vocabulary = vocabulary, .units = 128});
        return models::sampled_language_loss(network, features, next, vocabulary, 20);
      },
      150);
  BOOST_TEST(found < 12.5);
}

// What is computed again for the gradients, dropout included, has the same bits.
BOOST_AUTO_TEST_CASE(transformers_predict_characters) {
  const auto trained = [](bool recompute) {
    return perplexity(
        [&](const nn::Network& network, Output tokens, Output next, int64_t vocabulary) {
          const Output logits = models::transformer_language_model(network, tokens,
                                                                   {.vocabulary = vocabulary,
                                                                    .units = 64,
                                                                    .heads = 4,
                                                                    .inner_units = 128,
                                                                    .layers = 2,
                                                                    .max_time = time_steps,
                                                                    .causal = true,
                                                                    .recompute = recompute});
          return models::language_loss(network, logits, next);
        },
        150);
  };
  const double found = trained(false);
  BOOST_TEST(found < 10);
  BOOST_TEST(trained(true) == found);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::test::language_test
