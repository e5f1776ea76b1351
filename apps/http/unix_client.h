// A client of an HttpServer that listens at a socket in the file system. A function that blocks; any thread.
#pragma once

#include <atomic>
#include <chrono>
#include <string>

#include "apps/http/http_server.h"

namespace troupe::http {

/// Sends a request without a body and returns the answer. Fails with NotFound if nothing listens at the socket, with
/// PermissionDenied if this user may not connect, with DeadlineExceeded if no answer comes in time, and with Unavailable if the
/// connection ends before that, and with Cancelled, at once, if `stop` is set.
Result<HttpAnswer> ask(const std::string& socket, const std::string& method, const std::string& target,
                       std::chrono::nanoseconds timeout, const std::atomic<bool>* stop = nullptr);

}  // namespace troupe::http
