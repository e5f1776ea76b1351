// The buckets of lookup tables against a map of the standard library.
#include "kernels/tables/table_buckets.h"

#include <boost/test/unit_test.hpp>

#include <map>
#include <random>

#include "devices/pool.h"

namespace troupe::table_buckets_test {
namespace {

TableSpec longs() { return {"t", TableKind::Mutable, DType::Int64, DType::Int64, Shape{}, 4, 0.8f}; }

Tensor of(const std::vector<int64_t>& values) {
  return Tensor::vector<int64_t>(std::span<const int64_t>(values));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(table_buckets)

BOOST_AUTO_TEST_CASE(any_sequence_of_changes_does_what_a_map_does) {
  InlinePool pool;
  std::mt19937_64 random(7);
  const auto buckets = value_or_throw(TableBuckets::make(longs(), 1, 4, heap_allocator()));
  std::map<int64_t, int64_t> model;
  std::vector<int64_t> all(300);
  for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int64_t>(i) << (i % 60);
  for (int round = 0; round < 400; ++round) {
    std::vector<int64_t> keys, values;
    for (size_t n = random() % 20; n != 0; --n) {
      keys.push_back(all[random() % all.size()]);
      values.push_back(static_cast<int64_t>(random()));
    }
    if (random() % 2 == 0) {
      BOOST_TEST_REQUIRE(buckets->reserve(static_cast<int64_t>(keys.size())).ok());
      buckets->insert(of(keys), of(values));
      for (size_t i = 0; i < keys.size(); ++i) model[keys[i]] = values[i];
    } else {
      buckets->erase(of(keys));
      for (const int64_t key : keys) model.erase(key);
    }
    BOOST_TEST_REQUIRE(buckets->size() == static_cast<int64_t>(model.size()));
    Tensor found = of(all);
    buckets->find(of(all), Tensor::scalar<int64_t>(-5), found, pool);
    for (size_t i = 0; i < all.size(); ++i) {
      const auto at = model.find(all[i]);
      BOOST_TEST_REQUIRE(found.as<int64_t>()[i] == (at == model.end() ? -5 : at->second));
    }
  }
  BOOST_TEST(buckets->buckets() <= 1024);  // removed keys leave no buckets behind
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::table_buckets_test
