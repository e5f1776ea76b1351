#include "apps/nn/network.h"

#include <algorithm>
#include <map>
#include <set>
#include <span>

#include "apps/nn/activations.h"
#include "graph/build/variables.h"
#include "graph/ops/op_table.h"
#include "kernels/constructors.h"
#include "messages/values/held_by.h"

namespace troupe::nn {
namespace {

std::string signature(const PartialShape& shape, DType dtype) {
  return std::string(troupe::name(dtype)) + shape.text();
}

Output integers(const Scope& scope, const std::vector<int64_t>& values) {
  const std::vector<int32_t> narrow(values.begin(), values.end());
  return scope.constant(Tensor::vector(std::span<const int32_t>(narrow)));
}

}  // namespace

Output add_variable(const Scope& scope, const Weight& weight) {
  const Output initial = weight.initial(scope.with_prefix(weight.name), weight.shape, weight.dtype);
  return weight.slice ? variable_part(scope, initial, weight.name, *weight.slice, weight.trainable)
                      : variable(scope, initial, weight.name, weight.trainable);
}

struct Network::Shared {
  WeightSource source;
  std::function<int64_t(const Shape&, DType)> parts_of_table;
  bool joins_tables = false;
  std::function<bool(std::string_view)> is_frozen;
  std::map<std::string, Output, std::less<>> edges;
};

struct Network::Build {
  std::set<std::string, std::less<>> names;
  std::vector<std::pair<Weight, Output>> weights;
  std::vector<MovingAverage> averages;
};

Network::Network(const Scope& scope, Mode mode)
    : Network(scope, mode,
              [root = Scope(scope.graph())](const Weight& weight) { return add_variable(root, weight); }) {}

Network::Network(const Scope& scope, Mode mode, WeightSource weights)
    : scope_(scope), mode_(mode), shared_(std::make_shared<Shared>()), build_(std::make_shared<Build>()) {
  shared_->source = std::move(weights);
}

Network Network::rebuilt(const Scope& scope, Mode mode) const {
  Network result = *this;
  result.scope_ = scope;
  result.mode_ = mode;
  result.has_all_weights_ = has_all_weights_ || !weights().empty();
  result.build_ = std::make_shared<Build>();
  return result;
}

Network Network::within(const Scope& scope) const {
  Network result = *this;
  result.scope_ = prefix_.empty() ? scope : scope.with_prefix(prefix_.substr(0, prefix_.size() - 1));
  return result;
}

Network Network::at(std::string_view name) const {
  Network result = *this;
  result.scope_ = scope_.with_prefix(name);
  result.prefix_ += std::string(name) + '/';
  result.name_.clear();
  return result;
}

Network Network::recomputed(std::string_view segment) const {
  Network result = *this;
  result.scope_ = scope_.recomputed(segment);
  return result;
}

Network Network::on_device(std::string_view device) const {
  Network result = *this;
  result.scope_ = scope_.with_device(device);
  result.device_ = device;
  return result;
}

Network Network::named(std::string_view name) const {
  Network result = *this;
  result.name_ = name;
  return result;
}

std::string Network::unique_name(std::string_view type) const {
  const std::string base = name_.empty() ? std::string(type) : name_;
  std::string name = base;
  auto& names = held_by(build_, "network").names;
  for (int number = 1; !names.insert(prefix_ + name).second; ++number) {
    if (!name_.empty()) throw Error(invalid_argument("layer '" + prefix_ + name_ + "' exists already"));
    name = base + '_' + std::to_string(number);
  }
  return name;
}

Output Network::weight(Weight weight) const {
  if (const DType narrow = weight.dtype; narrow == DType::Half || narrow == DType::BFloat16) {
    weight.dtype = f32;
    return cast(scope_, this->weight(std::move(weight)), narrow);
  }
  weight.device = device_;
  if (frozen_) weight.trainable = false;
  Shared& shared = held_by(shared_, "network");
  auto known = shared.edges.find(weight.name);
  if (known == shared.edges.end()) {
    if (has_all_weights_)
      throw Error(not_found("the network that was rebuilt has no weight '" + weight.name +
                            "'; its layers must be added again in the same order, and no others"));
    known = shared.edges.emplace(weight.name, shared.source(weight)).first;
  }
  const Output edge = known->second;
  if (scope_.dtype(edge) != weight.dtype || !scope_.shape(edge).compatible_with(weight.shape))
    throw Error(invalid_argument("weight '" + weight.name + "' is " +
                                 signature(scope_.shape(edge), scope_.dtype(edge)) + ", not " +
                                 signature(weight.shape, weight.dtype)));
  held_by(build_, "network").weights.emplace_back(std::move(weight), edge);
  return edge;
}

const std::vector<std::pair<Weight, Output>>& Network::weights() const {
  return held_by(build_, "network").weights;
}

void Network::partition_tables(std::function<int64_t(const Shape&, DType)> parts) const {
  held_by(shared_, "network").parts_of_table = std::move(parts);
}

void Network::freeze(std::function<bool(std::string_view layer)> is_frozen) const {
  held_by(shared_, "network").is_frozen = std::move(is_frozen);
}

void Network::join_tables() const { held_by(shared_, "network").joins_tables = true; }

int64_t Network::parts_of_table(const PartialShape& shape, DType dtype, int64_t wanted) const {
  const Shared& shared = held_by(shared_, "network");
  if (shared.joins_tables) return 0;
  if (wanted != 0 || !shared.parts_of_table || !shape.fully_known()) return wanted;
  return shared.parts_of_table(value_or_throw(shape.to_shape(dtype)), dtype);
}

void Network::follow(Output weight, Output statistic, double rate) const {
  if (!training()) return;
  Build& build = held_by(build_, "network");
  const auto known = std::ranges::find(build.weights, weight, &std::pair<Weight, Output>::second);
  if (known == build.weights.end())
    throw Error(internal("what follows a statistic is no weight of the network"));
  build.averages.push_back({known->first, weight, sub(scope_, weight, statistic), rate});
}

const std::vector<MovingAverage>& Network::averages() const { return held_by(build_, "network").averages; }

Output Network::update_averages() const {
  std::vector<Output> updates;
  for (const MovingAverage& average : held_by(build_, "network").averages)
    updates.push_back(assign_sub(scope_.with_prefix(average.weight.name), average.value,
                                 mul(scope_, average.difference, average.rate)));
  return scope_.group(updates);
}

// ---- Layer

Layer::Layer(const Network& network, std::string_view type)
    : network_(network), type_(type), name_(network.unique_name(type)),
      scope_(network.scope().with_prefix(name_)) {
  const auto& is_frozen = network_.shared_->is_frozen;
  if (is_frozen && is_frozen(network_.prefix_ + name_)) network_.frozen_ = true;
}

Weight Layer::description(std::string_view what, const PartialShape& shape, DType dtype, Initial initial,
                          bool trainable) const {
  const std::string layer = network_.prefix_ + name_;
  return {layer + '_' + std::string(what), shape, dtype, std::move(initial), trainable, layer};
}

Output Layer::with_bias(Output x, int64_t size) const {
  const DType dtype = scope_.dtype(x);
  return scope_.add_one("BiasAdd", {x, weight("bias", {size}, dtype, all_equal(0))});
}

Output Layer::activated(Output x, const std::string& activation) const {
  if (activation == "linear") return x;
  const auto found = std::ranges::find(activations(), activation, &Activation::name);
  if (found != activations().end()) return found->apply(scope_, x);
  if (scope_.graph().ops()->find_constructor(activation)) return scope_.call(activation, {x});
  std::vector<std::string_view> known = {"linear",  "relu", "relu6",    "elu",      "selu",   "leaky_relu",
                                         "sigmoid", "tanh", "softplus", "softsign", "softmax"};
  for (const Activation& one : activations()) known.push_back(one.name);
  std::string list;
  for (const std::string_view name : known) list += std::string(name) + ", ";
  const std::string_view near = nearest(activation, known);
  fail("there is no activation '" + activation + "'; it must be one of " + list +
       "or another op of one input" + (near.empty() ? "" : "; the nearest is '" + std::string(near) + "'"));
}

size_t Layer::rank_of(Output x) const {
  if (!scope_.shape(x).known_rank()) fail("the rank of the input is not known");
  return scope_.shape(x).rank();
}

int64_t Layer::size_of(Output x, int64_t axis) const {
  const auto rank = static_cast<int64_t>(rank_of(x));
  const PartialShape& shape = scope_.shape(x);
  const int64_t at = axis < 0 ? axis + rank : axis;
  if (at < 0 || at >= rank)
    fail("the input of shape " + shape.text() + " has no axis " + std::to_string(axis));
  if (shape[static_cast<size_t>(at)] == unknown_dim && network_.mode() != Mode::Check)
    fail("the size of axis " + std::to_string(at) + " of the input is not known; its shape is " +
         shape.text());
  return shape[static_cast<size_t>(at)];
}

Output Layer::reshaped(Output x, Output like, size_t kept, const std::vector<int64_t>& tail) const {
  const auto dims = scope_.shape(like).dims();
  std::vector<int64_t> target(dims.begin(), dims.begin() + static_cast<ptrdiff_t>(kept));
  target.insert(target.end(), tail.begin(), tail.end());
  if (std::ranges::count(target, unknown_dim) <= 1) return reshape(scope_, x, Argument(target));
  const Output leading = slice(scope_, shape(scope_, like), {0}, {kept});
  return reshape(scope_, x, concat(scope_, {leading, integers(scope_, tail)}, 0));
}

void Layer::require_rank(Output x, size_t rank) const {
  if (rank_of(x) != rank)
    fail("the input has shape " + scope_.shape(x).text() + "; its rank must be " + std::to_string(rank) +
         (rank == 4   ? "; reshape(x, [-1, height, width, channels]) makes images of rows"
          : rank == 3 ? "; sequences are [batch, time, features]; a layer rnn, lstm or gru yields them with "
                        "sequences = true"
                      : ""));
}

void Layer::require_positive(std::string_view option, int64_t value) const {
  if (value <= 0) fail(std::string(option) + " is " + std::to_string(value) + "; it must be positive");
}

void Layer::fail(const std::string& text) const {
  throw Error(invalid_argument("layer '" + network_.prefix_ + name_ + "' (" + type_ + "): " + text));
}

}  // namespace troupe::nn
