#include "graph/build/input_buckets.h"

#include <algorithm>
#include <limits>

#include "graph/build/loop_writer.h"
#include "graph/build/queue_parts.h"

namespace troupe {
namespace {

using namespace queue_parts;

constexpr int64_t most_buckets = 1024;

int64_t batch_size_of(const BucketOptions& options, int64_t bucket) {
  return options.batch_sizes[options.batch_sizes.size() == 1 ? 0 : static_cast<size_t>(bucket)];
}

void require_scalar(const Input& input, const char* what, Output tensor, DType dtype) {
  const DType given = input.scope().dtype(tensor);
  if (given != dtype || !input.scope().shape(tensor).compatible_with(PartialShape::scalar()))
    input.fail(std::string(what) + " is " + input.described(tensor) + " and dtype " +
               std::string(name(given)) + ", but must be a scalar of " + std::string(name(dtype)));
}

void check(const Input& input, Output which_bucket, const BucketOptions& options) {
  if (options.num_buckets < 1 || options.num_buckets > most_buckets)
    input.fail("num_buckets is " + std::to_string(options.num_buckets) + ", but must be from 1 to " +
               std::to_string(most_buckets));
  const auto sizes = static_cast<int64_t>(options.batch_sizes.size());
  if (sizes != 1 && sizes != options.num_buckets)
    input.fail("there are " + std::to_string(sizes) + " batch_sizes, but must be 1 or, for the buckets, " +
               std::to_string(options.num_buckets));
  for (const int64_t size : options.batch_sizes) input.require_positive("a batch size", size);
  input.require_positive("capacity", options.capacity);
  input.require_threads(options.num_threads);
  require_scalar(input, "which_bucket", which_bucket, DType::Int32);
  if (options.keep_input) require_scalar(input, "keep_input", *options.keep_input, DType::Bool);
}

Attributes queue_attrs(const BucketOptions& options, const std::string& suffix) {
  return {{"capacity", options.capacity},
          {"shared_name", options.shared_name.empty() ? std::string() : options.shared_name + suffix}};
}

/// Returns a target that adds the element to its bucket.
Output enqueue_into(const Scope& g, const std::vector<Queue>& buckets, const std::vector<Output>& tensors,
                    Output which_bucket) {
  const auto count = static_cast<int32_t>(buckets.size());
  const Output fits = g.add_one("LogicalAnd", {g.add_one("GreaterEqual", {which_bucket, integer(g, 0)}),
                                               g.add_one("Less", {which_bucket, integer(g, count)})});
  const Output text =
      g.constant(Tensor::scalar("which_bucket must be from 0 to " + std::to_string(count - 1) + ", not"));
  std::vector<Output> targets = {{g.add("Assert", {fits, text, which_bucket}), Output::control}};
  for (int32_t i = 0; i < count; ++i) {
    const Scope one = g.with_prefix("enqueue_" + std::to_string(i));
    targets.push_back(
        only_if(one, one.add_one("Equal", {which_bucket, integer(one, i)}), [&](const Scope& inside) {
          return enqueue(inside, buckets[static_cast<size_t>(i)], tensors, false);
        }));
  }
  return g.group(targets);
}

/// Adds the queue of the batches, in which their number varies.
Queue add_top_queue(const Input& input, const Queue& bucket, const BucketOptions& options) {
  std::vector<DType> types = {DType::Int32};
  std::vector<PartialShape> shapes = {PartialShape::scalar()};
  const bool varies = options.allow_smaller_final_batch || options.batch_sizes.size() != 1;
  const auto leading = PartialShape::vector(varies ? unknown_dim : options.batch_sizes[0]);
  for (size_t i = 0; i < bucket.types.size(); ++i) {
    types.push_back(bucket.types[i]);
    shapes.push_back(concatenate(leading, bucket.shapes[i]));
  }
  return add_queue(input.scope().with_name("top_queue"), "PaddingFIFOQueueV2", queue_attrs(options, ""),
                   std::move(types), std::move(shapes));
}

/// Returns a target that moves a batch of bucket `i` to the top queue.
Output move_batch(const Scope& scope, const Queue& bucket, const Queue& top, int64_t i,
                  const BucketOptions& options) {
  const Scope g = scope.with_prefix("batch_" + std::to_string(i));
  std::vector<Output> element = {integer(g, static_cast<int32_t>(i))};
  for (const Output& component :
       dequeue_many(g, bucket, batch_size_of(options, i), options.allow_smaller_final_batch))
    element.push_back(component);
  return enqueue(g, top, element, false);
}

/// The last node is the one that takes batches. The buckets are closed when the input ends, and the top queue when all of them
/// are empty, so that no batch is lost.
Bucketed make_buckets(const Input& input, const std::vector<Output>& tensors, Output which_bucket,
                      const BucketOptions& options) {
  check(input, which_bucket, options);
  const Scope& g = input.scope();
  const std::vector<DType> types = element_types(input, {tensors});
  const auto shapes = element_shapes(input, {tensors}, false, options.shapes, options.dynamic_pad);
  std::vector<Queue> buckets;
  for (int64_t i = 0; i < options.num_buckets; ++i) {
    const std::string suffix = "_" + std::to_string(i);
    buckets.push_back(add_queue(g.with_name("bucket_queue" + suffix),
                                options.dynamic_pad ? "PaddingFIFOQueueV2" : "FIFOQueueV2",
                                queue_attrs(options, suffix), types, shapes));
  }
  const Queue top = add_top_queue(input, buckets[0], options);
  const auto add_element = [&](const Scope& scope) {
    return enqueue_into(scope, buckets, tensors, which_bucket);
  };
  const Output target = options.keep_input ? only_if(g, *options.keep_input, add_element) : add_element(g);
  run_queues(g, std::vector<Output>(static_cast<size_t>(options.num_threads), target), buckets);
  std::vector<Output> moves;
  for (int64_t i = 0; i < options.num_buckets; ++i)
    moves.push_back(move_batch(g, buckets[static_cast<size_t>(i)], top, i, options));
  run_queues(g, std::move(moves), {top});
  add_summary(g, top, options.capacity);
  std::vector<Output> batch = dequeue(input.last(), top);
  const Output which = batch[0];
  batch.erase(batch.begin());
  return {which, std::move(batch)};
}

void check_boundaries(const Input& input, const std::vector<int64_t>& boundaries) {
  if (boundaries.empty() || static_cast<int64_t>(boundaries.size()) >= most_buckets)
    input.fail("there are " + std::to_string(boundaries.size()) + " boundaries, but must be from 1 to " +
               std::to_string(most_buckets - 1));
  for (size_t i = 0; i < boundaries.size(); ++i) {
    if (boundaries[i] < 0 || boundaries[i] > std::numeric_limits<int32_t>::max())
      input.fail("boundary " + std::to_string(i) + " is " + std::to_string(boundaries[i]) +
                 ", but must be from 0 to " + std::to_string(std::numeric_limits<int32_t>::max()));
    if (i > 0 && boundaries[i] <= boundaries[i - 1])
      input.fail("boundary " + std::to_string(i) + " is " + std::to_string(boundaries[i]) +
                 ", but must be more than the one before, " + std::to_string(boundaries[i - 1]));
  }
}

/// Returns how many of the boundaries are at most `length`: the number of its bucket.
Output bucket_of(const Scope& g, Output length, const std::vector<int64_t>& boundaries) {
  const Output limits = integers(g, {boundaries.begin(), boundaries.end()});
  const Output reached = g.add_one("LessEqual", {limits, length});
  return g.add_one("Sum", {g.add_one("Cast", {reached}, {{"DstT", DType::Int32}}), integer(g, 0)});
}

}  // namespace

Bucketed bucket(const Scope& scope, const std::vector<Output>& tensors, Output which_bucket,
                const BucketOptions& options) {
  return make_buckets(Input(scope, "bucket", options.name), tensors, which_bucket, options);
}

BucketedSequences bucket_by_sequence_length(const Scope& scope, Output length,
                                            const std::vector<Output>& tensors,
                                            const std::vector<int64_t>& boundaries,
                                            const BucketOptions& options) {
  const Input input(scope, "bucket_by_sequence_length", options.name);
  check_boundaries(input, boundaries);
  require_scalar(input, "length", length, DType::Int32);
  BucketOptions with_length = options;
  with_length.num_buckets = static_cast<int64_t>(boundaries.size()) + 1;
  if (!with_length.shapes.empty())
    with_length.shapes.insert(with_length.shapes.begin(), PartialShape::scalar());
  std::vector<Output> element = {length};
  element.insert(element.end(), tensors.begin(), tensors.end());
  Bucketed batch = make_buckets(input, element, bucket_of(input.scope(), length, boundaries), with_length);
  const Output lengths = batch.tensors[0];
  batch.tensors.erase(batch.tensors.begin());
  return {lengths, std::move(batch.tensors)};
}

}  // namespace troupe
