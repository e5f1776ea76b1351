// Checkpoints of TensorFlow: that of tests/golden/make_checkpoint.py, and damaged ones.
#include "apps/interop/bundle.h"

#include <boost/test/unit_test.hpp>

#include <complex>

#include "apps/golden/graph_file.h"
#include "apps/interop/sorted_table.h"
#include "messages/env/real_disk.h"
#include "tests/support/failure_of.h"
#include "tests/support/run_op.h"
#include "tests/support/temporary_folder.h"

namespace troupe::interop {
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
  const auto index = value_or_throw(Bundle::read_index(index_bytes, "model.index"));
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
    BOOST_TEST_REQUIRE(!Bundle::read_index(index_bytes.substr(0, size), "i").ok(), size);
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
}  // namespace troupe::interop
