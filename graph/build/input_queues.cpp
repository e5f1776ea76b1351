#include "graph/build/input_queues.h"

#include "graph/build/loop_writer.h"
#include "graph/build/queue_parts.h"
#include "graph/build/variables.h"

namespace troupe {
namespace {

using namespace queue_parts;

/// The seed of graphs in TensorFlow. With it, an op of a given seed draws TensorFlow's numbers where it draws in TensorFlow's
/// way.
constexpr int64_t graph_seed = 87654321;

void set_seed(Attributes& attrs, const std::optional<int64_t>& seed) {
  if (!seed) return;
  attrs.set("seed", graph_seed);
  attrs.set("seed2", *seed);
}

Output counted(const Scope& scope, Output tensor, int64_t num_epochs) {
  const Output zero = scope.constant(Tensor::scalar<int64_t>(0));
  const Output epochs = local_variable(scope.without_control(), zero, "epochs");
  const NodeId count = scope.add("CountUpTo", {epochs}, {{"limit", num_epochs}});
  return scope.with_control({{count, Output::control}}).add_one("Identity", {tensor});
}

void require_epochs(const Input& input, const std::optional<int64_t>& num_epochs) {
  if (num_epochs && *num_epochs < 1)
    input.fail("num_epochs is " + std::to_string(*num_epochs) + ", but must be at least 1");
}

// Producers

Input producer(const Scope& scope, const char* function, const ProducerOptions& options) {
  return Input(scope, function, options.name.empty() ? "input_producer" : options.name);
}

/// Returns the rows. Steps that need them fail if there are none: they would run again and again, and add nothing.
Output checked_rows(const Input& input, Output rows) {
  const int64_t known = rows_of(input, {rows});
  if (known == 0) input.fail(input.described(rows) + ", has no rows to produce");
  if (known != unknown_dim) return rows;
  const Scope& g = input.scope();
  const Output some = g.add_one("Greater", {g.add_one("Size", {rows}), integer(g, 0)});
  const Output text = g.constant(Tensor::scalar<std::string>("there are no rows to produce"));
  return g.with_control({{g.add("Assert", {some, text}), Output::control}}).add_one("Identity", {rows});
}

Queue produce(const Input& input, Output rows, const ProducerOptions& options) {
  input.require_positive("capacity", options.capacity);
  require_epochs(input, options.num_epochs);
  std::vector<PartialShape> given;
  if (options.element_shape.known_rank()) given.push_back(options.element_shape);
  const std::vector<DType> types = element_types(input, {{rows}});
  std::vector<PartialShape> shapes = element_shapes(input, {{rows}}, true, given, false);
  rows = checked_rows(input, rows);
  const Scope& g = input.scope();
  if (options.shuffle) {
    Attributes attrs;
    set_seed(attrs, options.seed);
    rows = g.add_one("RandomShuffle", {rows}, std::move(attrs));
  }
  if (options.num_epochs) rows = counted(g.with_prefix("limit_epochs"), rows, *options.num_epochs);
  Queue queue = add_queue(input.last(), "FIFOQueueV2",
                          {{"capacity", options.capacity}, {"shared_name", options.shared_name}}, types,
                          std::move(shapes));
  run_queues(g, {enqueue(g, queue, {rows}, true)}, {queue});
  add_summary(g, queue, options.capacity);
  return queue;
}

Queue produce_range(const Input& input, Output limit, const ProducerOptions& options) {
  const Scope& g = input.scope();
  return produce(input, g.add_one("Range", {integer(g, 0), limit, integer(g, 1)}), options);
}

/// Returns the number of rows of the tensors as a scalar of int32.
Output count_rows(const Input& input, const std::vector<Output>& tensors) {
  if (tensors.empty()) input.fail("there are no tensors whose rows could be produced");
  const Scope& g = input.scope();
  if (const int64_t rows = rows_of(input, tensors); rows != unknown_dim) {
    input.require_positive("the number of rows", rows);
    return integer(g, static_cast<int32_t>(rows));
  }
  return first_dimension(g, tensors[0]);
}

// Batches

/// The options of all functions for batches.
struct Batching {
  const char* queue_op;
  Attributes queue_attrs;
  int64_t batch_size, capacity, min_after_dequeue;
  bool enqueue_many, padded, allow_smaller_final_batch;
  const std::vector<PartialShape>& shapes;
  const std::optional<Output>& keep_input;
};

Batching batching(const InputBatchOptions& options) {
  return {.queue_op = options.dynamic_pad ? "PaddingFIFOQueueV2" : "FIFOQueueV2",
          .queue_attrs = {{"capacity", options.capacity}, {"shared_name", options.shared_name}},
          .batch_size = options.batch_size,
          .capacity = options.capacity,
          .min_after_dequeue = 0,
          .enqueue_many = options.enqueue_many,
          .padded = options.dynamic_pad,
          .allow_smaller_final_batch = options.allow_smaller_final_batch,
          .shapes = options.shapes,
          .keep_input = options.keep_input};
}

Batching batching(const ShuffleBatchOptions& options) {
  Attributes attrs{{"capacity", options.capacity},
                   {"min_after_dequeue", options.min_after_dequeue},
                   {"shared_name", options.shared_name}};
  set_seed(attrs, options.seed);
  return {.queue_op = "RandomShuffleQueueV2",
          .queue_attrs = std::move(attrs),
          .batch_size = options.batch_size,
          .capacity = options.capacity,
          .min_after_dequeue = options.min_after_dequeue,
          .enqueue_many = options.enqueue_many,
          .padded = false,
          .allow_smaller_final_batch = options.allow_smaller_final_batch,
          .shapes = options.shapes,
          .keep_input = options.keep_input};
}

void check_queue(const Input& input, const Batching& batching) {
  input.require_positive("batch_size", batching.batch_size);
  input.require_positive("capacity", batching.capacity);
  if (batching.min_after_dequeue < 0 || batching.min_after_dequeue >= batching.capacity)
    input.fail("min_after_dequeue is " + std::to_string(batching.min_after_dequeue) +
               ", but must be at least 0 and less than the capacity, " + std::to_string(batching.capacity));
  if (!batching.keep_input) return;
  const PartialShape& shape = input.scope().shape(*batching.keep_input);
  const DType dtype = input.scope().dtype(*batching.keep_input);
  if (dtype != DType::Bool || !(shape.has_rank(0) || (batching.enqueue_many && shape.has_rank(1))))
    input.fail("keep_input is " + input.described(*batching.keep_input) + " and dtype " +
               std::string(name(dtype)) + ", but must be a bool scalar" +
               (batching.enqueue_many ? " or vector" : ""));
}

/// Returns the rows whose element of `keep`, a bool vector, is true.
std::vector<Output> kept_rows(const Scope& scope, const std::vector<Output>& tensors, Output keep) {
  const Output partitions = scope.add_one("Cast", {keep}, {{"DstT", DType::Int32}});
  std::vector<Output> kept;
  for (const Output& tensor : tensors)
    kept.push_back(scope.graph().output(
        scope.add("DynamicPartition", {tensor, partitions}, {{"num_partitions", int64_t{2}}}), 1));
  return kept;
}

Output enqueue_kept(const Scope& scope, const Queue& queue, const std::vector<Output>& tensors,
                    const Batching& batching) {
  if (!batching.keep_input) return enqueue(scope, queue, tensors, batching.enqueue_many);
  if (scope.shape(*batching.keep_input).has_rank(1))
    return enqueue(scope, queue, kept_rows(scope, tensors, *batching.keep_input), true);
  return only_if(scope, *batching.keep_input,
                 [&](const Scope& inside) { return enqueue(inside, queue, tensors, batching.enqueue_many); });
}

/// Fills a queue from each of the lists, with `num_threads` steps at the same time, and returns batches of its elements.
std::vector<Output> make_batches(const Input& input, const std::vector<std::vector<Output>>& lists,
                                 int64_t num_threads, const Batching& batching) {
  check_queue(input, batching);
  input.require_threads(num_threads);
  const std::vector<DType> types = element_types(input, lists);
  if (batching.enqueue_many)
    for (const auto& list : lists) rows_of(input, list);
  const auto shapes = element_shapes(input, lists, batching.enqueue_many, batching.shapes, batching.padded);
  const Scope& g = input.scope();
  const Queue queue = add_queue(g, batching.queue_op, batching.queue_attrs, types, shapes);
  std::vector<Output> targets;
  for (const auto& list : lists)
    targets.insert(targets.end(), static_cast<size_t>(num_threads), enqueue_kept(g, queue, list, batching));
  run_queues(g, std::move(targets), {queue});
  add_summary(g, queue, batching.capacity, batching.min_after_dequeue);
  return dequeue_many(input.last(), queue, batching.batch_size, batching.allow_smaller_final_batch);
}

void require_one_thread(const Input& input, int64_t num_threads) {
  if (num_threads != 1)
    input.fail("num_threads is " + std::to_string(num_threads) +
               ", but each list is enqueued by one step at a time: give more lists");
}

}  // namespace

Output limit_epochs(const Scope& scope, Output tensor, int64_t num_epochs) {
  const Input input(scope, "limit_epochs", "limit_epochs");
  require_epochs(input, num_epochs);
  return counted(input.scope(), scope.checked(tensor), num_epochs);
}

Output input_producer(const Scope& scope, Output rows, const ProducerOptions& options) {
  return produce(producer(scope, "input_producer", options), rows, options).handle;
}

Output string_input_producer(const Scope& scope, Output strings, const ProducerOptions& options) {
  const Input input = producer(scope, "string_input_producer", options);
  if (scope.dtype(strings) != DType::String)
    input.fail(input.described(strings) + ", has dtype " + std::string(name(scope.dtype(strings))) +
               ", but must be a vector of strings");
  ProducerOptions of_strings = options;
  of_strings.element_shape = PartialShape::scalar();
  return produce(input, strings, of_strings).handle;
}

Output string_input_producer(const Scope& scope, const std::vector<std::string>& strings,
                             const ProducerOptions& options) {
  return string_input_producer(scope, scope.constant(Tensor::vector<std::string>(strings)), options);
}

Output range_input_producer(const Scope& scope, Output limit, const ProducerOptions& options) {
  const Input input = producer(scope, "range_input_producer", options);
  if (scope.dtype(limit) != DType::Int32 || !scope.shape(limit).compatible_with(PartialShape::scalar()))
    input.fail("limit is " + input.described(limit) + " and dtype " + std::string(name(scope.dtype(limit))) +
               ", but must be an int32 scalar");
  return produce_range(input, limit, options).handle;
}

std::vector<Output> slice_input_producer(const Scope& scope, const std::vector<Output>& tensors,
                                         const ProducerOptions& options) {
  const Input input = producer(scope, "slice_input_producer", options);
  const Queue queue = produce_range(input, count_rows(input, tensors), options);
  const Scope& g = input.scope();
  const Output index = dequeue(g, queue)[0];
  std::vector<Output> slices;
  for (const Output& tensor : tensors) slices.push_back(g.add_one("Gather", {tensor, index}));
  return slices;
}

std::vector<Output> batch(const Scope& scope, const std::vector<Output>& tensors,
                          const InputBatchOptions& options) {
  return make_batches(Input(scope, "batch", options.name), {tensors}, options.num_threads, batching(options));
}

std::vector<Output> batch_join(const Scope& scope, const std::vector<std::vector<Output>>& lists,
                               const InputBatchOptions& options) {
  const Input input(scope, "batch_join", options.name);
  require_one_thread(input, options.num_threads);
  return make_batches(input, lists, 1, batching(options));
}

std::vector<Output> shuffle_batch(const Scope& scope, const std::vector<Output>& tensors,
                                  const ShuffleBatchOptions& options) {
  return make_batches(Input(scope, "shuffle_batch", options.name), {tensors}, options.num_threads,
                      batching(options));
}

std::vector<Output> shuffle_batch_join(const Scope& scope, const std::vector<std::vector<Output>>& lists,
                                       const ShuffleBatchOptions& options) {
  const Input input(scope, "shuffle_batch_join", options.name);
  require_one_thread(input, options.num_threads);
  return make_batches(input, lists, 1, batching(options));
}

}  // namespace troupe
