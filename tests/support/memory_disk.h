// MemoryDisk: a read-only disk whose files are given as text, or as a
// function that returns their bytes, so they may be of any size. One thread.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <string>

#include "messages/env/disk.h"

namespace troupe::test {

class MemoryDisk final : public Disk {
 public:
  /// Returns the byte at an offset.
  using Rule = std::function<char(uint64_t offset)>;

  void write(const std::string& path, std::string bytes) {
    const uint64_t size = bytes.size();
    write(path, size, [bytes = std::move(bytes)](uint64_t offset) { return bytes[offset]; });
  }
  void write(const std::string& path, uint64_t size, Rule rule) { files_[path] = {size, std::move(rule)}; }

  Result<std::unique_ptr<ReadableFile>> open(const std::string& path) override {
    if (!files_.contains(path)) return not_found("there is no file " + path);
    return std::unique_ptr<ReadableFile>(std::make_unique<File>(files_.at(path)));
  }
  Result<Info> info(const std::string& path) override {
    if (!files_.contains(path)) return not_found("there is no file " + path);
    return Info{files_.at(path).size, false};
  }
  Result<std::unique_ptr<WritableFile>> create(const std::string&) override { return read_only(); }
  Result<std::unique_ptr<WritableFile>> append(const std::string&) override { return read_only(); }
  Status rename(const std::string&, const std::string&) override { return read_only(); }
  Status remove(const std::string&) override { return read_only(); }
  Status make_folder(const std::string&) override { return read_only(); }
  Status sync_folder(const std::string&) override { return read_only(); }
  Result<std::vector<Entry>> list(const std::string&) override { return read_only(); }

 private:
  struct Content {
    uint64_t size;
    Rule byte;
  };
  class File final : public ReadableFile {
   public:
    explicit File(Content content) : content_(std::move(content)) {}
    Result<uint64_t> size() override { return content_.size; }
    Result<size_t> read(uint64_t offset, std::span<std::byte> into) override {
      const uint64_t there = std::min<uint64_t>(into.size(), content_.size - std::min(offset, content_.size));
      for (uint64_t i = 0; i < there; ++i) into[i] = static_cast<std::byte>(content_.byte(offset + i));
      return there;
    }

   private:
    Content content_;
  };
  static Status read_only() { return Status(Code::PermissionDenied, "the disk is read-only"); }

  std::map<std::string, Content> files_;
};

}  // namespace troupe::test
