// Input through queues, as TensorFlow's tf.train.string_input_producer, batch, shuffle_batch and their like make it: producers
// put rows of tensors into a queue, epoch by epoch, and batches are taken from a queue of elements. Each function adds a queue,
// the nodes that fill it, and their queue runner (queue_runner.h), so that a session starts all of them:
//
//   const auto files = string_input_producer(g, {"a.csv", "b.csv"}, {.num_epochs = 2});
//   const auto line = g.outputs(g.add_one("ReaderReadV2", {g.add_one("TextLineReaderV2", {}), files}))[1];
//   const auto lines = batch(g, {line}, {.batch_size = 32, .allow_smaller_final_batch = true})[0];
//   session.run({local_initializer(g)});                    // the counters of epochs
//   session.start_queue_runners();
//   while (true) session.run({train, lines});               // until OutOfRange, the end of the input
//   session.stop_queue_runners();                           // throws the failure of a step that fills a queue, if there was one
//
// A queue that is filled no more is closed: steps that take from it then fail with OutOfRange, whether the input has ended or a
// step that fills a queue has failed. A scalar summary says how full a queue is; it is the node NAME/fraction_of_CAPACITY_full
// or, where a queue keeps elements back, NAME/fraction_over_KEPT_of_REST_full. Failures throw Error(InvalidArgument), which names
// the function and its nodes. One thread at a time per graph. Public header.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graph/build/scope.h"

#pragma GCC visibility push(default)
namespace troupe {

/// Returns the tensor, as often as `num_epochs` says, at least once; later steps that need it fail with OutOfRange. The count is
/// a local variable.
Output limit_epochs(const Scope& scope, Output tensor, int64_t num_epochs);

struct ProducerOptions {
  /// How often each row is produced, at least once; none: without end. The count is a local variable.
  std::optional<int64_t> num_epochs = {};
  bool shuffle = true;               ///< whether each epoch has the rows in another order
  std::optional<int64_t> seed = {};  ///< determines the orders; none: they differ between sessions
  int64_t capacity = 32;             ///< the most elements that the queue holds
  std::string shared_name = {};      ///< sessions share the queue under this name
  std::string name = {};             ///< of the queue; empty: "input_producer"
  PartialShape element_shape = {};   ///< the shape of a row, as far as that of the tensor does not say it
};

/// Returns the handle of a queue of the rows of a tensor, which has at least one dimension and whose shape is known but for the
/// number of rows. A step that fills the queue fails with InvalidArgument if there are no rows.
Output input_producer(const Scope& scope, Output rows, const ProducerOptions& options = {});
/// Does the same for strings, such as the names of files: a vector, whose size need not be known.
Output string_input_producer(const Scope& scope, Output strings, const ProducerOptions& options = {});
Output string_input_producer(const Scope& scope, const std::vector<std::string>& strings,
                             const ProducerOptions& options = {});
/// Returns the handle of a queue of the integers from 0 to `limit` - 1, int32 as `limit`, which is a scalar of at least 1.
Output range_input_producer(const Scope& scope, Output limit, const ProducerOptions& options = {});
/// Returns a row of each tensor, all with the same index; the tensors have equally many. The rows have the shapes of the tensors
/// without their first dimension.
std::vector<Output> slice_input_producer(const Scope& scope, const std::vector<Output>& tensors,
                                         const ProducerOptions& options = {});

struct InputBatchOptions {
  int64_t batch_size = 0;  ///< elements in a batch, at least 1; may exceed the capacity
  /// How many steps fill the queue at the same time, from 1 to 1024. With several, the order varies.
  int64_t num_threads = 1;
  int64_t capacity = 32;  ///< the most elements that the queue holds
  /// Whether the tensors have a row for each element, and are not one element themselves.
  bool enqueue_many = false;
  /// The shapes of the components of an element; empty: they follow from the tensors.
  std::vector<PartialShape> shapes = {};
  /// Whether dimensions may differ between elements. Those of unknown size are padded in each batch to the largest, with zeros or
  /// empty strings.
  bool dynamic_pad = false;
  /// Whether the last batch has the elements that are left; otherwise they are lost.
  bool allow_smaller_final_batch = false;
  /// A bool that says whether elements are taken or dropped: a scalar, or with enqueue_many also a vector, with one for each row.
  std::optional<Output> keep_input = {};
  std::string shared_name = {};  ///< sessions share the queue under this name
  std::string name = {};         ///< of the node that takes batches; empty: that of the function
};

/// Returns batches of the tensors, stacked along a new first dimension, or along the first one with enqueue_many.
std::vector<Output> batch(const Scope& scope, const std::vector<Output>& tensors,
                          const InputBatchOptions& options);
/// Does the same for several lists of tensors, which fill one queue at the same time, one step for each list: there are as many
/// tensors in each, of the same dtypes and shapes. `num_threads` must be 1.
std::vector<Output> batch_join(const Scope& scope, const std::vector<std::vector<Output>>& lists,
                               const InputBatchOptions& options);

/// As InputBatchOptions, but for what is said here.
struct ShuffleBatchOptions {
  int64_t batch_size = 0;  ///< elements in a batch, at least 1
  int64_t capacity = 0;    ///< the most elements that the queue holds, more than min_after_dequeue
  /// How many elements stay in the queue until the input ends: the more, the better they are mixed.
  int64_t min_after_dequeue = 0;
  int64_t num_threads = 1;
  /// Determines the draws, which are TensorFlow's; none: they differ between sessions. Which element a draw means depends on those
  /// that are in the queue then, and so on how fast it is filled.
  std::optional<int64_t> seed = {};
  bool enqueue_many = false;
  std::vector<PartialShape> shapes = {};
  bool allow_smaller_final_batch = false;
  std::optional<Output> keep_input = {};
  std::string shared_name = {};
  std::string name = {};
};

/// Do what batch() and batch_join() do, but each element of a batch is a random one of those in the queue.
std::vector<Output> shuffle_batch(const Scope& scope, const std::vector<Output>& tensors,
                                  const ShuffleBatchOptions& options);
std::vector<Output> shuffle_batch_join(const Scope& scope, const std::vector<std::vector<Output>>& lists,
                                       const ShuffleBatchOptions& options);

}  // namespace troupe
#pragma GCC visibility pop
