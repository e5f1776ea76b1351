#include "apps/data/record_reader.h"

#include <algorithm>
#include <array>
#include <boost/crc.hpp>
#include <charconv>

namespace troupe::data {
namespace {

using Checksum =
    boost::crc_optimal<64, 0x42f0e1eba9ea3693, ~uint64_t{0}, ~uint64_t{0}, true, true>;  // ECMA-182

constexpr uint64_t samples = 64, sample_bytes = 16 << 10;

/// Adds to the checksum the size of a file on the disk, and parts of it that are spread evenly from its first byte to its last.
Status add(const InputFile& file, Checksum& checksum) {
  const uint64_t size = file.stored_size();
  checksum.process_bytes(&size, sizeof size);
  const uint64_t last = size - std::min(size, sample_bytes);
  for (uint64_t i = 0; i < samples; ++i) {
    const uint64_t begin = std::min(i * sample_bytes, last);
    const uint64_t offset = size <= samples * sample_bytes ? begin : last / (samples - 1) * i;
    TROUPE_ASSIGN(const std::string part, file.stored_text(i + 1 == samples ? last : offset, sample_bytes));
    checksum.process_bytes(part.data(), part.size());
    if (begin == last) break;
  }
  return {};
}

}  // namespace

std::string to_text(const ReaderPosition& position) {
  return std::to_string(position.fingerprint) + ' ' + std::to_string(position.record) + ' ' +
         std::to_string(position.offset) + ' ' + std::to_string(position.row);
}

Result<ReaderPosition> parse_position(std::string_view text) {
  std::array<uint64_t, 4> numbers{};
  const char *at = text.data(), *const end = text.data() + text.size();
  for (size_t i = 0; i < numbers.size(); ++i) {
    if (i != 0 && (at == end || *at++ != ' ')) break;
    const auto [rest, error] = std::from_chars(at, end, numbers[i]);
    if (error != std::errc()) break;
    at = rest;
    if (i + 1 == numbers.size() && at == end)
      return ReaderPosition{numbers[0], numbers[1], numbers[2], numbers[3]};
  }
  return invalid_argument("'" + std::string(text.substr(0, 100)) +
                          "' is not a position of a reader; expected four whole numbers separated by blanks");
}

bool RecordReader::is_compressed() const {
  return std::ranges::any_of(files_, [](const auto& file) { return file->is_compressed(); });
}

Status RecordReader::check_offset(const ReaderPosition& position, const InputFile& file) {
  if (file.is_compressed() || position.offset <= file.stored_size()) return {};
  return invalid_argument(file.path() + ": the position '" + to_text(position) + "' lies outside its " +
                          std::to_string(file.stored_size()) + " bytes");
}

Result<int64_t> RecordReader::skip(int64_t max_records) {
  TROUPE_ASSIGN(const Dataset passed, next(max_records));
  return passed.samples();
}

Result<uint64_t> RecordReader::fingerprint() {
  if (fingerprint_) return *fingerprint_;
  Checksum checksum;
  checksum.process_bytes(format_.data(), format_.size());
  for (const auto& file : files_) TROUPE_RETURN_IF_FAILED(add(*file, checksum));
  fingerprint_ = checksum.checksum();
  return *fingerprint_;
}

Result<ReaderPosition> RecordReader::position() {
  ReaderPosition position = tell();
  TROUPE_ASSIGN(position.fingerprint, fingerprint());
  return position;
}

Status RecordReader::restore(const ReaderPosition& position) {
  TROUPE_ASSIGN(const uint64_t own, fingerprint());
  if (own != position.fingerprint)
    return failed_precondition(files_.front()->path() + ": the position '" + to_text(position) +
                               "' belongs to another file or format, or the file has changed since then");
  return seek(position);
}

}  // namespace troupe::data
