// Network: what the layers of one model share while it is built: the scope of its nodes, its weights, and whether it is built for
// training. Layers (apps/nn/layers.h) are functions that add nodes to a network. A model that is built twice, for training and for
// inference, uses the same weights if the second network is made from the first by rebuilt(). A network uses only the public
// builder and throws Error as it does. Cheap to copy: copies share weights and names. Public header; one thread at a time per
// graph.
//
//   const nn::Network net(g.with_prefix("train"));
//   const auto hidden = nn::dense(net, image, {.units = 100, .activation = "relu"});
//   const auto logits = nn::dense(net, nn::dropout(net, hidden, {.rate = 0.5}), {.units = 10});
//   const auto step = g.group({nn::Adam(1e-3).minimize(g, loss), net.update_averages()});
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apps/nn/initializers.h"
#include "graph/build/row_slice.h"
#include "graph/build/scope.h"

#pragma GCC visibility push(default)
namespace troupe::nn {

/// A variable of a network.
struct Weight {
  std::string name;    ///< unique in the network, such as "block1/conv2d_weights"
  PartialShape shape;  ///< fully known, except in Mode::Check
  DType dtype = f32;
  Initial initial;
  bool trainable = true;
  std::string layer = {};  ///< the full name of the layer that it belongs to; empty: none
  /// What it is a part of (apps/nn/partitioned_variable.h); nothing if it is whole.
  std::optional<RowSlice> slice = {};
  std::string device = {};  ///< where Network::on_device() wants it; empty: anywhere
};
/// Adds the variable of a weight. Its initial values are computed where it is.
Output add_variable(const Scope& scope, const Weight& weight);

/// Returns the edge that stands for a weight in a network: the variable itself or a copy of its value.
using WeightSource = std::function<Output(const Weight&)>;

/// A weight that follows a statistic of the batches: a training step subtracts rate * difference from it.
struct MovingAverage {
  Weight weight;
  Output value;       ///< the edge that stands for the weight
  Output difference;  ///< the value minus the statistic of the batch
  double rate = 0;
};

enum class Mode : uint8_t {
  Training,  ///< dropout drops elements; batch_norm uses the statistics of the batch and updates its moving averages
  Inference,  ///< dropout passes its input on; batch_norm uses its moving averages
  Check,      ///< as Training, but sizes that the graph does not know yet are accepted; the graph is not run
};

class Network {
 public:
  /// Adds nodes to `scope`. Weights are variables that are added to the graph of `scope` under their own names.
  explicit Network(const Scope& scope, Mode mode = Mode::Training);
  /// Does the same, but `weights` provides the weights. It is called once for each weight.
  Network(const Scope& scope, Mode mode, WeightSource weights);

  /// Returns a network for another build of the same model, with the same weights. The layers must be added in the same order. If
  /// the model has weights by now, weight() throws NotFound for one that it does not have.
  Network rebuilt(const Scope& scope, Mode mode) const;
  /// Returns this network, but its layers go to `scope`.
  Network within(const Scope& scope) const;
  /// Returns a network whose layers and weights have names that begin with "NAME/".
  Network at(std::string_view name) const;
  /// Returns a network whose layers form a segment: gradients compute what is inside it again (Scope::recomputed).
  Network recomputed(std::string_view segment) const;
  /// Returns a network whose nodes run on this device, where its new weights should be, too. Where they are is up to what provides
  /// the weights (Weight::device).
  Network on_device(std::string_view device) const;
  /// Returns a network whose next layer has this name instead of that of its type.
  Network named(std::string_view name) const;

  /// Sets which layers of this network are frozen, by their full names: their weights are not trainable, and their batch_norm uses
  /// its moving averages. Layers that exist already do not change.
  void freeze(std::function<bool(std::string_view layer)> is_frozen) const;

  const Scope& scope() const { return scope_; }
  Mode mode() const { return mode_; }
  /// Returns whether a layer is built for training. The network of a frozen layer is not.
  bool training() const { return mode_ != Mode::Inference && !frozen_; }

  /// Returns the edge that stands for a weight, which is created by the first call for its name. Throws InvalidArgument if a
  /// weight of the same name and another shape or dtype exists, and NotFound as rebuilt() says.
  Output weight(Weight weight) const;
  /// Returns the weights of this network so far, in the order of their creation, with the edges that stand for them.
  const std::vector<std::pair<Weight, Output>>& weights() const;

  /// Sets how many parts a table of this shape has, if its layer does not say it (apps/nn/partitioned_variable.h). 0: it is an
  /// ordinary weight, as all tables are without this call.
  void partition_tables(std::function<int64_t(const Shape&, DType)> parts) const;
  /// Has tables in one part, whatever their layers want, as saved models have them.
  void join_tables() const;
  /// Returns `wanted` or, if it is 0, what partition_tables() says for a table of this shape; 0 after join_tables().
  int64_t parts_of_table(const PartialShape& shape, DType dtype, int64_t wanted) const;

  /// Makes a weight of this network, given by its edge, follow a statistic: a training step subtracts rate * (weight - statistic)
  /// from it. Does nothing in a network for inference.
  void follow(Output weight, Output statistic, double rate) const;
  const std::vector<MovingAverage>& averages() const;
  /// Returns a target that updates all moving averages recorded so far. Only for weights that are variables of the graph.
  Output update_averages() const;

 private:
  friend class Layer;
  struct Shared;  ///< what all builds of a model share
  struct Build;   ///< what belongs to one build

  std::string unique_name(std::string_view type) const;

  Scope scope_;
  Mode mode_;
  std::string prefix_, name_, device_;
  bool frozen_ = false;           ///< of the network of a frozen layer
  bool has_all_weights_ = false;  ///< that its layers may have: it was rebuilt
  std::shared_ptr<Shared> shared_;
  std::shared_ptr<Build> build_;
};

/// A layer while it is built. For those who write layers.
class Layer {
 public:
  /// Starts a layer of a type, such as "dense". Its name is that of Network::named(), or else the type, made unique by a number.
  Layer(const Network& network, std::string_view type);

  const std::string& name() const { return name_; }
  const Network& network() const { return network_; }
  /// Returns the scope for the nodes of the layer, whose names begin with that of the layer.
  const Scope& scope() const { return scope_; }

  /// Returns the edge that stands for the layer's weight "NAME_what".
  Output weight(std::string_view what, const PartialShape& shape, DType dtype, Initial initial,
                bool trainable = true) const {
    return network_.weight(description(what, shape, dtype, std::move(initial), trainable));
  }
  /// Returns what weight() would add.
  Weight description(std::string_view what, const PartialShape& shape, DType dtype, Initial initial,
                     bool trainable = true) const;
  /// Adds a bias, a weight "NAME_bias" of `size` zeros.
  Output with_bias(Output x, int64_t size) const;
  /// Applies a function to each element: "linear" (none), one of activations.h, such as "gelu", or the op of one input with this
  /// constructor, such as "relu".
  Output activated(Output x, const std::string& activation) const;

  /// Returns the size of an axis; negative axes count from the end. Throws InvalidArgument if the rank is not known or has no such
  /// axis, and unless Mode::Check is set, if the size is not known.
  int64_t size_of(Output x, int64_t axis) const;
  size_t rank_of(Output x) const;
  /// Returns x with another shape: the first `kept` dimensions of `like`, then those of `tail`. At most one of the latter is
  /// -1, a size that follows from the number of elements.
  Output reshaped(Output x, Output like, size_t kept, const std::vector<int64_t>& tail) const;
  /// Throws InvalidArgument unless the rank of `x` is known and equal to `rank`.
  void require_rank(Output x, size_t rank) const;
  /// Throws InvalidArgument unless the value of an option is positive.
  void require_positive(std::string_view option, int64_t value) const;
  /// Throws InvalidArgument, which names the layer.
  [[noreturn]] void fail(const std::string& text) const;

 private:
  Network network_;
  std::string type_, name_;
  Scope scope_;
};

}  // namespace troupe::nn
#pragma GCC visibility pop
