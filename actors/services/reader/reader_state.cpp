#include "actors/services/reader/reader_state.h"

#include "messages/protobuf/fields.h"

namespace troupe {
namespace {

// The fields of ReaderBaseState (tensorflow/core/framework/reader_base.proto), and ours.
constexpr uint32_t started_field = 1, completed_field = 2, records_field = 3, unit_field = 4,
                   unit_records_field = 100;

}  // namespace

std::string ReaderState::bytes() const {
  std::string message;
  const auto append = [&](uint32_t field, uint64_t number) {
    if (number != 0) protobuf::append_varint_field(message, field, number);
  };
  append(started_field, units_started);
  append(completed_field, units_completed);
  append(records_field, records);
  if (!unit.empty()) protobuf::append_bytes_field(message, unit_field, unit);
  append(unit_records_field, unit_records);
  return message;
}

std::optional<ReaderState> ReaderState::parse(std::string_view bytes) {
  ReaderState state;
  protobuf::FieldReader fields(bytes);
  for (protobuf::Field field; fields.next(field);) {
    uint64_t* const number = field.number == started_field        ? &state.units_started
                             : field.number == completed_field    ? &state.units_completed
                             : field.number == records_field      ? &state.records
                             : field.number == unit_records_field ? &state.unit_records
                                                                  : nullptr;
    if (number && field.kind == protobuf::FieldKind::Varint)
      *number = field.varint;
    else if (field.number == unit_field && field.kind == protobuf::FieldKind::Bytes)
      state.unit = field.bytes;
    else if (number || field.number == unit_field)
      return std::nullopt;
  }
  constexpr uint64_t most = INT64_MAX;  // the fields are signed in TensorFlow
  if (fields.damaged() || state.units_started > most || state.records > most ||
      state.unit_records > state.records || state.units_started < state.units_completed ||
      state.units_started - state.units_completed > 1)
    return std::nullopt;
  return state;
}

}  // namespace troupe
