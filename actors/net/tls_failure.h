// Failures of TLS, told in sentences; and which of them come again however often a connection is tried. For tcp_stream.h.
#pragma once

#include <string>

#include "messages/values/status.h"
#include "messages/wire/frame.h"

typedef struct ssl_st SSL;

namespace boost::system {
class error_code;
}

namespace troupe {

/// PermissionDenied: one side refuses the other's certificate. FailedPrecondition: the other side does not speak TLS as this one does.
/// Unavailable: anything else, which may go better another time.
Status tls_failure(const std::string& peer, const boost::system::error_code& error, SSL* connection);

/// What this side says, in plain bytes, to one whose kind of connection it does not take: its first and last frame.
Result<EncodedFrame> goodbye(const Status& reason);

/// Whether a handshake has failed because the other side's first bytes are none of TLS.
bool is_plain_peer(const boost::system::error_code& error);

}  // namespace troupe
