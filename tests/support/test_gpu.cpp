#include "tests/support/test_gpu.h"

namespace troupe::test {

Device* test_gpu() { return nullptr; }

}  // namespace troupe::test
