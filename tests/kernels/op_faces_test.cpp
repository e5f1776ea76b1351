// Tests that the generated files agree with the op table: ninja -C build/release op_faces writes them again.
#include <boost/test/unit_test.hpp>

#include "kernels/face/constructors_header.h"
#include "kernels/face/ops_document.h"
#include "tests/support/gpu/gpu_library.h"
#include "tests/support/ops/op_library.h"
#include "tests/support/ops/run_op.h"
#include "tests/support/project_files.h"

namespace troupe::test::op_faces_test {

BOOST_AUTO_TEST_SUITE(op_faces)

BOOST_AUTO_TEST_CASE(constructors) {
  BOOST_TEST(
      (project_file("kernels/constructors.h") == constructors_header(*op_library()->ops)),
      "kernels/constructors.h is not what the op table says; ninja -C build/release op_faces writes it");
}

BOOST_AUTO_TEST_CASE(document) {
  BOOST_TEST((project_file("docs/ops.md") == ops_document(*gpu_library())),
             "docs/ops.md is not what the op table says; ninja -C build/release op_faces writes it");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::test::op_faces_test
