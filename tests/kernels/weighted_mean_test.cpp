// Tests of the arithmetic of synchronous replication, bit by bit against that of n towers in one graph.
#include "kernels/loops/weighted_mean.h"

#include <boost/test/unit_test.hpp>

#include <limits>
#include <random>

#include "kernels/loops/weighted_rows.h"
#include "tests/support/ops/run_op.h"

namespace troupe::weighted_mean_test {
namespace {

template <class T>
Tensor random_values(const Shape& shape, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  Tensor tensor = value_or_throw(Tensor::allocate(dtype_of<T>, shape));
  for (T& value : tensor.write<T>()) value = T(static_cast<float>(normal(random)));
  return tensor;
}

Result<Tensor> mean_of(const std::vector<Tensor>& gradients, const std::vector<int64_t>& weights,
                       size_t threads = 1) {
  const auto pool = value_or_throw(ThreadPool::make(threads));
  TROUPE_ASSIGN(Tensor mean, allocate_mean(gradients, weights, heap_allocator()));
  weighted_mean(gradients, weights, mean, *pool);
  return mean;
}

/// The result of the ops: AddN(g[k] * w[k]) / AddN(w[k]).
template <class T>
Tensor by_ops(const std::vector<Tensor>& gradients, const std::vector<int64_t>& weights) {
  const auto run = [](const std::string& op, const std::vector<Tensor>& inputs) {
    return value_or_throw(test::run_op(op, inputs)).at(0);
  };
  std::vector<Tensor> factors, products;
  for (size_t k = 0; k < gradients.size(); ++k) {
    factors.push_back(Tensor::scalar(static_cast<T>(weights[k])));
    products.push_back(run("Mul", {gradients[k], factors[k]}));
  }
  return run("RealDiv", {run("AddN", products), run("AddN", factors)});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(weighted_mean_of_gradients)

BOOST_AUTO_TEST_CASE(it_is_that_of_single_ops_for_any_size_and_number_of_threads) {
  for (const int64_t size : {0, 1, 3, 15, 16, 17, 1000, 100'003}) {
    std::vector<Tensor> floats, doubles;
    for (uint64_t seed = 0; seed < 5; ++seed) {
      floats.push_back(random_values<float>(Shape{size}, seed));
      doubles.push_back(random_values<double>(Shape{size}, seed));
    }
    const std::vector<int64_t> weights = {13, 13, 13, 13, 12};
    for (const size_t threads : {1, 2}) {
      BOOST_TEST(identical(*mean_of(floats, weights, threads), by_ops<float>(floats, weights)),
                 "size " << size);
      BOOST_TEST(identical(*mean_of(doubles, weights, threads), by_ops<double>(doubles, weights)),
                 "size " << size);
    }
  }
}

BOOST_AUTO_TEST_CASE(narrow_types_are_rounded_once) {
  const std::vector<Tensor> halves = {Tensor::vector<Half>({Half(1.0f), Half(60000.0f)}),
                                      Tensor::vector<Half>({Half(2.0f), Half(60000.0f)})};
  const Tensor mean = *mean_of(halves, {1000, 3000});
  BOOST_TEST(static_cast<float>(mean.as<Half>()[0]) == 1.75f);
  BOOST_TEST(static_cast<float>(mean.as<Half>()[1]) == static_cast<float>(Half(60000.0f)));
}

BOOST_AUTO_TEST_CASE(the_mean_of_one_shard_is_its_gradient) {
  const Tensor gradient = Tensor::vector<float>({0.1f});
  BOOST_TEST(identical(*mean_of({gradient}, {3}), gradient));
}

BOOST_AUTO_TEST_CASE(a_shard_without_samples_is_left_out) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Tensor mean = *mean_of({Tensor::vector<float>({nan}), Tensor::vector<float>({3})}, {0, 7});
  BOOST_TEST(mean.as<float>()[0] == 3.0f);
}

BOOST_AUTO_TEST_CASE(gradients_without_a_mean_are_refused) {
  const Tensor two = Tensor::vector<float>({1, 2}), three = Tensor::vector<float>({1, 2, 3});
  const Tensor integers = Tensor::vector<int32_t>({1, 2}), doubles = Tensor::vector<double>({1, 2});
  const auto code = [](const std::vector<Tensor>& gradients, const std::vector<int64_t>& weights) {
    return mean_of(gradients, weights).status().code();
  };
  BOOST_TEST((code({two, two}, {0, 0}) == Code::InvalidArgument));
  BOOST_TEST((code({two, two}, {2, -1}) == Code::InvalidArgument));
  BOOST_TEST((code({two, two}, {1, INT64_MAX}) == Code::InvalidArgument));
  BOOST_TEST((code({two, three}, {1, 1}) == Code::InvalidArgument));
  BOOST_TEST((code({two, doubles}, {1, 1}) == Code::InvalidArgument));
  BOOST_TEST((code({integers, integers}, {1, 1}) == Code::InvalidArgument));
}

// ConcatV2, Unique, UnsortedSegmentSum and RealDiv compute the same in one graph.
BOOST_AUTO_TEST_CASE(that_of_rows_is_that_of_single_ops) {
  const auto run = [](const std::string& op, const std::vector<Tensor>& inputs) {
    return value_or_throw(test::run_op(op, inputs));
  };
  const std::vector<int64_t> weights = {3, 2, 0};
  const std::vector<Tensor> indices = {Tensor::vector<int32_t>({4, 0, 4}), Tensor::vector<int32_t>({}),
                                       Tensor::vector<int32_t>({0, 7})};
  for (const int64_t row : {1, 7, 700}) {
    std::vector<TensorRows> shards;
    std::vector<Tensor> products;
    for (size_t k = 0; k < weights.size(); ++k) {
      shards.push_back({random_values<float>(Shape{indices[k].shape()[0], row}, k), indices[k]});
      products.push_back(
          run("Mul", {shards[k].values, Tensor::scalar(static_cast<float>(weights[k]))}).at(0));
    }
    const Tensor zero = Tensor::scalar<int32_t>(0);
    const Tensor all = run("ConcatV2", {indices[0], indices[1], indices[2], zero}).at(0);
    const auto distinct = run("Unique", {all});
    const Tensor sums =
        run("UnsortedSegmentSum", {run("ConcatV2", {products[0], products[1], products[2], zero}).at(0),
                                   distinct[1], Tensor::scalar<int32_t>(3)})
            .at(0);
    const Tensor expected = run("RealDiv", {sums, Tensor::scalar(5.0f)}).at(0);
    const auto pool = value_or_throw(ThreadPool::make(2));
    RowsMean mean = value_or_throw(allocate_rows_mean(shards, weights, heap_allocator()));
    weighted_rows(shards, weights, mean, *pool);
    BOOST_TEST(identical(mean.rows.indices, Tensor::vector<int32_t>({4, 0, 7})));
    BOOST_TEST(identical(mean.rows.values, expected), "rows of " << row);
  }
}

BOOST_AUTO_TEST_CASE(rows_that_do_not_fit_are_refused) {
  const TensorRows good{random_values<float>(Shape{2, 3}, 1), Tensor::vector<int32_t>({1, 0})};
  const auto refused = [&](const TensorRows& bad, const std::vector<int64_t>& weights = {1, 1}) {
    const std::vector<TensorRows> shards = {good, bad};
    return allocate_rows_mean(shards, weights, heap_allocator()).status();
  };
  BOOST_TEST(refused(good).ok());
  for (const Status& status : {refused({good.values, Tensor::vector<int32_t>({1})}),
                               refused({good.values, Tensor::scalar<int32_t>(1)}),
                               refused({random_values<float>(Shape{2, 4}, 1), good.indices}),
                               refused({random_values<double>(Shape{2, 3}, 1), good.indices}),
                               refused({good.values, Tensor::vector<int64_t>({1, 0})}), refused(good, {0, 0}),
                               refused(good, {1, -1})})
    BOOST_TEST((status.code() == Code::InvalidArgument), status.text());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::weighted_mean_test
