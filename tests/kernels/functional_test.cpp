// Tests of the builder's functions of higher order (graph/build/functional.h): cases, maps, folds and scans.
#include <boost/test/unit_test.hpp>

#include "graph/build/functional.h"
#include "graph/build/gradients.h"
#include "tests/support/local_graph.h"

namespace troupe::test::functional_test {
namespace {

using Numbers = std::vector<double>;

struct Fixture : LocalGraph {
  Output rows = g.add_one("Placeholder", {}, {{"dtype", f64}, {"shape", PartialShape{unknown_dim, 2}}});
  Output zero = g.constant(Tensor::vector<double>({0, 0}));

  static Output add(const Scope& s, Output a, Output b) { return s.add_one("Add", {a, b}); }
  static Output mul(const Scope& s, Output a, Output b) { return s.add_one("Mul", {a, b}); }
  static Output half(const Scope& s, Output a) { return mul(s, a, s.constant(Tensor::scalar(0.5))); }
  /// The sum so far, halved, plus the slice.
  static std::vector<Output> decayed(const Scope& s, Outputs state, Outputs slices) {
    return {add(s, half(s, state[0]), slices[0])};
  }

  Numbers run(Output fetch, std::initializer_list<double> fed = {1, 2, 3, 4, 5, 6}) {
    const auto count = static_cast<int64_t>(fed.size()) / 2;
    const Tensor value = Tensor::vector<double>(fed).reshaped(Shape{count, 2});
    const auto results = value_or_throw(runtime.run(graph, {{rows, value}}, {fetch}));
    const auto numbers = results[0].as<double>();
    return {numbers.begin(), numbers.end()};
  }
  Numbers gradient(Output y) { return run(dense(g, gradients(g, {y}, {rows})[0], rows)); }
  std::string refusal(const std::function<void()>& build) {
    try {
      build();
    } catch (const Error& error) {
      return error.status().text();
    }
    return "nothing";
  }
};

#define CHECK_NUMBERS(...) BOOST_TEST(__VA_ARGS__, boost::test_tools::per_element())

BOOST_FIXTURE_TEST_SUITE(functional, Fixture)

BOOST_AUTO_TEST_CASE(the_first_case_that_is_true_is_taken) {
  const Output x = g.add_one("Placeholder", {}, {{"dtype", i32}, {"shape", PartialShape::scalar()}});
  const auto below = [&](int32_t limit) { return g.call("less", {x, limit}); };
  const auto number_of = [](int32_t value) {
    return [value](const Scope& s) { return std::vector{s.constant(Tensor::scalar(value))}; };
  };
  const Output taken = case_of(g, {{below(0), number_of(1)}, {below(5), number_of(2)}}, number_of(3))[0];
  const Output chosen = switch_case(g, x, {number_of(10), number_of(11), number_of(12)})[0];
  const auto check = [&](int32_t at, int32_t first, int32_t second) {
    const auto values = value_or_throw(runtime.run(graph, {{x, Tensor::scalar(at)}}, {taken, chosen}));
    BOOST_TEST(values[0].item<int32_t>() == first);
    BOOST_TEST(values[1].item<int32_t>() == second);
  };
  check(-1, 1, 12);
  check(0, 2, 10);
  check(1, 2, 11);
  check(7, 3, 12);
  BOOST_TEST(refusal([&] { switch_case(g, x, {}); }) == "switch_case: there are no branches");
}

BOOST_AUTO_TEST_CASE(slices_are_mapped) {
  const auto squares = map_fn(g, {rows, rows}, [](const Scope& s, Outputs v) {
    return std::vector{mul(s, v[0], v[1]),
                       s.add_one("Sum", {v[0], s.constant(Tensor::vector<int32_t>({0}))})};
  });
  CHECK_NUMBERS(run(squares[0]) == (Numbers{1, 4, 9, 16, 25, 36}));
  CHECK_NUMBERS(run(squares[1]) == (Numbers{3, 7, 11}));
  CHECK_NUMBERS(gradient(squares[0]) == (Numbers{2, 4, 6, 8, 10, 12}));
  BOOST_TEST(run(squares[0], {}).empty());
  BOOST_TEST(graph.shape(squares[0]).text() == "[?,2]");
}

BOOST_AUTO_TEST_CASE(folds_begin_at_either_end) {
  const Output left = foldl(g, {rows}, {zero}, decayed)[0], right = foldr(g, {rows}, {zero}, decayed)[0];
  CHECK_NUMBERS(run(left) == (Numbers{6.75, 8.5}));
  CHECK_NUMBERS(run(right) == (Numbers{3.75, 5.5}));
  CHECK_NUMBERS(run(left, {}) == (Numbers{0, 0}));
  CHECK_NUMBERS(gradient(left) == (Numbers{0.25, 0.25, 0.5, 0.5, 1, 1}));
  CHECK_NUMBERS(gradient(right) == (Numbers{1, 1, 0.5, 0.5, 0.25, 0.25}));
}

BOOST_AUTO_TEST_CASE(scans_keep_what_they_accumulate) {
  const Output forward = scan(g, {rows}, {zero}, decayed)[0];
  const Output backward = scan(g, {rows}, {zero}, decayed, {.reverse = true})[0];
  CHECK_NUMBERS(run(forward) == (Numbers{1, 2, 3.5, 5, 6.75, 8.5}));
  CHECK_NUMBERS(run(backward) == (Numbers{3.75, 5.5, 5.5, 7, 5, 6}));
  CHECK_NUMBERS(gradient(forward) == (Numbers{1.75, 1.75, 1.5, 1.5, 1, 1}));
  CHECK_NUMBERS(gradient(backward) == (Numbers{1, 1, 1.5, 1.5, 1.75, 1.75}));
}

// The state is the sum, the value its square: the second derivative of the last square by each element is 2.
BOOST_AUTO_TEST_CASE(state_and_values_may_differ) {
  const auto both = recur(g, {rows}, {zero}, [](const Scope& s, Outputs state, Outputs slices) {
    const Output sum = add(s, state[0], slices[0]);
    return Recurrence{{sum}, {mul(s, sum, sum)}};
  });
  CHECK_NUMBERS(run(both.state[0]) == (Numbers{9, 12}));
  CHECK_NUMBERS(run(both.values[0]) == (Numbers{1, 4, 16, 36, 81, 144}));
  const Output last = mul(g, both.state[0], both.state[0]);
  const Output slope = dense(g, gradients(g, {last}, {rows})[0], rows);
  CHECK_NUMBERS(run(slope) == (Numbers{18, 24, 18, 24, 18, 24}));
  CHECK_NUMBERS(gradient(slope) == (Numbers{6, 6, 6, 6, 6, 6}));
}

// The numbers of slices are not known when the graph is built, or one of them is.
BOOST_AUTO_TEST_CASE(there_are_as_many_slices_of_each_tensor) {
  const Output more = g.add_one("Placeholder", {}, {{"dtype", f64}, {"shape", PartialShape{unknown_dim, 2}}});
  const Output two = g.constant(Tensor::vector<double>({1, 2}));
  const auto total = [](const Scope& s, Outputs v) {
    return std::vector{add(s, v[0], add(s, v[1], v.back()))};
  };
  const auto rows_of = [](int64_t count) {
    return Tensor::vector<double>(std::vector<double>(2 * count, 1)).reshaped(Shape{count, 2});
  };
  for (const auto& elements : {std::vector{rows, more}, {more, rows}, {rows, two, more}, {more, rows, two}}) {
    const Output sums = map_fn(g, elements, total)[0];
    const auto result = [&](int64_t count) {
      return runtime.run(graph, {{rows, rows_of(2)}, {more, rows_of(count)}}, {sums});
    };
    BOOST_TEST(result(2).ok());
    for (const int64_t count : {0, 1, 3})
      BOOST_TEST(result(count).status().text().find("map: the tensors must have as many slices each") !=
                 std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(what_cannot_be_iterated_is_refused) {
  const Output three = g.constant(Tensor::vector<double>({1, 2, 3})),
               scalar = g.constant(Tensor::scalar(1.0));
  const auto same = [](const Scope&, Outputs v) { return std::vector{v[0]}; };
  BOOST_TEST(refusal([&] { map_fn(g, {}, same); }) ==
             "map: there is no tensor whose slices the loop could take");
  BOOST_TEST(refusal([&] { map_fn(g, {scalar}, same); }).find("is a scalar, which has no slices") !=
             std::string::npos);
  BOOST_TEST(refusal([&] {
               map_fn(g, {zero, three}, same);
             }).find("has 3 slices, but a tensor before it has 2") != std::string::npos);
  BOOST_TEST(refusal([&] {
               foldl(g, {three}, {zero}, [&](const Scope&, Outputs, Outputs) { return std::vector{scalar}; });
             }).find("has shape [2], but the body returns shape []") != std::string::npos);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::test::functional_test
