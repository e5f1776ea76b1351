#include "apps/data/arrays/npz_writer.h"

#include <boost/crc.hpp>
#include <utility>

#include "apps/data/arrays/zip_format.h"

namespace troupe::data {
namespace {

constexpr uint16_t version = 20, sizes_behind = 8, time = 0, date = 0x21, none = 0;

template <class... T>
std::string numbers(T... values) {
  std::string bytes;
  (bytes.append(reinterpret_cast<const char*>(&values), sizeof values), ...);
  return bytes;
}

}  // namespace

struct NpzWriter::Member {
  std::string name;
  uint64_t begin = 0, size = 0;
  boost::crc_32_type checksum{};
};

NpzWriter::NpzWriter(Write write) : write_(std::move(write)) {}
NpzWriter::~NpzWriter() = default;

Status NpzWriter::put(const std::string& bytes) {
  if (offset_ + bytes.size() >= zip::in_zip64)
    return unimplemented("an archive larger than 4 GiB cannot be written");
  offset_ += bytes.size();
  return write_(bytes);
}

Status NpzWriter::begin(const std::string& array) {
  member_ = std::make_unique<Member>(Member{array + ".npy", offset_});
  constexpr uint32_t unknown = 0;
  return put(numbers(zip::local_magic, version, sizes_behind, zip::stored, time, date, unknown, unknown,
                     unknown, static_cast<uint16_t>(member_->name.size()), none) +
             member_->name);
}

Status NpzWriter::add(std::string_view bytes) {
  member_->checksum.process_bytes(bytes.data(), bytes.size());
  member_->size += bytes.size();
  return put(std::string(bytes));
}

Status NpzWriter::end() {
  const uint32_t checksum = member_->checksum.checksum();
  const auto size = static_cast<uint32_t>(member_->size);
  TROUPE_RETURN_IF_FAILED(put(numbers(zip::behind_magic, checksum, size, size)));
  directory_ += numbers(zip::central_magic, version, version, sizes_behind, zip::stored, time, date, checksum,
                        size, size, static_cast<uint16_t>(member_->name.size()), none, none, none, none,
                        uint32_t{0}, static_cast<uint32_t>(member_->begin)) +
                member_->name;
  ++members_;
  return {};
}

Status NpzWriter::finish() {
  const auto at = static_cast<uint32_t>(offset_), size = static_cast<uint32_t>(directory_.size());
  TROUPE_RETURN_IF_FAILED(put(directory_));
  return put(numbers(zip::end_magic, none, none, members_, members_, size, at, none));
}

}  // namespace troupe::data
