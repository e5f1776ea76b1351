// The parts of which the functions for input (input_queues.h, input_buckets.h) are made: a queue, the nodes that fill and empty
// it, its queue runner and its summary. Failures throw Error(InvalidArgument) that names the function. One thread at a time per
// graph.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/build/queue_runner.h"
#include "graph/build/scope.h"

namespace troupe::queue_parts {

/// A function for input that is being built. Its nodes have names that begin with `name`, or that of the function if it is empty,
/// and a slash. The last node has the name itself, so that another call with the same name gets another one.
class Input {
 public:
  Input(const Scope& scope, std::string_view function, const std::string& name);

  const Scope& scope() const { return scope_; }
  /// Returns the scope of the node that has the name itself.
  Scope last() const { return outer_.with_name(name_); }
  [[noreturn]] void fail(const std::string& text) const;
  /// Fails unless `value` is at least 1 and fits an int32.
  void require_positive(const char* option, int64_t value) const;
  /// Fails unless as many steps may fill a queue at the same time.
  void require_threads(int64_t num_threads) const;
  /// Returns "'x:0', which has shape [2,3]".
  std::string described(Output tensor) const;

 private:
  Scope outer_;
  std::string function_, name_;
  Scope scope_;
};

/// A queue, and what its elements are.
struct Queue {
  Output handle;
  std::vector<DType> types;
  std::vector<PartialShape> shapes;
};

/// Adds a queue. `attrs` has its attributes but those for its elements.
Queue add_queue(const Scope& scope, std::string_view op, Attributes attrs, std::vector<DType> types,
                std::vector<PartialShape> shapes);
/// Returns a target that adds an element, or, if `many`, one for each row of the components.
Output enqueue(const Scope& scope, const Queue& queue, const std::vector<Output>& components, bool many);
/// Returns the components of the next element.
std::vector<Output> dequeue(const Scope& scope, const Queue& queue);
/// Returns the components of `count` elements, stacked; of those that are left if the queue is closed and `up_to` is true.
std::vector<Output> dequeue_many(const Scope& scope, const Queue& queue, int64_t count, bool up_to);
/// Returns a target that closes the queues, and cancels the enqueues that wait if `cancel` is true.
Output close(const Scope& scope, const std::vector<Queue>& queues, bool cancel);
/// Notes the queue runner of these targets, which closes the queues.
void run_queues(const Scope& scope, std::vector<Output> enqueues, const std::vector<Queue>& closed);

/// Adds a summary of how full the queue is: the fraction of its `capacity` that is used, without the `least` elements that it
/// keeps. The node and its tag are called "fraction_of_32_full", or "fraction_over_10_of_22_full", behind the name of the scope.
void add_summary(const Scope& scope, const Queue& queue, int64_t capacity, int64_t least = 0);

/// Returns a target that is `target` if `keep`, a bool scalar, is true, and otherwise does nothing.
Output only_if(const Scope& scope, Output keep, const std::function<Output(const Scope&)>& target);

/// Returns the shapes of the components of an element that these lists of tensors make, each of which has the components. `many`:
/// the tensors have a row for each element. `given`: the shapes that the caller knows; none: they follow from the tensors.
/// `padded`: dimensions may be unknown, and may differ between the lists.
std::vector<PartialShape> element_shapes(const Input& input, const std::vector<std::vector<Output>>& lists,
                                         bool many, const std::vector<PartialShape>& given, bool padded);
/// Returns the dtypes of the components, which must be the same in all lists. Fails if there are no lists or no components.
std::vector<DType> element_types(const Input& input, const std::vector<std::vector<Output>>& lists);

/// Returns what remains of a shape without its first dimension; nothing is known if its rank is not.
PartialShape row_shape(const Input& input, Output tensor);
/// Returns the number of rows of the tensors, unknown_dim if it is known for none. Fails if they are known to differ.
int64_t rows_of(const Input& input, const std::vector<Output>& tensors);

}  // namespace troupe::queue_parts
