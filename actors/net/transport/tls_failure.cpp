#include "actors/net/transport/tls_failure.h"

#include <utility>  // Boost.Asio 1.74 wants it first

#include <boost/asio/ssl/error.hpp>

#include <openssl/err.h>
#include <openssl/ssl.h>

#include "actors/net/transport/certificate_files.h"
#include "messages/schemas/link.capnp.h"
#include "messages/wire/wire.h"

namespace troupe {
namespace {

/// Returns OpenSSL's reason code; 0 if the error does not come from OpenSSL.
int reason_of(const boost::system::error_code& error) {
  if (error.category() != boost::asio::error::get_ssl_category()) return 0;
  return ERR_GET_REASON(static_cast<unsigned long>(static_cast<unsigned int>(error.value())));
}

/// Returns what the peer says is wrong with the certificate of this side; null if the alert is not about the certificate.
const char* alert_about_certificate(int reason) {
  switch (reason) {
    case SSL_R_TLSV1_ALERT_UNKNOWN_CA:
    case SSL_R_TLSV1_ALERT_DECRYPT_ERROR: return "it is not signed by the authority of the cluster there";
    case SSL_R_SSLV3_ALERT_CERTIFICATE_EXPIRED: return "it has expired";
    case SSL_R_SSLV3_ALERT_CERTIFICATE_REVOKED: return "it was revoked";
    case SSL_R_TLSV13_ALERT_CERTIFICATE_REQUIRED: return "this node did not send one";
    case SSL_R_SSLV3_ALERT_BAD_CERTIFICATE:
    case SSL_R_SSLV3_ALERT_CERTIFICATE_UNKNOWN:
    case SSL_R_SSLV3_ALERT_UNSUPPORTED_CERTIFICATE:
    case SSL_R_TLSV1_ALERT_ACCESS_DENIED: return "it is not valid, or not valid yet";
    default: return nullptr;
  }
}

std::string text_of_error(const boost::system::error_code& error, int reason) {
  const char* text =
      reason == 0 ? nullptr : ERR_reason_error_string(static_cast<unsigned int>(error.value()));
  return text ? text : error.message();
}

}  // namespace

bool is_plain_peer(const boost::system::error_code& error) {
  const int reason = reason_of(error);
  return reason == SSL_R_WRONG_VERSION_NUMBER || reason == SSL_R_HTTP_REQUEST ||
         reason == SSL_R_PACKET_LENGTH_TOO_LONG;
}

Result<EncodedFrame> goodbye(const Status& reason) {
  Draft<wire::Goodbye> draft;
  write(reason, draft->initReason());
  return encode({.sequence = 1}, draft.finish());
}

Status tls_failure(const std::string& peer, const boost::system::error_code& error, SSL* connection) {
  const std::string what = "TLS with " + peer + " failed: ";
  const int reason = reason_of(error);
  if (const long verified = SSL_get_verify_result(connection); reason != 0 && verified != X509_V_OK)
    return Status(Code::PermissionDenied, what + "its certificate " + complaint_of(verified));
  if (const char* const complaint = alert_about_certificate(reason))
    return Status(Code::PermissionDenied, what + "it refuses the certificate of this node: " + complaint);
  if (is_plain_peer(error) || reason == SSL_R_TLSV1_ALERT_PROTOCOL_VERSION ||
      reason == SSL_R_UNSUPPORTED_PROTOCOL)
    return failed_precondition(what + "it does not speak TLS as this node does");
  return unavailable(what + text_of_error(error, reason));
}

}  // namespace troupe
