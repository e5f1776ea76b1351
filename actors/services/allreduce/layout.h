// BlockLayout: how the elements of a reduction are cut into blocks, and which site owns each. It depends on shapes and sites
// only. The tensors of a bucket count as one row of elements. Immutable; any thread.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "actors/services/allreduce/collective.h"

namespace troupe {

/// Buckets of at most this many bytes have one block, which the first site owns: two hops cost less than many small messages.
inline constexpr size_t max_small_bytes = size_t{32} << 10;
/// The size of other blocks: large enough that the cost of a message does not matter, and small enough that reducing a block,
/// sending the next and receiving the last overlap.
inline constexpr size_t block_bytes = size_t{256} << 10;

/// Elements [begin, end) of the bucket.
struct Block {
  int64_t begin = 0, end = 0;
  uint32_t site = 0;  ///< the owner
  uint32_t rank = 0;  ///< for a reduce-scatter: the rank that gets the result
};

/// Elements [begin, end) of one tensor.
struct Piece {
  size_t tensor = 0;
  int64_t begin = 0, end = 0;
};

class BlockLayout {
 public:
  BlockLayout() = default;
  /// Without tensors if the collective is carried out by GPUs: then there is one block, which has no elements.
  BlockLayout(const Collective& collective, std::span<const Tensor> tensors);

  /// In the order in which they are exchanged: the first block of every site, the second one of every site, and so on.
  const std::vector<Block>& blocks() const { return blocks_; }
  /// Returns the parts of tensors that make up a block: at least one, if there is a tensor.
  std::vector<Piece> pieces(const Block& block) const;
  /// Returns whether a tensor lies within a single block, which belongs to another site than `site`.
  bool comes_whole(size_t tensor, uint32_t site) const;

 private:
  void cut(int64_t begin, int64_t end, int64_t step, uint32_t site, uint32_t rank);
  void take_turns(const Collective& collective);
  void find_whole_tensors();

  static constexpr uint32_t none = UINT32_MAX;
  std::vector<int64_t> starts_;  ///< of each tensor among the elements, and the end of the last
  std::vector<Block> blocks_;
  std::vector<uint32_t> whole_from_;  ///< by tensor: the owner of the only block that touches it, or none
};

/// Returns elements [begin, end) of a tensor as a vector that shares its buffer.
Tensor elements_of(const Tensor& tensor, int64_t begin, int64_t end);
/// Returns the elements of these pieces of tensors.
std::vector<Tensor> elements_of(std::span<const Tensor> tensors, std::span<const Piece> pieces);

}  // namespace troupe
