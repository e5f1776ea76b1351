// Gzip in HTTP: which clients take answers in this form, and such answers. Functions without state; any thread.
#pragma once

#include <string_view>

#include "apps/http/http_server.h"

namespace troupe::http {

/// Returns whether a Content-Encoding stands for gzip.
bool is_gzip(std::string_view encoding);
/// Returns whether a client takes gzip, as its Accept-Encoding says. An empty one says no.
bool accepts_gzip(std::string_view accepted);
/// Compresses the body of an answer if it has more than 1 KiB, becomes shorter and the client takes gzip; otherwise, and where
/// there is no memory for it, the body stays as it is. Tells caches that such an answer depends on what a client takes.
void compress(HttpAnswer& answer, bool takes_gzip);

}  // namespace troupe::http
