// Tests that the C++ functions of kernels/constructors.h add the right nodes. op_faces_test.cpp tests that they are those of
// the op table.
#include <boost/test/unit_test.hpp>

#include "graph/build/gradients.h"
#include "kernels/constructors.h"
#include "tests/support/failure_of.h"
#include "tests/support/ops/run_op.h"
#include "tests/support/says.h"

namespace troupe::test::constructors_test {
namespace {

template <class F>
std::string refusal(F function) {
  const Status status = failure_of(function);
  BOOST_TEST((status.code() == Code::InvalidArgument));
  return status.text();
}

}  // namespace

BOOST_AUTO_TEST_SUITE(constructors)

// Numbers take the type of the other inputs, axes that are left out mean all axes, and lists are lists of edges.
BOOST_AUTO_TEST_CASE(they_add_nodes) {
  Graph graph(op_library()->ops);
  const Scope g(graph);
  const Output x = placeholder(g, f64, {2, 3}, "x");
  BOOST_TEST(graph.node(x.node).name == "x");
  BOOST_TEST((g.dtype(add(g, x, 1)) == f64));
  BOOST_TEST(g.shape(sum(g, x)).text() == "[]");
  BOOST_TEST(g.shape(sum(g, x, 1, true)).text() == "[2,1]");
  BOOST_TEST(g.shape(concat(g, {x, x, x}, 1)).text() == "[2,9]");
  BOOST_TEST(g.shape(squeeze(g, expand_dims(g, x, 0), {0})).text() == "[2,3]");
  BOOST_TEST(g.shape(split(g, x, 3, 1).at(2)).text() == "[2,1]");
  BOOST_TEST((g.dtype(shape(g, x)) == i32));
  BOOST_TEST((g.dtype(shape(g, x, i64)) == i64));
  BOOST_TEST(g.shape(zeros(g, {4, 5}, f64)).text() == "[4,5]");
}

BOOST_AUTO_TEST_CASE(queues_yield_what_they_hold) {
  Graph graph(op_library()->ops);
  const Scope g(graph);
  const Output queue = fifo_queue(g, {f32, i32}, {PartialShape{2}, PartialShape::scalar()}, 8);
  const auto element = queue_dequeue(g, queue, {f32, i32});
  BOOST_REQUIRE(element.size() == 2);
  BOOST_TEST((g.dtype(element[1]) == i32));
  BOOST_TEST(queue_enqueue(g, queue, element).is_control());
}

BOOST_AUTO_TEST_CASE(ops_are_found_by_former_names) {
  Graph graph(op_library()->ops);
  const Scope g(graph);
  const Output x = g.add_one("BatchCholesky", {placeholder(g, f32, {2, 3, 3})});
  BOOST_TEST(graph.node(x.node).type() == "Cholesky");
}

BOOST_AUTO_TEST_CASE(numbers_that_are_not_given_are_those_of_the_op) {
  Graph graph(op_library()->ops);
  const Scope g(graph);
  const Output x = placeholder(g, f32, {2, 3, 3, 1}), boxes = placeholder(g, f32, {1, 4});
  const auto number = [&](Output y, const char* attr) { return graph.node(y.node).attrs.get<float>(attr); };
  BOOST_TEST(number(leaky_relu(g, x), "alpha") == 0.2f);
  BOOST_TEST(number(lrn(g, x), "beta") == 0.5f);
  BOOST_TEST(number(approximate_equal(g, x, x), "tolerance") == 1e-5f);
  BOOST_TEST(number(crop_and_resize(g, x, boxes, {0}, {2, 2}), "extrapolation_value") == 0);
  const Output one = ones(g, {1});
  BOOST_TEST(number(fused_batch_norm(g, x, one, one, one, one), "epsilon") == 1e-4f);
  BOOST_TEST(number(mfcc(g, placeholder(g, f32, {1, 2, 3}), 8000), "lower_frequency_limit") == 20);
  const Output classes = placeholder(g, i64, {1, 1});
  BOOST_TEST(number(fixed_unigram_candidate_sampler(g, classes, 1, 1, true, 2, {0.5, 0.5}), "distortion") ==
             1);
  BOOST_TEST(says(refusal([&] { g.call("leaky_relu", {}); }), "usage: leaky_relu(features, alpha = 0.2)"));
}

BOOST_AUTO_TEST_CASE(numbers_that_no_argument_can_hold_are_refused) {
  Graph graph(op_library()->ops);
  const Scope g(graph);
  const Output x = ones(g, {1}, i64);
  BOOST_TEST(graph.constant(graph.node(add(g, x, uint64_t{INT64_MAX}).node).inputs[1])->item<int64_t>() ==
             INT64_MAX);
  BOOST_TEST(says(refusal([&] { add(g, x, UINT64_MAX); }), "an argument is the number 18446744073709551615"));
  BOOST_TEST(refusal([&] {
               placeholder(g, f32, {-2, 3});
             }) == "attribute shape is wrong: shape [-2,3] has a dimension below -1");
}

// The node gets all tensors one after the other: three indices and one value might be taken for two of each.
BOOST_AUTO_TEST_CASE(lists_that_must_have_equal_lengths_are_refused_otherwise) {
  Graph graph(op_library()->ops);
  const Scope g(graph);
  const Output at = placeholder(g, i32, {2}), x = placeholder(g, i32, {2});
  BOOST_TEST(says(refusal([&] {
                    dynamic_stitch(g, {at, at, at}, {x});
                  }),
                  "parameter 'data' has 1 tensors; it must have 3"));
  BOOST_TEST(graph.node(dynamic_stitch(g, {at, at}, {x, x}).node).attrs.get<int64_t>("N") == 2);
}

BOOST_AUTO_TEST_CASE(tensors_of_other_graphs_are_refused) {
  Graph graph(op_library()->ops), other(op_library()->ops);
  const Scope g(graph), elsewhere(other);
  const Output x = placeholder(g, f32);
  const Output foreign = neg(elsewhere, neg(elsewhere, placeholder(elsewhere, f32)));
  BOOST_CHECK_THROW(neg(g, foreign), Error);
  BOOST_CHECK_THROW(gradients(g, {foreign}, {x}), Error);
  BOOST_CHECK_THROW(gradients(g, {x}, {foreign}), Error);
  BOOST_CHECK_THROW(gradients(g, {g.group({x})}, {x}), Error);  // an operation, not a tensor
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::test::constructors_test
