// Variables in TensorFlow's checkpoint format: parts of a variable are one tensor there, which any other parts are restored from.
#include "apps/nn/saver.h"

#include <boost/test/unit_test.hpp>

#include "actors/runtime.h"
#include "apps/nn/partitioned_variable.h"
#include "kernels/constructors.h"
#include "messages/env/real_disk.h"
#include "messages/tensor_files/bundle.h"
#include "tests/support/failure_of.h"
#include "tests/support/temporary_folder.h"

namespace troupe::test::saver_test {
namespace {

using nn::PartitionStrategy;

/// A table in parts, and a variable that is whole.
struct Model {
  Model(int64_t count, PartitionStrategy strategy)
      : table(nn::partitioned_variable(g, "table", Shape({7, 2}), nn::glorot_uniform,
                                       {nn::fixed_size(count), strategy})),
        bias(variable(g, nn::glorot_uniform(g, {3}), "bias")),
        prefix(g.add_one("Placeholder", {}, {{"dtype", DType::String}, {"shape", PartialShape::scalar()}})),
        save(nn::save_variables(g, prefix)), restore(nn::restore_variables(g, prefix)) {}
  std::vector<Tensor> values() { return session->run({nn::as_tensor(g, table), bias}); }
  void run(Output target, const std::string& path) {
    session->run({{prefix, Tensor::scalar<std::string>(path)}}, {target});
  }
  void start(uint64_t seed) {
    session.emplace(runtime.session(graph, {.seed = seed}));
    session->run({initializer(g)});
  }

  Runtime runtime;
  Graph graph{runtime.ops()};
  Scope g{graph};
  nn::PartitionedVariable table;
  Output bias, prefix, save, restore;
  std::optional<Session> session;
};

BOOST_AUTO_TEST_SUITE(saver)

BOOST_AUTO_TEST_CASE(parts_are_one_tensor_in_the_files) {
  const std::vector<std::pair<int64_t, PartitionStrategy>> cuts = {{1, PartitionStrategy::Div},
                                                                   {3, PartitionStrategy::Div},
                                                                   {3, PartitionStrategy::Mod},
                                                                   {2, PartitionStrategy::Mod}};
  for (const auto& [count, strategy] : cuts) {
    const TemporaryFolder folder;
    const std::string path = folder.path() + "/model";
    Model saved(count, strategy);
    saved.start(1);
    saved.run(saved.save, path);
    const auto expected = saved.values();
    RealDisk disk;
    const auto bundle = value_or_throw(Bundle::open(disk, path));
    BOOST_TEST(identical(value_or_throw(bundle.read("table")), expected[0]));
    for (const auto& [other_count, other_strategy] : cuts) {
      Model restored(other_count, other_strategy);
      restored.start(2);
      restored.run(restored.restore, path);
      const auto found = restored.values();
      for (size_t i = 0; i < found.size(); ++i) BOOST_TEST(identical(found[i], expected[i]));
    }
  }
}

BOOST_AUTO_TEST_CASE(some_parts_alone_are_not_saved) {
  Model model(3, PartitionStrategy::Mod);
  const Status failure =
      failure_of([&] { nn::save_variables(model.g, model.prefix, {model.table.parts[0]}); });
  BOOST_TEST(failure.text() == "only 3 of the 7 rows of variable 'table' are to be saved");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::test::saver_test
