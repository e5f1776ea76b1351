// Schema: a table of the keys that a document may have (apps/config/key.h). The functions here derive checks, hints, defaults and a
// reference for users from it. They have no state; a document is checked by one thread.
#pragma once

#include <chrono>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "apps/config/diagnostics.h"
#include "apps/config/key.h"

namespace troupe::config {

/// Checks the document against the schema. Afterwards the document has only valid values: defaults are filled in, relative paths
/// are resolved from `folder`, and rejected values are removed, except that a faulty expression becomes an empty string. Returns
/// the paths of rejected values and of tables with unknown keys, so that the caller does not report what is missing because of
/// them.
std::set<std::string> check(Document& document, std::span<const Key> schema, const std::string& folder,
                            Diagnostics& diagnostics);

/// Returns whether a value at `path` or inside it was rejected, of those that check() returns.
bool is_refused(const std::set<std::string>& refused_paths, const std::string& path);

/// Returns a reference for users with one paragraph per key, in the order of the table.
std::string reference(std::span<const Key> schema);

/// Parses a duration such as "60s", "200ms", "5m" or "1h" and returns it in seconds, or nothing if it is malformed or not above
/// zero.
std::optional<double> parse_duration(std::string_view text);
/// Does the same, but returns nanoseconds.
std::optional<std::chrono::nanoseconds> parse_nanoseconds(std::string_view text);

struct Period {
  double seconds = 0;  ///< 0: the period is not a time
  int64_t steps = 0;   ///< 0: the period is not a number of steps; both 0: never
};
/// Parses a duration, "500 steps" or "never"; returns nothing if the text is none of these.
std::optional<Period> parse_period(std::string_view text);

/// Returns whether the text has the form "host:port".
bool is_endpoint(std::string_view text);

/// Returns whether the name is one part of a path of at most 255 bytes, not "." or "..", without '/' and control characters.
bool is_folder_name(std::string_view name);

/// Returns whether expressions can use the name: a letter or '_', followed by letters, digits and '_'.
bool is_identifier(std::string_view name);

}  // namespace troupe::config
