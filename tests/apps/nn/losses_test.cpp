// Losses and metrics. The numbers are those of tf.keras.losses and tf.keras.metrics in TensorFlow 2.21, or follow from the few
// samples.
#include "apps/nn/losses.h"

#include <boost/test/unit_test.hpp>

#include <cmath>

#include "actors/runtime.h"
#include "graph/build/gradients.h"
#include "kernels/constructors.h"

namespace troupe::losses_test {
namespace {

using Loss = std::function<Output(const Scope&, Output, Output)>;
using Numbers = std::vector<float>;

/// Returns the loss with these options.
template <class Options>
Loss with(Output (*loss)(const Scope&, Output, Output, const Options&), Options options = {}) {
  return [=](const Scope& scope, Output x, Output y) { return loss(scope, x, y, options); };
}

const Numbers predicted = {0.5, -1, 2.5, 0}, label = {1, -2, 0.5, 0.25};
const Numbers logits = {1, 2, -1, 0.5, -1, 0, 2, 0.25, 3, 0, 1, 0.5};
const std::vector<int32_t> classes = {1, 2, 2, 0}, bits = {1, 0, 1, 0};

struct Samples {
  Tensor matrix(const Numbers& numbers, int64_t columns) const {
    const std::vector<int64_t> dims = {static_cast<int64_t>(numbers.size()) / columns, columns};
    return Tensor::vector<float>(numbers).reshaped(value_or_throw(Shape::make(dims, DType::Float)));
  }
  /// Returns the loss of constants.
  Tensor run(const Loss& loss, const Tensor& x, const Tensor& y) {
    Graph graph(runtime.ops());
    const Scope scope(graph);
    const Output result = loss(scope, scope.constant(x), scope.constant(y));
    return runtime.session(graph).run({result})[0];
  }
  double number(const Loss& loss, const Tensor& x, const Tensor& y) { return run(loss, x, y).as<float>()[0]; }
  void check(const Loss& loss, double expected) {
    BOOST_TEST(number(loss, Tensor::vector<float>(predicted), Tensor::vector<float>(label)) == expected,
               boost::test_tools::tolerance(1e-6));
    // A prediction [n, 1] is compared sample by sample, too.
    BOOST_TEST(number(loss, matrix(predicted, 1), Tensor::vector<float>(label)) == expected,
               boost::test_tools::tolerance(1e-6));
  }
  void check_classes(const Loss& loss, double expected) {
    BOOST_TEST(number(loss, matrix(logits, 3), Tensor::vector<int32_t>(classes)) == expected,
               boost::test_tools::tolerance(1e-6));
  }
  /// Returns a metric of samples in two batches of equal size.
  double metric(std::string_view name, const Tensor& x, const Tensor& y) {
    const auto found = std::ranges::find(nn::set_metrics(), name, &nn::SetMetric::name);
    std::vector<double> means;
    const int64_t half = x.shape()[0] / 2;
    for (const int64_t begin : {int64_t{0}, half}) {
      const Tensor batch = run(found->means, x.rows(begin, begin + half), y.rows(begin, begin + half));
      means.resize(static_cast<size_t>(batch.elements()));
      for (size_t i = 0; i < means.size(); ++i)
        means[i] += (batch.dtype() == DType::Double ? batch.as<double>()[i] : batch.as<float>()[i]) / 2;
    }
    return found->value(means);
  }

  Runtime runtime{{.threads = 1}};
};

BOOST_FIXTURE_TEST_SUITE(losses, Samples)

BOOST_AUTO_TEST_CASE(losses_of_numbers) {
  check(with(nn::mean_squared_error), 1.328125);
  check(with(nn::mean_absolute_error), 0.9375);
  check(with(nn::mean_absolute_percentage_error), 150);
  check(with(nn::log_cosh), 0.4774569272994995);
  check([](auto& s, auto x, auto y) { return nn::huber(s, x, y, {.delta = 0.75}); }, 0.4609375);
  check(with(nn::poisson_loss), 2.8622734546661377);
  check([](auto& s, auto x, auto y) { return nn::quantile_loss(s, x, y, {.quantile = 0.9}); },
        (0.9 * 0.5 + 0.1 * 1 + 0.1 * 2 + 0.9 * 0.25) / 4);
  BOOST_TEST(number(with(nn::mean_squared_log_error), Tensor::vector<float>({0.5, 1, 2.5, 0}),
                    Tensor::vector<float>({1, 2, 0.5, 0.25})) == 0.2537173628807068,
             boost::test_tools::tolerance(1e-6));
  BOOST_TEST(number(with(nn::cosine_distance), matrix({1, 2, 0.5, -1, 2, 0.25, 1, 1}, 2),
                    matrix({1, 0, 0.5, -1, -1, 3, 2, 1}, 2)) == 0.4500548243522644,
             boost::test_tools::tolerance(1e-6));
}

/// Expects the losses of the samples, their sum and their mean.
template <class Options>
void check_reductions(Samples& samples, Output (*loss)(const Scope&, Output, Output, const Options&),
                      const Tensor& x, const Tensor& y, const std::vector<double>& expected) {
  const Tensor losses = samples.run(with(loss, Options{.reduction = "none"}), x, y);
  BOOST_TEST_REQUIRE(losses.elements() == static_cast<int64_t>(expected.size()));
  double sum = 0;
  for (size_t i = 0; i < expected.size(); ++i) {
    BOOST_TEST(losses.as<float>()[i] == expected[i], boost::test_tools::tolerance(1e-5));
    sum += expected[i];
  }
  const auto count = static_cast<double>(expected.size());
  BOOST_TEST(samples.number(with(loss, Options{.reduction = "sum"}), x, y) == sum,
             boost::test_tools::tolerance(1e-5));
  BOOST_TEST(samples.number(with(loss), x, y) == sum / count, boost::test_tools::tolerance(1e-5));
}

BOOST_AUTO_TEST_CASE(losses_of_the_samples) {
  const Tensor x = Tensor::vector<float>(predicted), y = Tensor::vector<float>(label);
  check_reductions(*this, nn::mean_squared_error, x, y, {0.25, 1, 4, 0.0625});
  check_reductions(*this, nn::mean_squared_error, matrix(predicted, 2), matrix(label, 2),
                   {0.25, 1, 4, 0.0625});
  check_reductions(*this, nn::mean_absolute_error, x, y, {0.5, 1, 2, 0.25});
  check_reductions(*this, nn::mean_absolute_percentage_error, x, y, {50, 50, 400, 100});
  check_reductions(*this, nn::huber, x, y, {0.125, 0.5, 1.5, 0.03125});
  check_reductions(*this, nn::quantile_loss, x, y, {0.25, 0.5, 1, 0.125});
  check_reductions(*this, nn::poisson_loss, x, y,
                   {std::exp(0.5) - 0.5, std::exp(-1) - 2, std::exp(2.5) - 1.25, 1});
  const auto log_cosh = [](double error) { return std::log(std::cosh(error)); };
  check_reductions(*this, nn::log_cosh, x, y, {log_cosh(0.5), log_cosh(1), log_cosh(2), log_cosh(0.25)});
  const auto log_difference = [](double a, double b) { return std::pow(std::log1p(a) - std::log1p(b), 2); };
  check_reductions(*this, nn::mean_squared_log_error, x, y,
                   {log_difference(0.5, 1), 0, log_difference(2.5, 0.5), log_difference(0, 0.25)});
  check_reductions(*this, nn::cosine_distance, matrix({1, 0, 3, 4}, 2), matrix({2, 0, 4, -3}, 2), {0, 1});
  const Tensor ones = Tensor::vector<int32_t>(bits);
  check_reductions(*this, nn::hinge, matrix(predicted, 1), ones, {0.5, 0, 0, 1});
  check_reductions(*this, nn::squared_hinge, x, ones, {0.25, 0, 0, 1});
}

BOOST_AUTO_TEST_CASE(losses_of_the_samples_of_classes) {
  const Tensor x = Tensor::vector<float>(predicted), two = matrix({0, 1, 2, 0}, 2);
  const auto softplus = [](double number) { return std::log1p(std::exp(number)); };
  const std::vector<double> binary = {softplus(-0.5), softplus(-1), softplus(-2.5), softplus(0)};
  const Tensor ones = Tensor::vector<int32_t>(bits);
  check_reductions(*this, nn::binary_cross_entropy, x, ones, binary);
  check_reductions(*this, nn::binary_cross_entropy, matrix(predicted, 2), matrix({1, 0, 1, 0}, 2), binary);
  check_reductions(*this, nn::softmax_cross_entropy, two, Tensor::vector<int32_t>({1, 1}),
                   {softplus(-1), softplus(2)});
  check_reductions(*this, nn::kl_divergence, two, matrix({0, 1, 0, 1}, 2), {softplus(-1), softplus(2)});
  const auto focal = [&](double number) {
    return std::pow(1 - std::exp(-softplus(number)), 2) * softplus(number);
  };
  check_reductions(*this, nn::focal_loss, two, Tensor::vector<int32_t>({1, 1}), {focal(-1), focal(2)});
  const Loss weighted = with(nn::softmax_cross_entropy, {.class_weights = {3, 2}, .reduction = "none"});
  const Tensor losses = run(weighted, two, Tensor::vector<int32_t>({1, 0}));
  BOOST_TEST(losses.as<float>()[0] == 2 * softplus(-1), boost::test_tools::tolerance(1e-5));
  BOOST_TEST(losses.as<float>()[1] == 3 * softplus(-2), boost::test_tools::tolerance(1e-5));
  BOOST_CHECK_EXCEPTION(run(with(nn::hinge, {.reduction = "max"}), x, ones), Error, [](const Error& error) {
    return error.status().text() == "hinge: reduction is 'max'; it must be 'mean', 'sum' or 'none'";
  });
}

BOOST_AUTO_TEST_CASE(losses_of_classes) {
  check_classes(with(nn::softmax_cross_entropy), 0.8730875253677368);
  check_classes(
      [](auto& s, auto x, auto y) { return nn::softmax_cross_entropy(s, x, y, {.label_smoothing = 0.1}); },
      0.9293375015258789);
  check_classes(with(nn::focal_loss), 0.4172057509422302);
  const Tensor of_one = Tensor::vector<float>(predicted), ones = Tensor::vector<int32_t>(bits);
  const Loss binary = with(nn::binary_cross_entropy);
  for (const Tensor& x : {of_one, matrix(predicted, 1)}) {
    BOOST_TEST(number(binary, x, ones) == 0.3898438811302185, boost::test_tools::tolerance(1e-6));
    BOOST_TEST(number(binary, x, Tensor::vector<float>({1, 0, 1, 0})) == 0.3898438811302185,
               boost::test_tools::tolerance(1e-6));
    BOOST_TEST(number(with(nn::hinge), x, ones) == 0.375, boost::test_tools::tolerance(1e-6));
    BOOST_TEST(number(with(nn::squared_hinge), x, ones) == 0.3125, boost::test_tools::tolerance(1e-6));
  }
  const Loss smooth = [](auto& s, auto a, auto b) {
    return nn::binary_cross_entropy(s, a, b, {.label_smoothing = 0.2});
  };
  BOOST_TEST(number(smooth, of_one, ones) == 0.48984387516975403, boost::test_tools::tolerance(1e-6));
  BOOST_TEST(number(smooth, matrix(predicted, 2), matrix({1, 0, 1, 0}, 2)) == 0.48984387516975403,
             boost::test_tools::tolerance(1e-6));
  BOOST_CHECK_THROW(
      run([](auto& s, auto a, auto b) { return nn::binary_cross_entropy(s, a, b, {.label_smoothing = 1}); },
          of_one, ones),
      Error);
  const Tensor shares = matrix({0.2f, 0.3f, 0.5f, 0, 0.5f, 0.5f, 1, 0, 0, 0.25f, 0.25f, 0.5f}, 3);
  BOOST_TEST(number(with(nn::kl_divergence), matrix(logits, 3), shares) == 0.85745615,
             boost::test_tools::tolerance(1e-5));
  // Several labels for each sample.
  BOOST_TEST(number(binary, matrix(predicted, 2), matrix({1, 0, 1, 0}, 2)) == 0.3898438811302185,
             boost::test_tools::tolerance(1e-6));
}

template <class T>
void check_labels_of_type(Samples& samples) {
  const auto as = [](const std::vector<int32_t>& numbers) {
    Tensor result = *Tensor::allocate(dtype_of<T>, Shape::vector(static_cast<int64_t>(numbers.size())));
    std::ranges::transform(numbers, result.write<T>().begin(), [](int32_t n) { return static_cast<T>(n); });
    return result;
  };
  const auto check = [&](const Loss& loss, const Tensor& x, const std::vector<int32_t>& labels) {
    BOOST_TEST(samples.number(loss, x, as(labels)) ==
               samples.number(loss, x, Tensor::vector<int32_t>(labels)));
  };
  const std::vector<Loss> losses = {
      with(nn::softmax_cross_entropy),
      [](auto& s, auto x, auto y) {
        return nn::softmax_cross_entropy(s, x, y, {.label_smoothing = 0.1, .class_weights = {1, 2}});
      },
      with(nn::focal_loss), with(nn::binary_cross_entropy), nn::accuracy};
  for (const Loss& loss : losses) check(loss, samples.matrix(predicted, 1), bits);
  if (std::is_same_v<T, bool>) return;
  check(losses[0], samples.matrix(logits, 3), classes);
  check(losses[2], samples.matrix(logits, 3), classes);
}

BOOST_AUTO_TEST_CASE(labels_have_any_type_of_integers) {
  check_labels_of_type<uint8_t>(*this);
  check_labels_of_type<int8_t>(*this);
  check_labels_of_type<uint16_t>(*this);
  check_labels_of_type<int16_t>(*this);
  check_labels_of_type<uint32_t>(*this);
  check_labels_of_type<uint64_t>(*this);
  check_labels_of_type<int64_t>(*this);
  check_labels_of_type<bool>(*this);
}

BOOST_AUTO_TEST_CASE(labels_that_no_class_has_are_refused) {
  const std::vector<Loss> losses = {
      with(nn::softmax_cross_entropy),
      [](auto& s, auto x, auto y) { return nn::softmax_cross_entropy(s, x, y, {.label_smoothing = 0.1}); },
      with(nn::focal_loss), with(nn::kl_divergence)};
  const auto is_explained = [](const Error& error) {
    return std::string(error.what()).find("labels") != std::string::npos;
  };
  for (const Loss& loss : losses)
    for (const int32_t bad : {-1, 3})
      BOOST_CHECK_EXCEPTION(run(loss, matrix(logits, 3), Tensor::vector<int32_t>({1, 2, bad, 0})), Error,
                            is_explained);
  const Loss binary = [](auto& s, auto x, auto y) {
    return nn::binary_cross_entropy(s, x, y, {.label_smoothing = 0.1});
  };
  BOOST_CHECK_EXCEPTION(run(binary, matrix(predicted, 1), Tensor::vector<int32_t>({1, 2, 0, 0})), Error,
                        is_explained);
}

// The gradient of a sample's loss is softmax(logits) less its label, of which 0.1 is spread over the three classes.
BOOST_AUTO_TEST_CASE(the_gradient_of_a_loss_with_smoothed_labels) {
  const Loss gradient = [](const Scope& s, Output x, Output y) {
    const Output loss = nn::softmax_cross_entropy(s, x, y, {.label_smoothing = 0.1});
    const Output by_logits = std::get<Output>(gradients(s, {loss}, {x})[0]);
    const Output labels = one_hot(s, y, 3, 0.9f + 0.1f / 3, 0.1f / 3);
    const Output expected = div(s, sub(s, softmax(s, x), labels), 4.0f);
    return max(s, abs(s, sub(s, by_logits, expected)), {0, 1});
  };
  BOOST_TEST(number(gradient, matrix(logits, 3), Tensor::vector<int32_t>(classes)) < 1e-6);
}

BOOST_AUTO_TEST_CASE(samples_count_by_their_class) {
  const nn::ClassWeights weights = {0.5, 2, 1.25};
  check_classes(
      [&](auto& s, auto x, auto y) { return nn::softmax_cross_entropy(s, x, y, {.class_weights = weights}); },
      0.8417486);
  check_classes(
      [&](auto& s, auto x, auto y) {
        return nn::softmax_cross_entropy(s, x, y, {.label_smoothing = 0.1, .class_weights = weights});
      },
      0.94643605);
  check_classes([&](auto& s, auto x, auto y) { return nn::focal_loss(s, x, y, {.class_weights = weights}); },
                0.31860203);
  const Loss binary = [](auto& s, auto x, auto y) {
    return nn::binary_cross_entropy(s, x, y, {.class_weights = {0.5, 2}});
  };
  BOOST_TEST(number(binary, matrix(predicted, 1), Tensor::vector<int32_t>(bits)) == 0.40228447,
             boost::test_tools::tolerance(1e-6));
  BOOST_TEST(number(binary, matrix(predicted, 1), Tensor::vector<float>({1, 0, 1, 0})) == 0.40228447,
             boost::test_tools::tolerance(1e-6));
  BOOST_CHECK_EXCEPTION(
      run(binary, matrix(logits, 3), Tensor::vector<int32_t>(classes)), Error, [](const Error& error) {
        return std::string(error.what()).find("class_weights need logits [n] or [n, 1]; found [4,3]") !=
               std::string::npos;
      });
}

BOOST_AUTO_TEST_CASE(weights_of_classes_below_0_are_refused) {
  for (const double bad : {-1.0, std::nan(""), HUGE_VAL}) {
    const nn::ClassWeights weights = {1, bad};
    const std::vector<Loss> losses = {
        [&](auto& s, auto x, auto y) {
          return nn::softmax_cross_entropy(s, x, y, {.class_weights = weights});
        },
        [&](auto& s, auto x, auto y) {
          return nn::binary_cross_entropy(s, x, y, {.class_weights = weights});
        },
        [&](auto& s, auto x, auto y) { return nn::focal_loss(s, x, y, {.class_weights = weights}); }};
    for (const Loss& loss : losses)
      BOOST_CHECK_EXCEPTION(
          run(loss, matrix(predicted, 1), Tensor::vector<int32_t>(bits)), Error, [](const Error& error) {
            return std::string(error.what()).find(": class_weights[1] is ") != std::string::npos;
          });
  }
}

BOOST_AUTO_TEST_CASE(weights_of_classes_that_are_all_0_are_refused) {
  const Loss loss = [](auto& s, auto x, auto y) {
    return nn::softmax_cross_entropy(s, x, y, {.class_weights = {0, 0}});
  };
  BOOST_CHECK_EXCEPTION(
      run(loss, matrix(predicted, 1), Tensor::vector<int32_t>(bits)), Error, [](const Error& error) {
        return std::string(error.what()).find("all class_weights are 0") != std::string::npos;
      });
}

BOOST_AUTO_TEST_CASE(shapes_that_do_not_match_are_refused) {
  const auto refused = [&](const Loss& loss, const Tensor& x, const Tensor& y, const std::string& why) {
    BOOST_CHECK_EXCEPTION(run(loss, x, y), Error, [&](const Error& error) {
      return std::string(error.what()).find(why) != std::string::npos;
    });
  };
  refused(with(nn::mean_squared_error), matrix(predicted, 2), Tensor::vector<float>({1, 2}),
          "mean_squared_error: the prediction is [2,2] and the label [2]; both must have the same shape");
  refused(nn::accuracy, matrix(logits, 3), matrix({1, 0, 1, 0}, 2),
          "the prediction is [4,3] and the label [2,2]");
  refused([](auto& s, auto x, auto y) { return nn::huber(s, x, y, {.delta = 0}); }, matrix(predicted, 1),
          Tensor::vector<float>(label), "delta must be above 0");
}

BOOST_AUTO_TEST_CASE(accuracies) {
  check_classes(nn::accuracy, 0.5);
  check_classes([](auto& s, auto x, auto y) { return nn::top_k_accuracy(s, x, y, {.k = 3}); }, 1);
  BOOST_TEST(number(nn::accuracy, matrix(predicted, 1), Tensor::vector<int32_t>({1, 1, 1, 0})) == 0.75);
}

BOOST_AUTO_TEST_CASE(metrics_of_classes_refuse_samples_of_several) {
  const Tensor one = matrix({0, 1, 0, 1, 0, 0, 0, 0, 1, 0, 0.5F, 0.5F}, 3),
               several = matrix({0, 1, 0, 1, 0, 0, 1, 0, 1, 0, 0, 0}, 3);
  BOOST_TEST(number(nn::accuracy, matrix(logits, 3), one) >= 0);
  const auto is_explained = [](const Error& error) {
    return std::string(error.what()).find("the labels of a sample add up to ] [2] [; a metric of classes") !=
           std::string::npos;
  };
  BOOST_CHECK_EXCEPTION(run(nn::accuracy, matrix(logits, 3), several), Error, is_explained);
  BOOST_CHECK_EXCEPTION(metric("f1", matrix(logits, 3), several), Error, is_explained);
}

BOOST_AUTO_TEST_CASE(metrics_of_all_samples_refuse_labels_that_no_class_has) {
  for (const char* const name : {"auc", "f1", "precision", "recall"})
    for (const int32_t bad : {-1, 2})
      BOOST_CHECK_EXCEPTION(metric(name, matrix(predicted, 1), Tensor::vector<int32_t>({1, bad, 0, 1})),
                            Error, [](const Error& error) {
                              return std::string(error.what()).find("below the number of classes, ] [2]") !=
                                     std::string::npos;
                            });
}

// Of so many samples of class 1 with higher scores than the one of class 0, the sums round to more than 1.
BOOST_AUTO_TEST_CASE(no_area_under_the_curve_exceeds_1) {
  constexpr double share = 1 / 6.0;
  const auto auc = std::ranges::find(nn::set_metrics(), "auc", &nn::SetMetric::name);
  BOOST_TEST(auc->value(std::vector<double>{share, 0, 0, 0, 0, 0, 0, share, share, share, share, share}) ==
             1.0);
}

BOOST_AUTO_TEST_CASE(metrics_of_all_samples) {
  const Tensor scores = Tensor::vector<float>({2, 1, -1, 3, -2, 0.5, -3, 1}),
               truth = Tensor::vector<int32_t>({1, 0, 1, 1, 0, 1, 0, 0});
  BOOST_TEST(metric("precision", scores, truth) == 0.6, boost::test_tools::tolerance(1e-6));
  BOOST_TEST(metric("recall", scores, truth) == 0.75, boost::test_tools::tolerance(1e-6));
  BOOST_TEST(metric("f1", scores, truth) == 2 * 0.6 * 0.75 / 1.35, boost::test_tools::tolerance(1e-6));
  // Of the 16 pairs of a one and a zero, 4 + 2 + 4 + 2 are in the right order.
  BOOST_TEST(metric("auc", scores, truth) == 12 / 16.0, boost::test_tools::tolerance(1e-3));
  Tensor rare = *Tensor::allocate(DType::Float, scores.shape());  // all are improbable
  std::ranges::transform(scores.as<float>(), rare.write<float>().begin(),
                         [](float score) { return score - 15; });
  BOOST_TEST(metric("auc", rare, truth) == 12 / 16.0, boost::test_tools::tolerance(1e-3));
  BOOST_TEST(
      metric("r2", Tensor::vector<float>(predicted), Tensor::vector<float>(label)) == -0.002949833869934082,
      boost::test_tools::tolerance(1e-4));
  // The mean over two numbers of a sample: 1 - 1 / 5, and 1.
  BOOST_TEST(
      metric("r2", matrix({1, 10, 2, 20, 3, 60, 5, 10}, 2), matrix({1, 10, 2, 20, 3, 60, 4, 10}, 2)) == 0.9,
      boost::test_tools::tolerance(1e-6));
  BOOST_TEST(metric("root_mean_squared_error", matrix(predicted, 1), Tensor::vector<float>(label)) ==
                 std::sqrt(1.328125),
             boost::test_tools::tolerance(1e-6));
  BOOST_TEST(metric("perplexity", matrix(logits, 3), Tensor::vector<int32_t>(classes)) ==
                 std::exp(0.8730875253677368),
             boost::test_tools::tolerance(1e-6));
  // The mean over three classes: 0 of 1, 1 of 1 and 1 of 2 samples are found; 0 of 1, 1 of 2 and 1 of 1 predictions are right.
  const Tensor three = matrix(logits, 3), of_three = Tensor::vector<int32_t>(classes);
  BOOST_TEST(metric("recall", three, of_three) == 0.5, boost::test_tools::tolerance(1e-6));
  BOOST_TEST(metric("precision", three, of_three) == 0.5, boost::test_tools::tolerance(1e-6));
}

BOOST_AUTO_TEST_CASE(what_is_not_defined_is_no_number) {
  const Tensor zeros = Tensor::vector<int32_t>({0, 0, 0, 0});
  BOOST_TEST(std::isnan(metric("auc", Tensor::vector<float>(predicted), zeros)));
  BOOST_TEST(std::isnan(metric("r2", Tensor::vector<float>(predicted), Tensor::vector<float>({2, 2, 2, 2}))));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::losses_test
