#include "apps/train/data/mapped_set.h"

#include <algorithm>
#include <thread>

#include "actors/runtime.h"
#include "apps/data/stream/prefetch.h"
#include "apps/train/data/failed_sample.h"

namespace troupe::train {

struct ColumnGraph {
  explicit ColumnGraph(size_t all_threads)
      : threads(all_threads), runtime({.threads = threads, .tasks = {{.gpus = 0}}}), graph(runtime.ops()) {}

  const size_t threads;  ///< which compute columns, of as many batches at the same time
  Runtime runtime;
  Graph graph;
  config::Columns results;
  /// Of each result, the place of the column of the batch that it is; nothing: it is one of the results of the step.
  std::vector<std::optional<size_t>> places;
  std::optional<Session> session;
  PreparedStep step;
  SampleOrigin origin;
};

namespace {

/// Returns the columns of a step that is fed with those of a batch. Random ops draw the same numbers for the same batch.
Result<data::Dataset> mapped(const ColumnGraph& graph, uint64_t step, const data::Dataset& batch) try {
  std::vector<Tensor> feeds;
  for (const data::Column& column : batch.columns()) feeds.push_back(column.values);
  std::vector<Tensor> computed;
  if (std::ranges::count(graph.places, std::optional<size_t>()) != 0)
    computed = graph.step.run(feeds, {.training = true, .round = step + 1});
  std::vector<data::Column> columns;
  auto next = computed.begin();
  for (size_t i = 0; i < graph.results.size(); ++i)
    columns.push_back(
        {graph.results[i].first, graph.places[i] ? batch.columns()[*graph.places[i]].values : *next++});
  return data::Dataset(std::move(columns));
} catch (const Error& error) {
  return error.status();
}

/// Returns the shape of a batch without samples. Fails if the shape of a sample is not known.
Result<Shape> without_samples(const PartialShape& batch, DType dtype) {
  if (!batch.known_rank()) return invalid_argument("the rank is not known");
  std::vector<int64_t> dims(batch.dims().begin(), batch.dims().end());
  dims[0] = 0;
  return PartialShape(std::move(dims)).to_shape(dtype);
}

/// Reports that the shape of a sample is not known, at the definition of the column or, if it has none, at the last one.
void report_unknown_shape(const std::string& column, const PartialShape& shape,
                          const std::vector<config::Definition>& definitions,
                          config::Diagnostics& diagnostics) {
  const std::string text = "the shape of a sample of '" + column + "' is not known, it is " + shape.text() +
                           " for a batch; reshape() or ensure_shape() can say it";
  const auto found = std::ranges::find(definitions, column, &config::Definition::name);
  if (definitions.empty())
    diagnostics.error({}, text);
  else
    diagnostics.error_in((found == definitions.end() ? definitions.back() : *found).expression, 0, text);
}

/// Adds a placeholder for each column.
config::Columns placeholders(const Scope& scope, const data::Dataset& columns) {
  config::Columns result;
  for (const auto& [name, values, row_splits] : columns.columns()) {
    std::vector<int64_t> shape(values.shape().dims().begin(), values.shape().dims().end());
    shape[0] = unknown_dim;
    const Attributes attrs = {{"dtype", values.dtype()}, {"shape", PartialShape(std::move(shape))}};
    result.emplace_back(name, scope.with_name(name).add_one("Placeholder", {}, attrs));
  }
  return result;
}

/// Returns how many batches are kept ready: enough that threads which are interrupted for a while delay no step, unless they are
/// large.
size_t batches_ahead(const data::Dataset& columns, int64_t batch, size_t threads) {
  constexpr size_t most = 16, most_bytes = size_t{64} << 20;
  size_t bytes = 1;
  for (const data::Column& column : columns.columns()) {
    size_t of_sample = size_of(column.values.dtype());
    for (const int64_t dim : column.values.shape().dims().subspan(1)) of_sample *= static_cast<size_t>(dim);
    bytes += of_sample * static_cast<size_t>(batch);
  }
  return std::clamp(most_bytes / bytes, threads + 1, std::max(most, threads + 1));
}

}  // namespace

size_t threads_of(const config::RunConfig& config) {
  const auto threads = static_cast<size_t>(config.run.threads);
  return threads != 0 ? threads : std::max(1u, std::thread::hardware_concurrency());
}

MappedSet::MappedSet(std::shared_ptr<const data::SampleSet> set, const ColumnMap& map,
                     const std::vector<config::Definition>& definitions, const config::RunConfig& config)
    : set_(std::move(set)) {
  const auto made = std::make_shared<ColumnGraph>(threads_of(config));
  const Scope scope(made->graph);
  const auto given = placeholders(scope, set_->columns());
  config::Diagnostics diagnostics(*config.document);
  made->results = map(scope, given, diagnostics);
  std::vector<data::Column> columns;
  for (const auto& [name, value] : made->results) {
    const auto known = without_samples(scope.shape(value), scope.dtype(value));
    if (known)
      columns.push_back({name, value_or_throw(Tensor::allocate(scope.dtype(value), *known))});
    else
      report_unknown_shape(name, scope.shape(value), definitions, diagnostics);
  }
  if (!diagnostics.empty()) throw Error(diagnostics.status());
  columns_ = data::Dataset(std::move(columns));
  made->session.emplace(made->runtime.session(made->graph, {.seed = config.run.seed}));
  std::vector<Output> feeds, fetches;
  for (const auto& [name, value] : given) feeds.push_back(value);
  for (const auto& [name, result] : made->results) {
    const auto column = std::ranges::find(feeds, result);
    made->places.push_back(column == feeds.end() ? std::nullopt
                                                 : std::optional<size_t>(column - feeds.begin()));
    if (column == feeds.end()) fetches.push_back(result);
  }
  if (!fetches.empty()) made->step = made->session->prepare(feeds, fetches);
  made->origin = {config, definitions};
  graph_ = made;
}

std::unique_ptr<data::Batches> MappedSet::batches(int64_t batch, uint64_t seed, bool shuffle) const {
  return std::make_unique<data::Prefetch>(
      set_->batches(batch, seed, shuffle),
      data::PrefetchOptions{.ahead = batches_ahead(columns_, batch, graph_->threads),
                            .threads = graph_->threads},
      [graph = graph_](uint64_t step, const data::Dataset& samples) -> Result<data::Dataset> {
        auto result = mapped(*graph, step, samples);
        if (result) return result;
        const auto compute = [&](const data::Dataset& some) { return mapped(*graph, step, some).status(); };
        return with_failed_sample(graph->runtime.services().disk(), graph->origin, samples, compute,
                                  result.status());
      });
}

}  // namespace troupe::train
