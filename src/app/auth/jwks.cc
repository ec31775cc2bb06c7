#include "stator/app/auth/jwks.h"

#include <fmt/format.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/param_build.h>

#include <optional>

#include "stator/app/auth/crypto.h"
#include "stator/value/json.h"

namespace stator::app {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{1} << 20;
constexpr std::size_t kMaxKeys = 100;
constexpr std::size_t kMaxNumberBytes = 1024;  // an RSA modulus of 8192 bits
constexpr int kMinRsaBits = 2048;
constexpr std::size_t kCoordinateBytes = 32;

const unsigned char* octets(std::string_view text) { return reinterpret_cast<const unsigned char*>(text.data()); }

// Gives a C object of OpenSSL back.
template <auto Free>
struct Freed {
  template <typename T>
  void operator()(T* object) const {
    Free(object);
  }
};
template <typename T, auto Free>
using Owned = std::unique_ptr<T, Freed<Free>>;
using BigNumber = Owned<BIGNUM, &BN_free>;

std::string_view member(value::JsonObject object, std::string_view name) {
  return object.get<std::string_view>(name).value_or("");
}

std::optional<std::string> bytes_member(value::JsonObject object, std::string_view name) {
  const auto text = member(object, name);
  if (text.empty() || text.size() > kMaxNumberBytes * 2) return std::nullopt;
  return decode_base64url(text);
}

std::shared_ptr<EVP_PKEY> make_key(const char* type, OSSL_PARAM_BLD* build) {
  const Owned<OSSL_PARAM, &OSSL_PARAM_free> parameters(OSSL_PARAM_BLD_to_param(build));
  const Owned<EVP_PKEY_CTX, &EVP_PKEY_CTX_free> context(EVP_PKEY_CTX_new_from_name(nullptr, type, nullptr));
  EVP_PKEY* key = nullptr;
  if (parameters == nullptr || context == nullptr || EVP_PKEY_fromdata_init(context.get()) != 1 ||
      EVP_PKEY_fromdata(context.get(), &key, EVP_PKEY_PUBLIC_KEY, parameters.get()) != 1) {
    ERR_clear_error();
    return nullptr;
  }
  return {key, &EVP_PKEY_free};
}

std::shared_ptr<EVP_PKEY> rsa_key(value::JsonObject json) {
  const auto n = bytes_member(json, "n");
  const auto e = bytes_member(json, "e");
  if (!n || !e) return nullptr;
  const BigNumber modulus(BN_bin2bn(octets(*n), static_cast<int>(n->size()), nullptr));
  const BigNumber exponent(BN_bin2bn(octets(*e), static_cast<int>(e->size()), nullptr));
  const Owned<OSSL_PARAM_BLD, &OSSL_PARAM_BLD_free> build(OSSL_PARAM_BLD_new());
  if (modulus == nullptr || exponent == nullptr || build == nullptr || BN_num_bits(modulus.get()) < kMinRsaBits ||
      OSSL_PARAM_BLD_push_BN(build.get(), OSSL_PKEY_PARAM_RSA_N, modulus.get()) != 1 ||
      OSSL_PARAM_BLD_push_BN(build.get(), OSSL_PKEY_PARAM_RSA_E, exponent.get()) != 1) {
    return nullptr;
  }
  return make_key("RSA", build.get());
}

std::shared_ptr<EVP_PKEY> p256_key(value::JsonObject json) {
  const auto x = bytes_member(json, "x");
  const auto y = bytes_member(json, "y");
  if (member(json, "crv") != "P-256" || !x || !y) return nullptr;
  if (x->size() != kCoordinateBytes || y->size() != kCoordinateBytes) return nullptr;
  const auto point = fmt::format("\x04{}{}", *x, *y);  // uncompressed
  const Owned<OSSL_PARAM_BLD, &OSSL_PARAM_BLD_free> build(OSSL_PARAM_BLD_new());
  if (build == nullptr ||
      OSSL_PARAM_BLD_push_utf8_string(build.get(), OSSL_PKEY_PARAM_GROUP_NAME, "prime256v1", 0) != 1 ||
      OSSL_PARAM_BLD_push_octet_string(build.get(), OSSL_PKEY_PARAM_PUB_KEY, point.data(), point.size()) != 1) {
    return nullptr;
  }
  return make_key("EC", build.get());
}

// JWT has the two numbers side by side where OpenSSL wants ASN.1.
std::optional<std::string> der_signature(std::string_view signature) {
  if (signature.size() != 2 * kCoordinateBytes) return std::nullopt;
  const Owned<ECDSA_SIG, &ECDSA_SIG_free> parts(ECDSA_SIG_new());
  BigNumber r(BN_bin2bn(octets(signature), kCoordinateBytes, nullptr));
  BigNumber s(BN_bin2bn(octets(signature.substr(kCoordinateBytes)), kCoordinateBytes, nullptr));
  if (parts == nullptr || r == nullptr || s == nullptr) return std::nullopt;
  ECDSA_SIG_set0(parts.get(), r.release(), s.release());
  unsigned char* der = nullptr;
  const int size = i2d_ECDSA_SIG(parts.get(), &der);
  if (size <= 0) return std::nullopt;
  std::string out(reinterpret_cast<const char*>(der), static_cast<std::size_t>(size));
  OPENSSL_free(der);
  return out;
}

std::optional<PublicKey> read_key(value::JsonObject json) {
  const auto type = member(json, "kty");
  const auto use = member(json, "use");
  const auto algorithm = member(json, "alg");
  if (!use.empty() && use != "sig") return std::nullopt;
  PublicKey key{.id = std::string(member(json, "kid")), .algorithm = Algorithm::Rs256, .key = nullptr};
  if (type == "RSA" && (algorithm.empty() || algorithm == "RS256")) {
    key.key = rsa_key(json);
  } else if (type == "EC" && (algorithm.empty() || algorithm == "ES256")) {
    key.algorithm = Algorithm::Es256;
    key.key = p256_key(json);
  }
  return key.key != nullptr ? std::optional(std::move(key)) : std::nullopt;
}

}  // namespace

bool PublicKey::verifies(std::string_view text, std::string_view signature) const {
  std::string der;
  if (algorithm == Algorithm::Es256) {
    auto converted = der_signature(signature);
    if (!converted) return false;
    der = std::move(*converted);
    signature = der;
  }
  const Owned<EVP_MD_CTX, &EVP_MD_CTX_free> context(EVP_MD_CTX_new());
  const bool verified =
      context != nullptr && EVP_DigestVerifyInit(context.get(), nullptr, EVP_sha256(), nullptr, key.get()) == 1 &&
      EVP_DigestVerify(context.get(), octets(signature), signature.size(), octets(text), text.size()) == 1;
  if (!verified) ERR_clear_error();
  return verified;
}

Result<std::vector<PublicKey>> read_jwks(std::string_view json) {
  if (json.size() > kMaxBytes) return validation_error(fmt::format("a key set has at most {} bytes", kMaxBytes));
  value::JsonParser parser;
  const auto root = parser.parse(json);
  if (!root) return validation_error("the key set is not JSON");
  const auto list = root->object().get<value::JsonArray>("keys");
  if (!list) return validation_error("a key set is an object with a list of `keys`");
  if (list->size() > kMaxKeys) return validation_error(fmt::format("a key set has at most {} keys", kMaxKeys));
  std::vector<PublicKey> keys;
  for (const auto entry : *list) {
    value::JsonObject object;
    if (!entry.get(object)) return validation_error("every key of a key set is an object");
    if (auto key = read_key(object)) keys.push_back(std::move(*key));
  }
  if (keys.empty()) {
    return validation_error("the key set holds no key for RS256 (RSA, 2048 bits and more) or ES256 (P-256)");
  }
  return keys;
}

}  // namespace stator::app
