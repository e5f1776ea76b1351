// Incremental checkpoints: what has not changed since the checkpoint before is not written again, no file goes that a kept
// checkpoint needs, and what is restored is what was saved, also after crashes, restores and damage (robustness.md I1, I7).
#include <boost/test/unit_test.hpp>

#include "actors/checkpoint/checkpoint_files.h"
#include "graph/build/scope.h"
#include "tests/support/failure_of.h"
#include "tests/support/simulation/simulated_node.h"

namespace troupe::incremental_checkpoint_test {
namespace {

using test::SimulatedNode;
using test::Simulation;

const std::string folder = "/checkpoints";

// Variables of `size` floats: a large one that seldom changes, and a smaller one.
struct Model {
  static constexpr int64_t large = 4000, small = 1000;

  explicit Model(const SimulatedNode& node) : graph(node.actors.library->ops) {
    variable("large", large);
    variable("small", small);
  }
  void variable(const std::string& name, int64_t size) {
    const Scope g(graph);
    const Output variable =
        g.with_name(name).add_one("VariableV2", {}, {{"dtype", DType::Float}, {"shape", PartialShape{size}}});
    const Output value = g.add_one("Placeholder", {}, {{"dtype", DType::Float}});
    placeholders.push_back(value);
    assigns.push_back({g.add("Assign", {variable, value}), Output::control});
    reads.push_back(g.add_one("Identity", {variable}));
  }

  Graph graph;
  std::vector<Output> placeholders, assigns, reads;
};

/// A process with one task, and its session.
struct Process {
  explicit Process(SimulatedDisk& on) : disk(on) {}

  static Tensor tensor(int64_t size, float value) {
    Tensor result = value_or_throw(Tensor::allocate(DType::Float, Shape{size}));
    std::fill_n(reinterpret_cast<float*>(result.mutable_data()), size, value);
    return result;
  }
  void set_large(float value) { set(0, tensor(Model::large, value)); }
  void set_small(float value) { set(1, tensor(Model::small, value)); }
  void set(size_t which, Tensor value) {
    session.run({{model.placeholders[which], std::move(value)}}, {model.assigns[which]});
  }
  void check(float large, float small) {
    const auto found = session.run(model.reads);
    BOOST_TEST_REQUIRE(identical(found[0], tensor(Model::large, large)));
    BOOST_TEST_REQUIRE(identical(found[1], tensor(Model::small, small)));
  }
  /// Returns how many bytes the disk has more then.
  int64_t save(uint64_t round, size_t keep = 5) {
    const uint64_t before = disk.used();
    const auto saved = session.save(folder, {.round = round, .note = "n", .keep = keep});
    BOOST_TEST(saved.problem.empty(), saved.problem);
    return static_cast<int64_t>(disk.used()) - static_cast<int64_t>(before);
  }

  Simulation simulation;
  SimulatedDisk& disk;
  SimulatedNode node{simulation, disk, 1};
  const Model model{node};
  Session session = node.session(model.graph, {.share_state = true});
};

void check_restored(SimulatedDisk& disk, float large, float small, const std::string& name = {}) {
  Process other(disk);
  const auto restored = other.session.restore(folder, name);
  BOOST_TEST(restored.missing.empty());
  BOOST_TEST(restored.skipped.empty());
  other.check(large, small);
}

std::vector<std::string> files_of(Disk& disk, const std::string& checkpoint) {
  std::vector<std::string> names;
  for (const auto& entry : value_or_throw(disk.list(folder + '/' + checkpoint))) names.push_back(entry.name);
  return names;
}

constexpr int64_t large_bytes = 4 * Model::large, small_bytes = 4 * Model::small, overhead = 1000;

struct Fixture {
  SimulatedDisk disk{1};
};

/// A process with a checkpoint of (1, 1) and, if `twice`, one of (1, 2).
struct Saved : Fixture {
  Saved() {
    process.set_large(1);
    process.set_small(1);
    process.save(1);
    process.set_small(2);
    BOOST_TEST(process.save(2) < small_bytes + overhead);
  }
  Process process{disk};
};

}  // namespace

BOOST_AUTO_TEST_SUITE(incremental_checkpoint)

BOOST_FIXTURE_TEST_CASE(what_did_not_change_is_not_written_again, Saved) {
  BOOST_TEST(process.save(3) < small_bytes + overhead);
  process.set_large(2);
  BOOST_TEST(process.save(4) > large_bytes);
  process.set_small(3);
  BOOST_TEST(process.save(5) < small_bytes + overhead);
  check_restored(disk, 1, 1, "000001-round-1");
  check_restored(disk, 1, 2, "000002-round-2");
  check_restored(disk, 1, 2, "000003-round-3");
  check_restored(disk, 2, 2, "000004-round-4");
  check_restored(disk, 2, 3);
  const CheckpointFiles files(disk, folder);
  const auto second = value_or_throw(files.manifest("000002-round-2"));
  BOOST_REQUIRE(second.files.size() == 2u);
  for (const ShardFile& file : second.files) {
    BOOST_REQUIRE(file.tensors.size() == 1u);
    BOOST_TEST(file.folder == (file.tensors[0].name == "large" ? "000001-round-1" : ""));
  }
}

BOOST_FIXTURE_TEST_CASE(a_file_outlives_its_checkpoint_as_long_as_one_that_is_kept_refers_to_it, Saved) {
  for (uint64_t round = 3; round < 10; ++round) {
    process.set_small(static_cast<float>(round));
    process.save(round, 2);
    check_restored(disk, 1, static_cast<float>(round));
  }
  const std::string shard = shard_name(0, 1);
  BOOST_TEST(files_of(disk, "000001-round-1") == std::vector<std::string>{shard},
             boost::test_tools::per_element());
  BOOST_TEST(disk.used() < static_cast<uint64_t>(large_bytes + 3 * small_bytes + 3 * overhead));
  process.set_large(2);
  process.save(10, 2);
  BOOST_TEST(disk.info(folder + "/000001-round-1/" + shard).ok());
  process.save(11, 2);
  BOOST_TEST((disk.info(folder + "/000001-round-1").status().code() == Code::NotFound));
  check_restored(disk, 2, 9);
}

BOOST_FIXTURE_TEST_CASE(what_is_the_smaller_part_of_an_outdated_file_is_written_once_more, Fixture) {
  Process process(disk);
  process.set_large(1);
  process.set_small(1);
  process.save(1);
  process.set_large(2);
  BOOST_TEST(process.save(2, 1) < overhead);  // the first checkpoint goes with all its files
  BOOST_TEST((disk.info(folder + "/000001-round-1").status().code() == Code::NotFound));
  process.set_large(3);
  BOOST_TEST(process.save(3, 1) < overhead);
  BOOST_TEST(files_of(disk, "000002-round-2") == std::vector<std::string>{shard_name(0, 1, true)},
             boost::test_tools::per_element());
  check_restored(disk, 3, 1);
}

BOOST_FIXTURE_TEST_CASE(after_a_resume_what_did_not_change_is_not_written_either, Saved) {
  Process other(disk);
  other.session.restore(folder);
  other.set_small(3);
  BOOST_TEST(other.save(3) < small_bytes + overhead);
  check_restored(disk, 1, 3);
}

BOOST_FIXTURE_TEST_CASE(equal_versions_of_another_history_are_other_values, Saved) {
  process.session.restore(folder, "000001-round-1");
  process.set_small(7);  // the version of the value 2 in the second checkpoint
  process.save(3);
  check_restored(disk, 1, 7);
  process.set_large(8);
  process.save(4);
  process.session.restore(folder, "000003-round-3");
  process.set_large(9);
  process.save(5);
  check_restored(disk, 9, 7);
}

BOOST_FIXTURE_TEST_CASE(a_state_held_before_a_restore_is_saved_as_it_was, Saved) {
  process.set_small(3);
  PendingSave pending = process.session.begin_save(folder, {.round = 3, .note = "n"});
  process.session.restore(folder, "000001-round-1");
  pending.wait();
  process.set_small(5);
  process.set_small(6);  // the version of the value 3
  process.save(4);
  check_restored(disk, 1, 3, "000003-round-3");
  check_restored(disk, 1, 6);
}

BOOST_FIXTURE_TEST_CASE(a_save_goes_on_when_the_wait_for_it_is_cancelled, Saved) {
  process.set_small(3);
  PendingSave pending = process.session.begin_save(folder, {.round = 3, .note = "n"});
  Cancellation cancellation, unused;
  cancellation.cancel();
  const Status given_up = test::failure_of([&] { pending.wait(&cancellation); });
  BOOST_TEST((given_up.code() == Code::Cancelled));
  BOOST_TEST(given_up.text() == "the wait for the checkpoint was cancelled; it is written all the same");
  process.set_small(5);
  BOOST_TEST(pending.wait(&unused).folder == folder + "/000003-round-3");
  BOOST_TEST((test::failure_of([&] { pending.wait(); }).code() == Code::FailedPrecondition));
  check_restored(disk, 1, 3);
}

BOOST_FIXTURE_TEST_CASE(after_a_save_that_failed_the_next_one_is_whole, Saved) {
  disk.set_capacity(disk.used() + small_bytes + overhead / 4);  // room for the file, not for the manifest
  process.set_small(3);
  bool failed = false;
  try {
    process.session.save(folder, {.round = 3, .note = std::string(overhead, 'n')});
  } catch (const Error&) {
    failed = true;
  }
  BOOST_TEST(failed);
  disk.set_capacity(UINT64_MAX);
  process.save(4);
  check_restored(disk, 1, 3);
}

BOOST_FIXTURE_TEST_CASE(the_error_of_a_file_of_an_older_checkpoint_names_it_and_the_variable, Saved) {
  const std::string path = folder + "/000001-round-1/" + shard_name(0, 1);
  const std::string whole = value_or_throw(read_file(disk, path, 1 << 20));
  std::string damaged = whole;
  damaged[damaged.size() / 2] ^= 1;
  const auto check_refused = [&] {
    try {
      Process(disk).session.restore(folder, "000002-round-2");
      BOOST_ERROR("the checkpoint was restored");
    } catch (const Error& error) {
      BOOST_TEST((error.status().code() == Code::DataLoss));
      const std::string text = error.status().text();
      BOOST_TEST(text.find(path) != std::string::npos, text);
      BOOST_TEST(text.find("000002-round-2 needs it for large") != std::string::npos, text);
    }
  };
  throw_if_failed(value_or_throw(disk.create(path))->write(std::as_bytes(std::span(damaged))));
  check_refused();
  throw_if_failed(disk.remove(path));
  check_refused();
  BOOST_TEST(process.save(3) > large_bytes);  // a new checkpoint does not refer to a file that is gone
  check_restored(disk, 1, 2);
}

BOOST_AUTO_TEST_CASE(after_a_crash_at_any_operation_the_new_or_the_old_one_is_restored) {
  for (uint64_t seed = 1; seed <= 3; ++seed)
    for (uint64_t operation = 1;; ++operation) {
      SimulatedDisk disk(seed);
      Process process(disk);
      process.set_large(1);
      for (const uint64_t round : {1, 2, 3}) {
        process.set_small(static_cast<float>(round));
        process.save(round, 1);
      }
      process.set_small(4);
      disk.crash_at(disk.operations() + operation);
      bool saved = true;
      try {
        process.session.save(folder, {.round = 4, .note = "n", .keep = 1});
      } catch (const Error&) {
        saved = false;
      }
      const bool over = !disk.crashed();
      if (over) disk.crash();
      disk.restart();
      Process other(disk);
      const uint64_t found = other.session.restore(folder).round;
      BOOST_TEST_REQUIRE((found == 4 || (found == 3 && !saved)), "operation " << operation << ": " << found);
      other.check(1, static_cast<float>(found));
      other.set_small(5);
      other.save(5, 1);
      check_restored(disk, 1, 5);
      BOOST_TEST_REQUIRE(value_or_throw(disk.list(folder)).size() ==
                         2u);  // it, and the file of the first one
      if (over) break;
    }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::incremental_checkpoint_test
