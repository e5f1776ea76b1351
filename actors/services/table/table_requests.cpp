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

Status check_types(const Node& node, std::initializer_list<DType> types, const TableSpec& spec) {
  size_t output = 0;
  for (const DType type : types)
    if (node.output_types[output++].dtype != type)
      return invalid_argument("table '" + spec.name + "' is " + spec.text() + ", but output " +
                              std::to_string(output - 1) + " of the op is " +
                              std::string(name(node.output_types[output - 1].dtype)));
  return {};
}

Result<AnyMessage> file_message(const StepRequest& request) {
  const Tensor& path = request.inputs[1].tensor;
  if (path.dtype() != DType::String || !path.shape().is_scalar())
    return invalid_argument("filename is " + path.signature() + ", but must be string[]");
  const std::string& text = path.as<std::string>()[0];
  if (text.empty()) return invalid_argument("filename cannot be empty");
  const auto& attrs = request.node.attrs;
  const auto& delimiter = attrs.get<std::string>("delimiter");
  if (delimiter.size() != 1)
    return invalid_argument("delimiter has " + std::to_string(delimiter.size()) + " bytes, but must have 1");
  Draft<wire::InitializeTableFromFile> draft;
  draft->setPath(as_data(text));
  draft->setKeyColumn(attrs.get<int64_t>("key_index"));
  draft->setValueColumn(attrs.get<int64_t>("value_index"));
  draft->setLines(attrs.get<int64_t>("vocab_size"));
  draft->setFirstNumber(attrs.get<int64_t>("offset"));
  draft->setDelimiter(static_cast<uint8_t>(delimiter[0]));
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

std::optional<TableOp> table_op(std::string_view type) {
  static constexpr std::pair<std::string_view, TableOp> ops[] = {
      {"MutableDenseHashTable", TableOp::Make},
      {"LookupTableFind", TableOp::Find},
      {"LookupTableInsert", TableOp::Insert},
      {"LookupTableRemove", TableOp::Remove},
      {"LookupTableSize", TableOp::Size},
      {"LookupTableExport", TableOp::Export},
      {"LookupTableImport", TableOp::Import},
      {"InitializeTable", TableOp::Initialize},
      {"InitializeTableFromTextFile", TableOp::InitializeFromFile}};
  if (type.ends_with("V2")) type.remove_suffix(2);
  for (const auto& [name, op] : ops)
    if (name == type) return op;
  return std::nullopt;
}

Result<AnyMessage> table_message(TableOp op, const StepRequest& request, const TableSpec& spec) {
  switch (op) {
    case TableOp::Make: return AnyMessage(Draft<wire::ReserveKeys>().finish(tensors_of(request, 0)));
    case TableOp::Find:
      TROUPE_RETURN_IF_FAILED(check_types(request.node, {spec.value}, spec));
      return AnyMessage(Draft<wire::FindValues>().finish(tensors_of(request, 1)));
    case TableOp::Insert: return insert_message(request, false);
    case TableOp::Import: return insert_message(request, true);
    case TableOp::Remove: return AnyMessage(Draft<wire::RemoveKeys>().finish(tensors_of(request, 1)));
    case TableOp::Export:
      TROUPE_RETURN_IF_FAILED(check_types(request.node, {spec.key, spec.value}, spec));
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
