// Checkpoints of TensorFlow: those of tests/golden/make_checkpoint.py, the same written here, and damaged ones.
#include "messages/tensor_files/bundle.h"

#include <boost/test/unit_test.hpp>

#include <complex>
#include <functional>

#include "apps/golden/graph_file.h"
#include "messages/env/real_disk.h"
#include "messages/tensor_files/bundle_writer.h"
#include "messages/tensor_files/saved_slices.h"
#include "messages/tensor_files/sorted_table.h"
#include "tests/support/failure_of.h"
#include "tests/support/ops/run_op.h"
#include "tests/support/project_files.h"
#include "tests/support/temporary_folder.h"

namespace troupe::bundle_test {
namespace {

using test::project_file;

const std::string index_bytes = project_file("tests/golden/checkpoint/model.index"),
                  data_bytes = project_file("tests/golden/checkpoint/model.data-00000-of-00001");

struct Fixture {
  Bundle bundle(const std::string& index, const std::string& data) {
    folder.write("model.index", index);
    folder.write("model.data-00000-of-00001", data);
    return value_or_throw(Bundle::open(disk, folder.path() + "/model"));
  }
  Status status_of(const std::string& index, const std::string& data, const std::string& name) {
    return test::failure_of([&] { value_or_throw(bundle(index, data).read(name)); });
  }

  test::TemporaryFolder folder;
  RealDisk disk;
};

BOOST_FIXTURE_TEST_SUITE(bundles, Fixture)

BOOST_AUTO_TEST_CASE(every_variable_is_read) {
  const Bundle checkpoint = bundle(index_bytes, data_bytes);
  const auto is = [&](const std::string& name, const Tensor& expected) {
    BOOST_TEST(identical(value_or_throw(checkpoint.read(name)), expected), name);
  };
  BOOST_TEST(checkpoint.entries().size() == 8u);
  is("w", Tensor::of<float>(Shape{2, 3}, {0, 1, 2, 3, 4, 5}));
  is("layer/count", Tensor::scalar(int64_t{1} << 40));
  is("layer/flags", Tensor::vector<bool>({true, false, true}));
  is("names", Tensor::of<std::string>(Shape{2, 2}, {"a", "", "longer", "b"}));
  is("empty", Tensor::of<double>(Shape{0, 4}, {}));
  is("short", Tensor::vector<BFloat16>({BFloat16(1.5f), BFloat16(-2.0f)}));
  is("z", Tensor::scalar(std::complex<float>(1, -2)));
  is("resource", Tensor::vector<float>({1, 2}));
  BOOST_TEST((checkpoint.read("nothing").status().code() == Code::NotFound));
}

// The variables of a checkpoint of TensorFlow's, written here in the order in which TensorFlow wrote them.
BOOST_AUTO_TEST_CASE(what_is_written_has_the_bytes_of_tensorflow) {
  for (const std::string name : {"model", "tiles"}) {
    const std::string from = test::project_path("tests/golden/checkpoint/" + name),
                      to = folder.path() + "/" + name;
    const Bundle saved = value_or_throw(Bundle::open(disk, from));
    const auto index = value_or_throw(BundleIndex::read(disk, from));
    std::map<std::pair<uint64_t, std::string>, std::function<Status(BundleWriter&)>> adds;  // by offset
    for (const auto& [variable, entry] : saved.entries()) {
      if (entry.parts.empty())
        adds[{entry.offset, variable}] = [&, variable = variable](BundleWriter& out) {
          return out.add(variable, value_or_throw(saved.read(variable)));
        };
      for (const TensorSlice& part : entry.parts) {
        const BundleEntry& stored = index.parts.at(slice_key(variable, part));
        const SliceSpec spec{entry.shape, part, stored.shape};
        adds[{stored.offset, variable + part.text()}] = [&, variable = variable, spec](BundleWriter& out) {
          return out.add(variable, spec, value_or_throw(saved.read(variable, spec.range())));
        };
      }
    }
    BundleWriter out = value_or_throw(BundleWriter::create(disk, to));
    for (const auto& [place, add] : adds) throw_if_failed(add(out));
    throw_if_failed(out.finish());
    const auto bytes = [&](const std::string& file) {
      return value_or_throw(read_file(disk, file, 1 << 20));
    };
    const auto entries = [&](const std::string& prefix) {
      return value_or_throw(read_sorted_table(bytes(bundle_index_file(prefix)), prefix));
    };
    BOOST_TEST((bytes(bundle_data_file(to, 0, 1)) == bytes(bundle_data_file(from, 0, 1))), name);
    BOOST_TEST((entries(to) == entries(from)), name);
  }
}

BOOST_AUTO_TEST_CASE(what_is_written_in_the_first_format_has_the_bytes_of_tensorflow) {
  for (const std::string name : {"old-0", "old-1"}) {
    const std::string from = test::project_path("tests/golden/checkpoint/" + name),
                      to = folder.path() + "/" + name;
    const auto table = value_or_throw(SortedTable::open(value_or_throw(disk.open(from)), from));
    std::vector<SliceToSave> slices;
    for (const auto& [variable, saved] : value_or_throw(read_saved_variables(table, from)))
      for (const TensorSlice& part : saved.parts)
        slices.push_back({variable, saved.shape, part,
                          value_or_throw(read_saved_slice(table, variable, saved, part, heap_allocator()))});
    throw_if_failed(write_saved_slices(disk, to, slices));
    const auto entries = [&](const std::string& file) {
      return value_or_throw(read_sorted_table(value_or_throw(read_file(disk, file, 1 << 20)), file));
    };
    BOOST_TEST((entries(to) == entries(from)), name);
  }
}

BOOST_AUTO_TEST_CASE(variables_of_a_graph_get_their_values) {
  bundle(index_bytes, data_bytes);
  golden::GraphFileOptions options;
  options.file = folder.write("graph.pb", project_file("tests/golden/checkpoint/graph.pb"));
  options.checkpoint = folder.path() + "/model";
  options.fetches = {"doubled:0", "read:0", "names:0"};
  const auto values = golden::GraphFile(disk, options).run();
  BOOST_TEST(identical(values[0], Tensor::of<float>(Shape{2, 3}, {0, 2, 4, 6, 8, 10})));
  BOOST_TEST(identical(values[1], Tensor::vector<float>({1, 2})));
  BOOST_TEST(values[2].as<std::string>()[2] == "longer");
}

BOOST_AUTO_TEST_CASE(another_graphs_checkpoint_is_refused) {
  bundle(index_bytes, data_bytes);
  golden::GraphFileOptions options;
  options.file = folder.write("graph.pb", "node { name: 'a' op: 'NoOp' }");
  options.checkpoint = folder.path() + "/model";
  options.targets = {"a"};
  const Status status = test::failure_of([&] { golden::GraphFile(disk, options); });
  BOOST_TEST((status.code() == Code::NotFound), status.message());
}

BOOST_AUTO_TEST_CASE(data_that_is_not_what_the_index_says_is_refused) {
  const auto index = value_or_throw(BundleIndex::parse(index_bytes, "model.index"));
  for (const auto& [name, entry] : index.entries) {
    if (entry.size == 0) continue;
    std::string changed = data_bytes;
    changed[entry.offset] = static_cast<char>(changed[entry.offset] ^ 1);
    const Status status = status_of(index_bytes, changed, name);
    BOOST_TEST((status.code() == Code::DataLoss), name << ": " << status.message());
    BOOST_TEST(status.text().find(name) != std::string::npos, status.message());
    BOOST_TEST((status_of(index_bytes, data_bytes.substr(0, entry.offset), name).code() == Code::DataLoss),
               name);
  }
}

BOOST_AUTO_TEST_CASE(an_index_cut_short_or_changed_anywhere_is_refused) {
  for (size_t size = 0; size < index_bytes.size(); ++size)
    BOOST_TEST_REQUIRE(!BundleIndex::parse(index_bytes.substr(0, size), "i").ok(), size);
  const auto whole = value_or_throw(read_sorted_table(index_bytes, "i"));
  for (size_t i = 0; i < index_bytes.size(); ++i) {
    std::string changed = index_bytes;
    changed[i] = static_cast<char>(changed[i] ^ 0x40);
    const auto table = read_sorted_table(changed, "i");
    BOOST_TEST_REQUIRE((!table.ok() || *table == whole), i);  // padding may be anything
  }
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::bundle_test
