#include "actors/net/transport/certificate_files.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509_vfy.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>
#include <vector>

#include "actors/net/transport/openssl_handles.h"

namespace troupe {
namespace {

using openssl::Certificate, openssl::Key, openssl::Memory, openssl::Free;
using File = std::unique_ptr<std::FILE, decltype([](std::FILE* file) { std::fclose(file); })>;
using Store = std::unique_ptr<X509_STORE, Free<X509_STORE_free>>;
using Verification = std::unique_ptr<X509_STORE_CTX, Free<X509_STORE_CTX_free>>;
using Chain = std::unique_ptr<STACK_OF(X509), decltype([](STACK_OF(X509) * chain) { sk_X509_free(chain); })>;

constexpr size_t max_bytes = 1 << 20;  ///< bytes read of one file

Memory memory_of(const std::string& text) {
  return Memory(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

Result<std::string> read(const std::string& what, const std::string& path) {
  errno = 0;
  const File file(std::fopen(path.c_str(), "rb"));
  std::string text;
  std::array<char, 4096> some;
  while (file && text.size() < max_bytes) {
    const size_t count = std::fread(some.data(), 1, some.size(), file.get());
    if (count == 0) break;
    text.append(some.data(), count);
  }
  if (!text.empty()) return text;
  const std::string why = errno != 0 ? std::strerror(errno) : "it is empty";
  return invalid_argument(what + ' ' + path + " cannot be read: " + why);
}

/// Returns the certificates in a file; there is at least one.
Result<std::vector<Certificate>> certificates_in(const std::string& what, const std::string& path) {
  TROUPE_ASSIGN(const std::string text, read(what, path));
  const Memory memory = memory_of(text);
  std::vector<Certificate> found;
  while (Certificate one{PEM_read_bio_X509(memory.get(), nullptr, nullptr, nullptr)})
    found.push_back(std::move(one));
  ERR_clear_error();  // OpenSSL reports the end of the file as an error
  if (found.empty()) return invalid_argument(what + ' ' + path + " holds no certificate in PEM form");
  return found;
}

Result<Key> key_in(const std::string& path) {
  TROUPE_ASSIGN(const std::string text, read("key", path));
  const auto no_password = [](char*, int, int, void*) { return -1; };
  Key key(PEM_read_bio_PrivateKey(memory_of(text).get(), nullptr, no_password, nullptr));
  ERR_clear_error();
  if (key) return key;
  if (text.find("ENCRYPTED") != std::string::npos)
    return invalid_argument("key " + path + " is encrypted; only a key without a password can be used");
  return invalid_argument("key " + path + " holds no private key in PEM form");
}

std::string time_text(const ASN1_TIME* time) {
  const Memory memory(BIO_new(BIO_s_mem()));
  ASN1_TIME_print(memory.get(), time);
  char* data = nullptr;
  const long size = BIO_get_mem_data(memory.get(), &data);
  return {data, static_cast<size_t>(size)};
}

/// Returns until or from when the certificate is valid if the time is the problem; otherwise an empty text.
std::string validity(const X509* certificate, int verify_result) {
  if (verify_result == X509_V_ERR_CERT_HAS_EXPIRED)
    return ": it was valid until " + time_text(X509_get0_notAfter(certificate));
  if (verify_result == X509_V_ERR_CERT_NOT_YET_VALID)
    return ": it will be valid from " + time_text(X509_get0_notBefore(certificate));
  return {};
}

}  // namespace

std::string complaint_of(long verify_result) {
  switch (verify_result) {
    case X509_V_ERR_CERT_HAS_EXPIRED: return "has expired";
    case X509_V_ERR_CERT_NOT_YET_VALID: return "is not valid yet";
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT:
    case X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY:
    case X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE:
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT:
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN:
    case X509_V_ERR_CERT_SIGNATURE_FAILURE: return "is not signed by the authority of the cluster";
    default: return std::string("is refused: ") + X509_verify_cert_error_string(verify_result);
  }
}

Status check_pair(const std::string& certificate, const std::string& key) {
  TROUPE_ASSIGN(const auto certificates, certificates_in("certificate", certificate));
  TROUPE_ASSIGN(const auto own, key_in(key));
  if (X509_check_private_key(certificates.front().get(), own.get()) == 1) return {};
  ERR_clear_error();
  return invalid_argument("key " + key + " does not belong to certificate " + certificate);
}

Status check_usable(const TlsFiles& files) {
  TROUPE_RETURN_IF_FAILED(check_pair(files.certificate, files.key));
  return certificates_in("authority", files.authority).status();
}

Status check_valid(const TlsFiles& files) {
  TROUPE_RETURN_IF_FAILED(check_usable(files));
  TROUPE_ASSIGN(const auto certificates, certificates_in("certificate", files.certificate));
  TROUPE_ASSIGN(const auto authorities, certificates_in("authority", files.authority));
  const Store store(X509_STORE_new());
  for (const auto& authority : authorities) X509_STORE_add_cert(store.get(), authority.get());
  const Chain between(sk_X509_new_null());
  for (size_t i = 1; i < certificates.size(); ++i) sk_X509_push(between.get(), certificates[i].get());
  const Verification verification(X509_STORE_CTX_new());
  X509_STORE_CTX_init(verification.get(), store.get(), certificates.front().get(), between.get());
  const bool valid = X509_verify_cert(verification.get()) == 1;
  ERR_clear_error();
  if (valid) return {};
  const int result = X509_STORE_CTX_get_error(verification.get());
  // Depth 0 is the certificate itself. The problem may also be an authority above it, which has expired, for example.
  const bool own = X509_STORE_CTX_get_error_depth(verification.get()) == 0;
  const std::string who = own ? "certificate " + files.certificate : "authority " + files.authority;
  return invalid_argument(
      who + ' ' + complaint_of(result) +
      validity(X509_STORE_CTX_get_current_cert(verification.get()), result) +
      (own && validity(certificates.front().get(), result).empty() ? ", " + files.authority : ""));
}

}  // namespace troupe
