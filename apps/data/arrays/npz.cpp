// The central directory at the end of a zip file lists the locations of its members.
#include "apps/data/arrays/npz.h"

#include <algorithm>
#include <boost/crc.hpp>
#include <cstring>

#include "apps/data/arrays/npy.h"
#include "apps/data/arrays/npz_writer.h"
#include "apps/data/arrays/zip_format.h"

namespace troupe::data {
namespace {

using zip::central_magic, zip::deflated, zip::in_zip64, zip::local_magic, zip::stored;

constexpr uint64_t local_size = 30, central_size = 46, end_size = 22, max_comment = 0xffff,
                   wide_end_size = 56, wide_locator_size = 20;

/// Returns the record of a zip file at `offset`.
Result<std::string> read_record(const InputFile& file, uint64_t offset, uint64_t bytes) {
  std::string record(bytes, '\0');
  TROUPE_RETURN_IF_FAILED(file.read(offset, std::as_writable_bytes(std::span(record))));
  return record;
}

/// Returns the little-endian number at `offset` of a record.
template <class T>
T number_at(const std::string& record, size_t offset) {
  T value;
  std::memcpy(&value, record.data() + offset, sizeof value);
  return value;
}

class Archive {
 public:
  explicit Archive(std::shared_ptr<InputFile> file) : file_(std::move(file)) {}

  Result<std::vector<NpzMember>> members() const {
    TROUPE_ASSIGN(const Directory directory, find_directory());
    const uint64_t end = directory.end;
    uint64_t at = directory.begin;
    std::vector<NpzMember> members;
    for (uint64_t i = 0; i < directory.count; ++i) {
      if (at > end || end - at < central_size) return damaged("the central directory is cut short");
      TROUPE_ASSIGN(const auto entry, read_record(*file_, at, central_size));
      if (number_at<uint32_t>(entry, 0) != central_magic) return damaged("the central directory is damaged");
      const uint64_t name = number_at<uint16_t>(entry, 28), extra = number_at<uint16_t>(entry, 30),
                     comment = number_at<uint16_t>(entry, 32);
      if (end - at - central_size < name + extra + comment)
        return damaged("the central directory is cut short");
      TROUPE_ASSIGN(const std::string member, file_->text(at + central_size, name));
      TROUPE_ASSIGN(const std::string fields, file_->text(at + central_size + name, extra));
      TROUPE_RETURN_IF_FAILED(add_member(entry, fields, member, members));
      at += central_size + name + extra + comment;
    }
    return members;
  }

 private:
  /// Where the central directory begins and ends at the latest, and how many members it lists.
  struct Directory {
    uint64_t begin, end, count;
  };
  /// How many bytes of a member are stored, how many it has, and where it is.
  struct Place {
    uint64_t stored, bytes, at;
  };

  Status damaged(const std::string& what) const { return data_loss(file_->path() + ": " + what); }

  /// Returns the offset of the end record, which may be followed by a comment.
  Result<uint64_t> find_end() const {
    constexpr std::string_view signature("PK\5\6", 4);
    const uint64_t begin =
        file_->stored_size() - std::min<uint64_t>(file_->stored_size(), end_size + max_comment);
    TROUPE_ASSIGN(const std::string tail, file_->text(begin, file_->stored_size()));
    const size_t at = tail.rfind(signature);
    if (at == std::string::npos || tail.size() - at < end_size)
      return damaged("not a zip file: it has no end record");
    return begin + at;
  }

  Result<Directory> find_directory() const {
    TROUPE_ASSIGN(const uint64_t end, find_end());
    TROUPE_ASSIGN(const auto record, read_record(*file_, end, end_size));
    const Directory directory{number_at<uint32_t>(record, 16), end, number_at<uint16_t>(record, 10)};
    if (directory.begin != in_zip64 && directory.count != zip::count_in_zip64) return directory;
    const Status missing = damaged("the end record of zip64 is missing");
    if (end < wide_locator_size) return missing;
    TROUPE_ASSIGN(const auto locator, read_record(*file_, end - wide_locator_size, wide_locator_size));
    if (number_at<uint32_t>(locator, 0) != zip::wide_locator_magic) return missing;
    const auto at = number_at<uint64_t>(locator, 8);
    if (at > end || end - at < wide_end_size) return missing;
    TROUPE_ASSIGN(const auto wide, read_record(*file_, at, wide_end_size));
    if (number_at<uint32_t>(wide, 0) != zip::wide_end_magic) return missing;
    return Directory{number_at<uint64_t>(wide, 48), at, number_at<uint64_t>(wide, 32)};
  }

  /// Returns what the fields behind an entry have of zip64: numbers of eight bytes.
  static std::string_view wide_numbers(std::string_view fields) {
    constexpr size_t head = 4;
    while (fields.size() >= head) {
      const std::string start(fields.substr(0, head));
      const auto kind = number_at<uint16_t>(start, 0), size = number_at<uint16_t>(start, 2);
      fields.remove_prefix(head);
      const std::string_view content = fields.substr(0, size);
      if (kind == zip::wide_field) return content;
      fields.remove_prefix(content.size());
    }
    return {};
  }

  /// Returns the numbers of an entry; the field of zip64 has those that are too large for it, in this order.
  Result<Place> place_of(const std::string& entry, std::string_view fields, const std::string& what) const {
    Place place{number_at<uint32_t>(entry, 20), number_at<uint32_t>(entry, 24),
                number_at<uint32_t>(entry, 42)};
    std::string wide(wide_numbers(fields));
    for (uint64_t* const number : {&place.bytes, &place.stored, &place.at}) {
      if (*number != in_zip64) continue;
      if (wide.size() < sizeof *number) return damaged(what + " has no size");
      *number = number_at<uint64_t>(wide, 0);
      wide.erase(0, sizeof *number);
    }
    return place;
  }

  Status add_member(const std::string& entry, std::string_view fields, const std::string& name,
                    std::vector<NpzMember>& members) const {
    constexpr std::string_view suffix = ".npy";
    const std::string what = "member " + name;
    const auto form = number_at<uint16_t>(entry, 10);
    if (form != stored && form != deflated)
      return unimplemented(file_->path() + ": " + what +
                           " is compressed in a way that NumPy does not use; write it with numpy.savez or "
                           "numpy.savez_compressed");
    TROUPE_ASSIGN(const Place place, place_of(entry, fields, what));
    const auto [size, bytes, at] = place;
    if (at > file_->stored_size() || file_->stored_size() - at < local_size)
      return damaged(what + " lies outside the file");
    TROUPE_ASSIGN(const auto local, read_record(*file_, at, local_size));
    const uint64_t begin = at + local_size + number_at<uint16_t>(local, 26) + number_at<uint16_t>(local, 28);
    if (number_at<uint32_t>(local, 0) != local_magic || begin > file_->stored_size() ||
        file_->stored_size() - begin < size)
      return damaged(what + " lies outside the file");
    NpzMember member{name, file_, begin, size};
    if (form == deflated)
      member = {name, file_->part(begin, size, Compression::Deflate, file_->path() + ": " + what), 0, bytes};
    TROUPE_ASSIGN(const uint32_t checksum, checksum_of(member));
    if (checksum != number_at<uint32_t>(entry, 16)) return damaged(what + " has a wrong checksum");
    if (!name.ends_with(suffix)) return {};
    member.array.resize(name.size() - suffix.size());
    members.push_back(std::move(member));
    return {};
  }

  Result<uint32_t> checksum_of(const NpzMember& member) const {
    constexpr uint64_t part = 1 << 20;
    boost::crc_32_type checksum;
    for (uint64_t done = 0; done < member.bytes; done += part) {
      TROUPE_ASSIGN(const std::string bytes,
                    member.file->text(member.offset + done, std::min(part, member.bytes - done)));
      if (bytes.empty()) return damaged("member " + member.array + " is cut short");
      checksum.process_bytes(bytes.data(), bytes.size());
    }
    return checksum.checksum();
  }

  std::shared_ptr<InputFile> file_;
};

}  // namespace

Result<std::vector<NpzMember>> npz_members(const std::shared_ptr<InputFile>& archive) {
  return Archive(archive).members();
}

Result<std::map<std::string, Tensor>> read_npz(std::string_view bytes, const std::string& file) {
  TROUPE_ASSIGN(const auto members, npz_members(InputFile::in_memory(bytes, file)));
  std::map<std::string, Tensor> arrays;
  for (const NpzMember& member : members) {
    TROUPE_ASSIGN(const std::string array, member.file->text(member.offset, member.bytes));
    TROUPE_ASSIGN(arrays[member.array], read_npy(array, file + ":" + member.array));
  }
  return arrays;
}

Result<std::string> write_npz(const std::map<std::string, Tensor>& arrays) {
  std::string bytes;
  NpzWriter archive([&](std::string_view more) {
    bytes += more;
    return Status();
  });
  for (const auto& [key, tensor] : arrays) {
    TROUPE_ASSIGN(const std::string array, write_npy(tensor));
    TROUPE_RETURN_IF_FAILED(archive.begin(key));
    TROUPE_RETURN_IF_FAILED(archive.add(array));
    TROUPE_RETURN_IF_FAILED(archive.end());
  }
  TROUPE_RETURN_IF_FAILED(archive.finish());
  return bytes;
}

}  // namespace troupe::data
