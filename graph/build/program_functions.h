// ProgramFunctions: functions of this process that nodes of graphs name by tokens. A token is found in this process only, and as
// long as the program holds what add() returned. Any thread.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <unordered_map>
#include <utility>

namespace troupe {

template <class Function>
class ProgramFunctions {
 public:
  /// A function and its token. Nodes find the function while this object lives.
  class Entry {
   public:
    Entry(ProgramFunctions& owner, std::string named, Function function)
        : token(std::move(named)), call(std::move(function)), owner_(owner) {}
    ~Entry() {
      const std::lock_guard lock(owner_.mutex_);
      owner_.entries_.erase(token);
    }
    Entry(const Entry&) = delete;
    Entry& operator=(const Entry&) = delete;

    const std::string token;
    const Function call;

   private:
    ProgramFunctions& owner_;
  };

  /// The tokens begin with `prefix`.
  explicit ProgramFunctions(std::string prefix) : prefix_(std::move(prefix)) {
    std::random_device random;
    prefix_ += '_' + std::to_string((uint64_t{random()} << 32) | random()) + '_';  // no other process has it
  }

  std::shared_ptr<const Entry> add(Function function) {
    const std::lock_guard lock(mutex_);
    auto entry =
        std::make_shared<const Entry>(*this, prefix_ + std::to_string(count_++), std::move(function));
    entries_.emplace(entry->token, entry);
    return entry;
  }

  /// Returns null if this process has no such function any more.
  std::shared_ptr<const Entry> find(const std::string& token) {
    const std::lock_guard lock(mutex_);
    const auto entry = entries_.find(token);
    return entry == entries_.end() ? nullptr : entry->second.lock();
  }

 private:
  std::string prefix_;
  std::mutex mutex_;  ///< guards the members below
  uint64_t count_ = 0;
  std::unordered_map<std::string, std::weak_ptr<const Entry>> entries_;
};

}  // namespace troupe
