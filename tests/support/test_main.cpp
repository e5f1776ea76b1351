// The main function of all test programs.
#define BOOST_TEST_MODULE troupe
#include <boost/test/unit_test.hpp>

#include <cstdio>
#include <cstdlib>
#include <thread>

namespace {

/// Ends the program when a thread other than the one that runs the test cases checks something. Boost.Test supports checks on one
/// thread only: those of several threads damage its strings, so that a test fails at random.
class ChecksOnOneThread : public boost::unit_test::test_observer {
 public:
  ChecksOnOneThread() { boost::unit_test::framework::register_observer(*this); }
  ~ChecksOnOneThread() override { boost::unit_test::framework::deregister_observer(*this); }

  void assertion_result(boost::unit_test::assertion_result) override {
    if (std::this_thread::get_id() == thread_) return;
    const auto& test = boost::unit_test::framework::current_test_case();
    std::fprintf(stderr, "%s: another thread than that of the test case checks something\n",
                 test.full_name().c_str());
    std::_Exit(EXIT_FAILURE);
  }

 private:
  const std::thread::id thread_ = std::this_thread::get_id();
};
BOOST_TEST_GLOBAL_FIXTURE(ChecksOnOneThread);

}  // namespace
