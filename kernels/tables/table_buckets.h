// Table buckets: the keys and values of a lookup table, in tensors, found by hash. Keys and values are rows, of any number of
// elements. A bucket is empty, full, or deleted: its key was removed, and keys that follow it are still found. Searching
// allocates nothing. A plain value, owned by a table; any thread may read it while no thread changes it.
#pragma once

#include <memory>

#include "devices/pool.h"
#include "kernels/tables/table_spec.h"
#include "messages/values/tensor.h"

namespace troupe {

class TableBuckets {
 public:
  enum class State : uint8_t { Empty, Full, Deleted };

  /// Makes an empty table with keys of `key_elements` elements and at least `buckets` buckets. Fails with ResourceExhausted or
  /// InvalidArgument if there cannot be as many.
  static Result<std::unique_ptr<TableBuckets>> make(const TableSpec& spec, int64_t key_elements,
                                                    int64_t buckets, Allocator& memory);
  virtual ~TableBuckets() = default;

  /// The number of keys.
  int64_t size() const { return full_; }
  int64_t buckets() const { return keys_.shape()[0]; }
  State state(int64_t bucket) const {
    return static_cast<State>(states_.as<uint8_t>()[static_cast<size_t>(bucket)]);
  }
  /// One row for each bucket. The rows of empty buckets mean nothing.
  const Tensor& keys() const { return keys_; }
  const Tensor& values() const { return values_; }

  /// Returns whether as many keys that are not in the table can be inserted.
  virtual bool has_room(int64_t more) const = 0;
  /// Makes room for as many keys that are not in the table. Fails as make() does; then nothing has changed.
  virtual Status reserve(int64_t more) = 0;

  // `keys` and `values` have one row for each key; their types are right.

  /// Row i of `values` becomes the value of row i of `keys`, or a copy of `fallback`.
  virtual void find(const Tensor& keys, const Tensor& fallback, Tensor& values, Pool& pool) const = 0;
  /// Room for all keys has been reserved.
  virtual void insert(const Tensor& keys, const Tensor& values) = 0;
  virtual void erase(const Tensor& keys) = 0;
  /// Returns the first key whose value differs, or that is not in the table; -1 if there is none.
  virtual int64_t first_difference(const Tensor& keys, const Tensor& values) const = 0;

 protected:
  Tensor keys_, values_;
  Tensor states_;  ///< a State for each bucket
  int64_t full_ = 0, deleted_ = 0;
};

}  // namespace troupe
