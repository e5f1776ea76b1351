// SimulatedDisk: a disk in memory that can be full and can crash, losing what
// was not synced: names and bytes, whole or torn. What survives is drawn from
// the seed: the same seed and calls give the same disk. One thread.
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

  /// Bytes of all files together; a write that would pass it writes what fits and is ResourceExhausted.
  void set_capacity(uint64_t bytes) { capacity_ = bytes; }
  uint64_t used() const;

  /// How many operations that change the disk there were: every create,
  /// append, write, sync, rename, remove, make_folder and sync_folder.
  uint64_t operations() const { return operations_; }
  /// The operation with this number, counted from 1, is interrupted
  /// by a crash: it happens, or not, or a write in part.
  void crash_at(uint64_t operation) { crash_at_ = operation; }
  /// From now on every call is Unavailable, until restart().
  void crash() { crashed_ = true; }
  bool crashed() const { return crashed_; }
  /// Back again with what was synced, and of the rest whatever chance kept:
  ///   - of names created, renamed and removed in a folder since it was synced, any;
  ///   - of bytes written to a file since it was synced, a part from the front, some of it as zeros;
  ///   - of a file made empty since it was synced, the old content or such a part of the new.
  /// Files opened before stay Unavailable.
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
  // A name in a folder that comes to stand for something else, or for nothing.
  struct Change {
    NodeRef folder;
    std::string name;
    NodeRef target;
  };
  using Changes = std::vector<Change>;  // that happen together: the two of a rename
  struct Place {
    NodeRef folder;
    std::string name;
    NodeRef node;  // null when nothing is there
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
  /// Counts an operation, and lets it happen unless the crash it was chosen for prevents it.
  template <class Effect>
  Status operate(uint64_t life, Effect effect);

  std::mt19937_64 random_;
  NodeRef root_;
  std::vector<Changes> unsynced_;  // in order
  uint64_t capacity_ = UINT64_MAX;
  uint64_t operations_ = 0, crash_at_ = 0;
  uint64_t life_ = 0;  // counts restarts
  bool crashed_ = false;
};

}  // namespace troupe
