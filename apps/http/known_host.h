// The names under which a server may be asked. Any web site may let its name lead to this machine, and would then read what the
// browser of a user of this machine can reach; but such a request names that site. A pure function.
#pragma once

#include <string>
#include <vector>

namespace troupe::http {

/// Returns whether a request may use this name for the server: an IP address or localhost, with or without a port
/// ("127.0.0.1:8080", "[::1]"), or one of `hosts`.
bool is_known_host(const std::string& host, const std::vector<std::string>& hosts);

}  // namespace troupe::http
