#include "kernels/tables/table_contents.h"

#include <algorithm>
#include <array>

#include "kernels/tables/table_rows.h"

namespace troupe {
namespace {

Shape one_or(const Shape& shape) { return shape.is_scalar() ? Shape{1} : shape; }

Result<Shape> joined(std::span<const int64_t> first, std::span<const int64_t> second, DType dtype) {
  std::vector<int64_t> dims(first.begin(), first.end());
  dims.insert(dims.end(), second.begin(), second.end());
  return Shape::make(dims, dtype);
}

bool ends_with(const Shape& shape, const Shape& end) {
  return shape.rank() >= end.rank() && std::ranges::equal(shape.dims().last(end.rank()), end.dims());
}

/// Returns the first row of `keys` that is this key, or -1.
int64_t find_row(const Tensor& keys, const Tensor& key) {
  const int64_t elements = key.elements();
  const ConstRows rows(keys, elements), wanted(key, elements);
  for (int64_t i = 0; i < keys.elements() / elements; ++i)
    if (rows.equal(i, wanted, 0)) return i;
  return -1;
}

Status wrong_type(const char* what, DType wanted, DType got) {
  return invalid_argument(std::string(what) + " must be " + std::string(name(wanted)) + ", but are " +
                          std::string(name(got)));
}

}  // namespace

// ---- Checks

Status TableContents::check_keys(const Tensor& keys) const {
  if (keys.dtype() != spec_.key) return wrong_type("the keys of the table", spec_.key, keys.dtype());
  if (!ends_with(keys.shape(), key_shape_))
    return invalid_argument("the shape of the keys " + keys.shape().text() +
                            " must end with that of one key, " + key_shape_.text());
  if (!is_dense()) return {};
  const int64_t n = keys.shape().is_scalar() ? 1 : keys.shape()[0];
  if (keys.elements() / key_shape_.elements() == n && keys.elements() % key_shape_.elements() == 0) return {};
  TROUPE_ASSIGN(const Shape expected, joined(std::array{n}, key_shape_.dims(), spec_.key));
  return invalid_argument("Expected key shape " + expected.text() + ", but got " + keys.shape().text());
}

Status TableContents::check_types(const Tensor& keys, const Tensor& values) const {
  TROUPE_RETURN_IF_FAILED(check_keys(keys));
  if (values.dtype() == spec_.value) return {};
  return wrong_type("the values of the table", spec_.value, values.dtype());
}

Status TableContents::check_reserved(const Tensor& keys) const {
  if (!is_dense()) return {};
  for (const auto& [key, role] : {std::pair{&empty_, "empty_key"}, {&deleted_, "deleted_key"}})
    if (const int64_t row = key->valid() ? find_row(keys, *key) : -1; row >= 0)
      return invalid_argument("key " + std::to_string(row) + " is the " + role +
                              ", which cannot be a key of the table");
  return {};
}

Result<Shape> TableContents::values_shape(const Tensor& keys) const {
  const auto dims = keys.shape().dims();
  return joined(dims.first(dims.size() - key_shape_.rank()), spec_.value_shape.dims(), spec_.value);
}

Status TableContents::check_initializable() const {
  if (spec_.kind == TableKind::Constant) return {};
  return invalid_argument("Table '" + spec_.name + "' is not initializable: it is " + spec_.text());
}

int64_t TableContents::elements() const {
  return buckets_ ? buckets_->keys().elements() + buckets_->values().elements() : 0;
}

int64_t TableContents::moved_by(int64_t added) const {
  if (!buckets_) return spec_.buckets;
  return buckets_->has_room(added) ? 0 : elements();
}

// ---- Requests

Status TableContents::open() {
  if (buckets_) return {};
  if (is_dense() && !empty_.valid())
    return failed_precondition("table '" + spec_.name + "' has no empty_key and deleted_key yet");
  TROUPE_ASSIGN(buckets_, TableBuckets::make(spec_, key_shape_.elements(), spec_.buckets, memory()));
  return {};
}

Status TableContents::reserve_keys(const Tensor& empty, const Tensor& deleted) {
  if (empty_.valid()) return {};
  for (const Tensor& key : {empty, deleted})
    if (key.valid() && key.dtype() != spec_.key)
      return wrong_type("empty_key and deleted_key", spec_.key, key.dtype());
  if (empty.shape().rank() > 1 || empty.elements() == 0)
    return invalid_argument("Empty key must be a scalar or a vector with elements, but is " +
                            empty.signature());
  if (deleted.valid() && empty.shape() != deleted.shape())
    return invalid_argument("Empty and deleted keys must have same shape, but are " + empty.signature() +
                            " and " + deleted.signature());
  if (deleted.valid() && find_row(empty, deleted) == 0)
    return invalid_argument("Empty and deleted keys cannot be equal");
  key_shape_ = empty.shape();
  empty_ = empty;
  deleted_ = deleted;
  if (Status status = open(); !status.ok()) {
    empty_ = deleted_ = {};
    return status;
  }
  return {};
}

Result<Tensor> TableContents::find(const Tensor& keys, const Tensor& fallback) {
  if (spec_.kind == TableKind::Constant && !initialized_)
    return failed_precondition("Table not initialized: table '" + spec_.name + "' has no contents yet");
  TROUPE_RETURN_IF_FAILED(open());
  TROUPE_RETURN_IF_FAILED(check_types(keys, fallback));
  if (fallback.shape() != spec_.value_shape)
    return invalid_argument("Expected shape " + spec_.value_shape.text() +
                            " for the default value, but got " + fallback.shape().text());
  TROUPE_RETURN_IF_FAILED(check_reserved(keys));
  TROUPE_ASSIGN(const Shape shape, values_shape(keys));
  TROUPE_ASSIGN(Tensor values, Tensor::allocate(spec_.value, shape, memory()));
  buckets_->find(keys, fallback, values, device_->context().pool());
  return values;
}

Status TableContents::insert(const Tensor& keys, const Tensor& values, bool clear) {
  if (spec_.kind == TableKind::Constant)
    return clear ? initialize(keys, values)
                 : unimplemented("Insert is not supported by a table of constants, '" + spec_.name + "'");
  TROUPE_RETURN_IF_FAILED(open());
  if (is_dense() && clear) return import_buckets(keys, values);
  TROUPE_RETURN_IF_FAILED(check_types(keys, values));
  TROUPE_ASSIGN(const Shape expected, values_shape(keys));
  if (values.shape() != expected)
    return invalid_argument("Expected shape " + expected.text() + " for the values, but got " +
                            values.shape().text());
  TROUPE_RETURN_IF_FAILED(check_reserved(keys));
  if (clear) {
    TROUPE_ASSIGN(buckets_, made_of(keys, values, spec_.buckets));
    return {};
  }
  TROUPE_RETURN_IF_FAILED(buckets_->reserve(keys.elements() / key_shape_.elements()));
  buckets_->insert(keys, values);
  return {};
}

Status TableContents::remove(const Tensor& keys) {
  if (spec_.kind == TableKind::Constant)
    return unimplemented("Remove is not supported by a table of constants, '" + spec_.name + "'");
  TROUPE_RETURN_IF_FAILED(open());
  TROUPE_RETURN_IF_FAILED(check_keys(keys));
  TROUPE_RETURN_IF_FAILED(check_reserved(keys));
  buckets_->erase(keys);
  return {};
}

Result<std::unique_ptr<TableBuckets>> TableContents::made_of(const Tensor& keys, const Tensor& values,
                                                             int64_t buckets) const {
  TROUPE_ASSIGN(auto made, TableBuckets::make(spec_, key_shape_.elements(), buckets, memory()));
  TROUPE_RETURN_IF_FAILED(made->reserve(keys.elements() / key_shape_.elements()));
  made->insert(keys, values);
  return made;
}

Status TableContents::initialize(const Tensor& keys, const Tensor& values) {
  TROUPE_RETURN_IF_FAILED(check_initializable());
  TROUPE_RETURN_IF_FAILED(check_types(keys, values));
  if (keys.shape() != values.shape())
    return invalid_argument("keys and values must have the same shape, but are " + keys.shape().text() +
                            " and " + values.shape().text());
  if (keys.elements() == 0) return invalid_argument("keys and values cannot be empty tensors");
  TROUPE_ASSIGN(auto made, made_of(keys, values, spec_.buckets));
  if (const int64_t row = made->first_difference(keys, values); row >= 0)
    return failed_precondition("HashTable has different value for same key: key " + std::to_string(row) +
                               " has another value later in the list");
  if (initialized_) {
    if (made->size() == buckets_->size() && buckets_->first_difference(keys, values) < 0) return {};
    return failed_precondition("Table '" + spec_.name + "' was already initialized with different data");
  }
  buckets_ = std::move(made);
  initialized_ = true;
  return {};
}

Result<std::vector<Tensor>> TableContents::exported() {
  if (spec_.kind == TableKind::Constant && !initialized_)
    return aborted("HashTable is not initialized: table '" + spec_.name + "' has no contents yet");
  TROUPE_RETURN_IF_FAILED(open());
  if (is_dense()) return exported_buckets();
  const std::array rows{size()};
  TROUPE_ASSIGN(const Shape keys_shape, joined(rows, key_shape_.dims(), spec_.key));
  TROUPE_ASSIGN(const Shape values_shape, joined(rows, spec_.value_shape.dims(), spec_.value));
  TROUPE_ASSIGN(Tensor keys, Tensor::allocate(spec_.key, keys_shape, memory()));
  TROUPE_ASSIGN(Tensor values, Tensor::allocate(spec_.value, values_shape, memory()));
  const RowCopy copy_key(ConstRows(buckets_->keys(), key_shape_.elements()), keys);
  const RowCopy copy_value(ConstRows(buckets_->values(), spec_.value_shape.elements()), values);
  for (int64_t i = 0, row = 0; i < buckets_->buckets(); ++i) {
    if (buckets_->state(i) != TableBuckets::State::Full) continue;
    copy_key(i, row);
    copy_value(i, row++);
  }
  return std::vector{std::move(keys), std::move(values)};
}

// ---- Buckets of dense tables

Result<std::vector<Tensor>> TableContents::exported_buckets() const {
  Tensor keys, values;
  TROUPE_ASSIGN(keys, Tensor::allocate(spec_.key, buckets_->keys().shape(), memory()));
  TROUPE_ASSIGN(values, Tensor::allocate(spec_.value, buckets_->values().shape(), memory()));
  const int64_t key_elements = key_shape_.elements();
  const RowCopy copy_key(ConstRows(buckets_->keys(), key_elements), keys);
  const RowCopy copy_empty(ConstRows(empty_, key_elements), keys);
  const RowCopy copy_deleted(ConstRows(deleted_.valid() ? deleted_ : empty_, key_elements), keys);
  const RowCopy copy_value(ConstRows(buckets_->values(), spec_.value_shape.elements()), values);
  for (int64_t i = 0; i < buckets_->buckets(); ++i) {
    copy_value(i, i);
    switch (buckets_->state(i)) {
      case TableBuckets::State::Empty: copy_empty(0, i); break;
      case TableBuckets::State::Full: copy_key(i, i); break;
      case TableBuckets::State::Deleted: copy_deleted(0, i); break;
    }
  }
  return std::vector{std::move(keys), std::move(values)};
}

Status TableContents::check_import(const Tensor& keys, const Tensor& values) const {
  if (keys.dtype() != spec_.key) return wrong_type("the keys of the table", spec_.key, keys.dtype());
  if (values.dtype() != spec_.value)
    return wrong_type("the values of the table", spec_.value, values.dtype());
  const std::array rows{keys.shape().is_scalar() ? int64_t{0} : keys.shape()[0]};
  TROUPE_ASSIGN(const Shape keys_shape, joined(rows, one_or(key_shape_).dims(), spec_.key));
  TROUPE_ASSIGN(const Shape values_shape, joined(rows, one_or(spec_.value_shape).dims(), spec_.value));
  if (keys.shape() == keys_shape && values.shape() == values_shape) return {};
  return invalid_argument("Expected buckets with keys " + keys_shape.text() + " and values " +
                          values_shape.text() + ", but got " + keys.shape().text() + " and " +
                          values.shape().text());
}

/// Takes the rows whose key is not reserved.
Status TableContents::import_buckets(const Tensor& keys, const Tensor& values) {
  TROUPE_RETURN_IF_FAILED(check_import(keys, values));
  const int64_t key_elements = key_shape_.elements(), value_elements = spec_.value_shape.elements();
  const ConstRows key_rows(keys, key_elements), empty(empty_, key_elements);
  const ConstRows deleted(deleted_.valid() ? deleted_ : empty_, key_elements);
  std::vector<int64_t> taken;
  for (int64_t i = 0; i < keys.shape()[0]; ++i)
    if (!key_rows.equal(i, empty, 0) && !key_rows.equal(i, deleted, 0)) taken.push_back(i);
  const std::array n{static_cast<int64_t>(taken.size())};
  TROUPE_ASSIGN(const Shape keys_shape, joined(n, key_shape_.dims(), spec_.key));
  TROUPE_ASSIGN(const Shape values_shape, joined(n, spec_.value_shape.dims(), spec_.value));
  TROUPE_ASSIGN(Tensor taken_keys, Tensor::allocate(spec_.key, keys_shape, memory()));
  TROUPE_ASSIGN(Tensor taken_values, Tensor::allocate(spec_.value, values_shape, memory()));
  const RowCopy copy_key(key_rows, taken_keys), copy_value(ConstRows(values, value_elements), taken_values);
  for (size_t i = 0; i < taken.size(); ++i) {
    copy_key(taken[i], static_cast<int64_t>(i));
    copy_value(taken[i], static_cast<int64_t>(i));
  }
  TROUPE_ASSIGN(buckets_, made_of(taken_keys, taken_values, std::max<int64_t>(keys.shape()[0], 4)));
  return {};
}

}  // namespace troupe
