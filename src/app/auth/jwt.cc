#include "stator/app/auth/jwt.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "stator/app/auth/crypto.h"
#include "stator/base/constant_time.h"
#include "stator/base/log.h"
#include "stator/value/json.h"

namespace stator::app {
namespace {

using value::JsonElement;
using value::JsonObject;

constexpr std::size_t kCachedTokens = 4096;  // in each generation
constexpr std::size_t kMaxSubjectBytes = 256;
constexpr std::size_t kMaxRoles = 100;

value::JsonParser& parser() {
  thread_local value::JsonParser parser;
  return parser;
}

Error refused(std::string_view why) { return validation_error(fmt::format("the token {}", why)); }

bool has(JsonObject object, std::string_view name) { return bool{object[name]}; }

// A NumericDate: seconds since 1970, with or without a fraction.
std::optional<double> date_of(JsonObject object, std::string_view name) {
  const auto seconds = object.get<double>(name);
  return seconds && std::isfinite(*seconds) ? seconds : std::nullopt;
}

// The texts of a claim that is one text or a list of them; nullopt when it is something else.
std::optional<std::vector<std::string>> texts_of(JsonObject object, std::string_view name) {
  std::vector<std::string> texts;
  JsonElement claim;
  if (!object[name].get(claim)) return texts;
  std::string_view text;
  if (claim.get(text)) {
    texts.emplace_back(text);
    return texts;
  }
  value::JsonArray list;
  if (!claim.get(list)) return std::nullopt;
  for (const auto entry : list) {
    if (!entry.get(text)) return std::nullopt;
    texts.emplace_back(text);
  }
  return texts;
}

std::optional<Algorithm> algorithm_of(std::string_view name) {
  if (name == "HS256") return Algorithm::Hs256;
  if (name == "RS256") return Algorithm::Rs256;
  if (name == "ES256") return Algorithm::Es256;
  return std::nullopt;
}

// Whether the issuer says that nobody has shown the address to be theirs.  Some write the boolean as a text.
bool is_unverified(JsonObject object) {
  bool verified = true;
  if (object["email_verified"].get(verified)) return !verified;
  return object.get<std::string_view>("email_verified") == "false";
}

double exact_seconds_of(WallTime time) { return std::chrono::duration<double>(time.time_since_epoch()).count(); }

}  // namespace

TokenVerifier::TokenVerifier(TokenKeys keys, TokenRules rules, const Clock& clock)
    : keys_(std::move(keys)), rules_(std::move(rules)), clock_(clock) {}

Result<void> TokenVerifier::load() {
  if (!keys_.jwks) return {};
  auto keys = TRY(read_jwks(TRY(keys_.jwks())));
  MutexLock lock(mutex_);
  key_set_ = std::make_shared<const std::vector<PublicKey>>(std::move(keys));
  refreshed_ = clock_.now();
  return {};
}

Result<std::shared_ptr<const TokenUser>> TokenVerifier::verify(std::string_view token, KeyReading reading) {
  if (token.size() > kMaxTokenBytes) return refused("is too long");
  if (keys_.jwks && reading == KeyReading::Allowed) refresh(kRefreshEvery);  // also when every token is remembered
  std::uint64_t checked_by = 0;
  {
    MutexLock lock(mutex_);
    checked_by = sets_read_;
    for (const auto* cache : {&young_, &old_}) {
      const auto found = cache->find(token);
      if (found != cache->end() && clock_.now() < found->second.until) return found->second.user;
    }
  }
  auto checked = TRY(check(token, reading));
  MutexLock lock(mutex_);
  if (sets_read_ != checked_by) return std::move(checked.user);
  if (young_.size() >= kCachedTokens) {
    old_ = std::move(young_);
    young_.clear();
  }
  young_.insert_or_assign(std::string(token), checked);
  return std::move(checked.user);
}

Result<TokenVerifier::Checked> TokenVerifier::check(std::string_view token, KeyReading reading) {
  const auto first = token.find('.');
  const auto second = first == token.npos ? token.npos : token.find('.', first + 1);
  if (second == token.npos || token.find('.', second + 1) != token.npos) return refused("is not a signed JWT");
  const auto header = decode_base64url(token.substr(0, first));
  const auto claims = decode_base64url(token.substr(first + 1, second - first - 1));
  const auto signature = decode_base64url(token.substr(second + 1));
  if (!header || !claims || !signature) return refused("is not a signed JWT");
  TRY(check_signature(*header, token.substr(0, second), *signature, reading));
  return check_claims(*claims);
}

Result<void> TokenVerifier::check_signature(std::string_view header, std::string_view text, std::string_view signature,
                                            KeyReading reading) {
  JsonObject object;
  const auto json = parser().parse(header);
  if (!json || !json->get(object)) return refused("is not a signed JWT");
  const auto algorithm = algorithm_of(object.get<std::string_view>("alg").value_or(""));
  // An extension that `crit` names must be understood (RFC 7515 4.1.11), and none is.
  if (!algorithm || has(object, "crit")) return refused("is signed in a way that is not accepted");
  if (*algorithm == Algorithm::Hs256) {
    if (keys_.secret.empty()) return refused("is signed in a way that is not accepted");
    if (!equal_in_constant_time(hmac_sha256(keys_.secret, text), signature)) return refused("has a wrong signature");
    return {};
  }
  const auto id = object.get<std::string_view>("kid").value_or("");
  const auto key = TRY(find_key(*algorithm, id, reading));
  if (!key.verifies(text, signature)) return refused("has a wrong signature");
  return {};
}

Result<TokenVerifier::Checked> TokenVerifier::check_claims(std::string_view claims) const {
  JsonObject object;
  const auto json = parser().parse(claims);
  if (!json || !json->get(object)) return refused("is not a signed JWT");

  const auto subject = object.get<std::string_view>("sub").value_or("");
  if (subject.empty()) return refused("has no subject (`sub`)");
  if (subject.size() > kMaxSubjectBytes) {
    return refused(fmt::format("has a subject (`sub`) of more than {} bytes", kMaxSubjectBytes));
  }
  const auto expires = date_of(object, "exp");
  if (!expires) return refused("has no expiry (`exp`)");
  const double now = exact_seconds_of(clock_.now());
  const double skew = std::chrono::duration<double>(rules_.clock_skew).count();
  if (now >= *expires + skew) return refused("has expired");
  if (has(object, "nbf")) {
    const auto begins = date_of(object, "nbf");
    if (!begins || now < *begins - skew) return refused("is not valid yet");
  }
  if (!rules_.issuer.empty() && object.get<std::string_view>("iss") != rules_.issuer)
    return refused("is from another issuer");
  if (!rules_.audience.empty()) {
    const auto audiences = texts_of(object, "aud");
    if (!audiences || std::ranges::find(*audiences, rules_.audience) == audiences->end()) {
      return refused("is for another audience");
    }
  }
  auto roles = texts_of(object, rules_.roles_claim);
  if (!roles || roles->size() > kMaxRoles) return refused(fmt::format("has a bad claim `{}`", rules_.roles_claim));

  auto user = std::make_shared<TokenUser>();
  user->caller.subject = std::string(subject);
  user->caller.roles = std::move(*roles);
  user->name = object.get<std::string_view>("name").value_or("");
  if (!is_unverified(object)) user->email = object.get<std::string_view>("email").value_or("");
  // An expiry far away is looked at again after a day, which also keeps the sum in range.
  constexpr double kLongest = 86'400;
  const auto left = std::chrono::duration<double>(std::min(*expires + skew - now, kLongest));
  return Checked{.user = std::move(user),
                 .until = clock_.now() + std::chrono::duration_cast<std::chrono::microseconds>(left)};
}

Result<PublicKey> TokenVerifier::find_key(Algorithm algorithm, std::string_view id, KeyReading reading) {
  if (!keys_.jwks) return refused("is signed in a way that is not accepted");
  const auto look = [&]() -> std::optional<PublicKey> {
    KeySet set;
    {
      MutexLock lock(mutex_);
      set = key_set_;
    }
    if (set == nullptr) return std::nullopt;
    std::vector<const PublicKey*> found;
    for (const auto& key : *set) {
      if (key.algorithm == algorithm && (id.empty() || key.id == id)) found.push_back(&key);
    }
    // A token that does not say which key leaves no choice only where there is one.
    return found.size() == 1 ? std::optional(*found.front()) : std::nullopt;
  };
  auto key = look();
  if (!key && reading == KeyReading::Forbidden) {
    MutexLock lock(mutex_);
    if (refreshing_ || may_be_read_again(kRefreshAtMostEvery)) {
      return Error{ErrorCode::Busy, "the key set has to be read again"};
    }
  } else if (!key && refresh(kRefreshAtMostEvery)) {
    key = look();
  }
  if (!key) return refused("is signed with an unknown key");
  return std::move(*key);
}

void TokenVerifier::read_keys_again() {
  if (keys_.jwks) refresh(kRefreshAtMostEvery);
}

bool TokenVerifier::may_be_read_again(std::chrono::seconds when_older_than) const {
  return clock_.now() >= refreshed_ + when_older_than;
}

bool TokenVerifier::refresh(std::chrono::seconds when_older_than) {
  {
    MutexLock lock(mutex_);
    if (refreshing_ || !may_be_read_again(when_older_than)) return false;
    refreshing_ = true;
    refreshed_ = clock_.now();  // an attempt that fails counts, too
  }
  const auto read = [&]() -> Result<std::vector<PublicKey>> { return read_jwks(TRY(keys_.jwks())); };
  auto keys = read();
  MutexLock lock(mutex_);
  refreshing_ = false;
  if (!keys) {
    log::warning("jwks_not_read", {{"error", keys.error().message}});
    return false;
  }
  key_set_ = std::make_shared<const std::vector<PublicKey>>(std::move(*keys));
  ++sets_read_;
  // A key that has been withdrawn takes its tokens with it.
  young_.clear();
  old_.clear();
  return true;
}

std::string make_token(const TokenClaims& claims, std::string_view secret, const Clock& clock) {
  const auto now = std::chrono::floor<std::chrono::seconds>(clock.now().time_since_epoch());
  std::string body;
  value::JsonWriter json(body);
  json.begin_object();
  const auto claim = [&](std::string_view name, std::string_view text) {
    if (!text.empty()) json.key(name).string(text);
  };
  claim("sub", claims.subject);
  claim("iss", claims.issuer);
  claim("aud", claims.audience);
  claim("name", claims.name);
  claim("email", claims.email);
  if (!claims.roles.empty()) {
    json.key(claims.roles_claim).begin_array();
    for (const auto& role : claims.roles) json.string(role);
    json.end_array();
  }
  json.key("iat").integer(now.count()).key("exp").integer((now + claims.lifetime).count()).end_object();
  auto token = fmt::format("{}.{}", base64url(R"({"alg":"HS256","typ":"JWT"})"), base64url(body));
  token += fmt::format(".{}", base64url(hmac_sha256(secret, token)));
  return token;
}

}  // namespace stator::app
