// Access: who may use an HTTP server: clients that send one of its tokens, and the pages of other sites that it allows, which
// browsers ask for (Cross-Origin Resource Sharing). Plain values and pure functions; any thread.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "apps/http/http_server.h"
#include "messages/env/disk.h"

namespace troupe::http {

struct AccessOptions {
  /// A request must have one of them, as "Authorization: Bearer TOKEN". Empty: requests need no token.
  std::vector<std::string> tokens;
  /// The sites whose pages may read the answers in a browser, as "https://example.org:8443"; "*" stands for all sites.
  std::vector<std::string> origins;
  /// The paths for which requests need no token.
  std::vector<std::string> open_paths;
};

/// Returns the tokens in a file, one in each line that is not blank. Fails as read_file() does, and with InvalidArgument if a token
/// has characters that a header cannot carry, naming its line, or if there are none.
Result<std::vector<std::string>> read_tokens(Disk& disk, const std::string& path);

/// Fails with InvalidArgument unless the text is "*", or scheme, host and possibly port of a site.
Status check_origin(const std::string& text);

/// Returns a handler that passes to `handler` the requests that have access, and answers the others with status 401. It answers the
/// questions of browsers whether a page of an allowed site may send a request (OPTIONS), too.
HttpHandler with_access(std::shared_ptr<const AccessOptions> options, HttpHandler handler);

}  // namespace troupe::http
