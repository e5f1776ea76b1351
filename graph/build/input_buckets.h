// Batches of elements that are alike, such as sequences of similar length, which then need little padding (as TensorFlow's
// tf.contrib.training.bucket and bucket_by_sequence_length): each bucket has a queue of its own, from which whole batches go to a
// queue that the caller's steps empty. Otherwise as in input_queues.h: the queue runners are noted in the graph, and the end of
// the input reaches the caller as OutOfRange, here after the batches of all buckets. Failures throw Error(InvalidArgument), which
// names the function and its nodes. One thread at a time per graph. Public header.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graph/build/scope.h"

#pragma GCC visibility push(default)
namespace troupe {

/// As InputBatchOptions (input_queues.h), but for what is said here.
struct BucketOptions {
  int64_t num_buckets = 0;  ///< from 1 to 1024; bucket_by_sequence_length() takes it from the boundaries
  std::vector<int64_t> batch_sizes = {};  ///< one for all buckets, or one for each
  int64_t num_threads = 1;
  int64_t capacity = 32;  ///< the most elements of each bucket, and the most batches that wait for the caller
  std::vector<PartialShape> shapes = {};
  bool dynamic_pad = false;
  /// Whether the last batch of each bucket has the elements that are left; otherwise they are lost.
  bool allow_smaller_final_batch = false;
  std::optional<Output> keep_input = {};  ///< a bool scalar that says whether the element is taken or dropped
  std::string shared_name = {};           ///< sessions share the queues under names that begin with it
  std::string name = {};
};

/// A batch of a bucket.
struct Bucketed {
  Output bucket;                ///< an int32 scalar: which one
  std::vector<Output> tensors;  ///< the batch, stacked along a new first dimension
};

/// Puts the tensors, which are one element, into bucket `which_bucket`, an int32 scalar from 0 to num_buckets - 1 (or the step
/// that enqueues fails with InvalidArgument), and returns the next batch of any bucket.
Bucketed bucket(const Scope& scope, const std::vector<Output>& tensors, Output which_bucket,
                const BucketOptions& options);

/// A batch of sequences of similar length.
struct BucketedSequences {
  Output lengths;               ///< int32 [batch]
  std::vector<Output> tensors;  ///< the batch, stacked along a new first dimension
};

/// Puts the tensors, which are one element, into the bucket of its length, an int32 scalar: bucket 0 is for lengths below
/// boundaries[0], bucket i for those from boundaries[i - 1] to below boundaries[i], the last for the rest. The boundaries
/// increase.
BucketedSequences bucket_by_sequence_length(const Scope& scope, Output length,
                                            const std::vector<Output>& tensors,
                                            const std::vector<int64_t>& boundaries,
                                            const BucketOptions& options);

}  // namespace troupe
#pragma GCC visibility pop
