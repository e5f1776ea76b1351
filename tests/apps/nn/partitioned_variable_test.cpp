// Partitioned variables: the partitioners, initial values that do not depend on the parts, and checkpoints that hold one logical
// tensor.
#include "apps/nn/partitioned_variable.h"

#include <boost/test/unit_test.hpp>

#include "actors/runtime.h"
#include "apps/nn/optimizer.h"
#include "apps/nn/weight_averages.h"
#include "kernels/constructors.h"
#include "tests/support/failure_of.h"
#include "tests/support/temporary_folder.h"

namespace troupe::test::partitioned_variable_test {
namespace {

using nn::Partitioning;
using nn::PartitionStrategy;

constexpr uint64_t seed = 3;

/// A graph with a table in parts, and a session that has given the variables their first values.
struct Table {
  Table(const Shape& shape, const nn::Initial& initial, const Partitioning& options, DType dtype = f32)
      : table(nn::partitioned_variable(g.with_prefix("model"), "table", shape, initial, options, dtype)) {}
  void start() {
    session.emplace(runtime.session(graph, {.seed = seed}));
    session->run({initializer(g)});
  }
  Tensor whole() { return session->run({nn::as_tensor(g, table)})[0]; }

  Runtime runtime;
  Graph graph{runtime.ops()};
  Scope g{graph};
  nn::PartitionedVariable table;
  std::optional<Session> session;
};

Partitioning in_parts(int64_t count, PartitionStrategy strategy) {
  return {.partitioner = nn::fixed_size(count), .strategy = strategy};
}

Tensor uncut(const Shape& shape, const nn::Initial& initial, DType dtype) {
  Runtime runtime;
  Graph graph(runtime.ops());
  const Scope g(graph);
  const Output table = variable(g, initial(g.with_prefix("model/table"), shape, dtype), "model/table");
  Session session = runtime.session(graph, {.seed = seed});
  session.run({initializer(g)});
  return session.run({table})[0];
}

BOOST_AUTO_TEST_SUITE(partitioned_variable)

BOOST_AUTO_TEST_CASE(partitioners_count_parts_as_tensorflow_does) {
  const Shape shape({1024, 1024});  // 4 MiB of floats
  BOOST_TEST(nn::fixed_size(3)(shape, f32) == 3);
  BOOST_TEST(nn::fixed_size(3)(Shape({2, 8}), f32) == 2);
  BOOST_TEST(nn::by_bytes(1 << 20)(shape, f32) == 4);
  BOOST_TEST(nn::by_bytes(1'000'000)(shape, f32) == 5);
  BOOST_TEST(nn::by_bytes(1'000'000, 2)(shape, f32) == 2);
  BOOST_TEST(nn::by_bytes(1)(Shape({7, 1024}), f32) == 7);
  BOOST_TEST(nn::min_max(100)(shape, f32) == 16);
  BOOST_TEST(nn::min_max(8)(shape, f32) == 8);
  BOOST_TEST(nn::min_max(8)(Shape({1024, 10}), f32) == 1);
  BOOST_TEST(nn::min_max(8, 1)(Shape({3, 10}), f32) == 3);
  for (const auto& wrong : {+[] { nn::fixed_size(0); }, +[] { nn::by_bytes(0); }, +[] { nn::min_max(0); }})
    BOOST_TEST((failure_of(wrong).code() == Code::InvalidArgument));
}

BOOST_AUTO_TEST_CASE(initial_values_do_not_depend_on_the_parts) {
  const nn::Initial normal = [](const Scope& s, const PartialShape& shape, DType dtype) {
    return nn::normal(s, shape, dtype, 1, 2);
  };
  // The rows of an identity matrix, for which no smaller node exists.
  const nn::Initial identity = [](const Scope& s, const PartialShape& shape, DType dtype) {
    return diag(s, fill(s, {shape[0]}, cast(s, 2, dtype)));
  };
  const std::vector<std::pair<std::string, nn::Initial>> initials = {{"zeros", nn::find_initializer("zeros")},
                                                                     {"glorot_uniform", nn::glorot_uniform},
                                                                     {"glorot_normal", nn::glorot_normal},
                                                                     {"normal", normal},
                                                                     {"identity", identity}};
  const Shape shape({11, 11});  // rows begin inside the groups of the random generator
  for (const auto& [name, initial] : initials)
    for (const DType dtype : {DType::Float, DType::Double, DType::Half}) {
      const Tensor expected = uncut(shape, initial, dtype);
      for (const PartitionStrategy strategy : {PartitionStrategy::Div, PartitionStrategy::Mod})
        for (const int64_t count : {1, 2, 3, 11}) {
          Table cut(shape, initial, in_parts(count, strategy), dtype);
          cut.start();
          BOOST_TEST(identical(cut.whole(), expected),
                     name << " in " << count << " parts, " << nn::name(strategy));
        }
    }
}

/// Saves and restores a table, the moments of its optimizer and its average.
struct Training : Table {
  explicit Training(const Partitioning& options) : Table({10, 3}, nn::glorot_uniform, options) {
    const Output loss = l2_loss(g, nn::as_tensor(g, table));
    const nn::WeightAverages averages(g, 0.5);
    nn::ReplicationStrategy strategy;
    strategy.read_first(g, {loss});
    const Output update = nn::Adam(0.1).apply_gradients(g, nn::compute_gradients(g, loss), strategy);
    step = g.group({update, averages.update(g, strategy)});
    for (const char* prefix : {"averages/", "adam/"}) companions.push_back(of_parts(prefix));
    start();
  }
  /// Returns the variables that belong to the parts and have this prefix, as a table.
  nn::PartitionedVariable of_parts(const std::string& prefix) const {
    auto result = table;
    for (Output& part : result.parts) {
      const std::string name = prefix + graph.node(part.node).name + (prefix == "adam/" ? "/m" : "");
      part = value_or_throw(graph.find_output(name));
    }
    return result;
  }
  std::vector<Tensor> values() {
    std::vector<Output> all = {nn::as_tensor(g, table)};
    for (const auto& companion : companions) all.push_back(nn::as_tensor(g, companion));
    return session->run(all);
  }
  Output step;
  std::vector<nn::PartitionedVariable> companions;
};

BOOST_AUTO_TEST_CASE(checkpoints_hold_one_logical_tensor) {
  const std::vector<Partitioning> cuts = {
      in_parts(3, PartitionStrategy::Mod), in_parts(2, PartitionStrategy::Mod),
      in_parts(4, PartitionStrategy::Div), in_parts(1, PartitionStrategy::Div)};
  for (const Partitioning& before : cuts) {
    const TemporaryFolder folder;
    Training saved(before);
    for (int i = 0; i < 3; ++i) saved.session->run({saved.step});
    saved.session->save(folder.path(), {.round = 3, .note = {}});
    const auto expected = saved.values();
    for (const Partitioning& after : cuts) {
      Training restored(after);
      const auto checkpoint = restored.session->restore(folder.path());
      BOOST_TEST(checkpoint.missing.empty());
      const auto found = restored.values();
      for (size_t i = 0; i < found.size(); ++i) BOOST_TEST(identical(found[i], expected[i]));
    }
  }
}

BOOST_AUTO_TEST_CASE(other_tables_are_not_restored) {
  const TemporaryFolder folder;
  Table saved({10, 3}, nn::glorot_uniform, in_parts(3, PartitionStrategy::Mod));
  saved.start();
  saved.session->save(folder.path(), {.round = 1, .note = {}});
  for (const Shape& shape : {Shape({9, 3}), Shape({10, 4})}) {
    Table other(shape, nn::glorot_uniform, in_parts(2, PartitionStrategy::Mod));
    other.start();
    const Status failure = failure_of([&] { other.session->restore(folder.path()); });
    BOOST_TEST((failure.code() == Code::InvalidArgument), failure.text());
    BOOST_TEST(failure.text().find("model/table/part_") != std::string::npos, failure.text());
  }
}

BOOST_AUTO_TEST_CASE(wrong_parts_are_refused) {
  Graph graph{Runtime().ops()};
  const Scope g(graph);
  const auto refused = [&](const auto& make) { return failure_of(make).text(); };
  BOOST_TEST(refused([&] {
               nn::partitioned_variable(g, "t", Shape({2, 3}), nn::glorot_uniform,
                                        {.partitioner = [](const Shape&, DType) { return int64_t{3}; }});
             }).find("it cannot be cut by its rows into 3 parts") != std::string::npos);
  BOOST_TEST(refused([&] {
               nn::partitioned_variable(g, "t", Shape(std::initializer_list<int64_t>{}),
                                        nn::find_initializer("zeros"));
             }).find("cannot be cut") != std::string::npos);
  const Output two = zeros(g, {2, 3}), three = zeros(g, {3, 3}), narrow = zeros(g, {2, 2});
  const auto parts = [&](std::vector<Output> list) {
    return refused([&] { nn::as_parts(g, list, PartitionStrategy::Div); });
  };
  BOOST_TEST(parts({}).find("at least one part") != std::string::npos);
  BOOST_TEST(parts({two, three}).find("part 0 of a tensor of 5 rows has 2 of them; it must have 3") !=
             std::string::npos);
  BOOST_TEST(parts({two, narrow}).find("rows of different shapes") != std::string::npos);
  BOOST_TEST(refused([] { nn::partition_strategy("hash"); }) ==
             "there is no partition strategy 'hash'; it must be 'mod' or 'div'");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::test::partitioned_variable_test
