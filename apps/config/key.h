// Keys: the rows of a schema (apps/config/schema.h). Each row describes a key that a document may have: its path, kind, range,
// default and meaning. Constants.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

namespace troupe::config {

enum class Kind : uint8_t {
  Section,   ///< a table
  Sections,  ///< a list of tables; the paths of their keys begin with the path of the list
  Boolean,
  Integer,
  Number,  ///< a floating point number; an integer is accepted and converted
  String,
  Strings,      ///< one string or several
  StringLists,  ///< a list whose elements are strings or lists of them; the check makes all of them lists
  Name,         ///< letters, digits and '_', not starting with a digit
  FolderName,   ///< the name of a folder inside another: printable, and it cannot lead outside
  Choice,       ///< one of `choices`
  Expression,   ///< a string that is parsed later
  Duration,     ///< "60s", "200ms", "5m", "1h"
  Period,       ///< a duration, "500 steps" or "never"
  Column,       ///< a name or a number
  Columns,      ///< a column, or a list of names
  Paths,        ///< one path or several, relative to the run file; the check makes them absolute
  Endpoints,    ///< one "host:port" or several
  Dimensions,   ///< a list of integers, each in `range`
  /// A list of floating point numbers, each in `range`; integers are accepted and converted. One of `choices` may stand for it.
  Numbers,
  IntegerPair,  ///< an integer or a list of two, each in `range`
};

struct Range {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool above = false;     ///< excludes `low` itself
  bool below = false;     ///< excludes `high` itself
  bool infinite = false;  ///< includes infinity, if the bounds do
  bool contains(double number) const {
    if (!std::isfinite(number) && !(infinite && std::isinf(number))) return false;
    return (above ? number > low : number >= low) && (below ? number < high : number <= high);
  }
  /// Returns a description such as "at least 1", "above 0 and below 1", or "at most 60 s" with a unit; empty if there are no
  /// bounds.
  std::string text(std::string_view unit = {}) const;
};

struct Rules {
  bool required = false;
  std::string_view initial = {};  ///< the default, as TOML; empty: there is none
  Range range = {};               ///< the range of numbers, and of durations in seconds
  std::string_view choices = {};  ///< the allowed values, such as "sgd|momentum|adam"
  /// If set, returns the allowed values, in place of `choices`, from a list defined elsewhere.
  std::string (*listed_choices)() = nullptr;
  /// For Section and Sections: whether further keys of the table depend on its `type`. The paths of these continue with the type:
  /// "model.layers.dense.units".
  bool by_type = false;
  /// Whether a table may be written in short, as the name of its type alone or as the list of its names. The full form takes the
  /// place of the short one before the check.
  bool short_form = false;
  /// For a path that ends with "*": whether the names may be patterns of names, not only identifiers.
  bool patterns = false;
  /// If not empty, such as "type=adam|momentum", the key is allowed only if another key of the same table has one of these values.
  std::string_view when = {};
};

struct Key {
  std::string_view path;  ///< such as "train.optimizer.lr"; a part "*" stands for any name
  Kind kind;
  std::string_view meaning;
  Rules rules = {};
};

}  // namespace troupe::config
