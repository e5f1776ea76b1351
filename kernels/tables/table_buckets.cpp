#include "kernels/tables/table_buckets.h"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <string_view>

#include "kernels/tables/table_rows.h"

namespace troupe {
namespace {

constexpr size_t keys_per_chunk = 2048;
constexpr int64_t max_buckets = int64_t{1} << 40;

/// The finalizer of SplitMix64 (Steele, Lea, Flood: Fast Splittable Pseudorandom Number Generators, 2014).
uint64_t mixed(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}
uint64_t hash_of(int64_t key) { return mixed(static_cast<uint64_t>(key)); }
uint64_t hash_of(const std::string& key) { return std::hash<std::string_view>()(key); }

/// Returns a tensor of n rows whose bytes are 0, or whose strings are empty.
Result<Tensor> empty_rows(DType dtype, int64_t n, int64_t row_elements, Allocator& memory) {
  TROUPE_ASSIGN(const Shape shape, Shape::make(std::array{n, row_elements}, dtype));
  TROUPE_ASSIGN(Tensor tensor, Tensor::allocate(dtype, shape, memory));
  if (dtype != DType::String) std::memset(tensor.mutable_data(), 0, tensor.bytes());
  return tensor;
}

template <class K>
class BucketsOf final : public TableBuckets {
 public:
  BucketsOf(const TableSpec& spec, int64_t key_elements, Allocator& memory)
      : key_(spec.key), value_(spec.value), key_elements_(static_cast<size_t>(key_elements)),
        value_elements_(spec.value_shape.elements()), max_load_(spec.max_load), memory_(memory) {}

  /// Moves all keys to as many new buckets, a power of 2.
  Status rehash(int64_t buckets) {
    const auto key_elements = static_cast<int64_t>(key_elements_);
    TROUPE_ASSIGN(Tensor keys, empty_rows(key_, buckets, key_elements, memory_));
    TROUPE_ASSIGN(Tensor values, empty_rows(value_, buckets, value_elements_, memory_));
    TROUPE_ASSIGN(Tensor states, empty_rows(DType::UInt8, buckets, 1, memory_));
    std::swap(keys_, keys);
    std::swap(values_, values);
    std::swap(states_, states);
    full_ = deleted_ = 0;
    if (!keys.valid()) return {};
    const RowCopy copy(ConstRows(values, value_elements_), values_);
    const auto old = states.as<uint8_t>();
    for (size_t i = 0; i < old.size(); ++i)
      if (static_cast<State>(old[i]) == State::Full)
        copy(static_cast<int64_t>(i), static_cast<int64_t>(place(row(keys, i))));
    return {};
  }

  bool has_room(int64_t more) const override { return fit(full_ + deleted_ + more, buckets()); }

  Status reserve(int64_t more) override {
    if (has_room(more)) return {};
    int64_t wanted = buckets();
    while (!fit(full_ + more, wanted)) {
      if (wanted > max_buckets / 2)
        return resource_exhausted("a table of " + std::to_string(full_ + more) +
                                  " keys with a max_load_factor of " + std::to_string(max_load_) +
                                  " needs more than " + std::to_string(max_buckets) + " buckets");
      wanted *= 2;
    }
    return rehash(wanted);
  }

  void find(const Tensor& keys, const Tensor& fallback, Tensor& values, Pool& pool) const override {
    const RowCopy found(ConstRows(values_, value_elements_), values);
    const RowCopy missing(ConstRows(fallback, value_elements_), values);
    pool.blocks(count(keys), keys_per_chunk, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) {
        const int64_t at = search(row(keys, i));
        if (at < 0)
          missing(0, static_cast<int64_t>(i));
        else
          found(at, static_cast<int64_t>(i));
      }
    });
  }

  void insert(const Tensor& keys, const Tensor& values) override {
    const RowCopy copy(ConstRows(values, value_elements_), values_);
    for (size_t i = 0; i < count(keys); ++i)
      copy(static_cast<int64_t>(i), static_cast<int64_t>(place(row(keys, i))));
  }

  void erase(const Tensor& keys) override {
    for (size_t i = 0; i < count(keys); ++i) {
      const int64_t at = search(row(keys, i));
      if (at < 0) continue;
      set_state(static_cast<size_t>(at), State::Deleted);
      --full_;
      ++deleted_;
    }
  }

  int64_t first_difference(const Tensor& keys, const Tensor& values) const override {
    const ConstRows ours(values_, value_elements_), theirs(values, value_elements_);
    for (size_t i = 0; i < count(keys); ++i) {
      const int64_t at = search(row(keys, i));
      if (at < 0 || !ours.equal(at, theirs, static_cast<int64_t>(i))) return static_cast<int64_t>(i);
    }
    return -1;
  }

 private:
  bool fit(int64_t keys, int64_t buckets) const {
    return static_cast<double>(keys) <= static_cast<double>(buckets) * max_load_;
  }
  const K* row(const Tensor& keys, size_t i) const {
    return reinterpret_cast<const K*>(keys.data()) + i * key_elements_;
  }
  size_t count(const Tensor& keys) const { return static_cast<size_t>(keys.elements()) / key_elements_; }
  const State* states() const { return reinterpret_cast<const State*>(states_.data()); }
  void set_state(size_t bucket, State state) {
    states_.mutable_data()[bucket] = static_cast<std::byte>(state);
  }

  uint64_t hash(const K* key) const {
    uint64_t result = hash_of(key[0]);
    for (size_t i = 1; i < key_elements_; ++i) result = mixed(result + hash_of(key[i]));
    return result;
  }
  bool equal(const K* key, size_t bucket) const {
    return std::equal(key, key + key_elements_, row(keys_, bucket));
  }

  /// Calls `visit(bucket)` for the buckets in which a key may be, until it returns true. The steps grow by 1, so that every
  /// bucket is visited; at least one bucket is empty.
  template <class Visit>
  void probe(const K* key, Visit visit) const {
    const size_t mask = static_cast<size_t>(buckets()) - 1;
    size_t bucket = hash(key) & mask;
    for (size_t step = 1; !visit(bucket); ++step) bucket = (bucket + step) & mask;
  }

  /// Returns the bucket of a key, or -1.
  int64_t search(const K* key) const {
    int64_t found = -1;
    probe(key, [&](size_t bucket) {
      const State state = states()[bucket];
      if (state == State::Full && equal(key, bucket)) found = static_cast<int64_t>(bucket);
      return state == State::Empty || found >= 0;
    });
    return found;
  }

  /// Returns the bucket of a key, which it takes for the key if the key has none.
  size_t place(const K* key) {
    size_t spot = 0;
    bool has_spot = false, present = false;
    probe(key, [&](size_t bucket) {
      const State state = states()[bucket];
      present = state == State::Full && equal(key, bucket);
      if (present || (state != State::Full && !std::exchange(has_spot, true))) spot = bucket;
      return present || state == State::Empty;
    });
    if (present) return spot;
    if (states()[spot] == State::Deleted) --deleted_;
    set_state(spot, State::Full);
    ++full_;
    std::copy_n(key, key_elements_, reinterpret_cast<K*>(keys_.mutable_data()) + spot * key_elements_);
    return spot;
  }

  const DType key_, value_;
  const size_t key_elements_;
  const int64_t value_elements_;
  const float max_load_;
  Allocator& memory_;
};

template <class K>
Result<std::unique_ptr<TableBuckets>> make_of(const TableSpec& spec, int64_t key_elements, int64_t buckets,
                                              Allocator& memory) {
  auto made = std::make_unique<BucketsOf<K>>(spec, key_elements, memory);
  TROUPE_RETURN_IF_FAILED(made->rehash(buckets));
  return std::unique_ptr<TableBuckets>(std::move(made));
}

}  // namespace

Result<std::unique_ptr<TableBuckets>> TableBuckets::make(const TableSpec& spec, int64_t key_elements,
                                                         int64_t buckets, Allocator& memory) {
  buckets = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(buckets)));
  if (spec.key == DType::Int32) return make_of<int32_t>(spec, key_elements, buckets, memory);
  if (spec.key == DType::Int64) return make_of<int64_t>(spec, key_elements, buckets, memory);
  return make_of<std::string>(spec, key_elements, buckets, memory);
}

}  // namespace troupe
