#include "graph/build/functional.h"

#include <algorithm>
#include <optional>

#include "graph/build/loop_writer.h"

namespace troupe {
namespace {

[[noreturn]] void fail(const LoopOverSlices& options, const std::string& text) {
  throw Error(invalid_argument(options.name + ": " + text));
}

PartialShape shape_of_slices(const PartialShape& shape) {
  if (!shape.known_rank()) return {};
  return PartialShape(std::vector<int64_t>(shape.dims().begin() + 1, shape.dims().end()));
}

Output reversed(const Scope& scope, Output tensor) {
  return scope.add_one("ReverseV2", {tensor, integers(scope, {0})});
}

using Body = std::function<Recurrence(const Scope&, Outputs state, Outputs slices)>;

/// A loop over slices. Its variables are a counter, the state, and lists: of the slices that are left of each element, and of the
/// values made. Lists are shortened and lengthened at their ends only, so that each iteration costs the same.
class SliceLoop {
 public:
  SliceLoop(const Scope& scope, const LoopOverSlices& options)
      : scope_(scope.with_name("").with_prefix(options.name)), options_(options),
        attrs_(new_frame(scope_, options.parallel_iterations)),
        context_(std::make_shared<LoopContext>(scope_.context(), scope_.without_control(), attrs_)),
        inside_(scope_.without_control().in_context(context_)), writer_(scope_, inside_, attrs_) {}

  Recurrence build(const std::vector<Output>& elements, const std::vector<Output>& state, const Body& body) {
    const Output count = count_of(elements);
    LoopWriter::Variable counter = writer_.begin(integer(scope_, 0), PartialShape::scalar());
    context_->set_first(counter.enter.node);
    context_->set_pivot(counter.merge.node);
    const Output goes_on = inside_.add_one("Less", {counter.merge, count});
    condition_ = inside_.with_name("condition").add_one("LoopCond", {goes_on});
    writer_.steer(counter, condition_);
    const Output now = inside_.with_name("counter").add_one("Identity", {counter.body});
    context_->set_pivot(now.node);
    writer_.close(counter, inside_.add_one("Add", {now, integer(inside_, 1)}));

    std::vector<LoopWriter::Variable> states;
    for (const Output& first : state) states.push_back(begin(first, scope_.shape(first)));
    std::vector<Output> current, slices;
    for (const auto& variable : states) current.push_back(variable.body);
    for (const Output& element : elements) slices.push_back(next_slice(checked(element, count)));
    const Recurrence next = body(inside_.with_prefix("body"), current, slices);
    if (next.state.size() != state.size())
      fail(options_, "the body returns " + std::to_string(next.state.size()) + " values for a state of " +
                         std::to_string(state.size()));
    Recurrence result;
    for (size_t i = 0; i < states.size(); ++i)
      result.state.push_back(close(states[i], state[i], next.state[i]));
    for (const Output& value : next.values) result.values.push_back(all_of(value));
    return result;
  }

 private:
  /// Returns the number of slices, which must be the same for all elements.
  Output count_of(const std::vector<Output>& elements) {
    if (elements.empty()) fail(options_, "there is no tensor whose slices the loop could take");
    int64_t known = unknown_dim;
    for (const Output& element : elements) {
      const PartialShape& shape = scope_.shape(element);
      const std::string& name = scope_.graph().name_of(element);
      if (shape.has_rank(0)) fail(options_, name + " is a scalar, which has no slices");
      if (!shape.known_rank() || shape[0] == unknown_dim) continue;
      if (known != unknown_dim && known != shape[0])
        fail(options_, name + " has " + std::to_string(shape[0]) + " slices, but a tensor before it has " +
                           std::to_string(known));
      known = shape[0];
    }
    if (known != unknown_dim) return integer(scope_, static_cast<int32_t>(known));
    counted_ = elements[0];
    return first_dimension(scope_, elements[0]);
  }

  /// Returns the tensor. If its number of slices is not known, steps fail with InvalidArgument if it is not `count`.
  Output checked(Output tensor, Output count) const {
    const PartialShape& shape = scope_.shape(tensor);
    if (tensor == counted_ || (shape.known_rank() && shape[0] != unknown_dim)) return tensor;
    const Output own = first_dimension(scope_, tensor);
    const Output text = scope_.constant(
        Tensor::scalar<std::string>(options_.name + ": the tensors must have as many slices each, but " +
                                    scope_.graph().name_of(tensor) + " and another one have"));
    const NodeId check = scope_.add("Assert", {scope_.add_one("Equal", {own, count}), text, own, count});
    return scope_.with_control({{check, Output::control}}).add_one("Identity", {tensor});
  }

  LoopWriter::Variable begin(Output first, const PartialShape& shape) const {
    LoopWriter::Variable variable = writer_.begin(first, shape);
    writer_.steer(variable, condition_);
    return variable;
  }

  /// Returns the last value of a variable of the state.
  Output close(const LoopWriter::Variable& variable, Output first, Output next) const {
    const std::string name = "the state that begins with " + scope_.graph().name_of(first);
    if (const Status status = writer_.check(variable, scope_.shape(first), next, name); !status.ok())
      fail(options_, status.text());
    writer_.close(variable, next);
    return variable.exit;
  }

  /// Returns the slice of the current iteration: the last one of the list of those that are left.
  Output next_slice(Output tensor) const {
    const Attributes element = {{"element_dtype", scope_.dtype(tensor)}};
    const PartialShape shape = shape_of_slices(scope_.shape(tensor));
    const Output ordered = options_.reverse ? tensor : reversed(scope_, tensor);
    const Output all = scope_.add_one("TensorListFromTensor", {ordered, integer(scope_, -1)});
    const LoopWriter::Variable left = begin(all, PartialShape::scalar());
    const NodeId popped =
        inside_.add("TensorListPopBack", {left.body, element_shape(inside_, shape)}, element);
    throw_if_failed(scope_.graph().refine_shape({popped, 1}, shape));
    writer_.close(left, {popped, 0});
    return {popped, 1};
  }

  /// Returns the values of all iterations, in the order of the slices.
  Output all_of(Output value) const {
    const Attributes element = {{"element_dtype", inside_.dtype(value)}};
    const PartialShape shape = scope_.graph().shape(value);
    const Output none =
        scope_.add_one("EmptyTensorList", {integer(scope_, -1), integer(scope_, -1)}, element);
    const LoopWriter::Variable made = begin(none, PartialShape::scalar());
    writer_.close(made, inside_.add_one("TensorListPushBack", {made.body, value}));
    const Output stacked =
        scope_.add_one("TensorListStack", {made.exit, element_shape(scope_, shape)}, element);
    throw_if_failed(
        scope_.graph().refine_shape(stacked, concatenate(PartialShape::vector(unknown_dim), shape)));
    return options_.reverse ? reversed(scope_, stacked) : stacked;
  }

  Scope scope_;
  const LoopOverSlices& options_;
  Attributes attrs_;
  std::shared_ptr<LoopContext> context_;
  Scope inside_;
  LoopWriter writer_;
  Output condition_;
  std::optional<Output> counted_;  ///< the tensor whose slices steps count; empty if the number is known
};

std::vector<Output> fold(const Scope& scope, const std::vector<Output>& elements,
                         const std::vector<Output>& initial, const Accumulate& function,
                         const LoopOverSlices& options) {
  const Body body = [&](const Scope& s, Outputs state, Outputs slices) {
    return Recurrence{function(s, state, slices), {}};
  };
  return recur(scope, elements, initial, body, options).state;
}

}  // namespace

std::vector<Output> case_of(const Scope& scope, const std::vector<std::pair<Output, Branch>>& branches,
                            const Branch& otherwise) {
  Branch rest = otherwise;
  for (size_t i = branches.size(); i-- != 0;)
    rest = [predicate = branches[i].first, &taken = branches[i].second,
            rest = std::move(rest)](const Scope& s) { return cond(s, predicate, taken, rest); };
  return rest(scope);
}

std::vector<Output> switch_case(const Scope& scope, Output index, const std::vector<Branch>& branches) {
  if (branches.empty()) throw Error(invalid_argument("switch_case: there are no branches"));
  std::vector<std::pair<Output, Branch>> cases;
  for (size_t i = 0; i + 1 < branches.size(); ++i)
    cases.emplace_back(scope.call("equal", {index, static_cast<int64_t>(i)}), branches[i]);
  return case_of(scope, cases, branches.back());
}

Recurrence recur(const Scope& scope, const std::vector<Output>& elements, const std::vector<Output>& state,
                 const Body& body, const LoopOverSlices& options) {
  return SliceLoop(scope, options).build(elements, state, body);
}

std::vector<Output> map_fn(const Scope& scope, const std::vector<Output>& elements,
                           const std::function<std::vector<Output>(const Scope&, Outputs)>& function,
                           const LoopOverSlices& options) {
  const Body body = [&](const Scope& s, Outputs, Outputs slices) {
    return Recurrence{{}, function(s, slices)};
  };
  return recur(scope, elements, {}, body, options).values;
}

std::vector<Output> foldl(const Scope& scope, const std::vector<Output>& elements,
                          const std::vector<Output>& initial, const Accumulate& function) {
  return fold(scope, elements, initial, function, {.name = "foldl"});
}

std::vector<Output> foldr(const Scope& scope, const std::vector<Output>& elements,
                          const std::vector<Output>& initial, const Accumulate& function) {
  return fold(scope, elements, initial, function, {.reverse = true, .name = "foldr"});
}

std::vector<Output> scan(const Scope& scope, const std::vector<Output>& elements,
                         const std::vector<Output>& initial, const Accumulate& function,
                         const LoopOverSlices& options) {
  const Body body = [&](const Scope& s, Outputs state, Outputs slices) {
    std::vector<Output> next = function(s, state, slices);
    return Recurrence{next, next};
  };
  return recur(scope, elements, initial, body, options).values;
}

}  // namespace troupe
