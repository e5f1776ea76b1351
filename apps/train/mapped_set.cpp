#include "apps/train/mapped_set.h"

#include <algorithm>

#include "actors/runtime.h"
#include "apps/config/data_map.h"
#include "apps/config/diagnostics.h"
#include "apps/data/stream/prefetch.h"

namespace troupe::train {

struct ColumnGraph {
  explicit ColumnGraph(size_t threads) : runtime({.threads = threads}), graph(runtime.ops()) {}

  Runtime runtime;
  Graph graph;
  config::Columns results;
  std::optional<Session> session;
  PreparedStep step;
};

namespace {

constexpr size_t batches_ahead = 2;

/// The batches of another set, with the columns of a step that is fed with theirs. Random ops draw the same numbers for the same
/// batch.
class MappedBatches final : public data::Batches {
 public:
  MappedBatches(std::unique_ptr<data::Batches> batches, std::shared_ptr<const ColumnGraph> graph)
      : Batches(*batches), batches_(std::move(batches)), graph_(std::move(graph)) {}

  Result<data::Dataset> at(uint64_t step) override try {
    TROUPE_ASSIGN(const data::Dataset batch, batches_->at(step));
    std::vector<Tensor> feeds;
    for (const data::Column& column : batch.columns()) feeds.push_back(column.values);
    auto results = graph_->step.run(feeds, {.training = true, .round = step + 1});
    std::vector<data::Column> columns;
    for (size_t i = 0; i < results.size(); ++i)
      columns.push_back({graph_->results[i].first, std::move(results[i])});
    return data::Dataset(std::move(columns));
  } catch (const Error& error) {
    return error.status();
  }

 private:
  std::unique_ptr<data::Batches> batches_;
  std::shared_ptr<const ColumnGraph> graph_;
};

/// Returns the shape of a batch without samples. Fails if the shape of a sample is not known.
Result<Shape> without_samples(const PartialShape& batch, DType dtype) {
  if (!batch.known_rank()) return invalid_argument("the rank is not known");
  std::vector<int64_t> dims(batch.dims().begin(), batch.dims().end());
  dims[0] = 0;
  return PartialShape(std::move(dims)).to_shape(dtype);
}

/// Returns the definition of a column, or the last one, for the location of an error.
const config::Definition& definition_of(const std::vector<config::Definition>& definitions,
                                        const std::string& column) {
  const auto found = std::ranges::find(definitions, column, &config::Definition::name);
  return found == definitions.end() ? definitions.back() : *found;
}

/// Adds a placeholder for each column.
config::Columns placeholders(const Scope& scope, const data::Dataset& columns) {
  config::Columns result;
  for (const auto& [name, values] : columns.columns()) {
    std::vector<int64_t> shape(values.shape().dims().begin(), values.shape().dims().end());
    shape[0] = unknown_dim;
    const Attributes attrs = {{"dtype", values.dtype()}, {"shape", PartialShape(std::move(shape))}};
    result.emplace_back(name, scope.with_name(name).add_one("Placeholder", {}, attrs));
  }
  return result;
}

}  // namespace

MappedSet::MappedSet(std::shared_ptr<const data::SampleSet> set,
                     const std::vector<config::Definition>& definitions, const config::RunConfig& config)
    : set_(std::move(set)) {
  const auto map = std::make_shared<ColumnGraph>(static_cast<size_t>(config.run.threads));
  const Scope scope(map->graph);
  const auto given = placeholders(scope, set_->columns());
  config::Diagnostics diagnostics(*config.document);
  map->results = build_data_map(definitions, scope.with_prefix("map"), given, diagnostics);
  std::vector<data::Column> columns;
  for (const auto& [name, value] : map->results) {
    const auto known = without_samples(scope.shape(value), scope.dtype(value));
    if (known)
      columns.push_back({name, value_or_throw(Tensor::allocate(scope.dtype(value), *known))});
    else
      diagnostics.error_in(definition_of(definitions, name).expression, 0,
                           "the shape of a sample of '" + name + "' is not known, it is " +
                               scope.shape(value).text() +
                               " for a batch; reshape() or ensure_shape() can say it");
  }
  if (!diagnostics.empty()) throw Error(diagnostics.status());
  columns_ = data::Dataset(std::move(columns));
  map->session.emplace(map->runtime.session(map->graph, {.seed = config.run.seed}));
  std::vector<Output> feeds, fetches;
  for (const auto& [name, value] : given) feeds.push_back(value);
  for (const auto& [name, value] : map->results) fetches.push_back(value);
  map->step = map->session->prepare(feeds, fetches);
  graph_ = map;
}

std::unique_ptr<data::Batches> MappedSet::batches(int64_t batch, uint64_t seed, bool shuffle) const {
  return std::make_unique<data::Prefetch>(
      std::make_unique<MappedBatches>(set_->batches(batch, seed, shuffle), graph_), batches_ahead);
}

}  // namespace troupe::train
