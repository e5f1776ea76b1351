// Schema: which keys a document may have, as a table: name, kind, range, default, meaning. The one table
// gives the checks, the hints, the defaults and the reference for readers. Rows are constants; the checks run
// on one thread.
#pragma once

#include <chrono>
#include <limits>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "apps/config/diagnostics.h"

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
  std::string_view initial = {};  ///< the default, as TOML; empty: none
  Range range = {};               ///< of numbers, and of durations in seconds
  std::string_view choices = {};  ///< "sgd|momentum|adam"
  std::string_view later = {};    ///< choices that are not available yet
  std::string_view when =
      {};  ///< "type=adam|momentum": allowed only beside that value of a key of the same table
};

struct Key {
  std::string_view path;  ///< "train.optimizer.lr"; a part "*" stands for any name
  Kind kind;
  std::string_view meaning;
  Rules rules = {};
};

/// Checks the document against the schema. Afterwards it holds valid values only: defaults are filled in,
/// paths are absolute (from `folder`), and what was wrong is gone, except that a faulty expression is left as
/// an empty string. Returns the paths of what was refused, and of the tables that held something unknown:
/// what is missing there may be missing for that reason alone.
std::set<std::string> check(Document& document, std::span<const Key> schema, const std::string& folder,
                            Diagnostics& diagnostics);

/// One paragraph per key for people to read, in the order of the table.
std::string reference(std::span<const Key> schema);

/// Seconds; nothing when it is no duration above zero.
std::optional<double> parse_duration(std::string_view text);
std::optional<std::chrono::nanoseconds> parse_nanoseconds(std::string_view text);

struct Period {
  double seconds = 0;  ///< 0: not by time
  int64_t steps = 0;   ///< 0: not by steps; both 0: never
};
std::optional<Period> parse_period(std::string_view text);

/// "host:port".
bool is_endpoint(std::string_view text);

/// One part of a path, of at most 255 bytes: not "." or "..", without '/' and control characters.
bool is_folder_name(std::string_view name);

/// A letter or '_', then letters, digits and '_': what an expression can name.
bool is_identifier(std::string_view name);

}  // namespace troupe::config
