#include "apps/nn/decoding.h"

#include "graph/build/control_flow.h"
#include "kernels/constructors.h"

namespace troupe::nn {
namespace {

constexpr double impossible = -1e9;  ///< a log probability that no real sequence reaches

void check_search(const BeamSearch& options, const std::vector<Output>& state) {
  const auto require = [](bool holds, const char* what, int64_t value) {
    if (!holds)
      throw Error(invalid_argument("beam_search: " + std::string(what) + ", found " + std::to_string(value)));
  };
  require(options.width >= 1, "width must be at least 1", options.width);
  require(options.max_steps >= 1, "max_steps must be at least 1", options.max_steps);
  require(options.start >= 0, "start must be an id", options.start);
  require(options.end >= 0, "end must be an id", options.end);
  require(!state.empty(), "there must be at least one tensor of state", 0);
}

/// A search: its tensors are those of the loop, in this order, before the state of the model.
class Search {
 public:
  Search(const Scope& scope, Output batch, const PredictNext& predict, const BeamSearch& options)
      : batch_(batch), predict_(predict), options_(options), width_(number(scope, options.width)) {}

  /// Returns the tensors of the loop before the first step. Only the first sequence of each element is possible, because all are
  /// equal.
  std::vector<Output> first(const Scope& s, const std::vector<Output>& state) const {
    const Output size = stack(s, {batch_, width_});
    const Output is_first = equal(s, range(s, 0, width_, 1), 0);
    const Output scores = mul(s, sub(s, 1.0, cast(s, is_first, f32)), impossible);
    std::vector<Output> all = {number(s, 0), fill(s, stack(s, {batch_, width_, number(s, 0)}), number(s, 0)),
                               add(s, fill(s, size, Argument(0.0)), scores),
                               fill(s, size, s.constant(Tensor::scalar(false))), start_ids(s, size)};
    for (const Output& tensor : state) all.push_back(repeated(s, tensor));
    return all;
  }

  Output goes_on(const Scope& s, std::span<const Output> loop) const {
    const Output some = s.add_one("LogicalNot", {all(s, loop[Ended])});
    return logical_and(s, less(s, loop[Steps], options_.max_steps), some);
  }

  std::vector<Output> next(const Scope& s, std::span<const Output> loop) const {
    const std::vector<Output> state(loop.begin() + FirstState, loop.end());
    const Prediction predicted = predict_(s, reshape(s, loop[Last], {-1}), state);
    if (predicted.state.size() != state.size())
      throw Error(invalid_argument("beam_search: the prediction has " +
                                   std::to_string(predicted.state.size()) + " tensors of state; expected " +
                                   std::to_string(state.size())));
    const Output ids = element(s, shape(s, predicted.logits), 1);
    const Output total =
        add(s, expand_dims(s, loop[Scores], 2), log_probabilities(s, loop, predicted.logits, ids));
    const Output candidates = reshape(s, total, stack(s, {batch_, mul(s, width_, ids)}));
    const NodeId best = s.add("TopKV2", {candidates, width_});
    const Output index{best, 1};
    const Output id = floor_mod(s, index, ids), rows = rows_of(s, floor_div(s, index, ids));
    const Output was_ended = chosen(s, loop[Ended], rows);
    std::vector<Output> all = {add(s, loop[Steps], 1),
                               concat(s, {chosen(s, loop[History], rows), expand_dims(s, id, 2)}, 2),
                               {best, 0},
                               logical_or(s, was_ended, equal(s, id, options_.end)),
                               id};
    for (const Output& tensor : predicted.state) all.push_back(gather(s, tensor, reshape(s, rows, {-1})));
    return all;
  }

  /// Sorts the sequences by their scores, divided by the penalty of their lengths.
  Decoded result(const Scope& s, std::span<const Output> loop) const {
    const Output is_id = cast(s, s.add_one("LogicalNot", {equal(s, loop[History], options_.end)}), i32);
    const Output lengths = sum(s, is_id, {2});
    const Output penalty =
        s.add_one("Pow", {div(s, add(s, cast(s, lengths, f32), 5.0), 6.0),
                          s.constant(Tensor::scalar(static_cast<float>(options_.length_penalty)))});
    const NodeId sorted = s.add("TopKV2", {div(s, loop[Scores], penalty), width_});
    const Output rows = rows_of(s, {sorted, 1});
    return {chosen(s, loop[History], rows), {sorted, 0}, chosen(s, lengths, rows)};
  }

  /// Shapes that the tensors of the loop have in every step.
  std::vector<PartialShape> invariants(const Scope& s, std::span<const Output> loop) const {
    const PartialShape beams{unknown_dim, unknown_dim};
    std::vector<PartialShape> shapes = {
        PartialShape::scalar(), {unknown_dim, unknown_dim, unknown_dim}, beams, beams, beams};
    for (const Output& tensor : loop.subspan(FirstState)) shapes.push_back(s.shape(tensor));
    return shapes;
  }

 private:
  enum Place : size_t { Steps, History, Scores, Ended, Last, FirstState };

  static Output number(const Scope& s, int64_t value) {
    return s.constant(Tensor::scalar(static_cast<int32_t>(value)));
  }
  static Output element(const Scope& s, Output vector, int64_t i) {
    return reshape(s, slice(s, vector, {i}, {1}), Argument(std::vector<Argument>()));
  }
  Output start_ids(const Scope& s, Output size) const { return fill(s, size, number(s, options_.start)); }

  /// Returns each row width times, one after the other.
  Output repeated(const Scope& s, Output tensor) const {
    const Output rows = range(s, 0, mul(s, batch_, width_), 1);
    return gather(s, tensor, floor_div(s, rows, width_));
  }

  /// Returns [batch, width, ids]. A sequence that has ended goes on with `end`, for sure.
  Output log_probabilities(const Scope& s, std::span<const Output> loop, Output logits, Output ids) const {
    const Output all = reshape(s, log_softmax(s, cast(s, logits, f32)), stack(s, {batch_, width_, ids}));
    const Output only_end = one_hot(s, options_.end, ids, 0.0, impossible);
    const Output is_ended = expand_dims(s, cast(s, loop[Ended], f32), 2);
    return add(s, mul(s, sub(s, 1.0, is_ended), all), mul(s, is_ended, only_end));
  }

  /// Returns the numbers of rows [batch width] for the sequences that each element has chosen: [batch, width].
  Output rows_of(const Scope& s, Output parents) const {
    return add(s, parents, expand_dims(s, mul(s, range(s, 0, batch_, 1), width_), 1));
  }
  /// Returns the rows [batch, width, ...] of a tensor of that shape.
  Output chosen(const Scope& s, Output tensor, Output rows) const {
    const Output whole = shape(s, tensor);
    const Output rest = slice(s, whole, {2}, {-1});
    const Output flat = reshape(s, tensor, concat(s, {expand_dims(s, mul(s, batch_, width_), 0), rest}, 0));
    return reshape(s, gather(s, flat, reshape(s, rows, {-1})), whole);
  }

  Output batch_;
  const PredictNext& predict_;
  const BeamSearch& options_;
  Output width_;
};

}  // namespace

Decoded beam_search(const Scope& scope, const std::vector<Output>& state, const PredictNext& predict,
                    const BeamSearch& options) {
  check_search(options, state);
  const Scope s = scope.with_prefix("beam_search");
  const Output batch =
      reshape(s, slice(s, shape(s, state.front()), {0}, {1}), Argument(std::vector<Argument>()));
  const Search search(s, batch, predict, options);
  const auto first = search.first(s, state);
  const auto last = while_loop(
      s, first, [&](const Scope& inner, auto loop) { return search.goes_on(inner, loop); },
      [&](const Scope& inner, auto loop) { return search.next(inner, loop); },
      {.name = "steps", .shape_invariants = search.invariants(s, first)});
  return search.result(s, last);
}

}  // namespace troupe::nn
