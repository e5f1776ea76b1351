// Bundles that are written, merged and read again. tests/interop reads those of TensorFlow.
#include "messages/tensor_files/bundle_writer.h"

#include <boost/test/unit_test.hpp>

#include <filesystem>
#include <numeric>
#include <set>

#include "messages/env/real_disk.h"
#include "messages/tensor_files/bundle.h"
#include "tests/messages/stored_samples.h"
#include "tests/support/simulation/simulated_disk.h"
#include "tests/support/temporary_folder.h"

namespace troupe::bundle_writer_test {
namespace {

Tensor numbers(const Shape& shape, float first = 0) {
  std::vector<float> values(static_cast<size_t>(shape.elements()));
  std::iota(values.begin(), values.end(), first);
  return Tensor::of<float>(shape, std::span<const float>(values));
}

struct Fixture {
  std::string path(const std::string& name) const { return folder.path() + "/" + name; }
  BundleWriter writer(const std::string& prefix) {
    return value_or_throw(BundleWriter::create(disk, path(prefix)));
  }
  Bundle bundle(const std::string& prefix) { return value_or_throw(Bundle::open(disk, path(prefix))); }
  static SliceSpec spec(const std::string& text) { return value_or_throw(SliceSpec::parse(text, f32)); }

  /// Saves one slice of "w", and a variable of its own name.
  void save_part(const std::string& prefix, const std::string& slice, const Tensor& tensor) {
    BundleWriter out = writer(prefix);
    throw_if_failed(out.add("w", spec(slice), tensor));
    throw_if_failed(out.add("of " + prefix, Tensor::scalar<std::string>(prefix)));
    throw_if_failed(out.finish());
  }
  std::string files(const std::string& name = "") const {
    std::set<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(path(name)))
      names.insert(entry.path().filename());
    std::string all;
    for (const std::string& file : names) all += file + ' ';
    return all;
  }

  test::TemporaryFolder folder;
  RealDisk disk;
};

void check_fails(const Status& status, Code code, const std::string& text) {
  BOOST_TEST((status.code() == code && status.text().find(text) != std::string::npos),
             status.message() << " does not say: " << text);
}

BOOST_FIXTURE_TEST_SUITE(bundle_writers, Fixture)

BOOST_AUTO_TEST_CASE(tensors_of_every_type_come_back) {
  const auto samples = test::stored_samples();
  BundleWriter out = writer("new/folder/model");
  for (const auto& [name, tensor] : samples) throw_if_failed(out.add(name, tensor));
  throw_if_failed(out.finish());
  BOOST_TEST(files("new/folder") == "model.data-00000-of-00001 model.index ");
  const Bundle in = bundle("new/folder/model");
  BOOST_TEST(in.entries().size() == samples.size());
  for (const auto& [name, tensor] : samples)
    BOOST_TEST(identical(value_or_throw(in.read(name)), tensor), name);
}

BOOST_AUTO_TEST_CASE(large_tensors_come_back) {
  const Tensor large = numbers({700, 1000});
  BundleWriter out = writer("model");
  throw_if_failed(out.add("large", large));
  throw_if_failed(out.add("large again", large));
  throw_if_failed(out.finish());
  const Bundle in = bundle("model");
  BOOST_TEST(identical(value_or_throw(in.read("large again")), large));
  BOOST_TEST(identical(value_or_throw(in.read("large", {{698, 0}, {2, 1000}})), numbers({2, 1000}, 698'000)));
}

BOOST_AUTO_TEST_CASE(parts_are_merged_and_read_by_any_slice) {
  const Tensor whole = numbers({4, 3});
  save_part("a/part", "4 3 0,1:-", numbers({1, 3}));
  save_part("b/part", "4 3 1,3:0,2", Tensor::of<float>(Shape{3, 2}, {3, 4, 6, 7, 9, 10}));
  save_part("c/part", "4 3 1,3:2,1", Tensor::of<float>(Shape{3, 1}, {5, 8, 11}));
  check_fails(bundle("a/part").read("w").status(), Code::DataLoss, "its parts hold 3 of its 12 elements");
  throw_if_failed(
      merge_bundles(disk, {path("a/part"), path("b/part"), path("c/part")}, path("model"), false));
  BOOST_TEST(files() ==
             "a b c model.data-00000-of-00003 model.data-00001-of-00003 model.data-00002-of-00003 "
             "model.index ");
  BOOST_TEST(files("a") == "");
  const Bundle in = bundle("model");
  BOOST_TEST(identical(value_or_throw(in.read("w")), whole));
  BOOST_TEST(identical(value_or_throw(in.read("w", {{0, 1}, {2, 2}})),
                       Tensor::of<float>(Shape{2, 2}, {1, 2, 4, 5})));
  BOOST_TEST(value_or_throw(in.read("of b/part")).item<std::string>() == "b/part");
}

BOOST_AUTO_TEST_CASE(several_parts_in_one_bundle) {
  BundleWriter out = writer("model");
  throw_if_failed(out.add("w", spec("4 0,2"), numbers({2})));
  throw_if_failed(out.add("w", spec("4 2,2"), numbers({2}, 2)));
  throw_if_failed(out.add("whole", spec("4 0,4"), numbers({4})));
  throw_if_failed(out.finish());
  BOOST_TEST(identical(value_or_throw(bundle("model").read("w")), numbers({4})));
  BOOST_TEST(bundle("model").entries().at("whole").parts.empty());
  throw_if_failed(merge_bundles(disk, {path("model")}, path("model"), false));  // changes nothing
  BOOST_TEST(identical(value_or_throw(bundle("model").read("w")), numbers({4})));
}

BOOST_AUTO_TEST_CASE(what_contradicts_itself_is_not_saved) {
  BundleWriter out = writer("model");
  throw_if_failed(out.add("w", numbers({2})));
  check_fails(out.add("w", numbers({2})), Code::InvalidArgument, "'w' is saved twice");
  check_fails(out.add("w", spec("4 0,2"), numbers({2})), Code::InvalidArgument,
              "once whole and once in parts");
  check_fails(out.add("", numbers({2})), Code::InvalidArgument, "empty");
  check_fails(out.add(std::string("\0a", 2), numbers({2})), Code::InvalidArgument, "zero byte");
  throw_if_failed(out.add("p", spec("4 0,2"), numbers({2})));
  check_fails(out.add("p", spec("4 0,2"), numbers({2})), Code::InvalidArgument,
              "part 0,2 of variable 'p' is saved twice");
  check_fails(out.add("p", spec("5 2,2"), numbers({2})), Code::InvalidArgument, "float[4] and float[5]");
  check_fails(out.add("v", value_or_throw(Tensor::allocate(DType::Variant, Shape{1}))), Code::Unimplemented,
              "variant");
}

BOOST_AUTO_TEST_CASE(bundles_that_contradict_each_other_are_not_merged) {
  save_part("a", "4 0,2", numbers({2}));
  save_part("b", "5 2,2", numbers({2}));
  save_part("c", "4 0,2", numbers({2}));
  save_part("d", "4 0,4", numbers({4}));
  const auto merge = [&](std::vector<std::string> prefixes, bool allow_missing = false) {
    for (std::string& prefix : prefixes) prefix = path(prefix);
    return merge_bundles(disk, prefixes, path("merged"), allow_missing);
  };
  const std::string before = files();
  check_fails(merge({"a", "b"}), Code::InvalidArgument, "another type or shape");
  check_fails(merge({"a", "c"}), Code::InvalidArgument, "a part of variable 'w' is in");
  check_fails(merge({"a", "d"}), Code::InvalidArgument, "'w' is in");
  check_fails(merge({"a", "merged"}), Code::InvalidArgument, "into itself");
  check_fails(merge({"a", "nothing"}), Code::InvalidArgument, "nothing.index");
  check_fails(merge({"nothing"}, true), Code::InvalidArgument, "no checkpoint to merge");
  BOOST_TEST(files() == before);
  throw_if_failed(merge({"nothing", "d"}, true));
  BOOST_TEST(identical(value_or_throw(bundle("merged").read("w")), numbers({4})));
}

BOOST_AUTO_TEST_CASE(a_save_that_is_cancelled_leaves_the_older_checkpoint) {
  save_part("model", "4 0,4", numbers({4}));
  const std::string before = files();
  std::atomic<bool> cancelled{false};
  {
    BundleWriter out = value_or_throw(BundleWriter::create(disk, path("model"), &cancelled));
    throw_if_failed(out.add("w", numbers({4}, 9)));
    cancelled = true;
    check_fails(out.add("x", numbers({4})), Code::Cancelled, "");
  }
  BOOST_TEST(files() == before);
  BOOST_TEST(identical(value_or_throw(bundle("model").read("w")), numbers({4})));
  check_fails(
      value_or_throw(Bundle::open(disk, path("model"), {&heap_allocator(), &cancelled})).read("w").status(),
      Code::Cancelled, "");
}

// A crash at any moment leaves the old checkpoint, the new one, or one whose damage is noticed.
BOOST_AUTO_TEST_CASE(crashes_lose_nothing_silently) {
  const auto save = [](Disk& on, float first) -> Status {
    TROUPE_ASSIGN(BundleWriter out, BundleWriter::create(on, "/run/model"));
    TROUPE_RETURN_IF_FAILED(out.add("w", numbers({64}, first)));
    return out.finish();
  };
  bool crashed = true;
  for (uint64_t operation = 1; crashed; ++operation) {
    SimulatedDisk simulated(operation);
    throw_if_failed(save(simulated, 0));
    simulated.crash_at(simulated.operations() + operation);
    const Status status = save(simulated, 100);
    crashed = simulated.crashed();
    simulated.restart();
    const auto in = Bundle::open(simulated, "/run/model");
    BOOST_TEST_REQUIRE(in.ok(), in.status().message());
    const auto found = in->read("w");
    const bool is_one =
        found.ok() && (identical(*found, numbers({64})) || identical(*found, numbers({64}, 100)));
    BOOST_TEST((is_one || found.status().code() == Code::DataLoss), found.status().message());
    if (status.ok()) BOOST_TEST((found.ok() && identical(*found, numbers({64}, 100))));
  }
}

BOOST_AUTO_TEST_CASE(a_full_disk_leaves_no_file_behind) {
  SimulatedDisk full(1);
  full.set_capacity(1000);
  BundleWriter out = value_or_throw(BundleWriter::create(full, "/run/model"));
  check_fails(out.add("w", numbers({1000})), Code::ResourceExhausted, "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::bundle_writer_test
