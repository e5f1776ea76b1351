// Archives of arrays: zip files whose members are stored as they are. The central directory at the end tells where they are.
#include <boost/crc.hpp>
#include <cstring>
#include <optional>

#include "apps/data/formats/npy.h"

namespace troupe::data {
namespace {

constexpr uint32_t local_magic = 0x04034b50, central_magic = 0x02014b50, end_magic = 0x06054b50;
constexpr size_t local_size = 30, central_size = 46, end_size = 22;
constexpr uint32_t in_zip64 = 0xffffffff;

/// Little-endian numbers of a zip file at known places.
class Record {
 public:
  explicit Record(std::string_view bytes) : bytes_(bytes) {}
  template <class T>
  T at(size_t offset) const {
    T value;
    std::memcpy(&value, bytes_.data() + offset, sizeof value);
    return value;
  }

 private:
  std::string_view bytes_;
};

struct Member {
  std::string_view name, bytes;
};

class Archive {
 public:
  Archive(std::string_view bytes, const std::string& file) : bytes_(bytes), file_(file) {}

  Result<std::vector<Member>> members() const {
    const auto end = find_end();
    if (!end) return damaged("no end of an archive in it");
    const Record record(bytes_.substr(*end));
    const auto count = record.at<uint16_t>(10);
    size_t at = record.at<uint32_t>(16);
    std::vector<Member> members;
    for (uint16_t i = 0; i < count; ++i) {
      if (at > *end || *end - at < central_size) return damaged("its directory is cut short");
      const Record entry(bytes_.substr(at));
      if (entry.at<uint32_t>(0) != central_magic) return damaged("its directory is damaged");
      const size_t name = entry.at<uint16_t>(28),
                   more = size_t{entry.at<uint16_t>(30)} + entry.at<uint16_t>(32);
      if (*end - at - central_size < name + more) return damaged("its directory is cut short");
      TROUPE_ASSIGN(auto member, member_of(entry, bytes_.substr(at + central_size, name)));
      members.push_back(member);
      at += central_size + name + more;
    }
    return members;
  }

 private:
  Status damaged(const std::string& what) const { return data_loss(file_ + ": " + what); }

  /// Behind it there may be a comment of up to 64 KiB.
  std::optional<size_t> find_end() const {
    constexpr std::string_view signature("PK\5\6", 4);
    const size_t at = bytes_.rfind(signature);
    if (at == std::string_view::npos || bytes_.size() - at < end_size) return std::nullopt;
    return at;
  }

  Result<Member> member_of(const Record& entry, std::string_view name) const {
    const std::string what = "its member " + std::string(name);
    if (entry.at<uint16_t>(10) != 0)
      return unimplemented(file_ + ": " + what + " is compressed; write it with numpy.savez");
    const size_t size = entry.at<uint32_t>(20), at = entry.at<uint32_t>(42);
    if (size == in_zip64 || at == in_zip64)
      return unimplemented(file_ + ": " + what + " is larger than 4 GiB");
    if (at > bytes_.size() || bytes_.size() - at < local_size)
      return damaged(what + " lies outside the file");
    const Record local(bytes_.substr(at));
    const size_t begin = at + local_size + local.at<uint16_t>(26) + local.at<uint16_t>(28);
    if (local.at<uint32_t>(0) != local_magic || begin > bytes_.size() || bytes_.size() - begin < size)
      return damaged(what + " lies outside the file");
    const std::string_view bytes = bytes_.substr(begin, size);
    boost::crc_32_type checksum;
    checksum.process_bytes(bytes.data(), bytes.size());
    if (checksum.checksum() != entry.at<uint32_t>(16)) return damaged(what + " has another checksum");
    return Member{name, bytes};
  }

  std::string_view bytes_;
  const std::string& file_;
};

template <class... T>
void put(std::string& bytes, T... values) {
  (bytes.append(reinterpret_cast<const char*>(&values), sizeof values), ...);
}

}  // namespace

Result<std::map<std::string, Tensor>> read_npz(std::string_view bytes, const std::string& file) {
  TROUPE_ASSIGN(const auto members, Archive(bytes, file).members());
  std::map<std::string, Tensor> arrays;
  for (const Member& member : members) {
    constexpr std::string_view suffix = ".npy";
    if (!member.name.ends_with(suffix)) continue;
    const std::string name(member.name.substr(0, member.name.size() - suffix.size()));
    TROUPE_ASSIGN(arrays[name], read_npy(member.bytes, std::string(file).append(":").append(name)));
  }
  return arrays;
}

Result<std::string> write_npz(const std::map<std::string, Tensor>& arrays) {
  constexpr uint16_t version = 20, no_flags = 0, stored = 0, time = 0, date = 0x21, none = 0;
  std::string bytes, directory;
  for (const auto& [key, tensor] : arrays) {
    TROUPE_ASSIGN(const std::string array, write_npy(tensor));
    if (bytes.size() + array.size() >= in_zip64) return unimplemented("archives larger than 4 GiB");
    const std::string name = key + ".npy";
    boost::crc_32_type checksum;
    checksum.process_bytes(array.data(), array.size());
    const uint32_t crc = checksum.checksum();
    const auto size = static_cast<uint32_t>(array.size()), at = static_cast<uint32_t>(bytes.size());
    const auto length = static_cast<uint16_t>(name.size());
    put(directory, central_magic, version, version, no_flags, stored, time, date, crc, size, size, length,
        none, none, none, none, uint32_t{0}, at);
    directory += name;
    put(bytes, local_magic, version, no_flags, stored, time, date, crc, size, size, length, none);
    bytes += name + array;
  }
  const auto count = static_cast<uint16_t>(arrays.size());
  const auto at = static_cast<uint32_t>(bytes.size()), size = static_cast<uint32_t>(directory.size());
  bytes += directory;
  put(bytes, end_magic, none, none, count, count, size, at, none);
  return bytes;
}

}  // namespace troupe::data
