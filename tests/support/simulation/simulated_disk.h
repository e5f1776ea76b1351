// SimulatedDisk: a disk in memory that can be full and can crash. A crash loses names and bytes that were not synced,
// all or some of them. The seed decides what survives: the same seed and calls give the same disk. One thread.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "messages/env/disk.h"

namespace troupe {

class SimulatedDisk final : public Disk {
 public:
  explicit SimulatedDisk(uint64_t seed);

  /// Limits the bytes of all files together. A write beyond the limit writes what fits and fails with ResourceExhausted.
  void set_capacity(uint64_t bytes) { capacity_ = bytes; }
  uint64_t used() const;

  /// Returns how many operations have changed the disk: create, append, write, sync, rename, remove, make_folder and sync_folder.
  uint64_t operations() const { return operations_; }
  /// The operation with this number, counted from 1, is interrupted by
  /// a crash. It may happen or not, and a write may happen in part.
  void crash_at(uint64_t operation) { crash_at_ = operation; }
  /// Makes all calls fail with Unavailable until restart().
  void crash() { crashed_ = true; }
  bool crashed() const { return crashed_; }
  /// Restores what was synced, and a part of the rest, by chance:
  ///   - any of the names created, renamed and removed in a folder since it was synced;
  ///   - the first part of the bytes written to a file since it was synced, some of them as zeros;
  ///   - for a file that was emptied since it was synced, the old content or such a part of the new content.
  /// Files that were opened before the crash stay Unavailable.
  void restart();

  Result<std::unique_ptr<ReadableFile>> open(const std::string& path) override;
  Result<std::unique_ptr<WritableFile>> create(const std::string& path) override;
  Result<std::unique_ptr<WritableFile>> append(const std::string& path) override;
  Status rename(const std::string& from, const std::string& to) override;
  Status remove(const std::string& path) override;
  Status make_folder(const std::string& path) override;
  Status sync_folder(const std::string& path) override;
  Result<std::vector<Entry>> list(const std::string& folder) override;
  Result<Info> info(const std::string& path) override;

 private:
  struct Node;
  using NodeRef = std::shared_ptr<Node>;
  struct Node {
    bool is_folder = false;
    std::string content, synced_content;
    std::map<std::string, NodeRef> entries, synced_entries;
  };
  // A name in a folder gets another target, or is removed (null).
  struct Change {
    NodeRef folder;
    std::string name;
    NodeRef target;
  };
  using Changes = std::vector<Change>;  // changes that happen together, such as the two of a rename
  struct Place {
    NodeRef folder;
    std::string name;
    NodeRef node;  // null if the name does not exist
  };
  class File;

  Result<Place> find(const std::string& path) const;
  Result<Place> find_existing(const std::string& path) const;
  Result<std::unique_ptr<WritableFile>> open_for_writing(const std::string& path, bool empty);
  Status write(Node& node, const std::string& path, std::span<const std::byte> bytes, bool interrupted);
  static void apply(const Changes& changes, std::map<std::string, NodeRef> Node::*entries);
  void change(Changes changes);
  void restore(Node& node);
  void tear(Node& file);
  bool coin() { return random_() % 2 == 0; }
  Status check_alive(uint64_t life) const;
  /// Counts an operation. Lets it happen, unless a crash was planned for it and prevents it.
  template <class Effect>
  Status operate(uint64_t life, Effect effect);

  std::mt19937_64 random_;
  NodeRef root_;
  std::vector<Changes> unsynced_;  // in the order in which they happened
  uint64_t capacity_ = UINT64_MAX;
  uint64_t operations_ = 0, crash_at_ = 0;
  uint64_t life_ = 0;  // the number of restarts
  bool crashed_ = false;
};

}  // namespace troupe
