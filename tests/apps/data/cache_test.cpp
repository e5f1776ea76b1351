// Caches of samples in files: what is written is read; whatever else is there is not used; a full disk and a crash leave no
// cache.
#include "apps/data/cache/sample_cache.h"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "apps/data/cache/stored_samples.h"
#include "apps/train/data/train_data.h"
#include "messages/env/real_disk.h"
#include "tests/apps/config/run_file.h"
#include "tests/support/memory_disk.h"
#include "tests/support/samples.h"
#include "tests/support/simulation/simulated_disk.h"
#include "tests/support/temporary_folder.h"

namespace troupe::data::cache_test {
namespace {

constexpr int64_t samples = 700;

/// Samples with a number, a text of their own length and a matrix of bools.
Dataset made() {
  Tensor numbers = value_or_throw(Tensor::allocate(DType::Int64, Shape::vector(samples))),
         texts = value_or_throw(Tensor::allocate(DType::String, Shape::vector(samples))),
         flags = value_or_throw(Tensor::allocate(DType::Bool, Shape{samples, 2, 3}));
  for (size_t i = 0; i < samples; ++i) {
    numbers.write<int64_t>()[i] = static_cast<int64_t>(i);
    texts.write<std::string>()[i] = std::string(i % 13, 'x');
    for (size_t j = 0; j < 6; ++j) flags.write<bool>()[6 * i + j] = (i >> j) % 2 != 0;
  }
  return Dataset({{"number", numbers}, {"text", texts}, {"flags", flags}});
}

bool same(const Dataset& a, const Dataset& b) { return to_bytes(a) == to_bytes(b); }

const CachePlace place{"cache/train.samples", "the key", 4096};

std::string bytes_of(Disk& disk, const std::string& path) {
  return value_or_throw(read_file(disk, path, 1 << 24));
}

BOOST_AUTO_TEST_SUITE(sample_cache)

BOOST_AUTO_TEST_CASE(a_cache_has_all_samples_in_their_order) {
  SimulatedDisk disk(1);
  BOOST_TEST(!value_or_throw(open_cache(disk, place)));
  BOOST_TEST_REQUIRE(write_cache(disk, place, *in_memory(made())).ok());
  const auto set = value_or_throw(open_cache(disk, place));
  BOOST_TEST_REQUIRE((set != nullptr));
  BOOST_TEST(set->samples() == samples);
  BOOST_TEST(set->columns().find("flags")->signature() == "bool[0,2,3]");
  BOOST_TEST(same(value_or_throw(set->batches(samples, 0, false)->at(0)), made()));
  // An epoch has every sample once, and a batch follows from seed and step.
  const auto batches = set->batches(64, 3, true), other = set->batches(64, 3, true);
  std::vector<int64_t> drawn;
  for (uint64_t step = 0; step < 11; ++step) {
    const Dataset batch = value_or_throw(batches->at(step));
    for (const int64_t number : batch.find("number")->as<int64_t>()) drawn.push_back(number);
    if (step == 7) BOOST_TEST(same(value_or_throw(other->at(7)), batch));
  }
  BOOST_TEST(!std::ranges::is_sorted(drawn));
  std::ranges::sort(drawn);
  BOOST_TEST(drawn.size() == static_cast<size_t>(samples));
  BOOST_TEST((std::adjacent_find(drawn.begin(), drawn.end()) == drawn.end()));
}

BOOST_AUTO_TEST_CASE(other_keys_and_files_that_are_cut_off_are_not_used) {
  SimulatedDisk disk(1);
  BOOST_TEST_REQUIRE(write_cache(disk, place, *in_memory(made())).ok());
  CachePlace other = place;
  other.key = "another key";
  BOOST_TEST(!value_or_throw(open_cache(disk, other)));
  const std::string whole = bytes_of(disk, place.path);
  test::MemoryDisk memory;
  for (size_t size = 0; size <= whole.size(); size += size + 200 < whole.size() && size > 300 ? 37 : 1) {
    memory.write(place.path, whole.substr(0, size));
    BOOST_TEST((value_or_throw(open_cache(memory, place)) != nullptr) == (size == whole.size()));
  }
}

BOOST_AUTO_TEST_CASE(damage_is_never_read_as_samples) {
  SimulatedDisk disk(1);
  BOOST_TEST_REQUIRE(write_cache(disk, place, *in_memory(made())).ok());
  const std::string whole = bytes_of(disk, place.path);
  test::MemoryDisk memory;
  for (size_t at = 0; at < whole.size(); at += 11) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    memory.write(place.path, damaged);
    const auto set = value_or_throw(open_cache(memory, place));
    if (!set) continue;
    const auto batch = set->batches(samples, 0, false)->at(0);
    BOOST_TEST_REQUIRE((batch.status().code() == Code::DataLoss));
    BOOST_TEST(batch.status().text().starts_with(place.path + ": the samples at byte "));
  }
}

BOOST_AUTO_TEST_CASE(headers_and_samples_of_anything_are_refused) {
  const CacheHeader header{"key", 5, value_or_throw(allocate_like(made(), 0))};
  const std::string head = to_bytes(header), body = to_bytes(made().slice(0, 5));
  BOOST_TEST(value_or_throw(parse_cache_header(head)).key == "key");
  BOOST_TEST(same(value_or_throw(parse_samples(body, header.columns)), made().slice(0, 5)));
  for (size_t size = 0; size < head.size(); ++size)
    BOOST_TEST((parse_cache_header(head.substr(0, size)).status().code() == Code::DataLoss));
  for (size_t size = 0; size < body.size(); ++size)
    BOOST_TEST((parse_samples(body.substr(0, size), header.columns).status().code() == Code::DataLoss));
  std::string many = body;
  many[3] = '\x7f';  // two thousand million samples
  BOOST_TEST((parse_samples(many, header.columns).status().code() == Code::DataLoss));
  std::string flag = body;
  flag.back() = 2;
  BOOST_TEST((parse_samples(flag, header.columns).status().code() == Code::DataLoss));
  std::string type = head;  // of the first column, a number of four bytes behind its name
  const size_t at =
      type.find(header.columns.columns()[0].name, std::string("troupe samples 1").size() + 8 + 8 + 3 + 4 + 8);
  type[at + header.columns.columns()[0].name.size() + 1] = 1;
  BOOST_TEST((parse_cache_header(type).status().code() == Code::DataLoss));
}

BOOST_AUTO_TEST_CASE(a_full_disk_is_an_error_and_leaves_nothing) {
  SimulatedDisk disk(1);
  disk.set_capacity(5000);
  const Status status = write_cache(disk, place, *in_memory(made()));
  BOOST_TEST((status.code() == Code::ResourceExhausted), status.message());
  BOOST_TEST(status.text().find("cache/train.samples") != std::string::npos, status.text());
  BOOST_TEST(disk.used() == 0u);
}

BOOST_AUTO_TEST_CASE(a_crash_at_any_moment_leaves_the_whole_cache_or_none) {
  uint64_t operations = 0;
  for (uint64_t crash = 1; crash == 1 || crash <= operations; ++crash)
    for (const uint64_t seed : {1, 2, 3}) {
      SimulatedDisk disk(seed);
      disk.crash_at(crash);
      const Status status = write_cache(disk, place, *in_memory(made()));
      operations = std::max(operations, disk.operations() + (status.ok() ? 0 : 1));
      disk.restart();
      const auto set = value_or_throw(open_cache(disk, place));
      if (set) BOOST_TEST(same(value_or_throw(set->batches(samples, 0, false)->at(0)), made()));
    }
}

BOOST_AUTO_TEST_SUITE_END()

/// A run file with samples in a file, which are mapped.
struct Runs {
  Runs() { write(3); }
  void write(int rows) const {
    std::string text;
    for (int i = 0; i < rows; ++i) text += std::to_string(i) + ",0\n";
    folder.write("data.csv", text);
  }
  Result<TrainAndValid> load(const std::vector<std::string>& more = {}) {
    std::vector<std::string> set = {"data.train=" + folder.path() + "/data.csv",
                                    "run.directory=" + folder.path(), "data.cache=file"};
    set.insert(set.end(), more.begin(), more.end());
    const std::string text = R"toml(run = { name = "run" }
[data]
format = "csv"
train = ""
batch = 2
[data.map]
image = "image * 2.0 + random_uniform([1])"
[model.graph]
loss = "mean(image)"
[train]
loss = "loss"
optimizer = { type = "sgd", lr = 0.1 }
max_epochs = 1
)toml";
    TROUPE_ASSIGN(const auto config, config::parse(text, set));
    return train::load_data(disk, config);
  }
  std::string file(const std::string& name = "train") const {
    return folder.path() + "/run/cache/" + name + ".samples";
  }
  /// Returns whether loading makes the cache anew.
  bool remakes(const std::vector<std::string>& more = {}) {
    std::filesystem::last_write_time(file(), std::filesystem::file_time_type());
    const auto data = load(more);
    BOOST_TEST_REQUIRE(data.ok(), data.status().message());
    return std::filesystem::last_write_time(file()) != std::filesystem::file_time_type();
  }

  const test::TemporaryFolder folder;
  RealDisk disk;
};

BOOST_FIXTURE_TEST_SUITE(caches_of_runs, Runs)

BOOST_AUTO_TEST_CASE(samples_are_mapped_once) {
  const auto in_memory = value_or_throw(load({"data.cache=memory"}));
  const auto first = value_or_throw(load());
  BOOST_TEST(same(test::all_samples(*first.train), test::all_samples(*in_memory.train)));
  BOOST_TEST(!remakes());
  BOOST_TEST(!remakes({"data.batch=3", "data.shuffle=false"}));
  BOOST_TEST(same(test::all_samples(*value_or_throw(load()).train), test::all_samples(*first.train)));
}

BOOST_AUTO_TEST_CASE(a_cache_of_other_keys_or_files_is_made_anew) {
  value_or_throw(load());
  BOOST_TEST(remakes({"run.seed=1"}));
  BOOST_TEST(remakes({"data.scale=0.5"}));
  BOOST_TEST(remakes({"data.map.image=image"}));
  BOOST_TEST(remakes({"data.valid={split=0.4}"}));
  BOOST_TEST(std::filesystem::exists(file("valid")));
  BOOST_TEST(remakes());
  write(4);
  BOOST_TEST(remakes());
  BOOST_TEST(value_or_throw(load()).train->samples() == 4);
  std::filesystem::resize_file(file(), 100);
  BOOST_TEST(remakes());
  folder.write("run/cache/train.samples.new", "what a crash has left");
  BOOST_TEST(!remakes());
}

BOOST_AUTO_TEST_CASE(the_folder_may_be_given) {
  value_or_throw(load({"data.cache_dir=" + folder.path() + "/elsewhere"}));
  BOOST_TEST(std::filesystem::exists(folder.path() + "/elsewhere/train.samples"));
  BOOST_TEST(!std::filesystem::exists(file()));
  BOOST_TEST((load({"data.cache=none", "data.cache_dir=x"}).status().code() == Code::InvalidArgument));
}

BOOST_AUTO_TEST_CASE(the_lock_of_a_folder_makes_no_file_elsewhere) {
  const std::string elsewhere = folder.path() + "/elsewhere";
  std::filesystem::create_directories(folder.path() + "/run/cache");
  std::filesystem::create_symlink(elsewhere, folder.path() + "/run/cache/lock");
  BOOST_TEST(load().ok());
  BOOST_TEST(!std::filesystem::exists(elsewhere));
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::data::cache_test
