// Embedding lookups and losses over classes whose weights are in parts. Lookups are compared with what TensorFlow computes:
// tests/golden/embeddings.npz, written by tests/golden/make_embeddings.py, which says what the arrays are.
#include "apps/nn/embedding_lookup.h"

#include <boost/test/unit_test.hpp>

#include <algorithm>
#include <limits>
#include <map>

#include "actors/runtime.h"
#include "apps/data/arrays/npz.h"
#include "apps/nn/class_losses.h"
#include "apps/nn/layers.h"
#include "apps/nn/optimizer.h"
#include "kernels/constructors.h"
#include "tests/support/failure_of.h"
#include "tests/support/local_graph.h"
#include "tests/support/ops/golden_values.h"
#include "tests/support/ops/run_op.h"
#include "tests/support/project_files.h"

namespace troupe::test::embedding_test {
namespace {

using nn::PartitionedVariable;
using nn::PartitionStrategy;
using nn::ragged::Sparse;

/// The arrays of one case, whose tensors are constants of a graph.
class GoldenCase {
 public:
  explicit GoldenCase(std::string name) : name_(std::move(name)) {}

  bool has(const std::string& key) const { return arrays().contains(name_ + '.' + key); }
  const Tensor& array(const std::string& key) const { return arrays().at(name_ + '.' + key); }
  Output constant(const Scope& g, const std::string& key) const { return g.constant(array(key)); }
  PartitionedVariable table(const Scope& g, PartitionStrategy strategy) const {
    std::vector<Output> parts;
    while (has("part_" + std::to_string(parts.size())))
      parts.push_back(constant(g, "part_" + std::to_string(parts.size())));
    return nn::as_parts(g, parts, strategy);
  }
  Sparse sparse_ids(const Scope& g) const {
    return {constant(g, "indices"), constant(g, "values"), constant(g, "shape")};
  }

 private:
  static const std::map<std::string, Tensor>& arrays() {
    static const auto all =
        value_or_throw(data::read_npz(project_file("tests/golden/embeddings.npz"), "embeddings.npz"));
    return all;
  }
  std::string name_;
};

using LookUp = std::function<Output(const Scope&, const GoldenCase&, const PartitionedVariable&)>;

/// Compares a lookup and its gradients.
void check_golden(const std::string& name, PartitionStrategy strategy, const LookUp& look_up) {
  LocalGraph local;
  const Scope& g = local.g;
  const GoldenCase golden(name);
  const PartitionedVariable table = golden.table(g, strategy);
  const Output y = look_up(g, golden, table);
  const auto found = gradients(g, {mul(g, y, golden.constant(g, "c"))}, table.parts);
  std::vector<Output> fetches = {y};
  for (size_t i = 0; i < found.size(); ++i) {
    BOOST_TEST(std::holds_alternative<IndexedSlices>(found[i]), name << ": the gradient is dense");
    fetches.push_back(dense(g, found[i], table.parts[i]));
  }
  const auto results = value_or_throw(local.runtime.run(local.graph, {}, fetches));
  for (size_t i = 0; i < results.size(); ++i) {
    const std::string key = i == 0 ? "y" : "g_" + std::to_string(i - 1);
    const std::string what = difference(results[i], golden.array(key), {1e-5, 1e-6});
    BOOST_TEST(what.empty(), name << ": " << key << ": " << what);
  }
}

BOOST_AUTO_TEST_SUITE(embedding)

BOOST_AUTO_TEST_CASE(lookups_yield_what_tensorflow_yields) {
  const auto look_up = [](double max_norm) {
    return [max_norm](const Scope& g, const GoldenCase& golden, const PartitionedVariable& table) {
      return nn::embedding_lookup(g, table, golden.constant(g, "ids"), max_norm);
    };
  };
  check_golden("lookup_mod", PartitionStrategy::Mod, look_up(0));
  check_golden("lookup_div", PartitionStrategy::Div, look_up(0));
  check_golden("lookup_one_part", PartitionStrategy::Mod, look_up(0));
  check_golden("lookup_max_norm", PartitionStrategy::Mod, look_up(0.8));
  check_golden("lookup_of_matrices", PartitionStrategy::Div, look_up(0));
}

BOOST_AUTO_TEST_CASE(sparse_lookups_yield_what_tensorflow_yields) {
  for (const char* combiner : {"sum", "mean", "sqrtn"}) {
    nn::SparseLookup options{.combiner = nn::combiner(combiner)};
    const auto look_up = [&](const Scope& g, const GoldenCase& golden, const PartitionedVariable& table) {
      auto with = options;
      if (golden.has("weights")) with.weights = golden.constant(g, "weights");
      return nn::embedding_lookup_sparse(g, table, golden.sparse_ids(g), with);
    };
    const std::string name = std::string("sparse_") + combiner;
    check_golden(name, PartitionStrategy::Div, look_up);
    check_golden(name + "_weights", PartitionStrategy::Div, look_up);
    options.max_norm = 0.5;
    check_golden(name + "_max_norm", PartitionStrategy::Div, look_up);
  }
}

BOOST_AUTO_TEST_CASE(safe_lookups_yield_what_tensorflow_yields) {
  for (const char* combiner : {"sum", "mean", "sqrtn"}) {
    const auto look_up = [&](std::optional<int64_t> otherwise) {
      return [=](const Scope& g, const GoldenCase& golden, const PartitionedVariable& table) {
        nn::SparseLookup options{.combiner = nn::combiner(combiner)};
        if (golden.has("weights")) options.weights = golden.constant(g, "weights");
        return nn::safe_embedding_lookup_sparse(g, table, golden.sparse_ids(g), options, otherwise);
      };
    };
    const std::string name = std::string("safe_") + combiner;
    check_golden(name, PartitionStrategy::Div, look_up({}));
    check_golden(name + "_default", PartitionStrategy::Div, look_up(2));
    check_golden(name + "_weights", PartitionStrategy::Div, look_up({}));
    check_golden(name + "_cube", PartitionStrategy::Div, look_up({}));
  }
}

// ids [0, 9] of a table of 10 rows
BOOST_AUTO_TEST_CASE(ids_without_a_row_are_named) {
  for (const int64_t count : {1, 3})
    for (const PartitionStrategy strategy : {PartitionStrategy::Mod, PartitionStrategy::Div})
      for (const std::vector<int32_t>& ids :
           std::vector<std::vector<int32_t>>{{0, 10}, {-1, 3}, {std::numeric_limits<int32_t>::max(), -7}}) {
        LocalGraph local;
        const auto table = nn::partitioned_variable(local.g, "table", Shape({10, 2}), nn::glorot_uniform,
                                                    {nn::fixed_size(count), strategy});
        value_or_throw(local.runtime.run(local.graph, {}, {initializer(local.g)}));
        const Status failure = local.failure(
            nn::embedding_lookup(local.g, table, local.g.constant(Tensor::vector(std::span(ids)))));
        BOOST_TEST((failure.code() == Code::InvalidArgument), failure.text());
        const auto [least, greatest] = std::ranges::minmax(ids);
        for (const std::string& part : {std::string("the ids for 'table'"), std::to_string(least),
                                        std::to_string(greatest), std::string("from 0 to 9")})
          BOOST_TEST(failure.text().find(part) != std::string::npos, failure.text() << " lacks " << part);
      }
}

BOOST_AUTO_TEST_CASE(no_ids_yield_no_rows) {
  LocalGraph local;
  const auto table =
      nn::as_parts(local.g, {zeros(local.g, {2, 3}), zeros(local.g, {2, 3})}, PartitionStrategy::Mod);
  const Output none = local.g.constant(value_or_throw(Tensor::allocate(DType::Int64, Shape({0, 4}))));
  const auto found =
      value_or_throw(local.runtime.run(local.graph, {}, {nn::embedding_lookup(local.g, table, none)}));
  BOOST_TEST(found[0].shape().text() == "[0,4,3]");
}

/// What a model with a table yields: its loss, and the table after three steps.
std::vector<Tensor> trained(const nn::Optimizer& optimizer, int64_t count, const std::string& strategy) {
  Runtime runtime;
  Graph graph(runtime.ops());
  const Scope g(graph);
  const nn::Network network(g);
  const Output ids = g.constant(Tensor::of<int32_t>(Shape({2, 4}), {3, 1, 3, 7, 1, 0, 9, 3}));
  const Output found = nn::embedding(
      network, ids, {.rows = 10, .units = 3, .partitions = count, .strategy = strategy, .combiner = "mean"});
  const Output loss = l2_loss(g, add(g, found, 1));
  const Output step = optimizer.minimize(g, loss);
  PartitionedVariable table{{}, {10, 3}, {}, nn::partition_strategy(strategy)};
  for (const auto& [weight, edge] : network.weights()) table.parts.push_back(edge);
  Session session = runtime.session(graph, {.seed = 5});
  session.run({initializer(g)});
  for (int i = 0; i < 3; ++i) session.run({step});
  return session.run({loss, nn::as_tensor(g, table)});
}

BOOST_AUTO_TEST_CASE(cuts_do_not_change_what_is_learned) {
  const nn::Sgd sgd(0.1);
  const nn::Momentum momentum(0.1, 0.9);
  const nn::Adagrad adagrad(0.1);
  const nn::Adam adam(0.1), lazy(0.1, 0.9, 0.999, 1e-8, true);
  const nn::RmsProp rmsprop(0.1);
  const nn::Ftrl ftrl(0.1);
  for (const nn::Optimizer* optimizer : std::initializer_list<const nn::Optimizer*>{
           &sgd, &momentum, &adagrad, &adam, &lazy, &rmsprop, &ftrl}) {
    const auto expected = trained(*optimizer, 0, "mod");
    for (const char* strategy : {"mod", "div"})
      for (const int64_t count : {1, 2, 3}) {
        const auto found = trained(*optimizer, count, strategy);
        for (size_t i = 0; i < found.size(); ++i)
          BOOST_TEST(identical(found[i], expected[i]), strategy << ' ' << count);
      }
  }
}

// table -> lookup of ids in which some occur twice -> the gradient has a row for each distinct id
BOOST_AUTO_TEST_CASE(gradients_have_each_row_once) {
  LocalGraph local;
  const Scope& g = local.g;
  const auto table = nn::as_parts(g, {fill(g, {2, 3}, 1.0), fill(g, {2, 3}, 2.0)}, PartitionStrategy::Mod);
  const Output ids = g.constant(Tensor::vector<int64_t>({2, 0, 2, 2, 1}));
  const auto found = gradients(g, {nn::embedding_lookup(g, table, ids)}, table.parts);
  const auto& first = std::get<IndexedSlices>(found[0]);
  const auto results = value_or_throw(local.runtime.run(local.graph, {}, {first.indices, first.values}));
  BOOST_TEST(identical(results[0], Tensor::vector<int64_t>({1, 0})));
  BOOST_TEST(identical(results[1], Tensor::of<float>(Shape({2, 3}), {3, 3, 3, 1, 1, 1})));
}

// ---- Losses over classes

struct Classes : LocalGraph {
  Output x = g.constant(Tensor::of<float>(Shape({3, 2}), {0.5f, -1, 2, 0.25f, -0.75f, 1.5f}));
  Output labels = g.constant(Tensor::vector<int32_t>({6, 0, 3}));
  Output weights =
      g.constant(Tensor::of<float>(Shape({7, 2}), {1, -2, 0.5f, 0.25f, -1, 3, 2, 2, -0.5f, 1, 0, -1, 90,
                                                   1}));  // large logits must not overflow
  Output bias = g.constant(Tensor::vector<float>({0.1f, -0.2f, 0.3f, 0, 1, -1, 0.5f}));

  PartitionedVariable cut(Output whole, int64_t count, PartitionStrategy strategy) const {
    std::vector<Output> parts;
    for (const RowSlice& slice : nn::cut("w", 7, count, strategy))
      parts.push_back(gather(g, whole, range(g, slice.first, slice.row(slice.count - 1) + 1, slice.stride)));
    for (Output& part : parts) part = ensured(part);
    return nn::as_parts(g, parts, strategy);
  }
  /// Returns the same constant, whose shape is known.
  Output ensured(Output part) const {
    return g.constant(value_or_throw(LocalRuntime(op_library()).run(g.graph(), {}, {part}))[0]);
  }
};

BOOST_AUTO_TEST_CASE(softmax_in_parts_is_the_softmax) {
  for (const PartitionStrategy strategy : {PartitionStrategy::Mod, PartitionStrategy::Div})
    for (const int64_t count : {1, 2, 3}) {
      Classes c;
      const Output logits = add(c.g, matmul(c.g, c.x, c.weights, false, true), c.bias);
      const Output expected = sparse_softmax_cross_entropy_with_logits(c.g, logits, c.labels);
      const nn::classes::Weights classes{c.cut(c.weights, count, strategy), c.cut(c.bias, count, strategy)};
      const Output loss = nn::classes::softmax_loss(c.g, classes, c.x, c.labels);
      const auto whole = gradients(c.g, {expected}, {c.x, c.weights, c.bias});
      std::vector<Output> xs = {c.x};
      for (const auto& of : {classes.weights, classes.bias})
        xs.insert(xs.end(), of.parts.begin(), of.parts.end());
      const auto slopes = gradients(c.g, {loss}, xs);
      const auto together = [&](PartitionedVariable table, size_t first) {
        for (size_t i = 0; i < table.parts.size(); ++i) table.parts[i] = std::get<Output>(slopes[first + i]);
        return nn::as_tensor(c.g, table);
      };
      const auto number = static_cast<size_t>(count);
      const std::vector<Output> pairs = {expected,
                                         loss,
                                         std::get<Output>(whole[0]),
                                         std::get<Output>(slopes[0]),
                                         std::get<Output>(whole[1]),
                                         together(classes.weights, 1),
                                         std::get<Output>(whole[2]),
                                         together(classes.bias, 1 + number),
                                         logits,
                                         nn::classes::logits(c.g, classes, c.x)};
      const auto results = value_or_throw(c.runtime.run(c.graph, {}, pairs));
      for (size_t i = 0; i < results.size(); i += 2) {
        const std::string what = difference(results[i + 1], results[i], {1e-5, 1e-5});
        BOOST_TEST(what.empty(), nn::name(strategy) << ' ' << count << ", pair " << i / 2 << ": " << what);
      }
    }
}

// worker: x, loss; each server: logits of its classes, their gradients and those of its weights
BOOST_AUTO_TEST_CASE(products_of_a_softmax_are_computed_where_the_weights_are) {
  LocalGraph local;
  const Scope worker = local.g.with_device("/job:worker/task:0");
  const auto table = [&](const char* name, const Shape& shape) {
    return nn::partitioned_variable(
        local.g, name, shape, nn::glorot_uniform,
        {.partitioner = nn::fixed_size(2), .devices = {"/job:ps/task:0", "/job:ps/task:1"}});
  };
  const nn::classes::Weights classes{table("weights", Shape({6, 4})), table("bias", Shape({6}))};
  const Output x = worker.add_one("Placeholder", {}, {{"dtype", f32}, {"shape", PartialShape{3, 4}}});
  const Output loss =
      nn::classes::softmax_loss(worker, classes, x, worker.constant(Tensor::vector<int32_t>({1, 5, 0})));
  gradients(worker, {loss}, {x, classes.weights.parts[0], classes.weights.parts[1]});
  std::map<std::string, int> products;
  for (const Node& node : local.graph.nodes())
    if (node.type() == "MatMul") ++products[node.device];
  const std::map<std::string, int> expected = {{"/job:ps/task:0", 3}, {"/job:ps/task:1", 3}};
  BOOST_TEST((products == expected));
}

BOOST_AUTO_TEST_CASE(sampled_losses_do_not_depend_on_the_parts) {
  const auto losses = [](int64_t count, PartitionStrategy strategy) {
    Classes c;
    const nn::classes::Weights classes{c.cut(c.weights, count, strategy), c.cut(c.bias, count, strategy)};
    const nn::classes::Sampling sampling{.classes = 4};
    const Output softmax =
        nn::classes::sampled_softmax_loss(c.g.with_prefix("softmax"), classes, c.x, c.labels, sampling);
    const Output nce = nn::classes::nce_loss(c.g.with_prefix("nce"), classes, c.x, c.labels, sampling);
    const Output x_slope = std::get<Output>(gradients(c.g, {softmax, nce}, {c.x})[0]);
    return value_or_throw(c.runtime.run(c.graph, {}, {softmax, nce, x_slope}));
  };
  const auto expected = losses(1, PartitionStrategy::Mod);
  for (const PartitionStrategy strategy : {PartitionStrategy::Mod, PartitionStrategy::Div}) {
    const auto found = losses(3, strategy);
    for (size_t i = 0; i < found.size(); ++i) BOOST_TEST(identical(found[i], expected[i]));
  }
}

/// Compares a loss over candidates and its gradients.
void check_golden_loss(const std::string& name, bool without_hits, auto loss) {
  LocalGraph local;
  const Scope& g = local.g;
  const GoldenCase golden(name);
  const Output x = golden.constant(g, "x"), weights = golden.constant(g, "weights"),
               bias = golden.constant(g, "bias");
  const nn::classes::Weights classes{nn::as_parts(g, {weights}, PartitionStrategy::Mod),
                                     nn::as_parts(g, {bias}, PartitionStrategy::Mod)};
  const nn::classes::Sampling sampling{
      .without_hits = without_hits,
      .candidates = nn::classes::Candidates{golden.constant(g, "classes"), golden.constant(g, "label_counts"),
                                            golden.constant(g, "counts")}};
  const Output y = loss(g, classes, x, golden.constant(g, "labels"), sampling);
  const auto found = gradients(g, {mul(g, y, golden.constant(g, "c"))}, {x, weights, bias});
  const auto results = value_or_throw(local.runtime.run(
      local.graph, {}, {y, dense(g, found[0], x), dense(g, found[1], weights), dense(g, found[2], bias)}));
  const char* const keys[] = {"y", "g_x", "g_weights", "g_bias"};
  for (size_t i = 0; i < results.size(); ++i) {
    const std::string what = difference(results[i], golden.array(keys[i]), {1e-5, 1e-6});
    BOOST_TEST(what.empty(), name << ": " << keys[i] << ": " << what);
  }
}

BOOST_AUTO_TEST_CASE(losses_over_drawn_classes_are_those_of_tensorflow) {
  for (const char* labels : {"_1", "_2"})
    for (const bool without_hits : {true, false}) {
      const std::string which = std::string(labels) + (without_hits ? "_without_hits" : "_with_hits");
      check_golden_loss("sampled_softmax_loss" + which, without_hits, nn::classes::sampled_softmax_loss);
      check_golden_loss("nce_loss" + which, without_hits, nn::classes::nce_loss);
    }
}

BOOST_AUTO_TEST_CASE(with_all_classes_drawn_the_sampled_softmax_is_the_softmax) {
  for (const Tensor& labels :
       {Tensor::vector<int32_t>({6, 0, 3}), Tensor::of<int32_t>(Shape({3, 2}), {6, 2, 0, 5, 3, 4})}) {
    Classes c;
    const nn::classes::Weights classes{c.cut(c.weights, 2, PartitionStrategy::Mod),
                                       c.cut(c.bias, 2, PartitionStrategy::Mod)};
    const Output of = c.g.constant(labels);
    const auto results = value_or_throw(
        c.runtime.run(c.graph, {},
                      {nn::classes::softmax_loss(c.g, classes, c.x, of),
                       nn::classes::sampled_softmax_loss(c.g, classes, c.x, of,
                                                         {.distribution = nn::classes::Distribution::All})}));
    if (labels.shape().rank() == 1) {
      BOOST_TEST(difference(results[1], results[0], {1e-5, 1e-5}).empty());
    } else {
      // Here the other label of a row is a hit, which does not count in the sampled softmax.
      for (size_t i = 0; i < 3; ++i) BOOST_TEST(results[1].as<float>()[i] <= results[0].as<float>()[i]);
    }
  }
}

BOOST_AUTO_TEST_CASE(classes_are_drawn_by_every_distribution) {
  Classes c;
  const Output labels = c.g.constant(Tensor::of<int64_t>(Shape({3, 1}), {6, 0, 3}));
  for (const char* name : {"log_uniform", "uniform", "fixed_unigram", "learned_unigram", "all"}) {
    nn::classes::Sampling sampling{.classes = 3, .distribution = nn::classes::distribution(name)};
    BOOST_TEST(nn::classes::name(sampling.distribution) == name);
    if (sampling.distribution == nn::classes::Distribution::FixedUnigram)
      sampling.frequencies = {0, 1, 1, 0, 1, 0, 0};  // exactly three can be drawn
    const auto drawn = nn::classes::draw(c.g, labels, 7, sampling);
    const auto results =
        value_or_throw(c.runtime.run(c.graph, {}, {drawn.classes, drawn.label_counts, drawn.counts}));
    std::vector<int64_t> classes(results[0].as<int64_t>().begin(), results[0].as<int64_t>().end());
    std::ranges::sort(classes);
    BOOST_TEST((std::ranges::adjacent_find(classes) == classes.end()), name);
    BOOST_TEST((classes.front() >= 0 && classes.back() < 7), name);
    const bool all = std::string(name) == "all";
    BOOST_TEST(classes.size() == (all ? 7u : 3u), name);
    BOOST_TEST((results[1].shape() == Shape({3, 1})), name);
    BOOST_TEST((results[2].shape() == results[0].shape()), name);
    if (!sampling.frequencies.empty()) BOOST_TEST(classes == (std::vector<int64_t>{1, 2, 4}));
  }
}

BOOST_AUTO_TEST_CASE(draws_and_labels_that_cannot_be_are_refused) {
  Classes c;
  const nn::classes::Weights classes{c.cut(c.weights, 2, PartitionStrategy::Mod),
                                     c.cut(c.bias, 2, PartitionStrategy::Mod)};
  const auto refused = [&](Output labels, const nn::classes::Sampling& sampling, const char* text) {
    const Status failure = failure_of([&] { nn::classes::nce_loss(c.g, classes, c.x, labels, sampling); });
    BOOST_TEST((failure.code() == Code::InvalidArgument));
    BOOST_TEST(failure.text().find(text) != std::string::npos, failure.text());
  };
  refused(c.labels, {.distribution = nn::classes::Distribution::FixedUnigram, .frequencies = {1, 2}},
          "has 2 frequencies; it needs one for each of the 7 classes");
  refused(c.g.constant(Tensor::of<int32_t>(Shape({3, 0}), {})), {}, "have the shape [3,0]");
  refused(c.g.constant(Tensor::scalar<int32_t>(3)), {}, "it must be [n], or [n, labels of a row]");
  const Status failure = failure_of([] { nn::classes::distribution("zipf"); });
  BOOST_TEST(
      failure.text().find("there is no distribution 'zipf'; it must be one of 'log_uniform', 'uniform'") !=
          std::string::npos,
      failure.text());
}

BOOST_AUTO_TEST_CASE(labels_that_are_no_classes_are_refused) {
  Classes c;
  const nn::classes::Weights classes{c.cut(c.weights, 2, PartitionStrategy::Mod),
                                     c.cut(c.bias, 2, PartitionStrategy::Mod)};
  const Status failure = c.failure(
      nn::classes::softmax_loss(c.g, classes, c.x, c.g.constant(Tensor::vector<int32_t>({1, 7, 0}))));
  BOOST_TEST((failure.code() == Code::InvalidArgument), failure.text());
  const nn::classes::Weights uneven{classes.weights, c.cut(c.bias, 3, PartitionStrategy::Mod)};
  const Status refused = failure_of([&] { nn::classes::softmax_loss(c.g, uneven, c.x, c.labels); });
  BOOST_TEST(refused.text().find("cut in the same way") != std::string::npos, refused.text());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::test::embedding_test
