#include "apps/data/arrays/npz_writer.h"

#include <algorithm>
#include <boost/crc.hpp>
#include <utility>

#include "apps/data/arrays/zip_format.h"

namespace troupe::data {
namespace {

constexpr uint16_t version = 45, sizes_behind = 8, time = 0, date = 0x21, none = 0;
constexpr uint32_t unknown = 0, first_disk = 0, disks = 1;
constexpr std::string_view npy_ending = ".npy";
constexpr size_t max_array_name = UINT16_MAX - npy_ending.size();

template <class... T>
std::string numbers(T... values) {
  std::string bytes;
  (bytes.append(reinterpret_cast<const char*>(&values), sizeof values), ...);
  return bytes;
}

/// Returns the extra field with numbers of eight bytes; nothing if there are none.
std::string wide_field(const std::string& wide) {
  if (wide.empty()) return {};
  return numbers(zip::wide_field, static_cast<uint16_t>(wide.size())) + wide;
}

}  // namespace

struct NpzWriter::Member {
  std::string name;
  uint64_t begin = 0, size = 0;
  boost::crc_32_type checksum{};
};

NpzWriter::NpzWriter(Write write, uint32_t wide_from) : write_(std::move(write)), wide_from_(wide_from) {}
NpzWriter::~NpzWriter() = default;

Status NpzWriter::put(std::string_view bytes) {
  offset_ += bytes.size();
  return write_(bytes);
}

uint32_t NpzWriter::narrow(uint64_t number, std::string& wide) const {
  if (number < wide_from_) return static_cast<uint32_t>(number);
  wide += numbers(number);
  return zip::in_zip64;
}

// The extra field says that the sizes behind the member have eight bytes.
Status NpzWriter::begin(const std::string& array) {
  if (array.size() > max_array_name)
    return invalid_argument("the name of array " + std::to_string(members_ + 1) + " of the archive has " +
                            std::to_string(array.size()) + " bytes; in an .npz file it may have at most " +
                            std::to_string(max_array_name));
  member_ = std::make_unique<Member>(Member{array + std::string(npy_ending), offset_});
  const std::string fields = wide_field(numbers(uint64_t{unknown}, uint64_t{unknown}));
  return put(numbers(zip::local_magic, version, sizes_behind, zip::stored, time, date, unknown, zip::in_zip64,
                     zip::in_zip64, static_cast<uint16_t>(member_->name.size()),
                     static_cast<uint16_t>(fields.size())) +
             member_->name + fields);
}

Status NpzWriter::add(std::string_view bytes) {
  member_->checksum.process_bytes(bytes.data(), bytes.size());
  member_->size += bytes.size();
  return put(bytes);
}

Status NpzWriter::end() {
  const auto& [name, begin, size, crc] = *member_;
  const uint32_t checksum = crc.checksum();
  TROUPE_RETURN_IF_FAILED(put(numbers(zip::behind_magic, checksum, size, size)));
  std::string wide;
  const uint32_t bytes = narrow(size, wide), stored = narrow(size, wide), at = narrow(begin, wide);
  const std::string fields = wide_field(wide);
  directory_ += numbers(zip::central_magic, version, version, sizes_behind, zip::stored, time, date, checksum,
                        stored, bytes, static_cast<uint16_t>(name.size()),
                        static_cast<uint16_t>(fields.size()), none, none, none, uint32_t{0}, at) +
                name + fields;
  ++members_;
  return {};
}

Status NpzWriter::finish() {
  const uint64_t at = offset_, size = directory_.size();
  TROUPE_RETURN_IF_FAILED(put(directory_));
  const uint64_t most = std::max({at, size, members_});
  if (most < wide_from_ && members_ < zip::count_in_zip64) {
    const auto count = static_cast<uint16_t>(members_);
    return put(numbers(zip::end_magic, none, none, count, count, static_cast<uint32_t>(size),
                       static_cast<uint32_t>(at), none));
  }
  constexpr uint64_t rest_of_record = 44;
  const uint64_t record = offset_;
  return put(numbers(zip::wide_end_magic, rest_of_record, version, version, first_disk, first_disk, members_,
                     members_, size, at) +
             numbers(zip::wide_locator_magic, first_disk, record, disks) +
             numbers(zip::end_magic, none, none, zip::count_in_zip64, zip::count_in_zip64, zip::in_zip64,
                     zip::in_zip64, none));
}

}  // namespace troupe::data
