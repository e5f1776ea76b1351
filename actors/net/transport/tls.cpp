#include "actors/net/transport/tls.h"

#include "actors/net/transport/certificate_files.h"

#include <utility>

#include <boost/asio/ssl/context.hpp>

#include <openssl/pem.h>
#include <openssl/x509v3.h>

namespace troupe {
namespace {

constexpr std::string_view scheme = "troupe:";

using Names =
    std::unique_ptr<GENERAL_NAMES, decltype([](GENERAL_NAMES* names) { GENERAL_NAMES_free(names); })>;
using File = std::unique_ptr<BIO, decltype([](BIO* file) { BIO_free(file); })>;
using Certificate = std::unique_ptr<X509, decltype([](X509* certificate) { X509_free(certificate); })>;

/// Returns the task that the certificate names; empty if it names none.
std::string task_in(const X509* certificate) {
  const Names names(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  for (int i = 0; names && i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type != GEN_URI) continue;
    const ASN1_IA5STRING* uri = name->d.uniformResourceIdentifier;
    const std::string_view text(reinterpret_cast<const char*>(ASN1_STRING_get0_data(uri)),
                                static_cast<size_t>(ASN1_STRING_length(uri)));
    if (text.starts_with(scheme)) return std::string(text.substr(scheme.size()));
  }
  return {};
}

}  // namespace

Result<std::shared_ptr<boost::asio::ssl::context>> make_tls(const TlsFiles& files) {
  namespace ssl = boost::asio::ssl;
  TROUPE_RETURN_IF_FAILED(check_usable(files));
  auto context = std::make_shared<ssl::context>(ssl::context::tls);
  boost::system::error_code error;
  const auto refused = [&](const char* what, const std::string& file) {
    return invalid_argument(std::string(what) + " " + file + ": " + error.message());
  };
  context->use_certificate_chain_file(files.certificate, error);
  if (error) return refused("certificate", files.certificate);
  context->use_private_key_file(files.key, ssl::context::pem, error);
  if (error) return refused("key", files.key);
  context->load_verify_file(files.authority, error);
  if (error) return refused("authority", files.authority);
  context->set_verify_mode(ssl::verify_peer | ssl::verify_fail_if_no_peer_cert);
  SSL_CTX* const native = context->native_handle();
  SSL_CTX_set_min_proto_version(native, TLS1_3_VERSION);
  SSL_CTX_set_session_cache_mode(native, SSL_SESS_CACHE_OFF);
  SSL_CTX_set_num_tickets(native, 0);
  SSL_CTX_set_mode(native, SSL_MODE_RELEASE_BUFFERS);
  return context;
}

std::string proven_task(SSL* connection) {
  const Certificate certificate(SSL_get1_peer_certificate(connection));
  return certificate ? task_in(certificate.get()) : std::string();
}

Result<std::string> certified_task(const TlsFiles& files) {
  TROUPE_RETURN_IF_FAILED(check_usable(files));
  const File file(BIO_new_file(files.certificate.c_str(), "r"));
  const Certificate certificate(PEM_read_bio_X509(file.get(), nullptr, nullptr, nullptr));
  const std::string task = certificate ? task_in(certificate.get()) : std::string();
  if (task.empty()) return invalid_argument("certificate " + files.certificate + " names no task");
  return task;
}

std::string uri_of_task(const std::string& task) { return std::string(scheme) + task; }

}  // namespace troupe
