// The main function of every test executable.
#define BOOST_TEST_MODULE troupe
#include <boost/test/unit_test.hpp>

// To the sanitizers too, memory that no system could give is an error to be answered, not the end.
// NOLINTBEGIN: their names
extern "C" [[gnu::visibility("default")]] const char* __asan_default_options() {
  return "allocator_may_return_null=1";
}
extern "C" [[gnu::visibility("default")]] const char* __tsan_default_options() {
  return "allocator_may_return_null=1";
}
// NOLINTEND
