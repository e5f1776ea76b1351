#include "actors/services/allreduce/instance.h"

#include <algorithm>
#include <cstring>

#include "kernels/loops/weighted_mean.h"

namespace troupe {
namespace {

/// Allocates the results of a reduction, except for tensors that arrive whole.
Status allocate_results(Instance& instance, std::span<const Tensor> tensors, Allocator& memory) {
  const Collective& what = instance.what();
  if (what.kind == CollectiveKind::Reduce) {
    for (size_t i = 0; i < tensors.size(); ++i) {
      Tensor& result = instance.results.emplace_back();
      if (!what.gets_results() || instance.layout.comes_whole(i, what.site)) continue;
      TROUPE_RETURN_IF_FAILED(result.reallocate(what.dtype, tensors[i].shape(), memory));
    }
    return {};
  }
  const auto dims = tensors[0].shape().dims();
  std::vector<int64_t> part(dims.begin(), dims.end());
  part[0] /= what.ranks();
  TROUPE_ASSIGN(const Shape shape, Shape::make(part, what.dtype));
  for (const uint32_t rank : what.own)
    TROUPE_RETURN_IF_FAILED(instance.results[rank].reallocate(what.dtype, shape, memory));
  return {};
}

/// Counts what a site waits for, apart from its own questions in a reduction, which come with its ranks.
void count_unfinished(Instance& instance) {
  const Collective& what = instance.what();
  instance.unfinished = what.own.size();
  if (instance.reduces()) {
    for (const Block& block : instance.layout.blocks())
      instance.unfinished += block.site == what.site ? 1 : what.own.size();
    return;
  }
  const size_t others = what.sites.size() - 1;
  for (uint32_t rank = 0; rank < what.ranks(); ++rank) {
    if (!instance.gives(rank)) continue;
    instance.unfinished += what.site_of[rank] == what.site ? others : 1;
  }
}

bool fits(const Tensor& tensor, const Piece& piece, DType dtype) {
  return tensor.dtype() == dtype && tensor.elements() == piece.end - piece.begin;
}

Status check_part(const BlockLayout& layout, const Block& block, DType dtype, std::span<const Tensor> part) {
  const auto pieces = layout.pieces(block);
  bool all = pieces.size() == part.size();
  for (size_t i = 0; all && i < pieces.size(); ++i) all = fits(part[i], pieces[i], dtype);
  if (all) return {};
  return invalid_argument("elements [" + std::to_string(block.begin) + ", " + std::to_string(block.end) +
                          ") came as " + std::to_string(part.size()) + " tensors that do not fit");
}

}  // namespace

size_t BlockWork::bytes() const {
  size_t result = 0;
  for (const auto& piece : parts)
    for (const Tensor& part : piece) result += part.bytes();
  return result;
}

void BlockWork::run(Pool& pool) {
  for (size_t i = 0; i < parts.size(); ++i) {
    if (parts[i].size() > 1)
      reduce_parts(reduction, parts[i], samples, results[i], pool);
    else if (parts[i][0].bytes() != 0)
      std::memcpy(results[i].mutable_data(), parts[i][0].data(), parts[i][0].bytes());
  }
}

Result<std::unique_ptr<Instance>> Instance::make(std::shared_ptr<const Collective> what, uint64_t serial,
                                                 std::span<const Tensor> tensors, Allocator& memory) {
  auto instance = std::make_unique<Instance>();
  instance->collective = std::move(what);
  const Collective& collective = instance->what();
  instance->serial = serial;
  instance->signature = signature_of(collective, tensors);
  instance->samples.assign(collective.ranks(), 0);
  instance->sessions.assign(collective.ranks(), 0);
  instance->sites.resize(collective.sites.size());
  instance->asking.resize(collective.ranks());
  instance->asked.assign(collective.ranks(), std::vector<bool>(collective.sites.size(), false));
  if (collective.kind != CollectiveKind::Reduce) instance->results.resize(collective.ranks());
  if (instance->reduces()) {
    instance->layout = BlockLayout(collective, collective.on_gpus ? std::span<const Tensor>() : tensors);
    instance->owned.resize(instance->layout.blocks().size());
    for (size_t i = 0; i < instance->owned.size(); ++i)
      if (instance->layout.blocks()[i].site == collective.site) {
        instance->owned[i].parts.resize(collective.ranks());
        instance->owned[i].given.assign(collective.ranks(), false);
        instance->owned[i].missing = collective.ranks();
      }
    if (!collective.on_gpus) TROUPE_RETURN_IF_FAILED(allocate_results(*instance, tensors, memory));
  }
  if (collective.on_gpus) instance->gpu_members.resize(collective.ranks());
  count_unfinished(*instance);
  return instance;
}

Instance::Own* Instance::find(uint32_t rank) {
  const auto at = std::ranges::find(own, rank, &Own::rank);
  return at == own.end() ? nullptr : &*at;
}

Status Instance::add(uint32_t block, uint32_t rank, std::vector<Tensor> part, int64_t weight) {
  if (block >= owned.size() || owned[block].given.empty())
    return invalid_argument("block " + std::to_string(block) + " is not of this site");
  TROUPE_RETURN_IF_FAILED(check_part(layout, layout.blocks()[block], what().dtype, part));
  Owned& to = owned[block];
  if (to.given[rank])
    return already_exists(what().member(rank) + " has contributed to this instance of '" + what().name() +
                          "' already");
  to.parts[rank] = std::move(part);
  to.given[rank] = true;
  --to.missing;
  samples[rank] = weight;
  return {};
}

Result<BlockWork> Instance::reduction(uint32_t block) {
  Owned& from = owned[block];
  BlockWork work{what().reduction, samples, {}, results_of(block)};
  if (work.reduction == Reduction::WeightedMean) TROUPE_RETURN_IF_FAILED(sum_of_weights(samples).status());
  work.parts.resize(work.results.size());
  for (auto& part : std::exchange(from.parts, {}))
    for (size_t i = 0; i < part.size(); ++i) work.parts[i].push_back(std::move(part[i]));
  return work;
}

Result<BlockWork> Instance::copy(uint32_t block, std::span<const Tensor> answer) {
  const Block& from = layout.blocks()[block];
  TROUPE_RETURN_IF_FAILED(check_part(layout, from, what().dtype, answer));
  BlockWork work;
  const auto pieces = layout.pieces(from);
  for (size_t i = 0; i < pieces.size(); ++i) {
    Tensor& result = results[pieces[i].tensor];
    if (!result.valid() && pieces[i].begin == 0) {
      result = answer[i].reshaped(own.front().tensors[pieces[i].tensor].shape());
      continue;
    }
    work.parts.push_back({answer[i]});
    work.results.push_back(elements_of(result, pieces[i].begin, pieces[i].end));
  }
  return work;
}

std::vector<Tensor> Instance::results_of(uint32_t block) const {
  const Block& of = layout.blocks()[block];
  if (what().kind == CollectiveKind::Reduce) return elements_of(results, layout.pieces(of));
  const Tensor& result = results[of.rank];
  const int64_t first = result.elements() * of.rank;
  return {elements_of(result, of.begin - first, of.end - first)};
}

Result<BlockWork> Instance::join(Allocator& memory) {
  const auto dims = results[0].shape().dims();
  std::vector<int64_t> all(dims.begin(), dims.end());
  all[0] = 0;
  for (uint32_t rank = 0; rank < what().ranks(); ++rank) {
    const auto other = results[rank].shape().dims();
    if (other.size() != dims.size() || !std::ranges::equal(other.subspan(1), dims.subspan(1)) ||
        __builtin_add_overflow(all[0], other[0], &all[0]))
      return invalid_argument("the tensor of " + what().member(rank) + " is " + results[rank].signature() +
                              ", that of " + what().member(0) + " is " + results[0].signature() +
                              ": they cannot be joined along dimension 0");
  }
  TROUPE_ASSIGN(const Shape shape, Shape::make(all, what().dtype));
  TROUPE_RETURN_IF_FAILED(joined.reallocate(what().dtype, shape, memory));
  BlockWork work;
  int64_t begin = 0;
  for (const Tensor& tensor : results) {
    work.parts.push_back({tensor});
    work.results.push_back(elements_of(joined, begin, begin + tensor.elements()));
    begin += tensor.elements();
  }
  return work;
}

Result<GpuExchange> Instance::exchange(Allocator& memory) {
  GpuExchange exchange;
  switch (what().reduction) {
    case Reduction::Sum: exchange.reduction = GpuReduction::Sum; break;
    case Reduction::Mean: exchange.reduction = GpuReduction::Mean; break;
    case Reduction::Max: exchange.reduction = GpuReduction::Max; break;
    case Reduction::Min: exchange.reduction = GpuReduction::Min; break;
    case Reduction::Product: exchange.reduction = GpuReduction::Product; break;
    case Reduction::WeightedMean: {
      exchange.reduction = GpuReduction::WeightedSum;
      TROUPE_ASSIGN(const int64_t sum, sum_of_weights(samples));
      exchange.weight = static_cast<double>(samples[own.front().rank]) / static_cast<double>(sum);
      break;
    }
  }
  if (what().to_root) exchange.root = static_cast<int>(what().site_of[what().root]);
  exchange.adds_nothing = exchange.weight == 0;
  exchange.step = {own.front().step.session, own.front().step.ordinal};
  exchange.from = own.front().tensors;
  if (!what().gets_results() && !exchange.adds_nothing) return exchange;
  std::vector<Tensor> fresh(exchange.from.size());
  for (size_t i = 0; i < fresh.size(); ++i)
    TROUPE_RETURN_IF_FAILED(fresh[i].reallocate(what().dtype, exchange.from[i].shape(), memory));
  if (exchange.adds_nothing) exchange.from = fresh;
  if (what().gets_results()) exchange.to = results = std::move(fresh);
  return exchange;
}

std::vector<Tensor> Instance::outputs_of(uint32_t rank) const {
  switch (what().kind) {
    case CollectiveKind::Reduce:
      return what().gets_results() ? results : std::ranges::find(own, rank, &Own::rank)->tensors;
    case CollectiveKind::Scatter: return {results[rank]};
    case CollectiveKind::Gather: return {joined};
    case CollectiveKind::Broadcast: break;
  }
  return {results[what().root]};
}

}  // namespace troupe
