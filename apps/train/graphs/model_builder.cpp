#include "apps/train/graphs/model_builder.h"

#include <algorithm>

#include "apps/config/fine_tuning.h"
#include "apps/nn/as_type.h"
#include "apps/nn/partitioned_variable.h"
#include "apps/train/graphs/replication_tasks.h"
#include "graph/build/call.h"
#include "graph/build/shard_names.h"
#include "graph/build/split.h"
#include "kernels/constructors.h"

namespace troupe::train {
namespace {

/// A table with fewer bytes than this for each parameter server is cut into fewer parts, and one with fewer bytes is not cut.
constexpr int64_t min_bytes_of_part = 1 << 20;

int64_t bytes_of(const nn::Weight& weight) {
  return value_or_throw(weight.shape.to_shape(weight.dtype)).elements() *
         static_cast<int64_t>(size_of(weight.dtype));
}

}  // namespace

ModelBuilder::ModelBuilder(const config::RunConfig& config, const data::Dataset& data, Graph& graph,
                           int64_t variables_worker)
    : config_(config), data_(data), root_(graph), diagnostics_(*config.document) {
  const auto& owners = config.cluster.owners;
  const int64_t sharing = std::clamp<int64_t>(tasks("worker"), 1, config.shards());
  if (!owners.empty())
    for (const std::string& owner : owners) places_.push_back({root_.with_device(owner)});
  else if (config.train.replication.shares_out_variables())
    for (int64_t worker = 0; worker < sharing; ++worker) places_.push_back({on_worker(root_, worker)});
  else
    for (int64_t task = 0; task < tasks("ps"); ++task)
      places_.push_back({root_.with_device("/job:ps/task:" + std::to_string(task))});
  if (places_.empty()) places_.push_back({on_worker(root_, variables_worker)});
}

int64_t ModelBuilder::tasks(const std::string& job) const {
  const auto at = config_.cluster.tasks.find(job);
  return at == config_.cluster.tasks.end() ? 0 : at->second;
}

Scope ModelBuilder::on_worker(const Scope& scope, int64_t shard) const {
  if (tasks("worker") == 0) return scope;
  return scope.with_device("/job:worker/task:" + std::to_string(shard % tasks("worker")));
}

Scope ModelBuilder::at_shard(int64_t shard) const {
  return on_worker(root_.with_prefix(shard_prefix(shard)), shard);
}

size_t ModelBuilder::lightest_place() const {
  const auto place = std::ranges::min_element(places_, {}, &Place::bytes);
  return static_cast<size_t>(place - places_.begin());
}

Scope ModelBuilder::with_variables() const { return for_variables(places_[lightest_place()].task); }

/// Returns the scope for a variable of so many bytes, which count from now on.
Scope ModelBuilder::scope_for(int64_t bytes) {
  Place& place = places_[lightest_place()];
  place.bytes += bytes;
  return for_variables(place.task);
}

Scope ModelBuilder::for_variables(const Scope& task) const {
  // The graphs of the workers have different ops with these variables, and where a graph alone would place them depends on its
  // ops. Among peers all have the same ones.
  const bool pinned = config_.cluster.are_processes && !is_among_peers(config_);
  return pinned ? task.with_device("/device:CPU:0") : task;
}

TowerInputs ModelBuilder::inputs(const Scope& scope, std::optional<DType> samples) const {
  TowerInputs result;
  const auto add = [&](const std::string& name, const Tensor& values) {
    std::vector<int64_t> dims(values.shape().dims().begin(), values.shape().dims().end());
    dims[0] = unknown_dim;
    std::ranges::replace(dims, 0, unknown_dim);
    const Attributes attrs = {{"dtype", values.dtype()}, {"shape", PartialShape(std::move(dims))}};
    result.columns.emplace_back(name, scope.with_name(name).add_one("Placeholder", {}, attrs));
  };
  for (const data::Column& column : data_.columns()) {
    add(column.name, column.values);
    if (column.is_ragged()) add(data::splits_name(column.name), column.row_splits);
  }
  if (samples)
    result.samples = scope.with_name("samples").add_one(
        "Placeholder", {}, {{"dtype", *samples}, {"shape", PartialShape::scalar()}});
  return result;
}

Tower ModelBuilder::tower(const Scope& scope, const TowerInputs& inputs, nn::Mode mode,
                          const std::function<Output(Output variable)>& use, PlacedStages* stages) {
  config::Symbols symbols;
  symbols.builder = stages;
  for (const auto& [name, output] : inputs.columns) symbols.values[name] = Argument(output);
  const nn::Network network(scope, mode, [&](const nn::Weight& wanted) {
    const nn::Weight weight = with_stored_value(wanted);
    const auto split = std::ranges::find(config_.model.split, weight.name, &config::SplitWeight::name);
    if (!stages || split == config_.model.split.end())
      return with_factors(weight, use(with_factors(weight, variable(weight))));
    return split_weight(weight, split->dimension, scope, use, *stages);
  });
  network.partition_tables([this](const Shape& shape, DType dtype) { return parts_of_table(shape, dtype); });
  Tower tower;
  tower.model = config::build_model(config_, network, std::move(symbols), diagnostics_);
  for (const nn::MovingAverage& average : network.averages())
    tower.averages.push_back({variables_.at(average.weight.name), average.difference, average.rate});
  return tower;
}

/// Returns one part for each task that owns variables; 0 for a small table, or if every process that computes has all variables.
int64_t ModelBuilder::parts_of_table(const Shape& shape, DType dtype) const {
  const bool is_elsewhere = tasks("worker") > 0 && !is_among_peers(config_);
  if (!is_elsewhere || shape.elements() * static_cast<int64_t>(size_of(dtype)) < min_bytes_of_part) return 0;
  return nn::min_max(std::max<int64_t>(1, tasks("ps")), min_bytes_of_part)(shape, dtype);
}

/// Returns the weight with a placeholder as its initial value, if it begins with a stored one. The steps that read the placeholder
/// are those that initialize variables.
nn::Weight ModelBuilder::with_stored_value(nn::Weight weight) {
  if (!config::has_stored_value(config_.model, weight)) return weight;
  weight.initial = [this, name = weight.name, slice = weight.slice](const Scope& scope,
                                                                    const PartialShape& shape, DType dtype) {
    const Output value =
        scope.with_name("initial_value").add_one("Placeholder", {}, {{"dtype", dtype}, {"shape", shape}});
    fed_weights_.push_back({name, slice, value});
    return value;
  };
  return weight;
}

Output ModelBuilder::variable(const nn::Weight& weight) {
  const auto known = variables_.find(weight.name);
  if (known != variables_.end()) return known->second;
  const bool with_stage = config_.is_pipelined() && tasks("ps") == 0 && !weight.device.empty();
  const Scope scope = with_stage ? root_.with_device(weight.device) : scope_for(bytes_of(weight));
  return variables_.emplace(weight.name, nn::add_variable(scope, weight)).first->second;
}

/// Notes the factors of a weight for an edge that stands for it, and returns the edge.
Output ModelBuilder::with_factors(const nn::Weight& weight, Output edge) {
  const nn::UpdateFactors factors = config::update_factors(config_.train, weight);
  if (factors.learning_rate != 1 || factors.weight_decay != 1) factors_[edge] = factors;
  return edge;
}

nn::UpdateFactors ModelBuilder::factors_of(Output variable) const {
  const auto found = factors_.find(variable);
  return found == factors_.end() ? nn::UpdateFactors() : found->second;
}

/// Returns the parts of a weight as one tensor, which is split over the devices of the stage of the weight.
Output ModelBuilder::split_weight(const nn::Weight& weight, int64_t dimension, const Scope& tower,
                                  const std::function<Output(Output variable)>& use, PlacedStages& stages) {
  std::vector<Output> parts = parts_of(weight, dimension, stages);
  for (Output& part : parts) part = with_factors(weight, use(with_factors(weight, part)));
  return stages.join(tower.with_prefix(weight.name), parts, weight.device, dimension);
}

/// Returns the variables that are the parts of a weight. The first call adds them, on the devices of the tower's stages.
std::vector<Output> ModelBuilder::parts_of(const nn::Weight& weight, int64_t dimension,
                                           PlacedStages& stages) {
  const auto [known, fresh] = split_variables_.try_emplace(weight.name);
  if (!fresh) return known->second;
  const auto& devices = stages.devices_at(weight.device);
  const auto at = static_cast<size_t>(dimension), rank = weight.shape.rank();
  const Output whole =
      weight.initial(root_.with_device(devices.front()).with_prefix(weight.name), weight.shape, weight.dtype);
  for (size_t i = 0; i < devices.size(); ++i) {
    const PartRange range =
        part_range(weight.shape[at], static_cast<int64_t>(i), static_cast<int64_t>(devices.size()));
    std::vector<int64_t> begin(rank, 0), size(rank, -1);
    begin[at] = range.begin;
    size[at] = range.size;
    const Scope there = tasks("ps") == 0 ? root_.with_device(devices[i])
                                         : scope_for(bytes_of(weight) / weight.shape[at] * range.size);
    const Output initial = slice(there.with_prefix(weight.name), whole, Argument(begin), Argument(size));
    const std::string name = weight.name + "/part_" + std::to_string(i);
    const RowSlice rows{weight.name, weight.shape[0], range.begin, 1, range.size};
    known->second.push_back(dimension == 0 ? variable_part(there, initial, name, rows, weight.trainable)
                                           : troupe::variable(there, initial, name, weight.trainable));
    variables_.emplace(name, known->second.back());
  }
  return known->second;
}

std::optional<nn::WeightAverages> ModelBuilder::weight_averages() const {
  if (!config_.train.average) return {};
  return nn::WeightAverages(root_, *config_.train.average);
}

void ModelBuilder::scale_losses(bool has_all_gradients) {
  const auto& scale = config_.train.loss_scale;
  if (!scale) return;
  if (scale->type == "fixed") {
    scaling_.emplace(scale->scale);
    return;
  }
  if (!has_all_gradients)
    throw Error(invalid_argument(
        "train.loss_scale is dynamic, which needs the gradients of all shards in one place: in one process, "
        "or in mode \"allreduce\" without shard_optimizer. Write train.loss_scale = { type = \"fixed\", "
        "value "
        "= 1024.0 }, or compute in bfloat16, which needs no scale"));
  scaling_.emplace(with_variables(), nn::LossScaling::Dynamic{scale->scale, scale->grow_after});
}

Output ModelBuilder::scaled_loss(const Scope& scope, Output loss) const {
  return scaling_ ? scaling_->scaled(scope, loss) : loss;
}

std::optional<nn::LossScaling> ModelBuilder::dynamic_scale() const {
  return scaling_ && scaling_->is_dynamic() ? scaling_ : std::nullopt;
}

std::vector<nn::VariableGradient> ModelBuilder::gradients(const Scope& scope, Output loss,
                                                          const nn::Optimizer& optimizer,
                                                          std::vector<Output> variables) const {
  const Output scaled = scaled_loss(scope, loss);
  return contributed(scope, nn::compute_gradients(scope, scaled, std::move(variables)), optimizer);
}

std::vector<nn::VariableGradient> ModelBuilder::contributed(const Scope& scope,
                                                            std::vector<nn::VariableGradient> gradients,
                                                            const nn::Optimizer& optimizer,
                                                            const nn::ScopeOfGradient& at) const {
  const config::Train& train = config_.train;
  const auto change = [&](auto function, auto... limit) {
    if (!at) {
      gradients = function(scope, std::move(gradients), limit...);
      return;
    }
    for (nn::VariableGradient& one : gradients)
      one = function(at(scope, one), std::vector{one}, limit...).front();
  };
  if (scaling_) gradients = scaling_->unscaled(scope, std::move(gradients), at);
  if (!optimizer.takes_rows() || !train.replication.combine.text.empty()) change(nn::all_dense);
  if (train.clip.value) change(nn::clip_by_value, *train.clip.value);
  if (train.clip.norm) change(nn::clip_by_norm, *train.clip.norm);
  if (train.clip.global_norm)
    gradients = nn::clip_by_global_norm(scope, std::move(gradients), *train.clip.global_norm, at);
  if (train.weight_decay > 0)
    change([this](const Scope& where, std::vector<nn::VariableGradient> given) {
      return decayed(where, std::move(given));
    });
  return gradients;
}

std::vector<nn::VariableGradient> ModelBuilder::decayed(const Scope& scope,
                                                        std::vector<nn::VariableGradient> gradients) const {
  const double decay = config_.train.weight_decay;
  if (factors_.empty()) return nn::add_weight_decay(scope, std::move(gradients), decay);
  for (nn::VariableGradient& one : gradients)
    if (const double own = decay * factors_of(one.variable).weight_decay; own > 0)
      one = nn::add_weight_decay(scope, {one}, own).front();
  return gradients;
}

Output as_type(const Scope& scope, Output number, Output like) {
  return nn::as_type(scope, number, scope.dtype(like));
}

Output weighted_mean(const Scope& scope, const std::vector<Output>& values,
                     const std::vector<Output>& samples) {
  if (values.size() == 1) return values.front();
  std::vector<Output> terms;
  for (size_t i = 0; i < values.size(); ++i)
    terms.push_back(scope.add_one("Mul", {values[i], as_type(scope, samples[i], values[i])}));
  const Output total = scope.add_one("AddN", samples);
  return scope.add_one("RealDiv", {scope.add_one("AddN", terms), as_type(scope, total, values.front())});
}

Gradient weighted_mean(const Scope& scope, const std::vector<Gradient>& gradients,
                       const std::vector<Output>& samples) {
  if (gradients.size() == 1) return gradients.front();
  std::vector<Output> values;
  for (const Gradient& gradient : gradients) values.push_back(nn::values_of(gradient));
  const auto* const first = std::get_if<IndexedSlices>(&gradients.front());
  if (!first) return weighted_mean(scope, values, samples);
  std::vector<Output> indices;
  for (size_t i = 0; i < gradients.size(); ++i) {
    indices.push_back(std::get<IndexedSlices>(gradients[i]).indices);
    values[i] = mul(scope, values[i], as_type(scope, samples[i], values[i]));
  }
  const IndexedSlices joined{concat(scope, values, 0), concat(scope, indices, 0), first->dense_shape};
  const IndexedSlices sums = nn::distinct_rows(scope, joined);
  const Output total = as_type(scope, scope.add_one("AddN", samples), sums.values);
  return IndexedSlices{div(scope, sums.values, total), sums.indices, sums.dense_shape};
}

Output update_averages(const Scope& scope, const std::vector<AverageUpdate>& averages,
                       nn::ReplicationStrategy& strategy) {
  const Scope inner = scope.with_prefix("averages");
  std::vector<Output> updates;
  for (const auto& [variable, difference, rate] : averages) {
    const Scope beside = inner.colocated_with(variable).with_prefix(scope.graph().node(variable.node).name);
    const Output factor = beside.constant(value_or_throw(to_tensor(rate, scope.dtype(variable))));
    updates.push_back(strategy.apply(beside, {.op = "ApplyGradientDescent",
                                              .variables = {variable},
                                              .values = {factor, difference},
                                              .gradient = "delta",
                                              .is_averaged = true}));
  }
  return inner.group(updates);
}

}  // namespace troupe::train
