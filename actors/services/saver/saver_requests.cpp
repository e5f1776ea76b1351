#include "actors/services/saver/saver_requests.h"

#include "messages/schemas/saver.capnp.h"
#include "messages/wire/wire.h"

namespace troupe {
namespace {

/// Returns the only element of an input of strings.
Result<std::string> one_string(const Slot& input, std::string_view name) {
  const Tensor& tensor = input.tensor;
  if (tensor.dtype() == DType::String && tensor.elements() == 1) return tensor.as<std::string>()[0];
  return invalid_argument(std::string(name) + " is " + tensor.signature() + ", but must be one string");
}

/// Returns the elements of an input of strings, of which there must be `count`.
Result<std::span<const std::string>> strings(const Slot& input, std::string_view name, size_t count) {
  const Tensor& tensor = input.tensor;
  if (tensor.dtype() == DType::String && tensor.elements() == static_cast<int64_t>(count))
    return tensor.as<std::string>();
  return invalid_argument(std::string(name) + " is " + tensor.signature() + ", but must have " +
                          std::to_string(count) + " elements, one for each tensor");
}

/// What an op saves or restores.
struct Names {
  std::string path;
  std::span<const std::string> names, slices;  ///< no slices: whole variables
};

Result<Names> names_of(const StepRequest& request, bool has_slices, bool is_v2, size_t tensors) {
  const OpDef& op = *request.node.op;
  Names all;
  TROUPE_ASSIGN(all.path, one_string(request.inputs[0], op.inputs[0].name));
  TROUPE_ASSIGN(all.names, strings(request.inputs[1], op.inputs[1].name, tensors));
  if (has_slices) {
    TROUPE_ASSIGN(all.slices, strings(request.inputs[2], op.inputs[2].name, tensors));
  }
  for (size_t i = 1; is_v2 && i <= 2; ++i)
    if (const Shape& shape = request.inputs[i].tensor.shape(); shape.rank() != 1)
      return invalid_argument(op.inputs[i].name + " has shape " + shape.text() + ", but must have rank 1");
  return all;
}

/// Fills in what messages for saving and for restoring have in common. `types[i]` is the type of tensor i.
template <class T, class Type>
void fill(Draft<T>& draft, const StepInfo& step, bool is_v2, const Names& all, const Type& type_of) {
  set_step(draft->initStep(), step.session, step.ordinal);
  draft->setFormat(is_v2 ? wire::CheckpointFormat::V2 : wire::CheckpointFormat::V1);
  draft->setPath(as_data(all.path));
  auto list = draft->initTensors(static_cast<uint32_t>(all.names.size()));
  for (uint32_t i = 0; i < list.size(); ++i) {
    list[i].setName(as_data(all.names[i]));
    if (!all.slices.empty()) list[i].setSlice(as_data(all.slices[i]));
    list[i].setDtype(static_cast<uint8_t>(type_of(i)));
  }
}

Result<AnyMessage> save_message(SaverOp op, const StepRequest& request, const StepInfo& step) {
  const bool is_v2 = op == SaverOp::SaveV2, has_slices = op != SaverOp::Save;
  const auto slots = request.inputs.subspan(has_slices ? 3 : 2);
  TROUPE_ASSIGN(const Names all, names_of(request, has_slices, is_v2, slots.size()));
  Draft<wire::SaveTensors> draft;
  fill(draft, step, is_v2, all, [&](size_t i) { return slots[i].tensor.dtype(); });
  std::vector<Tensor> tensors;
  for (Slot& slot : slots) tensors.push_back(std::move(slot.tensor));
  return AnyMessage(draft.finish(std::move(tensors)));
}

Result<AnyMessage> restore_message(SaverOp op, const StepRequest& request, const StepInfo& step) {
  const bool is_v2 = op == SaverOp::RestoreV2, has_slices = op != SaverOp::Restore;
  const auto& types = request.node.output_types;
  TROUPE_ASSIGN(const Names all, names_of(request, has_slices, is_v2, types.size()));
  Draft<wire::RestoreTensors> draft;
  fill(draft, step, is_v2, all, [&](size_t i) { return types[i].dtype; });
  return AnyMessage(draft.finish());
}

Result<AnyMessage> merge_message(const StepRequest& request, const StepInfo& step) {
  const Tensor& prefixes = request.inputs[0].tensor;
  if (prefixes.shape().rank() != 1)
    return invalid_argument("checkpoint_prefixes has shape " + prefixes.shape().text() +
                            ", but must have rank 1");
  TROUPE_ASSIGN(const std::string destination, one_string(request.inputs[1], "destination_prefix"));
  Draft<wire::MergeCheckpoints> draft;
  set_step(draft->initStep(), step.session, step.ordinal);
  const auto names = prefixes.as<std::string>();
  auto list = draft->initPrefixes(static_cast<uint32_t>(names.size()));
  for (uint32_t i = 0; i < list.size(); ++i) list.set(i, as_data(names[i]));
  draft->setDestination(as_data(destination));
  draft->setDeleteOldFolders(request.node.attrs.get<bool>("delete_old_dirs"));
  draft->setAllowMissing(request.node.attrs.get<bool>("allow_missing_files"));
  return AnyMessage(draft.finish());
}

Result<AnyMessage> matrix_message(const StepRequest& request, const StepInfo& step) {
  TROUPE_ASSIGN(const std::string prefix, one_string(request.inputs[0], "ckpt_path"));
  TROUPE_ASSIGN(const std::string name, one_string(request.inputs[1], "old_tensor_name"));
  Draft<wire::LoadMatrix> draft;
  set_step(draft->initStep(), step.session, step.ordinal);
  draft->setPrefix(as_data(prefix));
  draft->setName(as_data(name));
  draft->setRows(request.node.attrs.get<int64_t>("num_rows"));
  draft->setColumns(request.node.attrs.get<int64_t>("num_cols"));
  std::vector<Tensor> vectors;
  for (Slot& slot : request.inputs.subspan(2)) vectors.push_back(std::move(slot.tensor));
  vectors[2] = vectors[2].reshaped(Shape::vector(vectors[2].elements()));  // it may have any shape
  return AnyMessage(draft.finish(std::move(vectors)));
}

Result<AnyMessage> vocabulary_message(const StepRequest& request, const StepInfo& step) {
  TROUPE_ASSIGN(const std::string new_file, one_string(request.inputs[0], "new_vocab_file"));
  TROUPE_ASSIGN(const std::string old_file, one_string(request.inputs[1], "old_vocab_file"));
  Draft<wire::RemapVocabulary> draft;
  set_step(draft->initStep(), step.session, step.ordinal);
  draft->setNewFile(as_data(new_file));
  draft->setOldFile(as_data(old_file));
  draft->setFirst(request.node.attrs.get<int64_t>("new_vocab_offset"));
  draft->setCount(request.node.attrs.get<int64_t>("num_new_vocab"));
  draft->setOldSize(request.node.attrs.get<int64_t>("old_vocab_size"));
  return AnyMessage(draft.finish());
}

}  // namespace

std::optional<SaverOp> saver_op(const OpDef& op) {
  static constexpr std::pair<std::string_view, SaverOp> ops[] = {
      {"Save", SaverOp::Save},
      {"SaveSlices", SaverOp::SaveSlices},
      {"SaveV2", SaverOp::SaveV2},
      {"Restore", SaverOp::Restore},
      {"RestoreSlice", SaverOp::RestoreSlice},
      {"RestoreV2", SaverOp::RestoreV2},
      {"MergeV2Checkpoints", SaverOp::Merge},
      {"LoadAndRemapMatrix", SaverOp::LoadMatrix},
      {"GenerateVocabRemapping", SaverOp::RemapVocabulary},
      {"DisableCopyOnRead", SaverOp::DisableCopyOnRead}};
  for (const auto& [name, value] : ops)
    if (name == op.name) return value;
  return std::nullopt;
}

Result<AnyMessage> saver_message(SaverOp op, const StepRequest& request, const StepInfo& step) {
  switch (op) {
    case SaverOp::Save:
    case SaverOp::SaveSlices:
    case SaverOp::SaveV2: return save_message(op, request, step);
    case SaverOp::Restore:
    case SaverOp::RestoreSlice:
    case SaverOp::RestoreV2: return restore_message(op, request, step);
    case SaverOp::LoadMatrix: return matrix_message(request, step);
    case SaverOp::RemapVocabulary: return vocabulary_message(request, step);
    default: return merge_message(request, step);
  }
}

}  // namespace troupe
