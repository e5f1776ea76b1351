#include "actors/net/transport/certificates.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include <memory>

#include "actors/net/transport/openssl_handles.h"
#include "actors/net/transport/tls.h"

namespace troupe {
namespace {

using openssl::Certificate, openssl::Key, openssl::Memory, openssl::Free;
using Extension = std::unique_ptr<X509_EXTENSION, Free<X509_EXTENSION_free>>;

Status failed(const char* what) {
  return internal(std::string(what) + ": " + ERR_error_string(ERR_get_error(), nullptr));
}

std::string text_of(BIO* memory) {
  char* data = nullptr;
  const long size = BIO_get_mem_data(memory, &data);
  return {data, static_cast<size_t>(size)};
}

struct Names {
  std::string subject;
  std::string alternative;  ///< "URI:...", or empty
  bool authority = false;
};

Status extend(X509* certificate, X509* issuer, int what, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  const Extension extension(X509V3_EXT_conf_nid(nullptr, &context, what, value.c_str()));
  if (!extension || X509_add_ext(certificate, extension.get(), -1) != 1)
    return failed("certificate extension");
  return {};
}

Status fill(X509* certificate, X509* issuer, EVP_PKEY* key, const Names& names, std::chrono::seconds begin,
            std::chrono::seconds valid) {
  X509_set_version(certificate, 2);
  uint64_t serial = 0;
  if (RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof serial) != 1)
    return failed("random serial");
  ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), serial >> 1);
  X509_gmtime_adj(X509_getm_notBefore(certificate), begin.count());
  X509_gmtime_adj(X509_getm_notAfter(certificate), (begin + valid).count());
  X509_set_pubkey(certificate, key);
  X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(names.subject.c_str()), -1, -1, 0);
  X509_set_issuer_name(certificate, X509_get_subject_name(issuer));
  TROUPE_RETURN_IF_FAILED(extend(certificate, issuer, NID_basic_constraints,
                                 names.authority ? "critical,CA:TRUE" : "critical,CA:FALSE"));
  if (names.alternative.empty()) return {};
  return extend(certificate, issuer, NID_subject_alt_name, names.alternative);
}

Result<KeyPair> make(const Names& names, const KeyPair* authority, std::chrono::seconds begin,
                     std::chrono::seconds valid) {
  const Key key(EVP_EC_gen("P-256"));
  const Certificate certificate(X509_new());
  if (!key || !certificate) return failed("key");
  Key signer;
  Certificate issuer;
  if (authority) {
    const Memory issuer_text(
        BIO_new_mem_buf(authority->certificate.data(), static_cast<int>(authority->certificate.size())));
    issuer.reset(PEM_read_bio_X509(issuer_text.get(), nullptr, nullptr, nullptr));
    const Memory key_text(BIO_new_mem_buf(authority->key.data(), static_cast<int>(authority->key.size())));
    signer.reset(PEM_read_bio_PrivateKey(key_text.get(), nullptr, nullptr, nullptr));
    if (!issuer || !signer) return invalid_argument("the authority's certificate or key cannot be read");
  }
  TROUPE_RETURN_IF_FAILED(
      fill(certificate.get(), issuer ? issuer.get() : certificate.get(), key.get(), names, begin, valid));
  if (X509_sign(certificate.get(), signer ? signer.get() : key.get(), EVP_sha256()) == 0)
    return failed("signature");
  const Memory certificate_text(BIO_new(BIO_s_mem())), key_text(BIO_new(BIO_s_mem()));
  PEM_write_bio_X509(certificate_text.get(), certificate.get());
  PEM_write_bio_PrivateKey(key_text.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
  return KeyPair{text_of(certificate_text.get()), text_of(key_text.get())};
}

}  // namespace

Result<KeyPair> make_authority(const std::string& cluster, std::chrono::seconds valid) {
  return make({"authority of " + cluster, {}, true}, nullptr, {}, valid);
}

Result<KeyPair> make_certificate(const KeyPair& authority, const std::string& task,
                                 std::chrono::seconds valid, std::chrono::seconds begin) {
  return make({task.empty() ? "client" : task, task.empty() ? "" : "URI:" + uri_of_task(task), false},
              &authority, begin, valid);
}

}  // namespace troupe
