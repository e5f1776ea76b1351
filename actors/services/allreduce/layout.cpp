#include "actors/services/allreduce/layout.h"

#include <algorithm>

namespace troupe {

BlockLayout::BlockLayout(const Collective& collective, std::span<const Tensor> tensors) {
  starts_.push_back(0);
  for (const Tensor& tensor : tensors) starts_.push_back(starts_.back() + tensor.elements());
  const int64_t elements = starts_.back();
  const auto size = static_cast<int64_t>(size_of(collective.dtype));
  const auto step = static_cast<int64_t>(block_bytes) / size;
  const auto share = [&](int64_t part, int64_t parts) {
    return elements / parts * part + elements % parts * part / parts;
  };
  if (collective.on_gpus) {
    cut(0, 0, 1, 0, 0);
  } else if (collective.kind == CollectiveKind::Scatter) {
    for (uint32_t rank = 0; rank < collective.ranks(); ++rank)
      cut(share(rank, collective.ranks()), share(rank + 1, collective.ranks()), step,
          collective.site_of[rank], rank);
  } else if (collective.to_root) {
    cut(0, elements, step, collective.site_of[collective.root], 0);
  } else if (elements * size <= static_cast<int64_t>(max_small_bytes)) {
    cut(0, elements, std::max<int64_t>(elements, 1), 0, 0);
  } else {
    const auto sites = static_cast<uint32_t>(collective.sites.size());
    for (uint32_t site = 0; site < sites; ++site)
      cut(share(site, sites), share(site + 1, sites), step, site, 0);
  }
  take_turns(collective);
  find_whole_tensors();
}

/// Adds at least one block, even if there are no elements.
void BlockLayout::cut(int64_t begin, int64_t end, int64_t step, uint32_t site, uint32_t rank) {
  do {
    blocks_.push_back({begin, std::min(begin + step, end), site, rank});
    begin += step;
  } while (begin < end);
}

void BlockLayout::take_turns(const Collective& collective) {
  std::vector<size_t> seen(collective.sites.size(), 0);
  std::vector<std::pair<size_t, Block>> turns;
  for (const Block& block : blocks_) turns.emplace_back(seen[block.site]++, block);
  std::ranges::stable_sort(turns, {}, &std::pair<size_t, Block>::first);
  for (size_t i = 0; i < turns.size(); ++i) blocks_[i] = turns[i].second;
}

std::vector<Piece> BlockLayout::pieces(const Block& block) const {
  const auto next = std::ranges::upper_bound(starts_, block.begin);
  auto tensor = static_cast<size_t>(next - starts_.begin() - 1);
  const size_t tensors = starts_.size() - 1;
  if (tensors == 0) return {};
  tensor = std::min(tensor, tensors - 1);
  std::vector<Piece> result;
  do {
    result.push_back({tensor, std::max(block.begin, starts_[tensor]) - starts_[tensor],
                      std::min(block.end, starts_[tensor + 1]) - starts_[tensor]});
    ++tensor;
  } while (tensor < tensors && starts_[tensor] < block.end);
  return result;
}

void BlockLayout::find_whole_tensors() {
  std::vector<size_t> touching(starts_.size() - 1, 0);
  whole_from_.assign(starts_.size() - 1, none);
  for (const Block& block : blocks_)
    for (const Piece& piece : pieces(block))
      whole_from_[piece.tensor] = ++touching[piece.tensor] == 1 ? block.site : none;
}

bool BlockLayout::comes_whole(size_t tensor, uint32_t site) const {
  return whole_from_[tensor] != none && whole_from_[tensor] != site;
}

Tensor elements_of(const Tensor& tensor, int64_t begin, int64_t end) {
  return tensor.reshaped(Shape::vector(tensor.elements())).rows(begin, end);
}

std::vector<Tensor> elements_of(std::span<const Tensor> tensors, std::span<const Piece> pieces) {
  std::vector<Tensor> result;
  result.reserve(pieces.size());
  for (const Piece& piece : pieces)
    result.push_back(elements_of(tensors[piece.tensor], piece.begin, piece.end));
  return result;
}

}  // namespace troupe
