#include "actors/services/reader/reader_spec.h"

#include "kernels/core/state.h"

namespace troupe {
namespace {

Result<ReaderKind> reader_kind(std::string_view type) {
  if (type.ends_with("V2")) type.remove_suffix(2);
  if (type == "IdentityReader") return ReaderKind::Names;
  if (type == "WholeFileReader") return ReaderKind::WholeFile;
  if (type == "TextLineReader") return ReaderKind::TextLines;
  if (type == "FixedLengthRecordReader") return ReaderKind::FixedLength;
  if (type == "TFRecordReader") return ReaderKind::TfRecords;
  return unimplemented("the reader service does not know this op");
}

Result<uint64_t> number(const Node& handle, const char* attribute, int64_t least) {
  const int64_t value = handle.attrs.get<int64_t>(attribute);
  if (value >= least) return static_cast<uint64_t>(value);
  return invalid_argument(attribute + (" is " + std::to_string(value)) + ", but must be at least " +
                          std::to_string(least));
}

Status read_length(const Node& handle, ReaderSpec& spec) {
  TROUPE_ASSIGN(spec.length.header, number(handle, "header_bytes", 0));
  TROUPE_ASSIGN(spec.length.record, number(handle, "record_bytes", 1));
  TROUPE_ASSIGN(spec.length.footer, number(handle, "footer_bytes", 0));
  TROUPE_ASSIGN(spec.length.hop, number(handle, "hop_bytes", 0));
  if (spec.length.hop == 0) spec.length.hop = spec.length.record;
  return {};
}

Result<Compression> read_compression(const Node& handle) {
  for (const char* attribute : {"compression_type", "encoding"})
    if (handle.attrs.find(attribute))
      return compression_of(attribute, handle.attrs.get<std::string>(attribute));
  return Compression::None;
}

}  // namespace

std::string ReaderSpec::text() const {
  const std::string form = compression == Compression::Zlib   ? ", zlib"
                           : compression == Compression::Gzip ? ", gzip"
                                                              : "";
  switch (kind) {
    case ReaderKind::Names: return "names";
    case ReaderKind::WholeFile: return "whole files";
    case ReaderKind::TextLines: return "lines after the first " + std::to_string(skipped_lines);
    case ReaderKind::TfRecords: return "records of TensorFlow" + form;
    case ReaderKind::FixedLength: break;
  }
  return "records of " + std::to_string(length.record) + " bytes, header " + std::to_string(length.header) +
         ", footer " + std::to_string(length.footer) + ", hop " + std::to_string(length.hop) + form;
}

Result<ReaderSpec> reader_spec(const Node& handle) {
  ReaderSpec spec;
  spec.name = state_name(handle);
  TROUPE_ASSIGN(spec.kind, reader_kind(handle.type()));
  TROUPE_ASSIGN(spec.compression, read_compression(handle));
  if (spec.kind == ReaderKind::TextLines) {
    TROUPE_ASSIGN(spec.skipped_lines, number(handle, "skip_header_lines", 0));
  }
  if (spec.kind == ReaderKind::FixedLength) TROUPE_RETURN_IF_FAILED(read_length(handle, spec));
  return spec;
}

Result<std::unique_ptr<RecordStream>> open_records(const ReaderSpec& spec, Disk& disk,
                                                   const std::string& path) {
  TROUPE_ASSIGN(auto source, open_source(disk, path, spec.compression));
  switch (spec.kind) {
    case ReaderKind::TextLines: return text_lines(std::move(source), spec.skipped_lines);
    case ReaderKind::FixedLength: return fixed_length_records(std::move(source), spec.length);
    case ReaderKind::TfRecords: return tf_records(std::move(source));
    case ReaderKind::WholeFile:
    case ReaderKind::Names: break;
  }
  return whole_file(std::move(source));
}

}  // namespace troupe
