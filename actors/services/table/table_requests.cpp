#include "actors/services/table/table_requests.h"

#include "messages/schemas/table.capnp.h"
#include "messages/wire/wire.h"

namespace troupe {
namespace {

/// The tensors of all inputs from number `first` on.
std::vector<Tensor> tensors_of(const StepRequest& request, size_t first) {
  std::vector<Tensor> tensors;
  for (Slot& slot : request.inputs.subspan(first)) tensors.push_back(std::move(slot.tensor));
  return tensors;
}

Result<AnyMessage> file_message(const StepRequest& request) {
  TROUPE_ASSIGN(const VocabularyFile file, vocabulary_file(request.node, request.inputs[1].tensor));
  Draft<wire::InitializeTableFromFile> draft;
  draft->setPath(as_data(file.path));
  draft->setKeyColumn(file.key_column);
  draft->setValueColumn(file.value_column);
  draft->setLines(file.lines);
  draft->setFirstNumber(file.first_number);
  draft->setDelimiter(static_cast<uint8_t>(file.delimiter));
  return AnyMessage(draft.finish());
}

Result<AnyMessage> initialize_message(const StepRequest& request) {
  for (const size_t i : {1, 2})
    if (const Tensor& input = request.inputs[i].tensor; input.shape().rank() != 1)
      return invalid_argument((i == 1 ? "keys are " : "values are ") + input.signature() +
                              ", but must be a vector");
  return AnyMessage(Draft<wire::InitializeTable>().finish(tensors_of(request, 1)));
}

Result<AnyMessage> insert_message(const StepRequest& request, bool clear) {
  Draft<wire::InsertValues> draft;
  draft->setClear(clear);
  return AnyMessage(draft.finish(tensors_of(request, 1)));
}

}  // namespace

Result<AnyMessage> table_message(TableOp op, const StepRequest& request, const TableSpec& spec) {
  switch (op) {
    case TableOp::Make: return AnyMessage(Draft<wire::ReserveKeys>().finish(tensors_of(request, 0)));
    case TableOp::Find:
      TROUPE_RETURN_IF_FAILED(check_output_types(request.node, {spec.value}, spec));
      return AnyMessage(Draft<wire::FindValues>().finish(tensors_of(request, 1)));
    case TableOp::Insert: return insert_message(request, false);
    case TableOp::Import: return insert_message(request, true);
    case TableOp::Remove: return AnyMessage(Draft<wire::RemoveKeys>().finish(tensors_of(request, 1)));
    case TableOp::Export:
      TROUPE_RETURN_IF_FAILED(check_output_types(request.node, {spec.key, spec.value}, spec));
      return AnyMessage(Draft<wire::ExportTable>().finish());
    case TableOp::Initialize: return initialize_message(request);
    case TableOp::InitializeFromFile: return file_message(request);
    case TableOp::Size: break;
  }
  return AnyMessage(Draft<wire::GetTableSize>().finish());
}

StepReply table_reply(TableOp op, Result<AnyMessage> answer) {
  if (!answer) return {answer.status(), {}, false};
  if (op == TableOp::Size)
    return {{}, {Tensor::scalar(static_cast<int64_t>(Message<wire::TableSize>(*answer)->getSize()))}, false};
  const auto tensors = answer->attachments();
  return {{}, {tensors.begin(), tensors.end()}, false};
}

}  // namespace troupe
