// Schema: which keys a document may have, as a table of keys (apps/config/key.h). The one table gives the checks, the hints, the
// defaults and the reference for readers. The checks run on one thread.
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
