// Tests of optionals. Graphs of TensorFlow with them are among the golden cases (graphs/case_by_number).
#include <boost/test/unit_test.hpp>

#include "graph/build/gradients.h"
#include "tests/support/local_graph.h"

namespace troupe::test::optionals_test {
namespace {

struct Fixture : LocalGraph {
  Output some(std::vector<Output> components) {
    return g.add_one("OptionalFromValue", std::move(components));
  }
  Output none() { return g.add_one("OptionalNone", {}); }
  NodeId get(Output optional, std::vector<DType> types, std::vector<PartialShape> shapes) {
    return g.add("OptionalGetValue", {optional},
                 {{"output_types", std::move(types)}, {"output_shapes", std::move(shapes)}});
  }
  void check_refused(NodeId value, const std::string& text) {
    const Status status = failure({value, 0});
    BOOST_TEST((status.code() == Code::InvalidArgument));
    BOOST_TEST(status.text().find(text) != std::string::npos, status.message());
  }
};

BOOST_FIXTURE_TEST_SUITE(optionals, Fixture)

BOOST_AUTO_TEST_CASE(an_optional_yields_what_it_was_made_of) {
  const Output words = g.constant(Tensor::vector<std::string>({"a", "b"}));
  const Output both = some({number(2.5f), words});
  const NodeId value = get(both, {f32, DType::String}, {PartialShape::scalar(), PartialShape{unknown_dim}});
  const auto has = [&](Output optional) { return g.add_one("OptionalHasValue", {optional}); };
  const auto values =
      value_or_throw(runtime.run(graph, {}, {{value, 0}, {value, 1}, has(both), has(none())}));
  BOOST_TEST(values[0].item<float>() == 2.5f);
  BOOST_TEST(identical(values[1], Tensor::vector<std::string>({"a", "b"})));
  BOOST_TEST(values[2].item<bool>());
  BOOST_TEST(!values[3].item<bool>());
}

BOOST_AUTO_TEST_CASE(a_value_that_is_not_there_or_another_is_refused) {
  const PartialShape scalar = PartialShape::scalar();
  check_refused(get(none(), {f32}, {scalar}), "the optional has no value");
  check_refused(get(some({number(1.0f)}), {f32, f32}, {scalar, scalar}), "has 1 components, but");
  check_refused(get(some({number(1.0f)}), {i32}, {scalar}), "component 0 is float[], expected int32[]");
  check_refused(get(some({number(1.0f)}), {f32}, {PartialShape{3}}), "expected float[3]");
}

BOOST_AUTO_TEST_CASE(gradients_pass_through_an_optional) {
  const Output x = number(3.0f), y = number(5.0f);
  const NodeId value = get(some({x, y}), {f32, f32}, {PartialShape::scalar(), PartialShape::scalar()});
  const Output product = g.add_one("Mul", {{value, 0}, {value, 1}});
  const auto found = gradients(g, {product}, {x, y});
  const auto values =
      value_or_throw(runtime.run(graph, {}, {std::get<Output>(found.at(0)), std::get<Output>(found.at(1))}));
  BOOST_TEST(values[0].item<float>() == 5);
  BOOST_TEST(values[1].item<float>() == 3);
}

BOOST_AUTO_TEST_CASE(optionals_are_zeroed_and_added_by_component) {
  const PartialShape scalar = PartialShape::scalar();
  const Output a = some({number(3.0f), some({number(4.0f)})}), b = some({number(5.0f), some({number(6.0f)})});
  const Output zeros = g.add_one("ZerosLike", {a}), sum = g.add_one("AddN", {a, b, b});
  const auto numbers_in = [&](Output optional) {
    const NodeId outer = get(optional, {f32, DType::Variant}, {scalar, scalar});
    return std::vector<Output>{{outer, 0}, {get({outer, 1}, {f32}, {scalar}), 0}};
  };
  std::vector<Output> fetches = numbers_in(zeros);
  for (const Output& output : numbers_in(sum)) fetches.push_back(output);
  const auto values = value_or_throw(runtime.run(graph, {}, fetches));
  const std::vector<float> expected = {0, 0, 13, 16};
  for (size_t i = 0; i < expected.size(); ++i) BOOST_TEST(values[i].item<float>() == expected[i]);
  check_refused(get(g.add_one("AddN", {a, none()}), {f32}, {scalar}), "an optional of 2 components");
}

BOOST_AUTO_TEST_CASE(optionals_lie_in_optionals_and_lists_but_not_without_end) {
  const auto nested = [&](int levels) {
    Output optional = some({number(1.0f)});
    for (int level = 2; level < levels; level += 2) {
      const Output list = g.add_one("EmptyTensorList", {number<int32_t>(-1), number<int32_t>(-1)},
                                    {{"element_dtype", DType::Variant}});
      optional = some({g.add_one("TensorListPushBack", {list, optional})});
    }
    return g.add_one("OptionalHasValue", {optional});
  };
  BOOST_TEST(value_or_throw(runtime.run(graph, {}, {nested(64)}))[0].item<bool>());
  const Status status = failure(nested(66));
  BOOST_TEST(status.text().find("nested at most 64 times") != std::string::npos, status.message());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::test::optionals_test
