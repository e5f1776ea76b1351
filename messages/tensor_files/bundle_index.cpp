#include "messages/tensor_files/bundle_index.h"

#include <cstdio>

#include "messages/protobuf/fields.h"
#include "messages/protobuf/tensor_proto.h"
#include "messages/tensor_files/sorted_table.h"
#include "messages/tensor_files/sorted_table_writer.h"

namespace troupe {
namespace {

using protobuf::Field;
using protobuf::FieldKind;
using protobuf::FieldReader;

constexpr uint64_t max_index_bytes = uint64_t{1} << 28;
constexpr uint64_t index_version = 1;  ///< of the format: what is written here, and the newest that is read

/// Calls take(field) for each field. Returns false if the message is damaged.
template <class Take>
bool each_field(std::string_view message, const Take& take) {
  FieldReader reader(message);
  while (const auto field = reader.next()) take(*field);
  return !reader.damaged();
}

bool is_varint(const Field& field, uint32_t number) {
  return field.number == number && field.kind == FieldKind::Varint;
}
bool is_bytes(const Field& field, uint32_t number) {
  return field.number == number && field.kind == FieldKind::Bytes;
}

/// Appends a field, unless it has the value that readers assume.
void append_number(std::string& message, uint32_t number, uint64_t value) {
  if (value != 0) protobuf::append_varint_field(message, number, value);
}

/// Adds a dimension of a TensorSliceProto. Returns false if it is damaged.
bool read_extent(std::string_view message, TensorSlice& slice) {
  int64_t start = 0, length = TensorSlice::all;
  const bool whole = each_field(message, [&](const Field& field) {
    if (is_varint(field, 1)) start = static_cast<int64_t>(field.varint);
    if (is_varint(field, 2)) length = static_cast<int64_t>(field.varint);
  });
  slice.start.push_back(start);
  slice.length.push_back(length);
  return whole;
}

struct Header {
  int64_t shards = 0;
  bool big_endian = false;
  uint64_t min_consumer = 0;
};

bool read_header(std::string_view message, Header& header) {
  bool whole = true;
  whole &= each_field(message, [&](const Field& field) {
    if (is_varint(field, 1)) header.shards = static_cast<int64_t>(field.varint);
    if (is_varint(field, 2)) header.big_endian = field.varint != 0;
    if (is_bytes(field, 3))
      whole &= each_field(field.bytes, [&](const Field& number) {
        if (is_varint(number, 2)) header.min_consumer = number.varint;
      });
  });
  return whole;
}

std::string write_header(int shards) {
  std::string header, versions;
  append_number(versions, 1, index_version);
  append_number(header, 1, static_cast<uint64_t>(shards));
  protobuf::append_bytes_field(header, 3, versions);
  return header;
}

/// The fields of a BundleEntryProto, not yet checked.
struct EntryFields {
  uint64_t dtype = 0;
  std::string_view shape;
  int64_t shard = 0, offset = 0, size = 0;
  uint32_t checksum = 0;
  std::vector<std::string_view> parts;
};

bool read_fields(std::string_view message, EntryFields& entry) {
  return each_field(message, [&](const Field& field) {
    if (is_varint(field, 1)) entry.dtype = field.varint;
    if (is_bytes(field, 2)) entry.shape = field.bytes;
    if (is_varint(field, 3)) entry.shard = static_cast<int64_t>(field.varint);
    if (is_varint(field, 4)) entry.offset = static_cast<int64_t>(field.varint);
    if (is_varint(field, 5)) entry.size = static_cast<int64_t>(field.varint);
    if (field.number == 6 && field.kind == FieldKind::Fixed32)
      std::memcpy(&entry.checksum, field.bytes.data(), sizeof entry.checksum);
    if (is_bytes(field, 7)) entry.parts.push_back(field.bytes);
  });
}

Result<std::vector<TensorSlice>> read_parts(const std::vector<std::string_view>& messages,
                                            const Shape& shape) {
  std::vector<TensorSlice> parts;
  for (const std::string_view message : messages) {
    TROUPE_ASSIGN(TensorSlice part, read_slice_proto(message));
    if (!part.within(shape))
      return data_loss("its part " + part.text() + " lies outside its shape " + shape.text());
    parts.push_back(std::move(part));
  }
  return parts;
}

Result<int> shards_of(std::string_view message, const std::string& file) {
  Header header;
  if (!read_header(message, header) || header.shards < 1 || header.shards > INT32_MAX)
    return data_loss(file + ": the header is missing or damaged");
  if (header.big_endian) return unimplemented(file + ": it was written by a big-endian machine");
  if (header.min_consumer > index_version)
    return unimplemented(file + ": it can be read from version " + std::to_string(header.min_consumer) +
                         " of the format on; this is version " + std::to_string(index_version));
  return static_cast<int>(header.shards);
}

}  // namespace

std::string bundle_index_file(const std::string& prefix) { return prefix + ".index"; }

std::string bundle_data_file(const std::string& prefix, int shard, int shards) {
  char suffix[48];
  std::snprintf(suffix, sizeof suffix, ".data-%05d-of-%05d", shard, shards);
  return prefix + suffix;
}

Result<DType> stored_dtype(uint64_t number) {
  const auto dtype = dtype_from_number(static_cast<int64_t>(number));
  if (!dtype) return unimplemented("its type has the unknown number " + std::to_string(number));
  if (*dtype == DType::String || is_plain(*dtype)) return *dtype;
  return unimplemented("its type is " + std::string(name(*dtype)) +
                       ", of which no elements are read from files");
}

Result<TensorSlice> read_slice_proto(std::string_view message) {
  TensorSlice slice;
  bool whole = true;
  whole &= each_field(message, [&](const Field& field) {
    if (is_bytes(field, 1)) whole &= read_extent(field.bytes, slice);
  });
  if (!whole) return data_loss("a slice of it is damaged");
  return slice;
}

std::string write_slice_proto(const TensorSlice& slice) {
  std::string proto;
  for (size_t i = 0; i < slice.start.size(); ++i) {
    std::string extent;
    if (slice.start[i] != 0 || slice.length[i] != TensorSlice::all) {
      append_number(extent, 1, static_cast<uint64_t>(slice.start[i]));
      protobuf::append_varint_field(extent, 2, static_cast<uint64_t>(slice.length[i]));
    }
    protobuf::append_bytes_field(proto, 1, extent);
  }
  return proto;
}

Result<BundleEntry> read_bundle_entry(std::string_view message, int shards) {
  EntryFields fields;
  if (!read_fields(message, fields)) return data_loss("its entry cannot be read");
  BundleEntry entry;
  TROUPE_ASSIGN(entry.dtype, stored_dtype(fields.dtype));
  const auto shape = protobuf::read_shape_proto(fields.shape, entry.dtype);
  if (!shape) return data_loss(shape.status().text());
  entry.shape = *shape;
  if (fields.shard < 0 || fields.offset < 0 || fields.size < 0)
    return data_loss("its shard, offset or size is negative");
  if (fields.shard >= shards)
    return data_loss("its shard is number " + std::to_string(fields.shard) +
                     ", counted from 0, but the checkpoint has " + std::to_string(shards) + " shards");
  entry.shard = static_cast<int>(fields.shard);
  entry.offset = static_cast<uint64_t>(fields.offset);
  entry.size = static_cast<uint64_t>(fields.size);
  entry.checksum = fields.checksum;
  TROUPE_ASSIGN(entry.parts, read_parts(fields.parts, entry.shape));
  return entry;
}

std::string write_bundle_entry(const BundleEntry& entry) {
  std::string proto;
  append_number(proto, 1, static_cast<uint64_t>(entry.dtype));
  protobuf::append_bytes_field(proto, 2, protobuf::write_shape_proto(entry.shape));
  append_number(proto, 3, static_cast<uint64_t>(entry.shard));
  append_number(proto, 4, entry.offset);
  append_number(proto, 5, entry.size);
  if (entry.checksum != 0) protobuf::append_fixed_field(proto, 6, entry.checksum);
  for (const TensorSlice& part : entry.parts) protobuf::append_bytes_field(proto, 7, write_slice_proto(part));
  return proto;
}

Result<BundleIndex> BundleIndex::parse(std::string_view bytes, const std::string& file) {
  TROUPE_ASSIGN(const auto table, read_sorted_table(bytes, file));
  const auto first = table.find("");
  BundleIndex index;
  TROUPE_ASSIGN(index.shards,
                shards_of(first == table.end() ? std::string_view() : std::string_view(first->second), file));
  size_t slices = 0;
  for (const auto& [name, value] : table) {
    if (name.empty()) continue;
    const bool is_part = is_slice_key(name);
    auto entry = read_bundle_entry(value, index.shards);
    const std::string where = file + ": " + (is_part ? "a part of " + variable_of(name) : name) + ": ";
    if (!entry) return Status(entry.status().code(), where + entry.status().text());
    slices += entry->parts.size();
    if (slices > table.size())
      return data_loss(where + "the variables up to this one have more parts than the index has entries");
    (is_part ? index.parts : index.entries).emplace(name, std::move(*entry));
  }
  return index;
}

Result<BundleIndex> BundleIndex::read(Disk& disk, const std::string& prefix) {
  const std::string file = bundle_index_file(prefix);
  TROUPE_ASSIGN(const std::string bytes, read_file(disk, file, max_index_bytes));
  return parse(bytes, file);
}

// A slice key begins with a zero byte, so the parts come before the variables.
Status BundleIndex::write(Disk& disk, const std::string& prefix) const {
  TROUPE_ASSIGN(NewFile file, NewFile::create(disk, bundle_index_file(prefix)));
  SortedTableWriter table([&file](std::string_view bytes) { return file.write(bytes); });
  TROUPE_RETURN_IF_FAILED(table.add("", write_header(shards)));
  for (const auto* list : {&parts, &entries})
    for (const auto& [key, entry] : *list) TROUPE_RETURN_IF_FAILED(table.add(key, write_bundle_entry(entry)));
  TROUPE_RETURN_IF_FAILED(table.finish());
  return file.commit();
}

}  // namespace troupe
