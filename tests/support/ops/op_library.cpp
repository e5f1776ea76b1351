#include "tests/support/ops/op_library.h"

namespace troupe::test {

std::shared_ptr<const OpLibrary> op_library() {
  static const auto library = make_op_library();
  return library;
}

}  // namespace troupe::test
