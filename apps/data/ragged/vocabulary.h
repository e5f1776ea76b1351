// Vocabulary: the ids of words, which files list, a word in each line. Immutable; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "messages/env/disk.h"

namespace troupe::data {

class Vocabulary {
 public:
  /// Reads files as if they were one. Fails with DataLoss, naming file and line, if a line is empty, has blanks inside or repeats a
  /// word, or with the error of the disk.
  static Result<Vocabulary> read(Disk& disk, std::span<const std::string> files);
  /// Returns the vocabulary of words in the order of their ids. Fails with InvalidArgument if one is there twice.
  static Result<Vocabulary> of(std::span<const std::string> words);

  /// Returns the number of the word's line, counted from 0, or size() for a word that is in no file.
  int64_t id_of(std::string_view word) const {
    const auto known = ids_.find(word);
    return known == ids_.end() ? size() : known->second;
  }
  int64_t size() const { return static_cast<int64_t>(ids_.size()); }
  /// Returns the words in the order of their ids.
  std::vector<std::string> words() const;

 private:
  Status add_file(Disk& disk, const std::string& file);

  std::map<std::string, int64_t, std::less<>> ids_;
};

}  // namespace troupe::data
