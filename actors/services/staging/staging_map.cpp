#include <algorithm>
#include <functional>
#include <map>

#include "actors/services/staging/staging_role.h"
#include "messages/schemas/staging.capnp.h"
#include "messages/wire/wire.h"

namespace troupe {
namespace {

/// Of a tuple, for which memory is taken when its first part comes.
constexpr uint32_t max_tensors = 1 << 16;

/// A map: tuples by their keys. Those that have come in part are kept apart from the complete ones.
class StagingMapRole final : public StagingRole {
 public:
  StagingMapRole(ActorNode& node, const StagingSpec& spec) : StagingRole(node, spec) {
    on<wire::StagePart>([this](const auto& message, Reply reply) { put(message, std::move(reply)); });
    on<wire::TakePart>([this](const auto& message, Reply reply) { take(message, std::move(reply)); });
  }

 private:
  /// The tensors that are not there are not valid.
  using Tuple = std::vector<Tensor>;

  // ---- Requests

  static Status check(const std::vector<int32_t>& indices, size_t tensors) {
    if (indices.empty()) return invalid_argument("indices are empty");
    if (std::ranges::adjacent_find(indices, std::greater_equal()) != indices.end())
      return invalid_argument("indices are not strictly ordered");
    if (indices.front() < 0)
      return invalid_argument("index " + std::to_string(indices.front()) + " is negative");
    if (indices.size() == tensors) return {};
    return invalid_argument("there are " + std::to_string(indices.size()) + " indices for " +
                            std::to_string(tensors) + " tensors");
  }

  void put(const Message<wire::StagePart>& message, Reply reply) {
    auto put = waiting<WaitingPut>(*message, std::move(reply));
    put.key = message->getKey();
    put.indices = vector_of<int32_t>(message->getIndices());
    put.size = message->getSize();
    if (Status status = check(put.indices, message.attachments().size()); !status.ok())
      return put.reply(std::move(status));
    if (put.size > max_tensors)
      return put.reply(invalid_argument("a tuple has " + std::to_string(put.size) + " tensors, but at most " +
                                        std::to_string(max_tensors) + " are allowed"));
    if (static_cast<uint32_t>(put.indices.back()) >= put.size)
      return put.reply(invalid_argument("index " + std::to_string(put.indices.back()) + " for key " +
                                        std::to_string(put.key) + " is out of bounds: a tuple has " +
                                        std::to_string(put.size) + " tensors"));
    put.limits = {message->getLimits().getTuples(), message->getLimits().getBytes()};
    add(std::move(put), message);
  }

  void take(const Message<wire::TakePart>& message, Reply reply) {
    auto take = waiting<WaitingTake>(*message, std::move(reply));
    take.types = vector_of<uint32_t>(message->getTypes());
    take.peek = message->getPeek();
    take.any_key = message->getAnyKey();
    take.key = message->getKey();
    take.indices = vector_of<int32_t>(message->getIndices());
    if (Status status = check(take.indices, take.types.size()); !status.ok())
      return take.reply(std::move(status));
    add(std::move(take));
  }

  // ---- Attempts

  Progress try_put(WaitingPut& put) override {
    const bool whole = put.indices.size() == put.size;
    if (!has_room(put, whole ? tuples_.size() : 0)) return Progress::None;
    if (!whole) return put_part(put);
    if (tuples_.try_emplace(put.key, std::move(put.tensors)).second) bytes_ += put.bytes;
    return staged(put);
  }

  Progress put_part(WaitingPut& put) {
    const auto [at, is_new] = incomplete_.try_emplace(put.key, Tuple(put.size));
    Tuple& tuple = at->second;
    for (const int32_t index : put.indices)
      if (static_cast<size_t>(index) >= tuple.size() || tuple[static_cast<size_t>(index)].valid())
        return refuse(put, invalid_argument("the tensor for index " + std::to_string(index) + " for key " +
                                            std::to_string(put.key) + " was already initialized"));
    for (size_t i = 0; i < put.indices.size(); ++i)
      tuple[static_cast<size_t>(put.indices[i])] = std::move(put.tensors[i]);
    bytes_ += put.bytes;
    if (std::ranges::all_of(tuple, &Tensor::valid)) {
      if (!tuples_.contains(put.key))
        tuples_.emplace(put.key, std::move(tuple));
      else
        bytes_ -= bytes_of(tuple);
      incomplete_.erase(at);
    }
    return staged(put);
  }

  Progress try_take(WaitingTake& take) override {
    const auto at = take.any_key ? tuples_.begin() : tuples_.find(take.key);
    if (at == tuples_.end()) return Progress::None;
    std::vector<const Tensor*> wanted;
    for (const int32_t index : take.indices) {
      if (static_cast<size_t>(index) >= at->second.size())
        return refuse(take, invalid_argument("index " + std::to_string(index) + " for key " +
                                             std::to_string(at->first) + " is out of bounds: the tuple has " +
                                             std::to_string(at->second.size()) + " tensors"));
      wanted.push_back(&at->second[static_cast<size_t>(index)]);
      if (!wanted.back()->valid())
        return refuse(take, invalid_argument("Tensor at index '" + std::to_string(index) + "' for key '" +
                                             std::to_string(at->first) + "' has already been removed."));
    }
    if (Status status = check_types(take, wanted); !status.ok()) return refuse(take, std::move(status));
    std::vector<Tensor> tensors;
    for (const Tensor* tensor : wanted) tensors.push_back(*tensor);
    const int64_t key = at->first;
    if (!take.peek) remove(at, take.indices);
    return give(take, std::move(tensors), key);
  }

  void remove(std::map<int64_t, Tuple>::iterator at, const std::vector<int32_t>& indices) {
    for (const int32_t index : indices) {
      Tensor& tensor = at->second[static_cast<size_t>(index)];
      bytes_ -= tensor.bytes();
      tensor.reset();
    }
    if (std::ranges::none_of(at->second, &Tensor::valid)) tuples_.erase(at);
  }

  void clear() override {
    tuples_.clear();
    incomplete_.clear();
  }
  uint64_t complete() const override { return tuples_.size(); }
  uint64_t incomplete() const override { return incomplete_.size(); }
  bool keeps_order() const override { return false; }

  std::map<int64_t, Tuple> tuples_, incomplete_;
};

}  // namespace

std::unique_ptr<Role> make_staging_map(ActorNode& node, const StagingSpec& spec) {
  return std::make_unique<StagingMapRole>(node, spec);
}

}  // namespace troupe
