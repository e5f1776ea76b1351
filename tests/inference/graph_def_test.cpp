// GraphDefs through the public interface: a graph that is written and read is the same one, and what is no graph is refused.
#include <boost/test/unit_test.hpp>

#include "apps/inference/graph_def.h"
#include "kernels/constructors.h"
#include "tests/support/failure_of.h"
#include "tests/support/ops/op_library.h"

namespace troupe::test::graph_def_test {

BOOST_AUTO_TEST_SUITE(graph_def)

BOOST_AUTO_TEST_CASE(a_graph_that_is_written_and_read_is_the_same) {
  Graph graph(op_library()->ops);
  const Scope g(graph);
  const Output x = placeholder(g, f32, {-1, 2}, "x");
  matmul(g.with_name("y"), x, Tensor::of<float>({2, 1}, {1, 2}));
  const std::string bytes = write_graph_def(graph);
  const Graph copy = read_graph_def(bytes, op_library()->ops);
  BOOST_TEST_REQUIRE(copy.size() == graph.size());
  BOOST_TEST(copy.find("y")->type() == "MatMul");
  BOOST_TEST(copy.shape(value_or_throw(copy.find_output("y"))).text() == "[?,1]");
  BOOST_TEST(write_graph_def(copy) == bytes);
}

BOOST_AUTO_TEST_CASE(what_is_no_graph_is_refused) {
  const Status failure = failure_of([] { read_graph_def("\xff\xff\xff", op_library()->ops); });
  BOOST_TEST((failure.code() == Code::InvalidArgument), failure.message());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::test::graph_def_test
