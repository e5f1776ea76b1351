#include "apps/data/random.h"

#include <numeric>
#include <utility>

namespace troupe::data {

std::vector<int64_t> permutation(int64_t n, uint64_t seed, RandomStream stream, uint64_t index) {
  SplitMix random = SplitMix::of(seed, stream, index);
  std::vector<int64_t> order(static_cast<std::size_t>(n));
  std::iota(order.begin(), order.end(), int64_t{0});
  for (std::size_t left = order.size(); left > 1; --left)
    std::swap(order[left - 1], order[random.below(left)]);
  return order;
}

}  // namespace troupe::data
