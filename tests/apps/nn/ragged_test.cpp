// Tests of ragged tensors in the builder. The expected values are those of TensorFlow's tf.ragged, except for the mean of an empty
// row, which is 0 here. Gradients are compared with finite differences.
#include "apps/nn/ragged/ragged.h"

#include <boost/test/unit_test.hpp>

#include "graph/build/gradients.h"
#include "kernels/constructors.h"
#include "tests/support/local_graph.h"
#include "tests/support/ops/golden_values.h"
#include "tests/support/ops/op_case.h"

namespace troupe::test::ragged_test {
namespace {

using nn::NestedRagged;
using nn::Ragged;
namespace ragged = nn::ragged;

Tensor doubles(const Shape& shape, std::initializer_list<double> values) {
  return Tensor::of<double>(shape, values);
}
Tensor integers(std::initializer_list<int64_t> values) { return Tensor::vector<int64_t>(values); }

struct Fixture : LocalGraph {
  /// Rows of 2, 0, 3 and 1 values, [6, 2] or [6].
  Ragged pairs() { return ragged::from_row_splits(g, g.constant(pair_values), g.constant(splits)); }
  Ragged singles() { return ragged::from_row_splits(g, g.constant(single_values), g.constant(splits)); }
  Ragged other_pairs() {
    const Tensor tens = doubles({6, 2}, {5, -10, 20, 30, -15, 2.5, 40, -20, 0, 10, 10, 10});
    return ragged::from_lengths(g, g.constant(tens), g.constant(integers({1, 2, 0, 3})));
  }
  NestedRagged nested(Output values) {
    return {ragged::from_row_splits(g, values, g.constant(integers({0, 2, 2, 5, 6}))),
            g.constant(integers({0, 2, 2, 4}))};
  }
  /// No rows of values [0, 2].
  Ragged no_rows() {
    return ragged::from_row_splits(g, g.constant(doubles({0, 2}, {})), g.constant(integers({0})));
  }

  Output placeholder(DType dtype, PartialShape shape) {
    return g.add_one("Placeholder", {}, {{"dtype", dtype}, {"shape", std::move(shape)}});
  }
  Tensor value(Output output) { return value_or_throw(runtime.run(graph, {}, {output}))[0]; }
  void check(Output output, const Tensor& expected) {
    const std::string what = difference(value(output), expected, {1e-15, 1e-15});
    BOOST_TEST(what.empty(), what);
  }
  void check(const Ragged& x, const Tensor& values, std::initializer_list<int64_t> row_splits) {
    check(x.values, values);
    check(x.row_splits, integers(row_splits));
  }

  /// Compares the gradient of a weighted sum of function(values) with central differences.
  void check_gradient(const std::string& name, const Tensor& values,
                      const std::function<Output(Output)>& function) {
    std::vector<int64_t> dims(values.shape().dims().begin(), values.shape().dims().end());
    dims[0] = unknown_dim;
    const Output x = placeholder(f64, PartialShape(std::move(dims))), y = function(x);
    const Tensor result = value_or_throw(runtime.run(graph, {{x, values}}, {y}))[0];
    const Output weights = g.constant(random_doubles(result.shape(), -1, 1, 5));
    const Output loss = sum(g, reshape(g, mul(g, y, weights), {-1}), {0});
    const Output slope = dense(g, gradients(g, {loss}, {x})[0], x);
    const Tensor found = value_or_throw(runtime.run(graph, {{x, values}}, {slope}))[0];
    const auto loss_at = [&](size_t i, double step) {
      Tensor moved = value_or_throw(Tensor::allocate(f64, values.shape()));
      std::ranges::copy(values.as<double>(), moved.write<double>().begin());
      moved.write<double>()[i] += step;
      return value_or_throw(runtime.run(graph, {{x, moved}}, {loss}))[0].as<double>()[0];
    };
    constexpr double step = 1e-5;
    for (size_t i = 0; i < values.as<double>().size(); ++i) {
      const double expected = (loss_at(i, step) - loss_at(i, -step)) / (2 * step),
                   got = found.as<double>()[i];
      BOOST_TEST(std::abs(got - expected) < 1e-8,
                 name << ", element " << i << ": " << got << ", expected " << expected);
    }
  }

  const Tensor splits = integers({0, 2, 2, 5, 6});
  const Tensor pair_values = doubles({6, 2}, {0.5, -1, 2, 3, -1.5, 0.25, 4, -2, 0, 1, 1, 1});
  const Tensor single_values = doubles({6}, {0.5, 2, -1.5, 4, 0, 1});
};

BOOST_FIXTURE_TEST_SUITE(ragged_tensors, Fixture)

BOOST_AUTO_TEST_CASE(lengths_and_row_ids_and_splits_say_the_same) {
  const Output values = g.constant(single_values);
  check(ragged::from_lengths(g, values, g.constant(integers({2, 0, 3, 1}))), single_values, {0, 2, 2, 5, 6});
  const Output ids = g.constant(integers({0, 0, 2, 2, 2, 3}));
  check(ragged::from_row_ids(g, values, ids, g.constant(Tensor::scalar<int64_t>(6))), single_values,
        {0, 2, 2, 5, 6, 6, 6});
  check(ragged::row_ids(g, singles()), integers({0, 0, 2, 2, 2, 3}));
  check(ragged::row_lengths(g, singles()), integers({2, 0, 3, 1}));
  check(ragged::rows(g, singles()), Tensor::scalar<int64_t>(4));
  const Output short_splits = g.constant(Tensor::vector<int32_t>({0, 2, 2, 5, 6}));
  check(ragged::row_ids(g, ragged::from_row_splits(g, values, short_splits)),
        Tensor::vector<int32_t>({0, 0, 2, 2, 2, 3}));
}

BOOST_AUTO_TEST_CASE(what_does_not_fit_the_values_is_refused) {
  const Output values = g.constant(single_values);
  const auto refused = [&](const Ragged& x) {
    BOOST_TEST((failure(x.row_splits).code() == Code::InvalidArgument));
  };
  const auto says = [&](const Tensor& wrong, const std::string& what) {
    const Status status = failure(ragged::from_row_splits(g, values, g.constant(wrong)).row_splits);
    BOOST_TEST((status.code() == Code::InvalidArgument));
    BOOST_TEST(status.text() == "assertion failed: [row_splits must " + what);
  };
  says(integers({1, 6}), "begin with 0, but begins with] [1]");
  says(integers({-1, 6}), "begin with 0, but begins with] [-1]");
  says(integers({0, 2}), "end with the number of values,] [6] [but ends with] [2]");
  says(integers({0, 7}), "end with the number of values,] [6] [but ends with] [7]");
  says(integers({0, 4, 3, 6}), "not fall, but at the positions] [2] [falls from] [4] [to] [3]");
  says(integers({0, 4, 3, 5, 1, 6}), "not fall, but at the positions] [2 4] [falls from] [4 5] [to] [3 1]");
  for (const auto& lengths : {integers({6, 1}), integers({7, -1}), integers({})})
    refused(ragged::from_lengths(g, values, g.constant(lengths)));
  const Output rows = g.constant(Tensor::scalar<int64_t>(3));
  for (const auto& ids : {integers({0, 1, 0, 2, 2, 2}), integers({0, 0, 0, 0, 0, 3}),
                          integers({-1, 0, 0, 0, 0, 0}), integers({0, 0})})
    refused(ragged::from_row_ids(g, values, g.constant(ids), rows));
  BOOST_CHECK_THROW(ragged::from_lengths(g, values, values), Error);
  refused(ragged::gather_rows(g, singles(), g.constant(integers({4}))));
  refused(ragged::concat_rows(g, {pairs(), no_rows()}));
}

BOOST_AUTO_TEST_CASE(rows_are_reduced_to_one_value) {
  check(ragged::sum(g, pairs()), doubles({4, 2}, {2.5, 2, 0, 0, 2.5, -0.75, 1, 1}));
  check(ragged::mean(g, pairs()), doubles({4, 2}, {1.25, 1, 0, 0, 2.5 / 3, -0.25, 1, 1}));
  check(ragged::max(g, pairs()), doubles({4, 2}, {2, 3, 0, 0, 4, 1, 1, 1}));
  check(ragged::min(g, pairs()), doubles({4, 2}, {0.5, -1, 0, 0, -1.5, -2, 1, 1}));
}

BOOST_AUTO_TEST_CASE(a_softmax_sums_to_one_over_each_row) {
  check(ragged::softmax(g, singles()),
        doubles({6}, {0.18242552380635632, 0.8175744761936437, 0.003997223986547706, 0.9780884609612482,
                      0.017914315052204, 1}),
        {0, 2, 2, 5, 6});
  const Ragged large = ragged::map(g, singles(), [](const Scope& s, Output x) { return mul(s, x, 1e300); });
  check(ragged::softmax(g, large).values, doubles({6}, {0, 1, 0, 1, 0, 1}));
}

BOOST_AUTO_TEST_CASE(tensors_are_concatenated_in_both_dimensions) {
  check(ragged::concat_batch(g, {pairs(), other_pairs()}),
        doubles({12, 2}, {0.5, -1,  2,  3,  -1.5, 0.25, 4,  -2,  0, 1,  1,  1,
                          5,   -10, 20, 30, -15,  2.5,  40, -20, 0, 10, 10, 10}),
        {0, 2, 2, 5, 6, 7, 9, 9, 12});
  check(ragged::concat_rows(g, {pairs(), other_pairs()}),
        doubles({12, 2}, {0.5, -1, 2, 3, 5, -10, 20, 30,  -15, 2.5, -1.5, 0.25,
                          4,   -2, 0, 1, 1, 1,   40, -20, 0,   10,  10,   10}),
        {0, 3, 5, 8, 12});
  check(ragged::concat_rows(g, {pairs()}), pair_values, {0, 2, 2, 5, 6});
}

BOOST_AUTO_TEST_CASE(rows_are_gathered_by_their_numbers) {
  check(ragged::gather_rows(g, singles(), g.constant(integers({3, 0, 1, 0}))),
        doubles({5}, {1, 0.5, 2, 0.5, 2}), {0, 1, 3, 3, 5});
  check(ragged::spread(g, g.constant(integers({7, 8, 9, 10})), singles()), integers({7, 7, 9, 9, 9, 10}));
}

BOOST_AUTO_TEST_CASE(dense_and_sparse_tensors_have_the_same_elements) {
  const Output padding = g.constant(Tensor::scalar<double>(-7));
  const Output dense = ragged::to_dense(g, singles(), padding);
  check(dense, doubles({4, 3}, {0.5, 2, -7, -7, -7, -7, -1.5, 4, 0, 1, -7, -7}));
  check(ragged::from_dense(g, dense, ragged::row_lengths(g, singles())), single_values, {0, 2, 2, 5, 6});
  BOOST_TEST((failure(ragged::from_dense(g, dense, g.constant(integers({4, 0, 0, 0}))).values).code() ==
              Code::InvalidArgument));
  check(ragged::to_dense(g, ragged::map(g, singles(),
                                        [](const Scope& s, Output x) {
                                          return s.add_one("AsString", {x}, {{"precision", int64_t{1}}});
                                        })),
        Tensor::of<std::string>({4, 3}, {"0.5", "2.0", "", "", "", "", "-1.5", "4.0", "0.0", "1.0", "", ""}));
  const ragged::Sparse sparse = ragged::to_sparse(g, singles());
  check(sparse.indices, Tensor::of<int64_t>({6, 2}, {0, 0, 0, 1, 2, 0, 2, 1, 2, 2, 3, 0}));
  check(sparse.dense_shape, integers({4, 3}));
  check(ragged::from_sparse(g, sparse.indices, sparse.values, sparse.dense_shape), single_values,
        {0, 2, 2, 5, 6});
  const Output gap = g.constant(Tensor::of<int64_t>({6, 2}, {0, 0, 0, 2, 2, 0, 2, 1, 2, 2, 3, 0}));
  BOOST_TEST((failure(ragged::from_sparse(g, gap, sparse.values, sparse.dense_shape).row_splits).code() ==
              Code::InvalidArgument));
}

BOOST_AUTO_TEST_CASE(values_of_equal_rows_are_combined) {
  const auto plus = [](const Scope& s, Output x, Output y) { return add(s, x, y); };
  const Ragged twice = ragged::map(g, singles(), [](const Scope& s, Output x) { return mul(s, x, 2.0); });
  check(ragged::zip(g, singles(), twice, plus), doubles({6}, {1.5, 6, -4.5, 12, 0, 3}), {0, 2, 2, 5, 6});
  const Ragged unlike =
      ragged::from_lengths(g, g.constant(single_values), g.constant(integers({2, 1, 2, 1})));
  BOOST_TEST((failure(ragged::zip(g, singles(), unlike, plus).values).code() == Code::InvalidArgument));
  const Output matrix = g.constant(doubles({2, 1}, {1, -1}));
  check(ragged::matmul(g, pairs(), matrix).values, doubles({6, 1}, {1.5, -1, -1.75, 6, -1, 0}));
  const Ragged ids =
      ragged::from_lengths(g, g.constant(integers({1, 0, 1})), g.constant(integers({2, 0, 1})));
  check(ragged::lookup(g, g.constant(pair_values), ids), doubles({3, 2}, {2, 3, 0.5, -1, 2, 3}),
        {0, 2, 2, 3});
}

BOOST_AUTO_TEST_CASE(rows_may_have_rows) {
  const NestedRagged x = nested(g.constant(single_values));
  check(ragged::to_dense(g, x),
        doubles({3, 2, 3}, {0.5, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, -1.5, 4, 0, 1, 0, 0}));
  check(ragged::merge_rows(g, x), single_values, {0, 2, 2, 6});
  const NestedRagged taken = ragged::gather_rows(g, x, g.constant(integers({2, 0})));
  check(taken.rows, doubles({6}, {-1.5, 4, 0, 1, 0.5, 2}), {0, 3, 4, 6, 6});
  check(taken.row_splits, integers({0, 2, 4}));
  check(ragged::sum(g, {ragged::sum(g, x.rows), x.row_splits}), doubles({3}, {2.5, 0, 3.5}));
}

BOOST_AUTO_TEST_CASE(there_may_be_no_rows) {
  const Ragged x = no_rows();
  for (const auto& reduce : {ragged::sum, ragged::mean, ragged::max, ragged::min})
    check(reduce(g, x), doubles({0, 2}, {}));
  check(ragged::softmax(g, x), doubles({0, 2}, {}), {0});
  check(ragged::row_ids(g, x), integers({}));
  check(ragged::row_lengths(g, x), integers({}));
  check(ragged::to_dense(g, x), doubles({0, 0, 2}, {}));
  check(ragged::from_lengths(g, x.values, g.constant(integers({0, 0}))), doubles({0, 2}, {}), {0, 0, 0});
  check(ragged::concat_batch(g, {x, pairs(), x}), pair_values, {0, 2, 2, 5, 6});
  check(ragged::concat_rows(g, {x, x}), doubles({0, 2}, {}), {0});
  check(ragged::gather_rows(g, x, g.constant(integers({}))), doubles({0, 2}, {}), {0});
}

BOOST_AUTO_TEST_CASE(gradients_are_those_of_finite_differences) {
  const Output edge = g.constant(splits);
  const auto of = [&](Output values) { return Ragged{values, edge}; };
  check_gradient("sum", pair_values, [&](Output x) { return ragged::sum(g, of(x)); });
  check_gradient("mean", pair_values, [&](Output x) { return ragged::mean(g, of(x)); });
  // The extreme of an empty row does not depend on the values; its weight would hide the differences of the others.
  const Output full = g.constant(integers({0, 2, 5, 6}));
  check_gradient("max", pair_values, [&](Output x) { return ragged::max(g, {x, full}); });
  check_gradient("min", pair_values, [&](Output x) { return ragged::min(g, {x, full}); });
  check_gradient("softmax", pair_values, [&](Output x) { return ragged::softmax(g, of(x)).values; });
  check_gradient("softmax of vectors", single_values,
                 [&](Output x) { return ragged::softmax(g, of(x)).values; });
  check_gradient("to_dense", single_values, [&](Output x) { return ragged::to_dense(g, of(x)); });
  check_gradient("to_sparse", single_values, [&](Output x) { return ragged::to_sparse(g, of(x)).values; });
  check_gradient("from_dense", doubles({2, 3}, {1, 2, 3, 4, 5, 6}), [&](Output x) {
    return ragged::sum(g, ragged::from_dense(g, x, g.constant(integers({1, 2}))));
  });
  check_gradient("concat_batch", pair_values, [&](Output x) {
    return ragged::sum(g, ragged::concat_batch(g, {of(x), other_pairs(), of(square(g, x))}));
  });
  check_gradient("concat_rows", pair_values, [&](Output x) {
    return ragged::mean(g, ragged::concat_rows(g, {of(x), other_pairs(), of(square(g, x))}));
  });
  check_gradient("gather_rows", pair_values, [&](Output x) {
    return ragged::gather_rows(g, of(x), g.constant(integers({2, 0, 2, 1}))).values;
  });
  check_gradient("nested gather_rows", single_values, [&](Output x) {
    return ragged::sum(g, ragged::gather_rows(g, nested(x), g.constant(integers({2, 0, 2}))).rows);
  });
  check_gradient("nested to_dense", single_values, [&](Output x) { return ragged::to_dense(g, nested(x)); });
  check_gradient("spread", pair_values,
                 [&](Output x) { return mul(g, x, ragged::spread(g, ragged::sum(g, of(x)), of(x))); });
  check_gradient("lookup", pair_values, [&](Output x) {
    const Ragged ids = {g.constant(integers({1, 0, 1, 5, 5, 5})), edge};
    return ragged::mean(g, ragged::lookup(g, x, ids));
  });
  check_gradient("matmul", pair_values, [&](Output x) {
    return ragged::matmul(g, of(x), g.constant(doubles({2, 2}, {1, -1, 0.5, 2}))).values;
  });
  check_gradient("zip", pair_values, [&](Output x) {
    return ragged::zip(g, of(x), {square(g, x), g.constant(splits)},
                       [](const Scope& s, Output a, Output b) { return mul(s, a, b); })
        .values;
  });
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::test::ragged_test
