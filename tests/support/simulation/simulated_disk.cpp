#include "tests/support/simulation/simulated_disk.h"

#include <algorithm>
#include <cstring>
#include <functional>

namespace troupe {

SimulatedDisk::SimulatedDisk(uint64_t seed) : random_(seed), root_(std::make_shared<Node>()) {
  root_->is_folder = true;
}

Status SimulatedDisk::check_alive(uint64_t life) const {
  return crashed_ || life != life_ ? unavailable("the disk has crashed") : Status{};
}

template <class Effect>
Status SimulatedDisk::operate(uint64_t life, Effect effect) {
  TROUPE_RETURN_IF_FAILED(check_alive(life));
  const bool interrupted = ++operations_ == crash_at_;
  const Status status = interrupted && coin() ? Status{} : effect(interrupted);
  if (!interrupted) return status;
  crash();
  return check_alive(life);
}

// Names

namespace {

std::vector<std::string> parts_of(const std::string& path) {
  std::vector<std::string> parts;
  for (size_t start = 0; start < path.size();) {
    const size_t end = std::min(path.find('/', start), path.size());
    const std::string part = path.substr(start, end - start);
    if (!part.empty() && part != ".") parts.push_back(part);
    start = end + 1;
  }
  return parts;
}

bool lies_in(const std::string& path, const std::string& folder) {
  const auto inner = parts_of(path), outer = parts_of(folder);
  return outer.size() < inner.size() && std::equal(outer.begin(), outer.end(), inner.begin());
}

}  // namespace

Result<SimulatedDisk::Place> SimulatedDisk::find(const std::string& path) const {
  Place place{nullptr, "", root_};
  for (const std::string& name : parts_of(path)) {
    if (name == "..") return invalid_argument("a simulated path with '..': '" + path + "'");
    if (!place.node) return not_found("cannot find '" + path + "'");
    if (!place.node->is_folder) return failed_precondition("a part of '" + path + "' is no folder");
    const auto entry = place.node->entries.find(name);
    const NodeRef next = entry == place.node->entries.end() ? nullptr : entry->second;
    place = {place.node, name, next};
  }
  return place;
}

Result<SimulatedDisk::Place> SimulatedDisk::find_existing(const std::string& path) const {
  TROUPE_ASSIGN(auto place, find(path));
  if (!place.node) return not_found("cannot find '" + path + "'");
  return place;
}

void SimulatedDisk::change(Changes changes) {
  apply(changes, &Node::entries);
  unsynced_.push_back(std::move(changes));
}

void SimulatedDisk::apply(const Changes& changes, std::map<std::string, NodeRef> Node::*entries) {
  for (const auto& [folder, name, target] : changes) {
    if (target)
      ((*folder).*entries)[name] = target;
    else
      ((*folder).*entries).erase(name);
  }
}

Status SimulatedDisk::rename(const std::string& from, const std::string& to) {
  return operate(life_, [&](bool) -> Status {
    TROUPE_ASSIGN(const auto source, find_existing(from));
    TROUPE_ASSIGN(const auto target, find(to));
    if (lies_in(to, from)) return invalid_argument("cannot rename '" + from + "' into itself");
    if (!source.folder || (target.node && (target.node->is_folder || source.node->is_folder)))
      return failed_precondition("cannot rename '" + from + "' over '" + to + "'");
    change({{source.folder, source.name, nullptr}, {target.folder, target.name, source.node}});
    return {};
  });
}

Status SimulatedDisk::remove(const std::string& path) {
  return operate(life_, [&](bool) -> Status {
    TROUPE_ASSIGN(const auto place, find_existing(path));
    if (!place.folder || !place.node->entries.empty()) return already_exists("'" + path + "' is not empty");
    change({{place.folder, place.name, nullptr}});
    return {};
  });
}

Status SimulatedDisk::make_folder(const std::string& path) {
  return operate(life_, [&](bool) -> Status {
    TROUPE_ASSIGN(const auto place, find(path));
    if (place.node) return already_exists("'" + path + "' exists");
    const auto folder = std::make_shared<Node>();
    folder->is_folder = true;
    change({{place.folder, place.name, folder}});
    return {};
  });
}

Status SimulatedDisk::sync_folder(const std::string& path) {
  return operate(life_, [&](bool) -> Status {
    TROUPE_ASSIGN(const auto place, find_existing(path));
    if (!place.node->is_folder) return failed_precondition("'" + path + "' is no folder");
    const auto concerned = [&](const Changes& changes) {
      return std::any_of(changes.begin(), changes.end(),
                         [&](const Change& c) { return c.folder == place.node; });
    };
    for (const Changes& changes : unsynced_)
      if (concerned(changes)) apply(changes, &Node::synced_entries);
    std::erase_if(unsynced_, concerned);
    return {};
  });
}

Result<std::vector<Disk::Entry>> SimulatedDisk::list(const std::string& folder) {
  TROUPE_RETURN_IF_FAILED(check_alive(life_));
  TROUPE_ASSIGN(const auto place, find_existing(folder));
  if (!place.node->is_folder) return failed_precondition("'" + folder + "' is no folder");
  std::vector<Entry> entries;
  for (const auto& [name, node] : place.node->entries) entries.push_back({name, node->is_folder});
  return entries;
}

Result<Disk::Info> SimulatedDisk::info(const std::string& path) {
  TROUPE_RETURN_IF_FAILED(check_alive(life_));
  TROUPE_ASSIGN(const auto place, find_existing(path));
  return Info{place.node->content.size(), place.node->is_folder};
}

// Bytes

class SimulatedDisk::File final : public ReadableFile, public WritableFile {
 public:
  File(SimulatedDisk& disk, NodeRef node, std::string path)
      : disk_(disk), node_(std::move(node)), path_(std::move(path)), life_(disk.life_) {}

  Result<uint64_t> size() override {
    TROUPE_RETURN_IF_FAILED(disk_.check_alive(life_));
    return node_->content.size();
  }
  Result<size_t> read(uint64_t offset, std::span<std::byte> into) override {
    TROUPE_RETURN_IF_FAILED(disk_.check_alive(life_));
    const uint64_t begin = std::min<uint64_t>(offset, node_->content.size());
    const size_t bytes = std::min<uint64_t>(into.size(), node_->content.size() - begin);
    std::memcpy(into.data(), node_->content.data() + begin, bytes);
    return bytes;
  }
  Status write(std::span<const std::byte> bytes) override {
    return disk_.operate(life_,
                         [&](bool interrupted) { return disk_.write(*node_, path_, bytes, interrupted); });
  }
  Status sync() override {
    return disk_.operate(life_, [&](bool) {
      node_->synced_content = node_->content;
      return Status{};
    });
  }
  Status close() override { return disk_.check_alive(life_); }

 private:
  SimulatedDisk& disk_;
  NodeRef node_;
  std::string path_;
  uint64_t life_;
};

Status SimulatedDisk::write(Node& node, const std::string& path, std::span<const std::byte> bytes,
                            bool interrupted) {
  const uint64_t before = used();
  const uint64_t room = capacity_ > before ? capacity_ - before : 0;
  size_t written = std::min<uint64_t>(bytes.size(), room);
  const bool full = written < bytes.size();
  if (interrupted) written = random_() % (written + 1);
  node.content.append(reinterpret_cast<const char*>(bytes.data()), written);
  return full ? resource_exhausted("cannot write '" + path + "': no space left on the disk") : Status{};
}

uint64_t SimulatedDisk::used() const {
  const std::function<uint64_t(const Node&)> sum = [&](const Node& node) {
    uint64_t bytes = node.content.size();
    for (const auto& [name, entry] : node.entries) bytes += sum(*entry);
    return bytes;
  };
  return sum(*root_);
}

Result<std::unique_ptr<ReadableFile>> SimulatedDisk::open(const std::string& path) {
  TROUPE_RETURN_IF_FAILED(check_alive(life_));
  TROUPE_ASSIGN(const auto place, find_existing(path));
  if (place.node->is_folder) return failed_precondition("'" + path + "' is a folder");
  return std::unique_ptr<ReadableFile>(std::make_unique<File>(*this, place.node, path));
}

Result<std::unique_ptr<WritableFile>> SimulatedDisk::create(const std::string& path) {
  return open_for_writing(path, true);
}

Result<std::unique_ptr<WritableFile>> SimulatedDisk::append(const std::string& path) {
  return open_for_writing(path, false);
}

Result<std::unique_ptr<WritableFile>> SimulatedDisk::open_for_writing(const std::string& path, bool empty) {
  NodeRef node;
  TROUPE_RETURN_IF_FAILED(operate(life_, [&](bool) -> Status {
    TROUPE_ASSIGN(const auto place, find(path));
    node = place.node;
    if (node && node->is_folder) return failed_precondition("'" + path + "' is a folder");
    if (node && empty) node->content.clear();
    if (!node) {
      node = std::make_shared<Node>();
      change({{place.folder, place.name, node}});
    }
    return {};
  }));
  return std::unique_ptr<WritableFile>(std::make_unique<File>(*this, node, path));
}

// After a crash

void SimulatedDisk::restart() {
  for (const Changes& changes : std::exchange(unsynced_, {}))
    if (coin()) apply(changes, &Node::synced_entries);
  restore(*root_);
  crashed_ = false;
  crash_at_ = 0;
  ++life_;
}

void SimulatedDisk::restore(Node& node) {
  node.entries = node.synced_entries;
  for (const auto& [name, entry] : node.entries) restore(*entry);
  if (node.content != node.synced_content) tear(node);
  node.synced_content = node.content;
}

void SimulatedDisk::tear(Node& file) {
  const bool continued = file.content.starts_with(file.synced_content);
  if (!continued && coin()) {
    file.content = file.synced_content;
    return;
  }
  const size_t safe = continued ? file.synced_content.size() : 0;
  const size_t kept = random_() % (file.content.size() - safe + 1);
  file.content.resize(safe + kept);
  if (kept == 0 || coin()) return;
  const size_t begin = random_() % kept, end = begin + random_() % (kept - begin + 1);
  std::fill(file.content.begin() + safe + begin, file.content.begin() + safe + end, '\0');
}

}  // namespace troupe
