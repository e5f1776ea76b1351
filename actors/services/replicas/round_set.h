// RoundSet: decides which shards count in each round of a training: the first ones that have pushed to every group. Plain values;
// owned by the rounds role.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace troupe {

class RoundSet {
 public:
  /// `required` of `shards` shards count, each of which makes `pushes` pushes per round. `applied` rounds have been fixed before.
  RoundSet(uint32_t shards, uint32_t required, uint32_t pushes, uint64_t applied)
      : required_(required), pushes_(pushes), fixed_(applied), left_out_(shards) {}

  uint32_t shards() const { return static_cast<uint32_t>(left_out_.size()); }
  uint64_t fixed() const { return fixed_; }  ///< the round that was fixed last
  /// For each shard the number of rounds that were fixed without it.
  const std::vector<uint64_t>& left_out() const { return left_out_; }
  uint64_t late() const { return late_; }  ///< how many pushes did not count

  /// Sets how many shards count, from 1 to shards(), from the next round on.
  void require(uint32_t shards) { required_ = shards; }
  /// Takes pushes of a shard. They are late if their round is fixed.
  void arrived(uint64_t round, uint32_t shard, uint32_t pushes) {
    if (round != fixed_ + 1) {
      late_ += pushes;
      return;
    }
    uint32_t& count = arrived_[shard];
    count += pushes;
    if (count == pushes_) complete_.push_back(shard);
  }
  /// Fixes the next round if enough shards are complete. Returns its shards in ascending order.
  std::optional<std::vector<uint32_t>> fix() {
    if (complete_.size() < required_) return {};
    std::vector<uint32_t> set(complete_.begin(), complete_.begin() + required_);
    std::ranges::sort(set);
    for (uint32_t shard = 0; shard < shards(); ++shard) {
      if (std::ranges::binary_search(set, shard)) continue;
      ++left_out_[shard];
      if (const auto count = arrived_.find(shard); count != arrived_.end()) late_ += count->second;
    }
    ++fixed_;
    arrived_.clear();
    complete_.clear();
    return set;
  }

 private:
  uint32_t required_;
  const uint32_t pushes_;
  uint64_t fixed_;
  std::map<uint32_t, uint32_t> arrived_;  ///< by shard: its pushes for the next round
  /// The shards with all pushes for the next round, in the order of arrival.
  std::vector<uint32_t> complete_;
  std::vector<uint64_t> left_out_;
  uint64_t late_ = 0;
};

}  // namespace troupe
