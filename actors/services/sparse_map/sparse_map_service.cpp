#include "actors/services/sparse_map/sparse_map_service.h"

#include <algorithm>
#include <numeric>

#include "actors/services/sparse_map/sparse_value.h"
#include "messages/schemas/sparse_map.capnp.h"

namespace troupe {
namespace {

using Maps = StateActors<SparseMapSpec>;

/// A node of an op on a map.
class MapNode : public ServedNode {
 public:
  MapNode(Maps& maps, Pool& pool) : maps_(maps), pool_(pool) {}

 protected:
  Result<ServiceCall> call_with(const StepRequest& request, AnyMessage message) const {
    TROUPE_ASSIGN(const auto map, maps_.find(Slot::of(request.cell)));
    return ServiceCall{map->actor.get(), std::move(message)};
  }
  Pool& pool() const { return pool_; }

 private:
  Maps& maps_;
  Pool& pool_;
};

/// AddSparseToTensorsMap and AddManySparseToTensorsMap. The rows are cut out here, on the thread of the step.
class AddNode final : public MapNode {
 public:
  AddNode(Maps& maps, Pool& pool, bool many) : MapNode(maps, pool), many_(many) {}

  Result<ServiceCall> call(const StepRequest& request, const StepInfo&) const override {
    const auto inputs = request.inputs;
    SparseValue sparse{std::move(inputs[0].tensor), std::move(inputs[1].tensor), std::move(inputs[2].tensor)};
    TROUPE_RETURN_IF_FAILED(check_sparse(sparse));
    std::vector<Tensor> parts;
    const auto add = [&](SparseValue& tensor) {
      for (Tensor* const part : {&tensor.indices, &tensor.values, &tensor.shape})
        parts.push_back(std::move(*part));
    };
    if (many_) {
      TROUPE_ASSIGN(auto rows, rows_of(sparse, pool()));
      std::ranges::for_each(rows, add);
    } else {
      add(sparse);
    }
    return call_with(request, Draft<wire::AddSparseTensors>().finish(std::move(parts)));
  }

  StepReply reply(Result<AnyMessage> answer) const override {
    if (!answer) return {answer.status(), {}, false};
    const Message<wire::SparseTensorsAdded> added(*answer);
    if (!many_) return {{}, {Tensor::scalar(added->getFirst())}, false};
    std::vector<int64_t> handles(added->getCount());
    std::iota(handles.begin(), handles.end(), added->getFirst());
    return {{}, {Tensor::vector(std::span<const int64_t>(handles))}, false};
  }

 private:
  const bool many_;
};

/// TakeManySparseFromTensorsMap. The tensors are stacked here, on the thread that has the answer.
class TakeNode final : public MapNode {
 public:
  TakeNode(Maps& maps, Pool& pool, DType dtype) : MapNode(maps, pool), dtype_(dtype) {}

  Result<ServiceCall> call(const StepRequest& request, const StepInfo&) const override {
    Tensor& handles = request.inputs[0].tensor;
    if (handles.shape().rank() != 1 || handles.elements() == 0)
      return invalid_argument("sparse_handles is " + handles.signature() +
                              ", but must have one or more elements in one dimension");
    return call_with(request, Draft<wire::TakeSparseTensors>().finish({std::move(handles)}));
  }

  StepReply reply(Result<AnyMessage> answer) const override {
    if (!answer) return {answer.status(), {}, false};
    const auto parts = answer->attachments();
    std::vector<SparseValue> tensors;
    for (size_t i = 0; i + 2 < parts.size(); i += SparseValue::parts)
      tensors.push_back({parts[i], parts[i + 1], parts[i + 2]});
    auto stack = stacked(tensors, dtype_, pool());
    if (!stack) return {stack.status(), {}, false};
    return {{}, {std::move(stack->indices), std::move(stack->values), std::move(stack->shape)}, false};
  }

 private:
  const DType dtype_;
};

}  // namespace

Result<std::unique_ptr<const ServedNode>> SparseMapService::prepare(const std::shared_ptr<const Graph>&,
                                                                    const Node& node) {
  TROUPE_RETURN_IF_FAILED(check_host("a map keeps its sparse tensors"));
  Pool& pool = site_.node.pool;
  std::unique_ptr<const ServedNode> prepared;
  if (node.type() == "TakeManySparseFromTensorsMap")
    prepared = std::make_unique<TakeNode>(states_, pool, node.attrs.get<DType>("dtype"));
  else
    prepared = std::make_unique<AddNode>(states_, pool, node.type() == "AddManySparseToTensorsMap");
  return prepared;
}

Status SparseMapService::open(const Node&, const std::shared_ptr<StateCell>& cell) {
  return states_.open(cell, SparseMapSpec{cell->name()}, make_sparse_map);
}

}  // namespace troupe
