#include "tests/apps/commands/troupe_program.h"

namespace troupe::test {

const std::string& troupe_program() {
  static const std::string path = TROUPE_PROGRAM;
  return path;
}

}  // namespace troupe::test
