// Patterns of names, and the paths that match a pattern.
#include "messages/env/glob.h"

#include <boost/test/unit_test.hpp>

#include "messages/env/real_disk.h"
#include "tests/support/simulation/simulated_disk.h"
#include "tests/support/temporary_folder.h"

namespace troupe::glob_test {
namespace {

using Paths = std::vector<std::string>;

void check(Disk& disk, const std::string& pattern, const Paths& expected) {
  const auto found = matching_paths(disk, pattern);
  BOOST_TEST_REQUIRE(found.ok(), pattern << ": " << found.status().message());
  BOOST_TEST((*found == expected), pattern);
}

void make_files(Disk& disk, const Paths& paths) {
  for (const std::string& path : paths) {
    BOOST_TEST_REQUIRE(make_folders(disk, folder_of(path)).ok());
    BOOST_TEST_REQUIRE(disk.create(path).ok());
  }
}

}  // namespace

BOOST_AUTO_TEST_SUITE(glob)

BOOST_AUTO_TEST_CASE(names_match_patterns) {
  const std::pair<const char*, Paths> yes[] = {{"*", {"", "a", ".a"}},
                                               {"a*b*c", {"abc", "a_b_b_c", "abcbc"}},
                                               {"?[a-c!]", {"xb", "x!"}},
                                               {"[!a-c]", {"d", "]"}},
                                               {"[^x]", {"y"}},
                                               {"[]a]", {"]", "a"}},
                                               {"[a-", {"[a-"}},
                                               {"\\*\\", {"*\\"}},
                                               {"", {""}}};
  for (const auto& [pattern, names] : yes)
    for (const std::string& name : names) BOOST_TEST(matches(pattern, name), pattern << " " << name);
  const std::pair<const char*, Paths> no[] = {{"a*b*c", {"abcd", "acb", ""}},
                                              {"?", {"", "ab"}},
                                              {"[a-c]", {"d", "-", ""}},
                                              {"[!a-c]", {"b", ""}},
                                              {"[^x]", {"x"}},
                                              {"\\*", {"a"}},
                                              {"", {"a"}},
                                              {"a", {"", "aa"}}};
  for (const auto& [pattern, names] : no)
    for (const std::string& name : names) BOOST_TEST(!matches(pattern, name), pattern << " " << name);
}

// A matcher that tries every way to divide the name between the stars would not end.
BOOST_AUTO_TEST_CASE(many_stars_take_no_time) {
  std::string pattern;
  for (int i = 0; i < 50; ++i) pattern += "a*";
  BOOST_TEST(!matches(pattern + "b", std::string(250, 'a')));
}

BOOST_AUTO_TEST_CASE(paths_match_part_by_part_in_order) {
  SimulatedDisk disk{0};
  make_files(disk, {"/d/b.txt", "/d/a.txt", "/d/.h.txt", "/d/e/y.txt", "/d/f/e/z.txt", "/x.txt"});
  check(disk, "/d/*.txt", {"/d/.h.txt", "/d/a.txt", "/d/b.txt"});
  check(disk, "/d/*", {"/d/.h.txt", "/d/a.txt", "/d/b.txt", "/d/e", "/d/f"});
  check(disk, "/*/*/*", {"/d/e/y.txt", "/d/f/e"});
  check(disk, "/d/?/e/*.txt", {"/d/f/e/z.txt"});
  check(disk, "/*/a.txt", {"/d/a.txt"});
  check(disk, "/d/a.txt", {"/d/a.txt"});
  check(disk, "/d/\\a.txt", {"/d/a.txt"});
  check(disk, "/d/a.txt/*", {});
  check(disk, "/*/a.txt/b", {});
  check(disk, "/none/*", {});
  check(disk, "/none", {});
  check(disk, "", {});
}

BOOST_AUTO_TEST_CASE(relative_paths_begin_as_in_tensorflow) {
  SimulatedDisk disk{0};
  make_files(disk, {"a.txt", "d/b.txt"});
  check(disk, "*.txt", {"./a.txt"});
  check(disk, "./*.txt", {"./a.txt"});
  check(disk, "d/*", {"d/b.txt"});
  check(disk, "a.txt", {"a.txt"});
}

BOOST_AUTO_TEST_CASE(no_pattern_leaves_the_roots) {
  const test::TemporaryFolder folder;
  RealDisk all;
  make_files(all, {folder.path() + "/in/a", folder.path() + "/out/b"});
  RealDisk disk{FileRoots({folder.path() + "/in"})};
  check(disk, folder.path() + "/in/*", {folder.path() + "/in/a"});
  for (const std::string pattern : {"out/*", "*/b", "in/../out/*", "out/b"})
    BOOST_TEST(
        (matching_paths(disk, folder.path() + "/" + pattern).status().code() == Code::PermissionDenied),
        pattern);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::glob_test
