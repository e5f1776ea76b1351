// Owning handles for objects of OpenSSL. For the .cpp files of actors/net only.
#pragma once

#include <openssl/bio.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

#include <memory>

namespace troupe::openssl {

template <auto free>
struct Free {
  template <class T>
  void operator()(T* what) const {
    free(what);
  }
};
using Certificate = std::unique_ptr<X509, Free<X509_free>>;
using Key = std::unique_ptr<EVP_PKEY, Free<EVP_PKEY_free>>;
using Memory = std::unique_ptr<BIO, Free<BIO_free>>;

}  // namespace troupe::openssl
