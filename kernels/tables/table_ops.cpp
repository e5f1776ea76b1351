#include "kernels/tables/table_ops.h"

namespace troupe {

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

Status check_output_types(const Node& node, std::initializer_list<DType> types, const TableSpec& spec) {
  size_t output = 0;
  for (const DType type : types)
    if (node.output_types[output++].dtype != type)
      return invalid_argument("table '" + spec.name + "' is " + spec.text() + ", but output " +
                              std::to_string(output - 1) + " of the op is " +
                              std::string(name(node.output_types[output - 1].dtype)));
  return {};
}

Result<VocabularyFile> vocabulary_file(const Node& node, const Tensor& path) {
  if (path.dtype() != DType::String || !path.shape().is_scalar())
    return invalid_argument("filename is " + path.signature() + ", but must be string[]");
  const std::string& text = path.as<std::string>()[0];
  if (text.empty()) return invalid_argument("filename cannot be empty");
  const auto& delimiter = node.attrs.get<std::string>("delimiter");
  if (delimiter.size() != 1)
    return invalid_argument("delimiter has " + std::to_string(delimiter.size()) + " bytes, but must have 1");
  return VocabularyFile{text,
                        node.attrs.get<int64_t>("key_index"),
                        node.attrs.get<int64_t>("value_index"),
                        node.attrs.get<int64_t>("vocab_size"),
                        node.attrs.get<int64_t>("offset"),
                        delimiter[0]};
}

}  // namespace troupe
