// The names under which files hold the variables of a graph, found from the nodes that restore them.
#include <boost/test/unit_test.hpp>

#include "apps/inference/saved_names.h"
#include "apps/interop/read_graph.h"
#include "graph/build/variables.h"
#include "kernels/constructors.h"
#include "messages/env/real_disk.h"
#include "tests/support/ops/op_library.h"
#include "tests/support/project_files.h"

namespace troupe::test::saved_names_test {

BOOST_AUTO_TEST_SUITE(saved_names)

BOOST_AUTO_TEST_CASE(of_models_of_tensorflow_2) {
  RealDisk disk;
  const std::string file = project_path("tests/golden/models/functions/saved_model.pb");
  const auto meta = value_or_throw(interop::read_saved_model(value_or_throw(read_file(disk, file, 1 << 20)),
                                                             {"serve"}, op_library()->ops));
  std::set<std::string> names;
  for (const auto& [variable, saved] : inference::saved_names(meta)) names.insert(saved.name);
  const std::set<std::string> expected = {"rest/0/.ATTRIBUTES/VARIABLE_VALUE",
                                          "rest/1/.ATTRIBUTES/VARIABLE_VALUE",
                                          "weights/.ATTRIBUTES/VARIABLE_VALUE"};
  BOOST_TEST(names == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(of_a_graph_without_a_saver) {
  interop::MetaGraph meta{.graph = Graph(op_library()->ops),
                          .tags = {},
                          .tensorflow_version = {},
                          .saver = {},
                          .collections = {}};
  variable(Scope(meta.graph), zeros(Scope(meta.graph), {2}), "w");
  BOOST_TEST(inference::saved_names(meta).empty());
  meta.saver = interop::Saver{"save/Const:0", "save/save:0", "no such node", 5, false, 0, 2};
  BOOST_TEST(inference::saved_names(meta).empty());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::test::saved_names_test
