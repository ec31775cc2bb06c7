#include "stator/app/auth/jwt.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/ec.h>
#include <openssl/evp.h>

#include "stator/app/auth/crypto.h"

namespace stator::app {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kSecret = "a secret of thirty-two characters";

// A token with any header and claims, signed by `sign`.
template <typename Sign>
std::string token_of(std::string_view header, std::string_view claims, Sign sign) {
  const auto text = fmt::format("{}.{}", base64url(header), base64url(claims));
  return fmt::format("{}.{}", text, base64url(sign(text)));
}

std::string hs256(std::string_view claims, std::string_view header = R"({"alg":"HS256"})") {
  return token_of(header, claims, [](std::string_view text) { return hmac_sha256(kSecret, text); });
}

// A key pair that signs as an identity provider would.
class Signer {
 public:
  static Signer rsa(std::string id, std::size_t bits = 2048) {
    return {std::move(id), Algorithm::Rs256, EVP_PKEY_Q_keygen(nullptr, nullptr, "RSA", bits)};
  }
  static Signer p256(std::string id) {
    return {std::move(id), Algorithm::Es256, EVP_PKEY_Q_keygen(nullptr, nullptr, "EC", "P-256")};
  }

  std::string jwk() const {
    if (algorithm_ == Algorithm::Rs256) {
      return fmt::format(R"({{"kty":"RSA","use":"sig","kid":"{}","n":"{}","e":"{}"}})", id_,
                         number(OSSL_PKEY_PARAM_RSA_N), number(OSSL_PKEY_PARAM_RSA_E));
    }
    return fmt::format(R"({{"kty":"EC","crv":"P-256","kid":"{}","x":"{}","y":"{}"}})", id_,
                       number(OSSL_PKEY_PARAM_EC_PUB_X, 32), number(OSSL_PKEY_PARAM_EC_PUB_Y, 32));
  }

  std::string token(std::string_view claims) const {
    const auto name = algorithm_ == Algorithm::Rs256 ? "RS256" : "ES256";
    return token_of(fmt::format(R"({{"alg":"{}","kid":"{}"}})", name, id_), claims,
                    [&](std::string_view text) { return sign(text); });
  }

 private:
  Signer(std::string id, Algorithm algorithm, EVP_PKEY* key)
      : id_(std::move(id)), algorithm_(algorithm), key_(key, &EVP_PKEY_free) {}

  std::string number(const char* name, int width = 0) const {
    BIGNUM* value = nullptr;
    EVP_PKEY_get_bn_param(key_.get(), name, &value);
    std::string bytes(static_cast<std::size_t>(width > 0 ? width : BN_num_bytes(value)), '\0');
    BN_bn2binpad(value, reinterpret_cast<unsigned char*>(bytes.data()), static_cast<int>(bytes.size()));
    BN_free(value);
    return base64url(bytes);
  }

  std::string sign(std::string_view text) const {
    EVP_MD_CTX* context = EVP_MD_CTX_new();
    std::string signature(1024, '\0');
    auto size = signature.size();
    EVP_DigestSignInit(context, nullptr, EVP_sha256(), nullptr, key_.get());
    EVP_DigestSign(context, reinterpret_cast<unsigned char*>(signature.data()), &size,
                   reinterpret_cast<const unsigned char*>(text.data()), text.size());
    EVP_MD_CTX_free(context);
    signature.resize(size);
    if (algorithm_ == Algorithm::Rs256) return signature;
    const auto* at = reinterpret_cast<const unsigned char*>(signature.data());
    ECDSA_SIG* parts = d2i_ECDSA_SIG(nullptr, &at, static_cast<long>(size));
    std::string raw(64, '\0');
    BN_bn2binpad(ECDSA_SIG_get0_r(parts), reinterpret_cast<unsigned char*>(raw.data()), 32);
    BN_bn2binpad(ECDSA_SIG_get0_s(parts), reinterpret_cast<unsigned char*>(raw.data()) + 32, 32);
    ECDSA_SIG_free(parts);
    return raw;
  }

  std::string id_;
  Algorithm algorithm_;
  std::shared_ptr<EVP_PKEY> key_;
};

struct TokenTest : ::testing::Test {
  ManualClock clock;  // at 1'700'000'000
  TokenVerifier verifier{{.secret = std::string(kSecret)}, {}, clock};

  std::string refusal(std::string_view token) { return refusal(verifier, token); }
  static std::string refusal(TokenVerifier& by, std::string_view token) {
    const auto verified = by.verify(token);
    return verified ? "accepted" : verified.error().message;
  }
};

TEST_F(TokenTest, SpeaksForItsSubject) {
  const auto token =
      make_token({.subject = "ann", .roles = {"admin"}, .name = "Ann", .email = "ann@example.org"}, kSecret, clock);
  const auto user = verifier.verify(token);
  ASSERT_TRUE(user) << user.error().message;
  EXPECT_EQ((*user)->caller.subject, "ann");
  EXPECT_EQ((*user)->caller.roles, std::vector<std::string>{"admin"});
  EXPECT_FALSE((*user)->caller.system);
  EXPECT_EQ((*user)->name, "Ann");
  EXPECT_EQ((*user)->email, "ann@example.org");
}

TEST_F(TokenTest, HasNoAddressThatItsIssuerHasNotVerified) {
  const auto email = [&](std::string_view verified) {
    const auto token = hs256(R"({"sub":"ann","exp":1700000100,"email":"a@x.org")" + std::string(verified) + "}");
    return (*verifier.verify(token))->email;
  };
  EXPECT_EQ(email(""), "a@x.org");
  EXPECT_EQ(email(R"(,"email_verified":true)"), "a@x.org");
  EXPECT_EQ(email(R"(,"email_verified":false)"), "");
  EXPECT_EQ(email(R"(,"email_verified":"false")"), "");
}

TEST_F(TokenTest, IsCheckedOnceAndRememberedUntilItExpires) {
  const auto token = make_token({.subject = "ann", .lifetime = 100s}, kSecret, clock);
  const auto first = verifier.verify(token);
  const auto second = verifier.verify(token);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(*first, *second);
  clock.advance(159s);  // within the skew of a minute
  EXPECT_EQ(refusal(token), "accepted");
  clock.advance(1s);
  EXPECT_EQ(refusal(token), "the token has expired");
}

TEST_F(TokenTest, RefusesWhatItCannotTrust) {
  const auto good = hs256(R"({"sub":"ann","exp":1700000100})");
  auto forged = good;
  forged[forged.size() / 2] = forged[forged.size() / 2] == 'A' ? 'B' : 'A';
  struct Case {
    std::string token, answer;
  };
  const Case cases[] = {
      {good, "accepted"},
      {hs256(R"({"sub":")" + std::string(257, 'a') + R"(","exp":1700000100})"),
       "the token has a subject (`sub`) of more than 256 bytes"},
      {forged, "the token has a wrong signature"},
      {"", "the token is not a signed JWT"},
      {"a.b", "the token is not a signed JWT"},
      {good + ".x", "the token is not a signed JWT"},
      {good.substr(0, good.rfind('.') + 1), "the token has a wrong signature"},
      {token_of(R"({"alg":"none"})", R"({"sub":"ann","exp":1700000100})", [](auto) { return std::string(); }),
       "the token is signed in a way that is not accepted"},
      {hs256(R"({"sub":"ann","exp":1700000100})", R"({"alg":"HS512"})"),
       "the token is signed in a way that is not accepted"},
      {hs256(R"({"sub":"ann","exp":1700000100})", R"({"alg":"HS256","crit":["b64"]})"),
       "the token is signed in a way that is not accepted"},
      {hs256("[]"), "the token is not a signed JWT"},
      {hs256(R"({"exp":1700000100})"), "the token has no subject (`sub`)"},
      {hs256(R"({"sub":7,"exp":1700000100})"), "the token has no subject (`sub`)"},
      {hs256(R"({"sub":"ann"})"), "the token has no expiry (`exp`)"},
      {hs256(R"({"sub":"ann","exp":"soon"})"), "the token has no expiry (`exp`)"},
      {hs256(R"({"sub":"ann","exp":1699999940})"), "the token has expired"},
      {hs256(R"({"sub":"ann","exp":1700000100,"nbf":1700000061})"), "the token is not valid yet"},
      {hs256(R"({"sub":"ann","exp":1700000100,"nbf":1700000060})"), "accepted"},
      {hs256(R"({"sub":"ann","exp":1e300})"), "accepted"},
      {hs256(R"({"sub":"ann","exp":1700000100,"roles":7})"), "the token has a bad claim `roles`"},
      {std::string(TokenVerifier::kMaxTokenBytes + 1, 'a'), "the token is too long"},
  };
  for (const auto& [token, answer] : cases) EXPECT_EQ(refusal(token), answer) << token;
}

TEST_F(TokenTest, MustComeFromTheIssuerAndBeForTheAudience) {
  TokenVerifier strict({.secret = std::string(kSecret)}, {.issuer = "https://id.example", .audience = "books"}, clock);
  const auto with = [](std::string_view claims) { return hs256(fmt::format(R"({{"sub":"a","exp":1e10{}}})", claims)); };
  EXPECT_EQ(refusal(strict, with("")), "the token is from another issuer");
  EXPECT_EQ(refusal(strict, with(R"(,"iss":"https://id.example")")), "the token is for another audience");
  EXPECT_EQ(refusal(strict, with(R"(,"iss":"https://id.example","aud":"films")")), "the token is for another audience");
  EXPECT_EQ(refusal(strict, with(R"(,"iss":"https://id.example","aud":"books")")), "accepted");
  EXPECT_EQ(refusal(strict, with(R"(,"iss":"https://id.example","aud":["films","books"])")), "accepted");
}

TEST_F(TokenTest, TakesRolesFromTheClaimThatIsConfigured) {
  TokenVerifier other({.secret = std::string(kSecret)}, {.roles_claim = "groups"}, clock);
  const auto user = other.verify(hs256(R"({"sub":"a","exp":1e10,"roles":["admin"],"groups":"editor"})"));
  ASSERT_TRUE(user);
  EXPECT_EQ((*user)->caller.roles, std::vector<std::string>{"editor"});
}

struct KeySetTest : TokenTest {
  std::string set;
  int reads = 0;
  TokenVerifier by{{.jwks = [this]() -> Result<std::string> {
                     ++reads;
                     if (set.empty()) return Error{ErrorCode::Storage, "unreachable"};
                     return set;
                   }},
                   {},
                   clock};
  static std::string set_of(const std::vector<const Signer*>& signers) {
    std::string keys;
    for (const auto* signer : signers) keys += fmt::format("{}{}", keys.empty() ? "" : ",", signer->jwk());
    return fmt::format(R"({{"keys":[{}]}})", keys);
  }
  static constexpr std::string_view kClaims = R"({"sub":"ann","exp":1e10})";
};

TEST_F(KeySetTest, VerifiesRs256AndEs256) {
  const auto rsa = Signer::rsa("r1");
  const auto ec = Signer::p256("e1");
  set = set_of({&rsa, &ec});
  ASSERT_TRUE(by.load());
  EXPECT_EQ(refusal(by, rsa.token(kClaims)), "accepted");
  EXPECT_EQ(refusal(by, ec.token(kClaims)), "accepted");
  EXPECT_EQ(refusal(by, Signer::rsa("r1").token(kClaims)), "the token has a wrong signature");
  EXPECT_EQ(refusal(by, Signer::p256("e1").token(kClaims)), "the token has a wrong signature");
  EXPECT_EQ(refusal(by, hs256(kClaims)), "the token is signed in a way that is not accepted");
}

TEST_F(KeySetTest, DoesNotTakeAPublicKeyForASecret) {
  const auto rsa = Signer::rsa("r1");
  set = set_of({&rsa});
  ASSERT_TRUE(by.load());
  const auto confused = token_of(R"({"alg":"HS256","kid":"r1"})", kClaims,
                                 [&](std::string_view text) { return hmac_sha256(rsa.jwk(), text); });
  EXPECT_EQ(refusal(by, confused), "the token is signed in a way that is not accepted");
  const auto other_kind = token_of(R"({"alg":"ES256","kid":"r1"})", kClaims, [](auto) { return std::string(64, 'x'); });
  EXPECT_EQ(refusal(by, other_kind), "the token is signed with an unknown key");
}

TEST_F(KeySetTest, IsReadAgainWhenATokenNamesAnUnknownKeyButNotAllTheTime) {
  const auto first = Signer::p256("first");
  const auto second = Signer::p256("second");
  set = set_of({&first});
  ASSERT_TRUE(by.load());
  set = set_of({&second});
  EXPECT_EQ(refusal(by, second.token(kClaims)), "the token is signed with an unknown key") << "read a moment ago";
  EXPECT_EQ(reads, 1);
  clock.advance(TokenVerifier::kRefreshAtMostEvery);
  EXPECT_EQ(refusal(by, second.token(kClaims)), "accepted");
  EXPECT_EQ(reads, 2);
  EXPECT_EQ(refusal(by, first.token(kClaims)), "the token is signed with an unknown key") << "withdrawn";
}

TEST_F(KeySetTest, IsNotReadByThoseWhoMustNotBlock) {
  const auto first = Signer::p256("first");
  const auto second = Signer::p256("second");
  set = set_of({&first});
  ASSERT_TRUE(by.load());
  set = set_of({&second});
  clock.advance(TokenVerifier::kRefreshEvery);
  EXPECT_TRUE(by.verify_at_once(first.token(kClaims))) << "the keys that are there";
  const auto undecided = by.verify_at_once(second.token(kClaims));
  ASSERT_FALSE(undecided);
  EXPECT_EQ(undecided.error().code, ErrorCode::Busy);
  EXPECT_EQ(reads, 1);
  by.read_keys_again();
  EXPECT_EQ(reads, 2);
  EXPECT_TRUE(by.verify_at_once(second.token(kClaims)));
  const auto unknown = by.verify_at_once(first.token(kClaims));
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error().code, ErrorCode::Validation) << "the set was read a moment ago";
}

TEST_F(KeySetTest, KeepsItsKeysWhileTheSetCannotBeRead) {
  const auto signer = Signer::p256("k");
  set = set_of({&signer});
  ASSERT_TRUE(by.load());
  set.clear();
  clock.advance(TokenVerifier::kRefreshEvery);
  EXPECT_EQ(refusal(by, signer.token(kClaims)), "accepted");
  EXPECT_EQ(reads, 2);
}

TEST_F(KeySetTest, ForgetsTokensOfAWithdrawnKeyThoughTheyAreRemembered) {
  const auto signer = Signer::p256("first");
  const auto other = Signer::p256("second");
  set = set_of({&signer, &other});
  ASSERT_TRUE(by.load());
  const auto token = signer.token(kClaims);
  ASSERT_EQ(refusal(by, token), "accepted");
  set = set_of({&other});
  clock.advance(TokenVerifier::kRefreshEvery);
  EXPECT_EQ(refusal(by, token), "the token is signed with an unknown key") << "nobody else has to ask first";
}

// A clock that lets something happen while somebody looks at it.
class BusyClock final : public SystemClock {
 public:
  WallTime now() const override {
    if (looks_ > 0 && --looks_ == 0) meanwhile_();
    return time_.now();
  }
  void at_look(int number, std::function<void()> meanwhile) {
    looks_ = number;
    meanwhile_ = std::move(meanwhile);
  }
  void advance(std::chrono::seconds by) { time_.advance(by); }

 private:
  ManualClock time_;
  mutable int looks_ = 0;
  std::function<void()> meanwhile_;
};

TEST_F(KeySetTest, DoesNotRememberWhatAnEarlierSetHasVerified) {
  const auto withdrawn = Signer::p256("first");
  const auto kept = Signer::p256("second");
  const auto token = withdrawn.token(kClaims);
  BusyClock busy;
  std::string keys = set_of({&withdrawn, &kept});
  TokenVerifier racing({.jwks = [&]() -> Result<std::string> { return keys; }}, {}, busy);
  ASSERT_TRUE(racing.load());
  // Between the check of the signature and the check of the claims, another request reads the set, and the key is gone.
  busy.at_look(2, [&] {
    keys = set_of({&kept});
    busy.advance(TokenVerifier::kRefreshEvery);
    EXPECT_EQ(refusal(racing, kept.token(kClaims)), "accepted");
  });
  refusal(racing, token);
  EXPECT_EQ(refusal(racing, token), "the token is signed with an unknown key");
}

TEST(Jwks, RefusesWhatIsNotASetOfUsableKeys) {
  const auto weak = Signer::rsa("weak", 1024).jwk();
  for (const auto& text : {std::string("nonsense"), std::string("[]"), std::string(R"({"keys":[]})"),
                           std::string(R"({"keys":[{"kty":"oct","k":"c2VjcmV0"}]})"),
                           std::string(R"({"keys":[{"kty":"EC","crv":"P-256","x":"AA","y":"AA"}]})"),
                           fmt::format(R"({{"keys":[{}]}})", weak)}) {
    EXPECT_FALSE(read_jwks(text)) << text;
  }
}

}  // namespace
}  // namespace stator::app
