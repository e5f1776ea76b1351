// Table contents: a lookup table without its actor: what TensorFlow's tables of each kind do with keys and values, and what
// they refuse. Functions that fail leave the table unchanged. Owned by the role of the table, or by a loaded model; one thread at a
// time.
#pragma once

#include <memory>
#include <vector>

#include "devices/device.h"
#include "kernels/tables/table_buckets.h"
#include "kernels/tables/table_spec.h"

namespace troupe {

class TableContents {
 public:
  /// Tables and what they yield are allocated on `device`.
  TableContents(TableSpec spec, std::shared_ptr<Device> device)
      : spec_(std::move(spec)), device_(std::move(device)) {}

  const TableSpec& spec() const { return spec_; }
  /// Whether the table of constants has its contents.
  bool is_initialized() const { return initialized_; }
  int64_t size() const { return buckets_ ? buckets_->size() : 0; }
  /// How many elements of keys and values there is memory for.
  int64_t elements() const;
  /// How many elements are moved or made if as many keys are added.
  int64_t moved_by(int64_t added) const;
  /// Fails with InvalidArgument if this is no table of constants.
  Status check_initializable() const;
  /// Gets memory for the contents, if there is none yet. Once a table has it, find() changes nothing, so that threads may call it
  /// at the same time. Fails with FailedPrecondition if this is a dense table whose keys have not been reserved.
  Status open();

  // These carry out the requests in messages/schemas/table.capnp.
  /// `deleted` may be invalid: the table then has no such key.
  Status reserve_keys(const Tensor& empty, const Tensor& deleted);
  Result<Tensor> find(const Tensor& keys, const Tensor& fallback);
  Status insert(const Tensor& keys, const Tensor& values, bool clear);
  Status remove(const Tensor& keys);
  Status initialize(const Tensor& keys, const Tensor& values);
  Result<std::vector<Tensor>> exported();

 private:
  Allocator& memory() const { return device_->context().memory(); }
  bool is_dense() const { return spec_.kind == TableKind::Dense; }
  Result<std::unique_ptr<TableBuckets>> made_of(const Tensor& keys, const Tensor& values,
                                                int64_t buckets) const;

  Status check_keys(const Tensor& keys) const;
  Status check_types(const Tensor& keys, const Tensor& values) const;
  Status check_reserved(const Tensor& keys) const;
  Result<Shape> values_shape(const Tensor& keys) const;
  Status check_import(const Tensor& keys, const Tensor& values) const;
  Status import_buckets(const Tensor& keys, const Tensor& values);
  Result<std::vector<Tensor>> exported_buckets() const;

  const TableSpec spec_;
  const std::shared_ptr<Device> device_;
  std::unique_ptr<TableBuckets> buckets_;  ///< null until they are needed
  bool initialized_ = false;
  Shape key_shape_;         ///< of one key
  Tensor empty_, deleted_;  ///< the reserved keys of a dense table
};

}  // namespace troupe
