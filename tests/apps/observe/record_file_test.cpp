// Files of records while the system refuses to take more.
#include "apps/observe/record_file.h"

#include <boost/test/unit_test.hpp>

#include <sys/resource.h>

#include <csignal>
#include <fstream>
#include <iterator>

#include "tests/support/temporary_folder.h"

namespace troupe::observe::record_file_test {
namespace {

/// Lets files become no larger than this while it exists.
class SmallFiles {
 public:
  explicit SmallFiles(rlim_t bytes) : handler_(std::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit small = {bytes, before_.rlim_max};
    ::setrlimit(RLIMIT_FSIZE, &small);
  }
  ~SmallFiles() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  SmallFiles(const SmallFiles&) = delete;
  SmallFiles& operator=(const SmallFiles&) = delete;

 private:
  rlimit before_{};
  void (*const handler_)(int);
};

std::string content(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

BOOST_AUTO_TEST_SUITE(record_file)

BOOST_AUTO_TEST_CASE(a_record_is_written_whole_or_not_at_all) {
  const test::TemporaryFolder folder;
  const std::string path = folder.write("lines", "first\n");
  auto file = value_or_throw(RecordFile::open(path));
  {
    const SmallFiles full(15);
    BOOST_TEST(file.append("second\n").ok());
    const Status status = file.append("third\n");  // of which the system would take two bytes
    BOOST_TEST((status.code() == Code::Unavailable), status.text());
    BOOST_TEST(status.text() == "cannot write " + path + ": File too large");
    BOOST_TEST(content(path) == "first\nsecond\n");
  }
  BOOST_TEST(file.append("fourth\n").ok());
  BOOST_TEST(content(path) == "first\nsecond\nfourth\n");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::observe::record_file_test
