#include "messages/tensor_files/saved_slices.h"

#include <algorithm>

#include "messages/protobuf/fields.h"
#include "messages/protobuf/tensor_proto.h"
#include "messages/tensor_files/bundle_index.h"
#include "messages/tensor_files/data_blocks.h"
#include "messages/tensor_files/sorted_table_writer.h"

namespace troupe {
namespace {

using protobuf::append_bytes_field;
using protobuf::append_varint_field;
using protobuf::Field;
using protobuf::FieldKind;
using protobuf::FieldReader;

constexpr uint64_t slices_version = 1;  ///< of the format: what is written here, and the newest that is read
constexpr uint64_t max_entry_bytes = uint64_t{1} << 31;

/// The fields of SavedTensorSlices and of the messages in it.
enum Number : uint32_t {
  MetaNumber = 1,
  DataNumber = 2,
  VariableNumber = 1,  ///< in meta
  VersionsNumber = 2,
  NameNumber = 1,  ///< of a variable and of a slice
  ShapeNumber = 2,
  DTypeNumber = 3,
  PartNumber = 4,
  SliceNumber = 2,  ///< in data
  TensorNumber = 3,
};

/// Returns the value of the last field of this number and kind; an empty one if there is none.
Result<Field> last_field(std::string_view message, uint32_t number, FieldKind kind) {
  Field last;
  FieldReader reader(message);
  while (const auto field = reader.next())
    if (field->number == number && field->kind == kind) last = *field;
  if (reader.damaged()) return data_loss("its entry cannot be read");
  return last;
}
Result<std::string_view> bytes_of(std::string_view message, uint32_t number) {
  TROUPE_ASSIGN(const Field field, last_field(message, number, FieldKind::Bytes));
  return field.bytes;
}

Result<SavedVariable> read_variable(std::string_view message) {
  SavedVariable variable;
  TROUPE_ASSIGN(const Field dtype, last_field(message, DTypeNumber, FieldKind::Varint));
  TROUPE_ASSIGN(variable.dtype, stored_dtype(dtype.varint));
  TROUPE_ASSIGN(const std::string_view shape, bytes_of(message, ShapeNumber));
  const auto read = protobuf::read_shape_proto(shape, variable.dtype);
  if (!read) return data_loss(read.status().text());
  variable.shape = *read;
  FieldReader reader(message);
  while (const auto field = reader.next()) {
    if (field->number != PartNumber || field->kind != FieldKind::Bytes) continue;
    TROUPE_ASSIGN(TensorSlice part, read_slice_proto(field->bytes));
    if (!part.within(variable.shape))
      return data_loss("its part " + part.text() + " lies outside its shape " + variable.shape.text());
    variable.parts.push_back(std::move(part));
  }
  return variable;
}

Result<std::map<std::string, SavedVariable>> read_meta(std::string_view saved) {
  TROUPE_ASSIGN(const std::string_view meta, bytes_of(saved, MetaNumber));
  TROUPE_ASSIGN(const std::string_view versions, bytes_of(meta, VersionsNumber));
  TROUPE_ASSIGN(const Field min_consumer, last_field(versions, 2, FieldKind::Varint));
  if (min_consumer.varint > slices_version)
    return unimplemented("it can be read from version " + std::to_string(min_consumer.varint) +
                         " of the format on; this is version " + std::to_string(slices_version));
  std::map<std::string, SavedVariable> variables;
  FieldReader reader(meta);
  while (const auto field = reader.next()) {
    if (field->number != VariableNumber || field->kind != FieldKind::Bytes) continue;
    TROUPE_ASSIGN(const std::string_view name, bytes_of(field->bytes, NameNumber));
    auto variable = read_variable(field->bytes);
    if (!variable)
      return Status(variable.status().code(), std::string(name) + ": " + variable.status().text());
    if (!variables.emplace(name, std::move(*variable)).second)
      return data_loss(std::string(name) + " is listed twice");
  }
  return variables;
}

/// Returns the elements of a SavedTensorSlices with data.
Result<Tensor> read_data(std::string_view saved, const std::string& name, const SavedVariable& variable,
                         const TensorSlice& part, Allocator& memory) {
  TROUPE_ASSIGN(const std::string_view data, bytes_of(saved, DataNumber));
  TROUPE_ASSIGN(const std::string_view saved_name, bytes_of(data, NameNumber));
  TROUPE_ASSIGN(const std::string_view slice, bytes_of(data, SliceNumber));
  TROUPE_ASSIGN(const TensorSlice saved_part, read_slice_proto(slice));
  if (saved_name != name || saved_part != part)
    return data_loss("the entry of its part " + part.text() + " is that of another part");
  TROUPE_ASSIGN(const std::string_view tensor, bytes_of(data, TensorNumber));
  TROUPE_ASSIGN(const Shape shape, Shape::make(part.within(variable.shape)->length, variable.dtype));
  TROUPE_ASSIGN(const auto form, protobuf::TensorProto::parse(tensor, variable.dtype, shape));
  if (form.values() != static_cast<uint64_t>(shape.elements()))
    return data_loss("its part " + part.text() + " has " + std::to_string(form.values()) + " values for " +
                     std::to_string(shape.elements()) + " elements");
  TROUPE_ASSIGN(Tensor elements, Tensor::allocate(variable.dtype, shape, memory));
  TROUPE_RETURN_IF_FAILED(form.read(elements));
  return elements;
}

std::string nested(uint32_t number, std::string_view message) {
  std::string outer;
  append_bytes_field(outer, number, message);
  return outer;
}

bool can_save(DType dtype) {
  switch (dtype) {
    case DType::BFloat16:
    case DType::QInt16:
    case DType::QUInt16:
    case DType::UInt32:
    case DType::UInt64: return false;
    default: return dtype == DType::String || is_plain(dtype);
  }
}

Status check_agrees(const SliceToSave& saved, const SavedVariable& variable) {
  if (variable.dtype == saved.tensor.dtype() && variable.shape == saved.shape) return {};
  return invalid_argument("the parts of variable '" + saved.name + "' are " +
                          std::string(name(variable.dtype)) + variable.shape.text() + " and " +
                          std::string(name(saved.tensor.dtype())) + saved.shape.text());
}

std::string write_meta(const std::map<std::string, SavedVariable>& variables) {
  std::string meta, versions;
  for (const auto& [name, variable] : variables) {
    std::string message;
    append_bytes_field(message, NameNumber, name);
    append_bytes_field(message, ShapeNumber, protobuf::write_shape_proto(variable.shape));
    append_varint_field(message, DTypeNumber, static_cast<uint64_t>(variable.dtype));
    for (const TensorSlice& part : variable.parts)
      append_bytes_field(message, PartNumber, write_slice_proto(part));
    append_bytes_field(meta, VariableNumber, message);
  }
  append_varint_field(versions, 1, slices_version);
  append_bytes_field(meta, VersionsNumber, versions);
  return nested(MetaNumber, meta);
}

/// Returns a SavedTensorSlices with the elements of a slice.
Result<std::string> write_data(const SliceToSave& saved) {
  std::string slice;
  append_bytes_field(slice, NameNumber, saved.name);
  append_bytes_field(slice, SliceNumber, write_slice_proto(saved.slice));
  std::string elements;
  protobuf::append_values(elements, saved.tensor);
  if (elements.size() + slice.size() + 64 > max_entry_bytes)
    return invalid_argument("variable '" + saved.name + "' has " + std::to_string(elements.size()) +
                            " bytes, but a tensor of the format V1 has less than " +
                            std::to_string(max_entry_bytes));
  append_bytes_field(slice, TensorNumber, elements);
  return nested(DataNumber, slice);
}

}  // namespace

Result<std::map<std::string, SavedVariable>> read_saved_variables(const SortedTable& table,
                                                                  const std::string& file) {
  Result<std::map<std::string, SavedVariable>> variables = data_loss("it has no list of variables");
  TROUPE_RETURN_IF_FAILED(table
                              .find("",
                                    [&](std::string_view, std::string_view saved) {
                                      variables = read_meta(saved);
                                      return Status();
                                    })
                              .status());
  if (variables) return variables;
  return Status(variables.status().code(), file + ": " + variables.status().text());
}

Result<Tensor> read_saved_slice(const SortedTable& table, const std::string& name,
                                const SavedVariable& variable, const TensorSlice& part, Allocator& memory) {
  Result<Tensor> tensor = data_loss("its part " + part.text() + " is missing");
  TROUPE_RETURN_IF_FAILED(table
                              .find(slice_key(name, part),
                                    [&](std::string_view, std::string_view saved) {
                                      tensor = read_data(saved, name, variable, part, memory);
                                      return Status();
                                    })
                              .status());
  return tensor.status().code() == Code::InvalidArgument ? data_loss(tensor.status().text()) : tensor;
}

Status write_saved_slices(Disk& disk, const std::string& path, const std::vector<SliceToSave>& slices,
                          const std::atomic<bool>* cancelled) {
  std::map<std::string, SavedVariable> variables;
  std::map<std::string, const SliceToSave*> entries;
  for (const SliceToSave& saved : slices) {
    if (!can_save(saved.tensor.dtype()))
      return unimplemented("variable '" + saved.name + "' is " + saved.tensor.signature() +
                           ": the format V1 does not have this type");
    const auto at =
        variables.try_emplace(saved.name, SavedVariable{saved.tensor.dtype(), saved.shape, {}}).first;
    TROUPE_RETURN_IF_FAILED(check_agrees(saved, at->second));
    if (!entries.emplace(slice_key(saved.name, saved.slice), &saved).second)
      return invalid_argument("part " + saved.slice.text() + " of variable '" + saved.name +
                              "' is saved twice");
    at->second.parts.push_back(saved.slice);
  }
  TROUPE_ASSIGN(NewFile file, NewFile::create(disk, path));
  SortedTableWriter table([&file](std::string_view bytes) { return file.write(bytes); });
  TROUPE_RETURN_IF_FAILED(table.add("", write_meta(variables)));
  for (const auto& [key, saved] : entries) {
    TROUPE_RETURN_IF_FAILED(check_not_cancelled(cancelled));
    TROUPE_ASSIGN(const std::string data, write_data(*saved));
    TROUPE_RETURN_IF_FAILED(table.add(key, data));
  }
  TROUPE_RETURN_IF_FAILED(table.finish());
  return file.commit();
}

}  // namespace troupe
