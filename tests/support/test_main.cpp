// The main function of all test programs.
#define BOOST_TEST_MODULE troupe
#include <boost/test/unit_test.hpp>
