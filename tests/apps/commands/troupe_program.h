// The program under test.
#pragma once

#include <string>

namespace troupe::test {

/// Returns the path of the program that this build has made.
const std::string& troupe_program();

}  // namespace troupe::test
