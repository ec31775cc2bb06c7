#pragma once

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

#include <cstdio>
#include <string>

namespace stator::http::testing {

// A key and a self-signed certificate for it.  `hosts`: the hosts of the certificate, "DNS:localhost,IP:127.0.0.1".
inline void make_certificate(const std::string& certificate_file, const std::string& key_file, const char* name,
                             const char* hosts = nullptr, long valid_seconds = 3600) {
  EVP_PKEY* key = EVP_EC_gen("P-256");
  X509* certificate = X509_new();
  X509_set_version(certificate, X509_VERSION_3);
  X509_gmtime_adj(X509_getm_notBefore(certificate), -7200);
  X509_gmtime_adj(X509_getm_notAfter(certificate), valid_seconds);
  X509_set_pubkey(certificate, key);
  auto* subject = X509_get_subject_name(certificate);
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>(name), -1, -1, 0);
  X509_set_issuer_name(certificate, subject);
  if (hosts != nullptr) {
    auto* extension = X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, hosts);
    X509_add_ext(certificate, extension, -1);
    X509_EXTENSION_free(extension);
  }
  X509_sign(certificate, key, EVP_sha256());
  auto* file = std::fopen(certificate_file.c_str(), "w");
  PEM_write_X509(file, certificate);
  std::fclose(file);
  file = std::fopen(key_file.c_str(), "w");
  fchmod(fileno(file), 0600);
  PEM_write_PrivateKey(file, key, nullptr, nullptr, 0, nullptr, nullptr);
  std::fclose(file);
  X509_free(certificate);
  EVP_PKEY_free(key);
}

}  // namespace stator::http::testing
