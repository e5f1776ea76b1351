// What every Disk does, and what the simulated one loses.
#include "messages/env/disk.h"

#include <sys/stat.h>

#include <boost/test/unit_test.hpp>

#include <cstdlib>
#include <filesystem>
#include <set>

#include "messages/env/real_disk.h"
#include "tests/support/failure_of.h"
#include "tests/support/simulation/simulated_disk.h"
#include "tests/support/temporary_folder.h"

namespace troupe::disk_test {
namespace {

BOOST_AUTO_TEST_SUITE(disk)

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

void put(Disk& disk, const std::string& path, std::string_view text) {
  auto file = value_or_throw(disk.create(path));
  throw_if_failed(file->write(bytes_of(text)));
  throw_if_failed(file->close());
}

std::string get(Disk& disk, const std::string& path) {
  const auto content = read_file(disk, path, 1 << 20);
  return content.ok() ? *content : std::string(name(content.status().code()));
}

std::string names(Disk& disk, const std::string& folder) {
  std::string all;
  for (const auto& entry : value_or_throw(disk.list(folder)))
    all += entry.name + (entry.is_folder ? "/ " : " ");
  return all;
}

void check_any_disk(Disk& disk, const std::string& root) {
  const auto path = [&](const std::string& name) { return root + "/" + name; };
  const auto code = [](const auto& result) {
    if constexpr (requires { result.status(); })
      return result.status().code();
    else
      return result.code();
  };
  BOOST_TEST((code(disk.open(path("none"))) == Code::NotFound));
  BOOST_TEST(disk.open(path("none")).status().text().find(path("none")) != std::string::npos);
  put(disk, path("a"), "first");
  BOOST_TEST(get(disk, path("a")) == "first");
  put(disk, path("a"), "new");
  BOOST_TEST(get(disk, path("a")) == "new");
  {
    auto more = value_or_throw(disk.append(path("a")));
    throw_if_failed(more->write(bytes_of("er")));
    throw_if_failed(more->sync());
  }
  BOOST_TEST(get(disk, path("a")) == "newer");
  BOOST_TEST(disk.info(path("a"))->bytes == 5u);
  BOOST_TEST(!disk.info(path("a"))->is_folder);

  auto file = value_or_throw(disk.open(path("a")));
  char two[2] = {};
  BOOST_TEST(*file->read(1, std::as_writable_bytes(std::span(two))) == 2u);
  BOOST_TEST(std::string(two, 2) == "ew");
  BOOST_TEST(*file->read(4, std::as_writable_bytes(std::span(two))) == 1u);
  BOOST_TEST(*file->read(99, std::as_writable_bytes(std::span(two))) == 0u);
  BOOST_TEST(*file->size() == 5u);
  BOOST_TEST((code(read_file(disk, path("a"), 4)) == Code::ResourceExhausted));

  BOOST_TEST(make_folders(disk, path("f/g")).ok());
  BOOST_TEST(make_folders(disk, path("f/g")).ok());
  BOOST_TEST((code(disk.make_folder(path("f"))) == Code::AlreadyExists));
  BOOST_TEST((code(make_folders(disk, path("a/b"))) == Code::FailedPrecondition));
  BOOST_TEST((code(disk.open(path("f"))) == Code::FailedPrecondition));
  BOOST_TEST((code(disk.create(path("f"))) == Code::FailedPrecondition));
  BOOST_TEST((code(disk.create(path("no/file"))) == Code::NotFound));
  BOOST_TEST((code(disk.remove(path("f"))) == Code::AlreadyExists));
  BOOST_TEST(disk.rename(path("a"), path("f/b")).ok());
  BOOST_TEST((code(disk.rename(path("a"), path("c"))) == Code::NotFound));
  put(disk, path("d"), "over");
  BOOST_TEST(disk.rename(path("d"), path("f/b")).ok());
  BOOST_TEST(get(disk, path("f/b")) == "over");
  BOOST_TEST(disk.rename(path("f"), path("h")).ok());
  BOOST_TEST(names(disk, root) == "h/ ");
  BOOST_TEST(names(disk, path("h")) == "b g/ ");
  BOOST_TEST(disk.sync_folder(path("h")).ok());
  BOOST_TEST((code(disk.list(path("x"))) == Code::NotFound));

  BOOST_TEST(disk.remove(path("h/g")).ok());
  BOOST_TEST(disk.remove(path("h/b")).ok());
  BOOST_TEST(disk.remove(path("h")).ok());
  BOOST_TEST((code(disk.remove(path("h"))) == Code::NotFound));
  BOOST_TEST(names(disk, root).empty());
}

BOOST_AUTO_TEST_CASE(the_real_and_the_simulated_disk_behave_alike) {
  const test::TemporaryFolder folder;
  RealDisk real;
  check_any_disk(real, folder.path());
  SimulatedDisk simulated(1);
  check_any_disk(simulated, "");
}

BOOST_AUTO_TEST_CASE(a_disk_with_roots_refuses_what_lies_elsewhere) {
  namespace fs = std::filesystem;
  const test::TemporaryFolder inside, outside;
  const std::string secret = outside.write("secret", "key");
  fs::create_symlink(outside.path(), inside.path() + "/out");
  fs::create_symlink(secret, inside.path() + "/file");
  fs::create_symlink(outside.path() + "/new", inside.path() + "/dangling");
  fs::create_symlink("a", inside.path() + "/within");
  RealDisk disk(FileRoots({inside.path() + "/"}));
  put(disk, inside.path() + "/a", "mine");
  BOOST_TEST(get(disk, inside.path() + "/a") == "mine");
  BOOST_TEST(get(disk, inside.path() + "/within") == "mine");
  BOOST_TEST(make_folders(disk, inside.path() + "/b/c").ok());
  for (const std::string& path :
       {secret, std::string("/"), std::string("relative"), inside.path() + "x", inside.path() + "/../a",
        inside.path() + "/out/secret", inside.path() + "/file", inside.path() + "/dangling"}) {
    BOOST_TEST((disk.open(path).status().code() == Code::PermissionDenied), path);
    BOOST_TEST((disk.create(path).status().code() == Code::PermissionDenied), path);
    BOOST_TEST((disk.rename(inside.path() + "/a", path).code() == Code::PermissionDenied), path);
    BOOST_TEST((disk.remove(path).code() == Code::PermissionDenied), path);
  }
  BOOST_TEST(!fs::exists(outside.path() + "/new"));
}

BOOST_AUTO_TEST_CASE(roots_that_lie_nowhere_are_refused) {
  const test::TemporaryFolder folder;
  const std::string loop = folder.path() + "/loop";
  std::filesystem::create_symlink("loop", loop);
  for (const std::string& root : {std::string(), loop, loop + "/in", folder.path() + std::string("\0x", 2)}) {
    const Status status = test::failure_of([&] { RealDisk disk(FileRoots({folder.path(), root})); });
    BOOST_TEST((status.code() == Code::InvalidArgument), root);
  }
  BOOST_TEST(test::failure_of([] { FileRoots(std::vector<std::string>{""}); }).text() ==
             "the folder '' that must contain all files (RuntimeOptions::roots, --root) has no name; "
             "'.' is the working folder");
  const FileRoots later({folder.path() + "/later"});  // which need not exist yet
  BOOST_TEST(later.check(folder.path() + "/later/a").ok());
  BOOST_TEST(!later.check(folder.path() + "/a").ok());
}

BOOST_AUTO_TEST_CASE(a_path_is_not_cut_at_a_nul_byte) {
  const test::TemporaryFolder folder;
  const std::string path = folder.write("a", "mine") + std::string("\0x", 2);
  for (const FileRoots& roots : {FileRoots(), FileRoots({folder.path()})})
    BOOST_TEST((RealDisk(roots).open(path).status().code() == Code::InvalidArgument));
}

BOOST_AUTO_TEST_CASE(what_is_no_regular_file_is_refused_at_once) {
  const test::TemporaryFolder folder;
  const std::string pipe = folder.path() + "/pipe";
  BOOST_REQUIRE_EQUAL(::mkfifo(pipe.c_str(), 0600), 0);
  RealDisk disk;
  const auto check_refusal = [](const Status& status, const std::string& path, const std::string& kind) {
    BOOST_TEST((status.code() == Code::FailedPrecondition), status.text());
    BOOST_TEST(status.text().find("'" + path + "': it is " + kind) != std::string::npos, status.text());
  };
  check_refusal(disk.open(pipe).status(), pipe, "a named pipe");  // which would wait for a writer
  check_refusal(disk.create(pipe).status(), pipe, "a named pipe");
  check_refusal(disk.append(pipe).status(), pipe, "a named pipe");
  check_refusal(disk.open("/dev/zero").status(), "/dev/zero", "a device");
}

BOOST_AUTO_TEST_CASE(folders_of_paths) {
  BOOST_TEST(folder_of("a/b/c") == "a/b");
  BOOST_TEST(folder_of("a/b/") == "a");
  BOOST_TEST(folder_of("c") == ".");
  BOOST_TEST(folder_of("/c") == "/");
  BOOST_TEST(folder_of("/") == "/");
}

BOOST_AUTO_TEST_CASE(a_new_file_appears_when_it_is_whole) {
  SimulatedDisk disk(1);
  put(disk, "kept", "old");
  {
    auto file = value_or_throw(NewFile::create(disk, "kept"));
    BOOST_TEST(file.write("ne").ok());
    BOOST_TEST(get(disk, "kept") == "old");
    auto moved = std::move(file);
    BOOST_TEST(moved.write("w").ok());
    BOOST_TEST(moved.commit().ok());
  }
  BOOST_TEST(get(disk, "kept") == "new");
  {
    auto abandoned = value_or_throw(NewFile::create(disk, "kept"));
    BOOST_TEST(abandoned.write("half").ok());
  }
  BOOST_TEST(get(disk, "kept") == "new");
  BOOST_TEST(names(disk, "") == "kept ");
}

BOOST_AUTO_TEST_CASE(a_full_disk_takes_what_fits) {
  SimulatedDisk disk(1);
  disk.set_capacity(10);
  put(disk, "a", "123456");
  auto file = value_or_throw(disk.create("b"));
  BOOST_TEST((file->write(bytes_of("7890ab")).code() == Code::ResourceExhausted));
  BOOST_TEST(disk.used() == 10u);
  BOOST_TEST(get(disk, "b") == "7890");
  BOOST_TEST(disk.remove("a").ok());
  BOOST_TEST(file->write(bytes_of("ab")).ok());
}

BOOST_AUTO_TEST_CASE(a_crashed_disk_answers_nothing) {
  SimulatedDisk disk(1);
  auto file = value_or_throw(disk.create("a"));
  disk.crash();
  BOOST_TEST((disk.open("a").status().code() == Code::Unavailable));
  BOOST_TEST((file->write(bytes_of("x")).code() == Code::Unavailable));
  disk.restart();
  BOOST_TEST((file->write(bytes_of("x")).code() == Code::Unavailable));
  BOOST_TEST(disk.create("a").ok());
}

// What may be on the disk after a crash, over many seeds: each of these at some time, and nothing else.
template <class Write>
std::set<std::string> found_after_crash(Write write, const std::string& path) {
  std::set<std::string> found;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    SimulatedDisk disk(seed);
    write(disk);
    disk.crash();
    disk.restart();
    found.insert(get(disk, path));
  }
  return found;
}

BOOST_AUTO_TEST_CASE(what_was_not_synced_may_be_lost) {
  const auto is = [](const std::set<std::string>& found, const std::set<std::string>& expected) {
    BOOST_TEST(found == expected, boost::test_tools::per_element());
  };
  // Bytes and name were synced.
  is(found_after_crash(
         [](SimulatedDisk& disk) {
           auto file = value_or_throw(disk.create("a"));
           throw_if_failed(file->write(bytes_of("xy")));
           throw_if_failed(file->sync());
           throw_if_failed(disk.sync_folder("/"));
         },
         "a"),
     {"xy"});
  // Bytes were synced, the name was not.
  is(found_after_crash(
         [](SimulatedDisk& disk) {
           auto file = value_or_throw(disk.create("a"));
           throw_if_failed(file->write(bytes_of("xy")));
           throw_if_failed(file->sync());
         },
         "a"),
     {"NotFound", "xy"});
  // The name was synced, bytes only in part.
  is(found_after_crash(
         [](SimulatedDisk& disk) {
           auto file = value_or_throw(disk.create("a"));
           throw_if_failed(file->write(bytes_of("x")));
           throw_if_failed(file->sync());
           throw_if_failed(disk.sync_folder("/"));
           throw_if_failed(file->write(bytes_of("yz")));
         },
         "a"),
     {"x", "xy", "xyz", std::string("x\0", 2), std::string("x\0z", 3), std::string("xy\0", 3),
      std::string("x\0\0", 3)});
  // The file was emptied, written, and not synced: the old content, or a part of the new.
  is(found_after_crash(
         [](SimulatedDisk& disk) {
           auto file = value_or_throw(disk.create("a"));
           throw_if_failed(file->write(bytes_of("old")));
           throw_if_failed(file->sync());
           throw_if_failed(disk.sync_folder("/"));
           put(disk, "a", "n");
         },
         "a"),
     {"", "old", "n", std::string("\0", 1)});
  // The file was renamed over another, and the folder was not synced.
  is(found_after_crash(
         [](SimulatedDisk& disk) {
           for (const std::string name : {"a", "b"}) {
             auto file = value_or_throw(disk.create(name));
             throw_if_failed(file->write(bytes_of(name)));
             throw_if_failed(file->sync());
           }
           throw_if_failed(disk.sync_folder("/"));
           throw_if_failed(disk.rename("b", "a"));
         },
         "a"),
     {"a", "b"});
}

// A crash interrupts one operation of replacing a file, for each
// operation in turn: the file has the old or the new content afterwards.
BOOST_AUTO_TEST_CASE(a_new_file_survives_a_crash_at_any_operation) {
  const std::string old_content(100, 'o'), new_content(100, 'n');
  std::set<std::string> seen;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    for (uint64_t operation = 1;; ++operation) {
      SimulatedDisk disk(seed);
      {
        auto first = value_or_throw(NewFile::create(disk, "file"));
        throw_if_failed(first.write(old_content));
        throw_if_failed(first.commit());
      }
      disk.crash_at(disk.operations() + operation);
      const auto replace = [&]() -> Status {
        TROUPE_ASSIGN(auto file, NewFile::create(disk, "file"));
        TROUPE_RETURN_IF_FAILED(file.write(new_content));
        return file.commit();
      };
      const Status replaced = replace();
      if (!disk.crashed()) {
        BOOST_TEST(replaced.ok());
        BOOST_TEST(operation == 6u);  // create, write, sync, rename, sync_folder
        break;
      }
      disk.restart();
      const std::string content = get(disk, "file");
      BOOST_REQUIRE(content == old_content || content == new_content);
      seen.insert(content);
    }
  }
  BOOST_TEST(seen.size() == 2u);
}

BOOST_AUTO_TEST_CASE(a_seed_replays_identically) {
  const auto story = [](uint64_t seed) {
    SimulatedDisk disk(seed);
    disk.crash_at(7);
    for (int i = 0; i < 5; ++i) {
      auto file = disk.append("log" + std::to_string(i % 2));
      if (file.ok()) (void)(*file)->write(bytes_of("some bytes"));
    }
    disk.restart();
    return get(disk, "log0") + "|" + get(disk, "log1");
  };
  std::set<std::string> stories;
  for (uint64_t seed = 0; seed < 20; ++seed) {
    BOOST_TEST(story(seed) == story(seed));
    stories.insert(story(seed));
  }
  BOOST_TEST(stories.size() > 5u);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::disk_test
