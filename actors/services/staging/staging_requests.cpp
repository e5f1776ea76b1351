#include "actors/services/staging/staging_requests.h"

#include <algorithm>
#include <limits>

#include "messages/schemas/staging.capnp.h"
#include "messages/wire/wire.h"

namespace troupe {
namespace {

void write_limits(const Node& node, wire::PutLimits::Builder limits) {
  limits.setTuples(static_cast<uint64_t>(node.attrs.get<int64_t>("capacity")));
  limits.setBytes(static_cast<uint64_t>(node.attrs.get<int64_t>("memory_limit")));
}

std::vector<Tensor> tensors_of(const StepRequest& request, size_t first) {
  std::vector<Tensor> tensors;
  for (Slot& slot : request.inputs.subspan(first)) tensors.push_back(std::move(slot.tensor));
  return tensors;
}

/// Writes the dtypes of the outputs from number `first` on.
template <class T>
void write_types(const Node& node, size_t first, Draft<T>& draft) {
  const auto outputs = std::span(node.output_types).subspan(first);
  auto types = draft->initTypes(static_cast<uint32_t>(outputs.size()));
  for (uint32_t i = 0; i < outputs.size(); ++i) types.set(i, static_cast<uint32_t>(outputs[i].dtype));
}

template <class T>
Status write_indices(const Tensor& indices, Draft<T>& draft) {
  if (indices.dtype() != DType::Int32)
    return invalid_argument("indices is " + indices.signature() + ", but must be int32");
  const auto values = indices.as<int32_t>();
  auto list = draft->initIndices(static_cast<uint32_t>(values.size()));
  for (uint32_t i = 0; i < values.size(); ++i) list.set(i, values[i]);
  return {};
}

Result<int64_t> key_of(const Tensor& key) {
  if (key.dtype() == DType::Int64 && key.elements() == 1) return key.as<int64_t>()[0];
  return invalid_argument("key is " + key.signature() + ", but must be an int64 scalar");
}

Result<AnyMessage> stage_message(const StepRequest& request, const StepInfo& step) {
  Draft<wire::StageTuple> draft;
  set_step(draft->initStep(), step.session, step.ordinal);
  write_limits(request.node, draft->initLimits());
  return AnyMessage(draft.finish(tensors_of(request, 0)));
}

Result<AnyMessage> take_message(StagingOp op, const StepRequest& request, const StepInfo& step) {
  Draft<wire::TakeTuple> draft;
  set_step(draft->initStep(), step.session, step.ordinal);
  write_types(request.node, 0, draft);
  if (op == StagingOp::Peek) {
    const Tensor& index = request.inputs[0].tensor;
    if (index.dtype() != DType::Int32 || index.elements() != 1 || index.as<int32_t>()[0] < 0)
      return invalid_argument("index is " + index.signature() +
                              ", but must be an int32 scalar of at least 0");
    draft->setPeek(true);
    draft->setIndex(static_cast<uint64_t>(index.as<int32_t>()[0]));
  }
  return AnyMessage(draft.finish());
}

Result<AnyMessage> map_stage_message(const StepRequest& request, const StepInfo& step) {
  Draft<wire::StagePart> draft;
  set_step(draft->initStep(), step.session, step.ordinal);
  write_limits(request.node, draft->initLimits());
  TROUPE_ASSIGN(const int64_t key, key_of(request.inputs[0].tensor));
  draft->setKey(key);
  TROUPE_RETURN_IF_FAILED(write_indices(request.inputs[1].tensor, draft));
  draft->setSize(static_cast<uint32_t>(request.node.attrs.get<std::vector<DType>>("dtypes").size()));
  return AnyMessage(draft.finish(tensors_of(request, 2)));
}

Result<AnyMessage> map_take_message(StagingOp op, const StepRequest& request, const StepInfo& step) {
  Draft<wire::TakePart> draft;
  set_step(draft->initStep(), step.session, step.ordinal);
  const bool any_key = op == StagingOp::MapUnstageNoKey;
  write_types(request.node, any_key ? 1 : 0, draft);
  draft->setPeek(op == StagingOp::MapPeek);
  draft->setAnyKey(any_key);
  if (!any_key) {
    TROUPE_ASSIGN(const int64_t key, key_of(request.inputs[0].tensor));
    draft->setKey(key);
  }
  TROUPE_RETURN_IF_FAILED(write_indices(request.inputs[any_key ? 0 : 1].tensor, draft));
  return AnyMessage(draft.finish());
}

}  // namespace

std::optional<StagingOp> staging_op(std::string_view type) {
  static constexpr std::pair<std::string_view, StagingOp> ops[] = {
      {"Stage", StagingOp::Stage},
      {"Unstage", StagingOp::Unstage},
      {"StagePeek", StagingOp::Peek},
      {"StageSize", StagingOp::Size},
      {"StageClear", StagingOp::Clear},
      {"MapStage", StagingOp::MapStage},
      {"MapUnstage", StagingOp::MapUnstage},
      {"MapUnstageNoKey", StagingOp::MapUnstageNoKey},
      {"MapPeek", StagingOp::MapPeek},
      {"MapSize", StagingOp::Size},
      {"MapIncompleteSize", StagingOp::IncompleteSize},
      {"MapClear", StagingOp::Clear}};
  constexpr std::string_view ordered = "Ordered";
  if (type.starts_with(ordered)) type.remove_prefix(ordered.size());
  for (const auto& [name, op] : ops)
    if (name == type) return op;
  return std::nullopt;
}

bool may_wait(StagingOp op) {
  return op != StagingOp::Size && op != StagingOp::IncompleteSize && op != StagingOp::Clear;
}

Result<AnyMessage> staging_message(StagingOp op, const StepRequest& request, const StepInfo& step) {
  switch (op) {
    case StagingOp::Stage: return stage_message(request, step);
    case StagingOp::Unstage:
    case StagingOp::Peek: return take_message(op, request, step);
    case StagingOp::MapStage: return map_stage_message(request, step);
    case StagingOp::MapUnstage:
    case StagingOp::MapUnstageNoKey:
    case StagingOp::MapPeek: return map_take_message(op, request, step);
    case StagingOp::Clear: return AnyMessage(Draft<wire::ClearStaging>().finish());
    case StagingOp::Size:
    case StagingOp::IncompleteSize: break;
  }
  return AnyMessage(Draft<wire::GetStagingSize>().finish());
}

StepReply staging_reply(StagingOp op, Result<AnyMessage> answer) {
  if (!answer) return {answer.status(), {}, false};
  if (op == StagingOp::Size || op == StagingOp::IncompleteSize) {
    const auto size = *Message<wire::StagingSize>(*answer);
    const uint64_t count = op == StagingOp::Size ? size.getComplete() : size.getIncomplete();
    constexpr uint64_t most = std::numeric_limits<int32_t>::max();
    return {{}, {Tensor::scalar(static_cast<int32_t>(std::min(count, most)))}, false};
  }
  std::vector<Tensor> outputs;
  if (op == StagingOp::MapUnstageNoKey)
    outputs.push_back(Tensor::scalar<int64_t>(Message<wire::TupleTaken>(*answer)->getKey()));
  const auto tensors = answer->attachments();
  outputs.insert(outputs.end(), tensors.begin(), tensors.end());
  return {{}, std::move(outputs), false};
}

}  // namespace troupe
