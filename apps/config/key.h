// Keys: what a document may have, as rows of a table (apps/config/schema.h): name, kind, range, default, meaning. Constants.
#pragma once

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace troupe::config {

enum class Kind : uint8_t {
  Section,   ///< a table
  Sections,  ///< a list of tables; their keys stand under the list's own path
  Boolean,
  Integer,
  Number,  ///< integers are taken too, and become floats
  String,
  FolderName,  ///< a string that names a folder inside another: no way out of it, nothing that cannot be printed
  Choice,      ///< a string out of `choices`
  Expression,  ///< a string, looked into later
  Duration,    ///< "60s", "200ms", "5m", "1h"
  Period,      ///< a duration, "500 steps" or "never"
  Column,      ///< a name or a number
  Paths,       ///< one path or several, relative to the run file; made absolute
  Endpoints,   ///< "host:port", one or several
  Dimensions,  ///< a list of integers, each in `range`
  Later,       ///< known, but not available yet
};

struct Range {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool above = false;  ///< `low` itself is not allowed
  bool below = false;  ///< `high` itself is not allowed
  bool contains(double number) const {
    return (above ? number > low : number >= low) && (below ? number < high : number <= high);
  }
  /// "at least 1", "above 0 and below 1", or "at most 60 s" with a unit; empty when anything is allowed.
  std::string text(std::string_view unit = {}) const;
};

struct Rules {
  bool required = false;
  std::string_view initial = {};              ///< the default, as TOML; empty: none
  Range range = {};                           ///< of numbers, and of durations in seconds
  std::string_view choices = {};              ///< "sgd|momentum|adam"
  std::string (*listed_choices)() = nullptr;  ///< instead of `choices`, where a list elsewhere has them
  std::string_view later = {};                ///< choices that are not available yet
  std::string_view when =
      {};  ///< "type=adam|momentum": allowed only beside that value of a key of the same table
};

struct Key {
  std::string_view path;  ///< "train.optimizer.lr"; a part "*" stands for any name
  Kind kind;
  std::string_view meaning;
  Rules rules = {};
};

}  // namespace troupe::config
