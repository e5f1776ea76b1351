// Drawings: that they show every node, what edges carry, and what goes from device to device.
#include <boost/test/unit_test.hpp>

#include "apps/draw/dot.h"
#include "apps/draw/draw_command.h"
#include "messages/env/real_disk.h"
#include "tests/interop/graph_file.h"
#include "tests/support/temporary_folder.h"

namespace troupe::draw {
namespace {

bool says(const std::string& text, const std::string& what) { return text.find(what) != std::string::npos; }

// x, float[2] -> y = Neg(x) on /job:a -> z = Exp(y) on /job:b, after y
const std::string chain = test::placeholder("x") +
                          "node { name: 'y' op: 'Neg' input: 'x' device: '/job:a/task:0' " +
                          test::attr("T", "type: DT_FLOAT") + "}" +
                          "node { name: 'z' op: 'Exp' input: 'y' input: '^y' device: '/job:b/task:0' " +
                          test::attr("T", "type: DT_FLOAT") + "}";

BOOST_AUTO_TEST_SUITE(drawings)

BOOST_AUTO_TEST_CASE(a_graph_is_drawn_as_it_was_built) {
  const std::string text = dot(value_or_throw(test::read(chain)));
  BOOST_TEST(text.starts_with("digraph {"));
  for (const char* node :
       {R"("x" [label="x\nPlaceholder")", R"("y" [label="y\nNeg")", R"("z" [label="z\nExp")"})
    BOOST_TEST(says(text, node), text);
  BOOST_TEST(says(text, R"("x" -> "y" [label="float[2]"])"), text);
  BOOST_TEST(says(text, R"("y" -> "z" [style=dashed])"), text);
}

BOOST_AUTO_TEST_CASE(a_step_is_drawn_in_a_box_for_each_device) {
  const test::TemporaryFolder folder;
  DrawArguments arguments;
  arguments.file = folder.write("graph.pb", chain);
  arguments.feeds = {"x:0"};
  arguments.fetches = {"z:0"};
  arguments.out = folder.path() + "/chain";
  const std::vector<std::string> expected = {arguments.out + ".dot", arguments.out + ".placed.dot"};
  BOOST_TEST(value_or_throw(draw(arguments)) == expected, boost::test_tools::per_element());
  RealDisk disk;
  const std::string text = value_or_throw(read_file(disk, expected[1], 1 << 20));
  BOOST_TEST(says(text, R"(label="/job:a/replica:0/task:0/device:CPU:0")"), text);
  BOOST_TEST(says(text, R"(label="/job:b/replica:0/task:0/device:CPU:0")"), text);
  BOOST_TEST(says(text, "color=red"), text);
}

BOOST_AUTO_TEST_CASE(what_cannot_be_drawn_is_refused) {
  const test::TemporaryFolder folder;
  DrawArguments arguments;
  arguments.file = folder.path() + "/none.pb";
  BOOST_TEST((draw(arguments).status().code() == Code::NotFound));
  arguments.file = folder.write("graph.pb", chain);
  arguments.fetches = {"w:0"};
  BOOST_TEST((draw(arguments).status().code() == Code::NotFound));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::draw
