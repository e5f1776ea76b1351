// Files that match patterns.
#include "messages/env/matching_files.h"

#include <boost/test/unit_test.hpp>

#include "messages/env/real_disk.h"
#include "tests/support/temporary_folder.h"

namespace troupe {
namespace {

BOOST_AUTO_TEST_CASE(matching_files_are_listed_by_name) {
  const test::TemporaryFolder folder;
  RealDisk disk;
  for (const char* inside : {"/a", "/b"}) throw_if_failed(disk.make_folder(folder.path() + inside));
  for (const char* file : {"model-2", "model-1", "model-10", ".model-3", "a/x", "b/x", "b/y"})
    folder.write(file, "");
  const auto matches = [&](const std::string& pattern) {
    std::string all;
    for (const std::string& path : value_or_throw(matching_files(disk, folder.path() + "/" + pattern)))
      all += path.substr(folder.path().size() + 1) + ' ';
    return all;
  };
  BOOST_TEST(matches("model-1") == "model-1 ");
  BOOST_TEST(matches("model-?") == "model-1 model-2 ");
  BOOST_TEST(matches("model-*") == "model-1 model-10 model-2 ");
  BOOST_TEST(matches("*model-*") == "model-1 model-10 model-2 ");
  BOOST_TEST(matches("model-[2-9]") == "model-2 ");
  BOOST_TEST(matches("?/x") == "a/x b/x ");
  BOOST_TEST(matches("b/*") == "b/x b/y ");
  BOOST_TEST(matches("nothing") == "");
  BOOST_TEST(matches("model-1/x") == "");
  BOOST_TEST(matches("c/*") == "");
}

}  // namespace
}  // namespace troupe
