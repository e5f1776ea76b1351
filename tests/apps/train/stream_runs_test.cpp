// Runs that are fed by a stream over several files: killed at any moment, resumed, and resumed with other processes, they draw
// the records that an undisturbed run draws.
#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <csignal>
#include <random>

#include "messages/env/real_disk.h"
#include "tests/apps/commands/troupe_program.h"
#include "tests/support/program.h"
#include "tests/support/temporary_folder.h"
#include "tests/support/tf_record.h"
#include "tests/support/whole_checkpoint.h"

namespace troupe::stream_runs_test {
namespace {

using Arguments = std::vector<std::string>;
using test::Program;

constexpr int records = 96, batch = 16, steps_per_epoch = records / batch;

/// `seen` loses 1/16 of an element at each draw of its record, so it counts the draws exactly. The other weights depend on the
/// order of the records, too.
constexpr const char* model = R"toml(
[data.map]
fields = "reshape(decode_raw(image, out_type='float'), [5])"
x = "slice(fields, [0], [3])"
y = "slice(fields, [3], [1])"
id = "cast(slice(fields, [4], [1]), 'int32')"
[data.augment]
x = "x + 0.1 * random_uniform([3], 'float')"
[model.variables]
seen = { shape = [96], init = "zeros" }
w = { shape = [3, 8], init = "glorot_uniform" }
v = { shape = [8, 1], init = "glorot_uniform" }
[model.graph]
error = "square(matmul(tanh(matmul(x, w)), v) - y) + gather(seen, id)"
loss = "mean(error)"
[train]
loss = "loss"
optimizer = { type = "sgd", lr = 1.0 }
replication = { mode = "sync", shards = 4 }
checkpoint = { every = "4 steps", keep = 2 }
)toml";

struct Fixture {
  Fixture() {
    std::string files;
    for (int shard = 0, id = 0; shard < 5; ++shard) {
      std::string bytes;
      for (const int end = records * (shard + 1) / 5; id < end; ++id) bytes += test::tf_record(record(id));
      files += '"' + folder.write("shard" + std::to_string(shard), bytes) + "\", ";
    }
    run_file = folder.write("run.toml",
                            "run = { name = \"run\", seed = 3, threads = 1 }\n[data]\nformat = \"tfrecord\"\n"
                            "train = [" +
                                files + "]\nread = \"stream\"\nbuffer = 40\nbatch = 16\n" + model);
  }

  static std::string record(int id) {
    std::string bytes;
    for (const int factor : {3, 5, 7, 11}) bytes += test::bytes_of(static_cast<float>(id * factor % 13) / 13);
    return bytes + test::bytes_of(static_cast<float>(id));
  }

  Arguments train(const std::string& name, int steps, const Arguments& more = {}) const {
    Arguments arguments = {"train", run_file,
                           "--set", "run.directory=" + folder.path() + '/' + name,
                           "--set", "train.max_steps=" + std::to_string(steps)};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }
  void run(const std::string& name, int steps, const Arguments& more = {}) const {
    Program program(test::troupe_program(), train(name, steps, more));
    BOOST_TEST_REQUIRE(program.end() == 0, program.output());
  }

  /// Returns the variables of a run by name, without those that a cluster adds.
  std::vector<SavedTensor> weights(const std::string& name) {
    std::vector<std::string> skipped;
    auto tensors =
        value_or_throw(test::load_newest(disk, folder.path() + '/' + name + "/run/001/checkpoints", skipped))
            .tensors;
    std::erase_if(tensors, [](const SavedTensor& tensor) {
      return tensor.name.ends_with("/round") || tensor.name.starts_with("train/");
    });
    std::ranges::sort(tensors, {}, &SavedTensor::name);
    return tensors;
  }
  void check_equal(const std::string& name, const std::string& other) {
    const auto a = weights(name), b = weights(other);
    BOOST_TEST_REQUIRE(a.size() == b.size());
    for (size_t i = 0; i < a.size(); ++i) {
      BOOST_TEST(a[i].name == b[i].name);
      BOOST_TEST(identical(a[i].value, b[i].value), a[i].name << " of " << name << " differs");
    }
  }
  /// Returns how often each record was drawn.
  std::vector<float> draws(const std::string& name) {
    const auto tensors = weights(name);
    const auto found = std::ranges::find(tensors, "seen", &SavedTensor::name);
    BOOST_TEST_REQUIRE((found != tensors.end()));
    std::vector<float> counts;
    for (const float lost : found->value.as<float>()) counts.push_back(-lost * batch);
    return counts;
  }

  const test::TemporaryFolder folder;
  std::string run_file;
  RealDisk disk;
};

BOOST_FIXTURE_TEST_SUITE(stream_runs, Fixture)

BOOST_AUTO_TEST_CASE(a_run_that_is_killed_twenty_times_ends_as_an_undisturbed_one) {
  constexpr int kills = 20, epochs = 70;
  run("undisturbed", epochs * steps_per_epoch);
  BOOST_TEST(draws("undisturbed") == std::vector<float>(records, epochs), boost::test_tools::per_element());
  std::mt19937 random(11);
  for (int i = 0; i < kills; ++i) {
    Program program(test::troupe_program(), train("killed", epochs * steps_per_epoch, {"--resume", "auto"}));
    BOOST_TEST_REQUIRE(program.wait_for(i == 0 ? "samples" : "step"), program.output());
    for (auto lines = random() % 4; lines > 0; --lines)
      BOOST_TEST_REQUIRE(program.wait_for("epoch"), program.output());
    BOOST_TEST(program.end(SIGKILL) == -SIGKILL, program.output());
  }
  run("killed", epochs * steps_per_epoch, {"--resume", "auto"});
  check_equal("killed", "undisturbed");
}

// Each worker reads the files itself and computes its shards of a batch.
BOOST_AUTO_TEST_CASE(runs_that_are_resumed_with_other_workers_draw_the_same_records) {
  constexpr int quarter = steps_per_epoch + 1;  // within an epoch
  run("undisturbed", 4 * quarter);
  run("moved", quarter, {"--local", "ps=1,worker=2"});
  run("moved", 2 * quarter, {"--resume", "auto"});
  run("moved", 3 * quarter, {"--resume", "auto", "--local", "ps=1,worker=3"});
  run("moved", 4 * quarter, {"--resume", "auto", "--local", "ps=2,worker=1"});
  const auto drawn = draws("moved");
  BOOST_TEST(drawn == draws("undisturbed"), boost::test_tools::per_element());
  BOOST_TEST(std::ranges::count(drawn, 5.0f) == 4 * batch);  // the last epoch has begun
  BOOST_TEST(std::ranges::count(drawn, 4.0f) == records - 4 * batch);
  check_equal("moved", "undisturbed");
}

// The first of the killed runs makes the cache, or is killed before it has; workers read the one that is there.
BOOST_AUTO_TEST_CASE(runs_with_a_cache_end_alike_however_they_are_disturbed) {
  constexpr int epochs = 40, kills = 8;
  const Arguments cache = {"--set", "data.cache=file"};
  run("undisturbed", epochs * steps_per_epoch, cache);
  BOOST_TEST(draws("undisturbed") == std::vector<float>(records, epochs), boost::test_tools::per_element());
  const auto more = [&](Arguments arguments) {
    arguments.insert(arguments.end(), cache.begin(), cache.end());
    return arguments;
  };
  for (int i = 0; i < kills; ++i) {
    Program program(test::troupe_program(),
                    train("killed", epochs * steps_per_epoch, more({"--resume", "auto"})));
    if (i != 0) BOOST_TEST_REQUIRE(program.wait_for("step"), program.output());
    BOOST_TEST(program.end(SIGKILL) == -SIGKILL, program.output());
  }
  run("killed", epochs * steps_per_epoch, more({"--resume", "auto", "--local", "ps=1,worker=2"}));
  check_equal("killed", "undisturbed");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::stream_runs_test
