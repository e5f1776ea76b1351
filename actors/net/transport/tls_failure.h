// TLS failures: turns OpenSSL's errors into a Status whose code says whether another attempt may succeed. For tcp_stream.h only.
#pragma once

#include <string>

#include "messages/values/status.h"
#include "messages/wire/frame.h"

typedef struct ssl_st SSL;

namespace boost::system {
class error_code;
}

namespace troupe {

/// Returns PermissionDenied if one side refuses the certificate of the other, FailedPrecondition if the peer does not speak TLS as
/// this side does, and Unavailable for any other failure: another attempt may succeed.
Status tls_failure(const std::string& peer, const boost::system::error_code& error, SSL* connection);

/// Returns the only frame that this side sends, unencrypted, to a peer whose kind of connection it does not accept.
Result<EncodedFrame> goodbye(const Status& reason);

/// Returns whether a handshake failed because the first bytes of the peer are not TLS.
bool is_plain_peer(const boost::system::error_code& error);

}  // namespace troupe
