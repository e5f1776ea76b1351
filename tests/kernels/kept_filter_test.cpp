// Tests of filters that kernels keep in another layout: when they are kept, and that products follow a variable that changes.
#include "kernels/loops/kept_filter.h"

#include <boost/test/unit_test.hpp>

#include <algorithm>

#include "graph/build/variables.h"
#include "kernels/constructors.h"
#include "tests/support/net/local_host.h"
#include "tests/support/ops/op_case.h"
#include "tests/support/ops/run_op.h"

namespace troupe::test::kept_filter_test {
namespace {

Tensor floats(const Shape& shape, uint64_t seed) {
  return converted(random_doubles(shape, -1, 1, seed), f32);
}

bool same_bits(const Tensor& a, const Tensor& b) {
  return a.bytes() == b.bytes() && std::equal(a.data(), a.data() + a.bytes(), b.data());
}

/// A product of a fed matrix or images with a variable.
struct Product {
  std::shared_ptr<const OpLibrary> library = op_library();
  LocalRuntime runtime{library};
  Graph graph{library->ops};
  const Scope g{graph};
  Output input, weights, result, more, assigned;
  std::shared_ptr<const PreparedPlan> multiply, change;

  Product(const Shape& weights_shape,
          const std::function<Output(const Scope&, Output input, Output weights)>& f) {
    input = placeholder(g, f32, PartialShape());
    weights = variable(g, g.constant(floats(weights_shape, 1)), "weights");
    result = f(g, input, weights);
    more = placeholder(g, f32, weights_shape);
    assigned = g.add_one("AssignAdd", {weights, more});
    multiply = value_or_throw(runtime.prepare(graph, {{input}, {result}, {}}));
    change = value_or_throw(runtime.prepare(graph, {{more}, {}, {assigned.node}}));
    value_or_throw(runtime.run(graph, {}, {initializer(g)}));
  }
  Tensor product(const Tensor& x) { return value_or_throw(runtime.run(multiply, {x}))[0]; }
};

/// Expects the same bits from every step, and after each change of the weights those of a new runtime with these weights.
void check_follows(const Shape& input, const Shape& weights,
                   const std::function<Output(const Scope&, Output input, Output weights)>& f) {
  const Tensor x = floats(input, 7);
  Product kept(weights, f);
  for (uint64_t change = 0; change < 3; ++change) {
    const Tensor first = kept.product(x);
    for (int step = 0; step < 6; ++step) BOOST_TEST(same_bits(kept.product(x), first));
    Product fresh(weights, f);
    for (uint64_t i = 0; i < change; ++i)
      value_or_throw(fresh.runtime.run(fresh.change, {floats(weights, 10 + i)}));
    BOOST_TEST(same_bits(fresh.product(x), first));
    value_or_throw(kept.runtime.run(kept.change, {floats(weights, 10 + change)}));
  }
}

BOOST_AUTO_TEST_SUITE(kept_filter)

BOOST_AUTO_TEST_CASE(a_filter_is_kept_once_it_stays_the_same) {
  KeptFilter kept;
  const Tensor filter = floats(Shape{64}, 1), made = floats(Shape{64}, 2);
  BOOST_TEST(!kept.find(filter, 1));
  BOOST_TEST(!kept.wants(filter));
  BOOST_TEST(kept.wants(filter));
  kept.keep(filter, 1, made);
  BOOST_TEST(kept.find(filter, 1)->shares_buffer_with(made));
  BOOST_TEST(!kept.find(filter, 2));
  BOOST_TEST(!filter.unique());  // so a variable that is updated gets other memory
}

BOOST_AUTO_TEST_CASE(a_filter_that_is_written_in_place_is_not_kept) {
  KeptFilter kept;
  Tensor filter = floats(Shape{64}, 1);
  for (int step = 0; step < 10; ++step) {
    BOOST_TEST(!kept.wants(filter));
    for (float& value : filter.write<float>()) value += 1;
  }
}

// Steps of an unlocked phase write values that others hold.
BOOST_AUTO_TEST_CASE(a_kept_filter_that_is_written_nevertheless_is_dropped) {
  KeptFilter kept;
  const Tensor filter = floats(Shape{64}, 1);
  BOOST_TEST(!kept.wants(filter));
  BOOST_TEST(kept.wants(filter));
  kept.keep(filter, 1, floats(Shape{64}, 2));
  const Tensor other = floats(Shape{64}, 3);
  std::copy_n(other.data(), other.bytes(), const_cast<std::byte*>(filter.data()));
  BOOST_TEST(!kept.find(filter, 1));
  BOOST_TEST(!kept.wants(filter));
}

BOOST_AUTO_TEST_CASE(a_filter_that_changes_is_dropped_and_the_next_is_kept_later) {
  KeptFilter kept;
  const Tensor made = floats(Shape{64}, 2);
  int uses = 1;
  for (uint64_t seed = 3; seed < 7; ++seed) {
    const Tensor filter = floats(Shape{64}, seed);
    BOOST_TEST(!kept.find(filter, 1));
    for (int use = 0; use < uses; ++use) BOOST_TEST(!kept.wants(filter));
    BOOST_TEST(kept.wants(filter));
    kept.keep(filter, 1, made);
    uses *= 2;
  }
}

BOOST_AUTO_TEST_CASE(products_follow_their_weights) {
  const auto product = [](const Scope& g, Output x, Output w) { return matmul(g, x, w); };
  check_follows(Shape{20, 300}, Shape{300, 464}, product);
  check_follows(Shape{9, 700}, Shape{700, 208}, product);
}

BOOST_AUTO_TEST_CASE(convolutions_follow_their_filters) {
  const auto convolution = [](const Scope& g, Output x, Output w) {
    return conv2d(g, x, w, {1, 1, 1, 1}, "SAME");
  };
  check_follows(Shape{1, 12, 12, 32}, Shape{3, 3, 32, 48}, convolution);   // Winograd's algorithm
  check_follows(Shape{1, 12, 12, 32}, Shape{1, 1, 32, 48}, convolution);   // oneDNN
  check_follows(Shape{2, 6, 6, 512}, Shape{1, 1, 512, 272}, convolution);  // a product
  check_follows(Shape{1, 7, 7, 128}, Shape{3, 3, 128, 128}, convolution);  // a product of columns
}

// What is kept does not depend on the number of rows or images, or says so: the algorithm changes with it.
BOOST_AUTO_TEST_CASE(kept_filters_serve_other_batches) {
  const auto product = [](const Scope& g, Output x, Output w) { return matmul(g, x, w); };
  const auto convolution = [](const Scope& g, Output x, Output w) {
    return conv2d(g, x, w, {1, 1, 1, 1}, "SAME");
  };
  const auto check = [](const Shape& weights, const auto& f, const auto& input_of) {
    for (const int64_t kept_for : {8, 64, 200}) {
      Product kept(weights, f);
      for (int step = 0; step < 4; ++step) kept.product(floats(input_of(kept_for), 7));
      for (const int64_t batch : {1, 8, 9, 64, 200, 300}) {
        const Tensor x = floats(input_of(batch), 7);
        BOOST_TEST(same_bits(kept.product(x), Product(weights, f).product(x)),
                   kept_for << ", then " << batch);
      }
    }
  };
  check(Shape{600, 1040}, product, [](int64_t rows) { return Shape{rows, 600}; });
  check(Shape{3, 3, 128, 128}, convolution, [](int64_t batch) { return Shape{(batch + 7) / 8, 7, 7, 128}; });
}

// The product in a few rows agrees with that in rows of which there are too many for panels.
BOOST_AUTO_TEST_CASE(products_of_few_rows_are_those_of_many) {
  const auto product = [](const Scope& g, Output x, Output w) { return matmul(g, x, w); };
  for (const auto& [inner, columns] : {std::pair{300, 464}, {257, 528}, {1024, 1040}}) {
    const Shape weights{inner, columns};
    const Tensor all = floats(Shape{300, inner}, 3);
    const Tensor many = Product(weights, product).product(all);
    for (const int64_t rows : {8, 13, 64, 255}) {
      const Tensor few = Product(weights, product).product(all.rows(0, rows));
      const Tensor expected = many.rows(0, rows);
      for (size_t i = 0; i < few.as<float>().size(); ++i)
        BOOST_REQUIRE_SMALL(few.as<float>()[i] - expected.as<float>()[i], 1e-4F);
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::test::kept_filter_test
