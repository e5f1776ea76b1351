#include "actors/services/sparse_map/sparse_map.h"

#include <set>
#include <unordered_map>

#include "actors/services/sparse_map/sparse_value.h"
#include "messages/schemas/sparse_map.capnp.h"

namespace troupe {
namespace {

class SparseMapRole final : public Role {
 public:
  explicit SparseMapRole(SparseMapSpec spec) : spec_(std::move(spec)) {
    on<wire::AddSparseTensors>([this](const auto& message, Reply reply) { add(message, std::move(reply)); });
    on<wire::TakeSparseTensors>(
        [this](const auto& message, Reply reply) { take(message, std::move(reply)); });
  }

 private:
  void add(const AnyMessage& message, Reply reply) {
    const auto tensors = message.attachments();
    if (tensors.size() % SparseValue::parts != 0)
      return reply(invalid_argument("sparse tensors have three parts each, but " +
                                    std::to_string(tensors.size()) + " tensors came"));
    Draft<wire::SparseTensorsAdded> draft;
    draft->setFirst(next_);
    draft->setCount(tensors.size() / SparseValue::parts);
    for (size_t i = 0; i < tensors.size(); i += SparseValue::parts)
      tensors_.emplace(next_++, SparseValue{tensors[i], tensors[i + 1], tensors[i + 2]});
    reply(draft.finish());
  }

  void take(const AnyMessage& message, Reply reply) {
    const auto handles = message.attachment(0);
    if (!handles || handles->dtype() != DType::Int64)
      return reply(handles ? invalid_argument("handles are " + handles->signature()) : handles.status());
    if (Status status = check(handles->as<int64_t>()); !status.ok()) return reply(std::move(status));
    std::vector<Tensor> taken;
    for (const int64_t handle : handles->as<int64_t>()) {
      SparseValue tensor = std::move(tensors_.extract(handle).mapped());
      for (Tensor* const part : {&tensor.indices, &tensor.values, &tensor.shape})
        taken.push_back(std::move(*part));
    }
    reply(Draft<wire::SparseTensorsTaken>().finish(std::move(taken)));
  }

  Status check(std::span<const int64_t> handles) const {
    std::set<int64_t> seen;
    for (const int64_t handle : handles)
      if (!tensors_.contains(handle) || !seen.insert(handle).second)
        return invalid_argument("map '" + spec_.name + "' has no sparse tensor " + std::to_string(handle) +
                                (seen.contains(handle) ? " for a second time" : ""));
    return {};
  }

  const SparseMapSpec spec_;
  std::unordered_map<int64_t, SparseValue> tensors_;  ///< by handle
  int64_t next_ = 0;
};

}  // namespace

std::unique_ptr<Role> make_sparse_map(SparseMapSpec spec) {
  return std::make_unique<SparseMapRole>(std::move(spec));
}

}  // namespace troupe
