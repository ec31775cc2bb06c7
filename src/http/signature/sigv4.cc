#include "stator/http/signature/sigv4.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <string_view>
#include <utility>

#include "stator/base/constant_time.h"
#include "stator/http/signature/sigv4_canonical.h"

namespace stator::http {
namespace {

using namespace sigv4;
using Kind = SignatureFault::Kind;
using Seconds = std::chrono::sys_seconds;

constexpr std::size_t kSignedHeaders = 100;       // more are not a request of any SDK
constexpr std::size_t kCachedSigningKeys = 1024;  // each is one key on one day for one region
constexpr std::chrono::seconds kLongestExpiry = std::chrono::weeks(1);

// Messages repeat what the client sent, which is any bytes, and end up in JSON, which is not: those beyond ASCII become
// \xNN.
std::string printable(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c >= 0x20 && c < 0x7F) {
      out += c;
    } else {
      out += fmt::format("\\x{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

SignatureFault fault(Kind kind, std::string_view message) { return {.kind = kind, .message = printable(message)}; }

// --- times

// The number that `count` digits are, or -1.
int digits(std::string_view text, std::size_t at, std::size_t count) {
  if (at + count > text.size()) return -1;
  int value = 0;
  for (const char c : text.substr(at, count)) {
    if (c < '0' || c > '9') return -1;
    value = value * 10 + (c - '0');
  }
  return value;
}

std::optional<Seconds> make_time(int year, int month, int day, int hour, int minute, int second) {
  const std::chrono::year_month_day date{std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                                         std::chrono::day(static_cast<unsigned>(day))};
  if (year < 0 || month < 1 || day < 1 || !date.ok() || hour < 0 || hour > 23 || minute < 0 || minute > 59 ||
      second < 0 || second > 60) {
    return std::nullopt;
  }
  return std::chrono::sys_days(date) + std::chrono::hours(hour) + std::chrono::minutes(minute) +
         std::chrono::seconds(second);
}

// 20150830T123600Z
std::optional<Seconds> parse_iso_basic(std::string_view text) {
  if (text.size() != 16 || text[8] != 'T' || text[15] != 'Z') return std::nullopt;
  return make_time(digits(text, 0, 4), digits(text, 4, 2), digits(text, 6, 2), digits(text, 9, 2), digits(text, 11, 2),
                   digits(text, 13, 2));
}

// Sun, 30 Aug 2015 12:36:00 GMT
std::optional<Seconds> parse_http_date(std::string_view text) {
  static constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
  if (text.size() != 29 || text.substr(25) != " GMT") return std::nullopt;
  const auto month = kMonths.find(text.substr(8, 3));
  if (month == std::string_view::npos || month % 3 != 0) return std::nullopt;
  return make_time(digits(text, 12, 4), static_cast<int>(month / 3) + 1, digits(text, 5, 2), digits(text, 17, 2),
                   digits(text, 20, 2), digits(text, 23, 2));
}

std::string duration_text(std::chrono::seconds duration) {
  return duration.count() % 60 == 0 ? fmt::format("{} min.", duration.count() / 60)
                                    : fmt::format("{} sec.", duration.count());
}

// --- what a request says of itself

struct Claim {
  std::string algorithm, credential, signed_headers, signature, date;
  std::optional<std::chrono::seconds> expires = {};  // presigned only
};

std::optional<SignatureFault> read_header(const Request& request, std::string_view header, Claim& claim) {
  auto rest = header;
  claim.algorithm = take_until(rest, " ");
  while (!rest.empty()) {
    const auto pair = take_until(rest, ", \t");
    if (pair.empty()) continue;
    const auto equals = pair.find('=');
    if (equals == std::string_view::npos) {
      return fault(Kind::Incomplete,
                   fmt::format("'{}' not a valid key=value pair (missing equal-sign) in Authorization header: '{}'.",
                               pair, header));
    }
    const auto name = pair.substr(0, equals);
    auto* const value = name == "Credential"      ? &claim.credential
                        : name == "SignedHeaders" ? &claim.signed_headers
                        : name == "Signature"     ? &claim.signature
                                                  : nullptr;
    if (value != nullptr) *value = pair.substr(equals + 1);
  }
  claim.date = request.header("X-Amz-Date");
  if (claim.date.empty()) claim.date = request.header("Date");

  std::string missing;
  for (const auto& [name, value] :
       {std::pair("Credential", &claim.credential), std::pair("Signature", &claim.signature),
        std::pair("SignedHeaders", &claim.signed_headers)}) {
    if (value->empty()) missing += fmt::format("Authorization header requires '{}' parameter. ", name);
  }
  if (claim.date.empty()) {
    missing += "Authorization header requires existence of either a 'X-Amz-Date' or a 'Date' header. ";
  }
  if (!missing.empty()) return fault(Kind::Incomplete, fmt::format("{}Authorization={}", missing, header));
  return std::nullopt;
}

std::optional<SignatureFault> read_query(const Parameters& parameters, Claim& claim) {
  std::string missing;
  for (const auto& [name, value] :
       {std::pair("X-Amz-Algorithm", &claim.algorithm), std::pair("X-Amz-Credential", &claim.credential),
        std::pair("X-Amz-Signature", &claim.signature), std::pair("X-Amz-SignedHeaders", &claim.signed_headers),
        std::pair("X-Amz-Date", &claim.date)}) {
    if (const auto* found = find_parameter(parameters, name)) *value = *found;
    if (value->empty()) missing += fmt::format("AWS query-string parameters must include '{}'. ", name);
  }
  if (!missing.empty()) return fault(Kind::Incomplete, missing + "Re-examine the query-string parameters.");

  if (const auto* expires = find_parameter(parameters, "X-Amz-Expires")) {
    std::int64_t seconds = 0;
    const auto* const end = expires->data() + expires->size();
    const auto [stopped, error] = std::from_chars(expires->data(), end, seconds);
    if (error != std::errc() || stopped != end) return fault(Kind::Incomplete, "X-Amz-Expires should be a number");
    if (seconds < 0) return fault(Kind::Incomplete, "X-Amz-Expires must be non-negative");
    if (seconds > kLongestExpiry.count()) {
      return fault(Kind::Incomplete,
                   "X-Amz-Expires must be less than a week (in seconds); that is, the given X-Amz-Expires must be less "
                   "than 604800 seconds");
    }
    claim.expires = std::chrono::seconds(seconds);
  }
  return std::nullopt;
}

// The id of the key that a request names, in any place and even if other parts are wrong.
std::string claimed_key(const Request& request) {
  const auto parameters = parse_query(request.query);
  const auto* presigned = find_parameter(parameters, "X-Amz-Credential");
  Claim claim;
  if (presigned != nullptr) {
    claim.credential = *presigned;
  } else if (const auto header = request.header("Authorization"); header.starts_with("AWS4-")) {
    read_header(request, header, claim);
  }
  return printable(claim.credential.substr(0, claim.credential.find('/')));
}

std::optional<SignatureFault> check_time(Seconds time, Seconds now, std::chrono::seconds skew, const Claim& claim) {
  const auto lifetime = claim.expires.value_or(skew);
  if (time < now - lifetime) {
    return fault(Kind::Invalid, fmt::format("Signature expired: {} is now earlier than {} ({} - {})", iso_basic(time),
                                            iso_basic(now - lifetime), iso_basic(now), duration_text(lifetime)));
  }
  if (time > now + skew) {
    return fault(Kind::Invalid,
                 fmt::format("Signature not yet current: {} is still later than {} ({} + {})", iso_basic(time),
                             iso_basic(now + skew), iso_basic(now), duration_text(skew)));
  }
  return std::nullopt;
}

// keyid/date/region/service/aws4_request
struct Credential {
  std::string_view id, date, region, service, terminator;
  std::string_view scope;  // all but the id
};

std::optional<SignatureFault> read_credential(std::string_view text, Credential& credential) {
  std::array<std::string_view, 5> parts;
  auto rest = text;
  for (auto& part : parts) part = take_until(rest, "/");
  if (std::ranges::count(text, '/') != 4) {
    return fault(Kind::Incomplete, fmt::format("Credential must have exactly 5 slash-delimited elements, e.g. "
                                               "keyid/date/region/service/term, got '{}'",
                                               text));
  }
  credential = {.id = parts[0],
                .date = parts[1],
                .region = parts[2],
                .service = parts[3],
                .terminator = parts[4],
                .scope = text.substr(parts[0].size() + 1)};
  return std::nullopt;
}

std::optional<SignatureFault> check_scope(const Credential& credential, Seconds time, std::string_view service) {
  std::string wrong;
  if (credential.region.empty()) wrong += "Credential should be scoped to a valid region, not ''. ";
  if (credential.service != service)
    wrong += fmt::format("Credential should be scoped to correct service: '{}'. ", service);
  if (credential.terminator != kTerminator) {
    wrong += fmt::format("Credential should be scoped with a valid terminator: '{}', not '{}'. ", kTerminator,
                         credential.terminator);
  }
  const auto date = iso_basic(time);
  if (credential.date != std::string_view(date).substr(0, 8)) {
    wrong += fmt::format(
        "Date in Credential scope does not match YYYYMMDD from ISO-8601 version of date from HTTP: '{}' != '{}', from "
        "'{}'. ",
        credential.date, date.substr(0, 8), date);
  }
  if (wrong.empty()) return std::nullopt;
  wrong.pop_back();
  return fault(Kind::Invalid, std::move(wrong));
}

bool lists(std::string_view signed_headers, std::string_view name) {
  while (!signed_headers.empty()) {
    if (take_until(signed_headers, ";") == name) return true;
  }
  return false;
}

// "X-Amz-Target" for x-amz-target.
std::string title_case(std::string_view name) {
  std::string out(name);
  bool first = true;
  for (auto& c : out) {
    if (first && c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    first = c == '-';
  }
  return out;
}

std::optional<SignatureFault> check_signed_headers(const Request& request, const Claim& claim,
                                                   const SignatureOptions& options) {
  if (static_cast<std::size_t>(std::ranges::count(claim.signed_headers, ';')) >= kSignedHeaders) {
    return fault(Kind::Incomplete, fmt::format("More than {} signed headers", kSignedHeaders));
  }
  if (!lists(claim.signed_headers, "host")) {
    return fault(Kind::Invalid, "'Host' or ':authority' must be a 'SignedHeader' in the AWS Authorization.");
  }
  for (const auto& name : options.signed_headers) {
    const bool sent = std::ranges::any_of(request.headers,
                                          [&](const Header& header) { return equal_ignoring_case(header.name, name); });
    if (sent && !lists(claim.signed_headers, name)) {
      return fault(Kind::Invalid,
                   fmt::format("'{}' must be a 'SignedHeader' in the AWS Authorization.", title_case(name)));
    }
  }
  return std::nullopt;
}

}  // namespace

// One generation of keys, with what was derived from them: a key that is gone takes its signing keys along.
struct SignatureVerifier::Keys {
  std::map<std::string, std::string, std::less<>> secrets;  // by id; constant once shared

  Mutex mutex;
  std::map<std::string, Digest, std::less<>> signing_keys GUARDED_BY(mutex);  // by credential

  std::optional<Digest> cached(std::string_view credential) {
    MutexLock lock(mutex);
    const auto found = signing_keys.find(credential);
    return found == signing_keys.end() ? std::nullopt : std::optional(found->second);
  }
  void remember(std::string_view credential, const Digest& signing_key) {
    MutexLock lock(mutex);
    if (signing_keys.size() >= kCachedSigningKeys) signing_keys.clear();
    signing_keys.emplace(credential, signing_key);
  }
};

SignatureVerifier::SignatureVerifier(SignatureOptions options, const Clock& clock)
    : options_(std::move(options)), clock_(clock), confirmed_at_(clock.steady_now()), keys_(std::make_shared<Keys>()) {}

SignatureVerifier::~SignatureVerifier() = default;

void SignatureVerifier::set_keys(std::span<const AccessKey> keys) {
  auto next = std::make_shared<Keys>();
  for (const auto& key : keys) next->secrets.emplace(key.id, key.secret);
  {
    MutexLock lock(mutex_);
    keys_ = std::move(next);
  }
  if (!keys.empty()) require();
}

void SignatureVerifier::confirm_keys(SteadyTime as_of) { confirmed_at_.store(as_of, std::memory_order_release); }

bool SignatureVerifier::keys_are_confirmed() const {
  return options_.keys_last.count() == 0 ||
         clock_.steady_now() - confirmed_at_.load(std::memory_order_acquire) <= options_.keys_last;
}

std::shared_ptr<SignatureVerifier::Keys> SignatureVerifier::keys() const {
  MutexLock lock(mutex_);
  return keys_;
}

bool SignatureVerifier::has_keys() const { return !keys()->secrets.empty(); }

std::optional<Digest> SignatureVerifier::secret_digest(std::string_view id) const {
  if (!keys_are_confirmed()) return std::nullopt;
  const auto keys = this->keys();
  const auto found = keys->secrets.find(id);
  return found == keys->secrets.end() ? std::nullopt : std::optional(sha256(found->second));
}

// A request that claims to be signed with a key that we have.
struct SignatureVerifier::Signed {
  Parameters parameters;
  Claim claim;
  Credential credential;  // points into the claim
  Seconds time;
  std::shared_ptr<Keys> keys;
  const std::string* secret = nullptr;  // of `keys`
};

std::optional<SignatureFault> SignatureVerifier::check(const Request& request) const {
  auto wrong = find_fault(request);
  if (wrong) wrong->key_id = claimed_key(request);
  return wrong;
}

std::optional<SignatureFault> SignatureVerifier::check_head(const Request& head) const {
  Signed request;
  auto wrong = read_signed(head, request);
  if (wrong) wrong->key_id = claimed_key(head);
  return wrong;
}

std::optional<SignatureFault> SignatureVerifier::read_signed(const Request& request, Signed& out) const {
  if (!keys_are_confirmed()) {
    return fault(Kind::Unconfirmed, "The access keys cannot be read at the moment. Try again.");
  }
  out.parameters = parse_query(request.query);
  const auto& parameters = out.parameters;
  const bool presigned = find_parameter(parameters, "X-Amz-Algorithm") != nullptr;
  const auto header = request.header("Authorization");
  if (presigned && !header.empty()) {
    return fault(Kind::Invalid,
                 "Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as HTTP header.");
  }
  // Another server in between may have looked at the other one.
  if (request.repeats("Authorization")) {
    return fault(Kind::Invalid, "Found more than one 'Authorization' header.");
  }
  if (!presigned && !header.starts_with("AWS4-")) {
    return fault(Kind::MissingToken, "Request is missing Authentication Token");
  }
  auto& claim = out.claim;
  if (auto wrong = presigned ? read_query(parameters, claim) : read_header(request, header, claim)) return wrong;
  if (claim.algorithm != kAlgorithm) {
    return fault(Kind::Incomplete, fmt::format("Unsupported AWS 'algorithm': '{}'", claim.algorithm));
  }
  auto time = parse_iso_basic(claim.date);
  if (!time) time = parse_http_date(claim.date);
  if (!time) {
    return fault(Kind::Incomplete, fmt::format("Date must be in ISO-8601 'basic format'. Got '{}'. See "
                                               "http://en.wikipedia.org/wiki/ISO_8601",
                                               claim.date));
  }
  const auto now = std::chrono::floor<std::chrono::seconds>(clock_.now());
  if (auto wrong = check_time(*time, now, options_.skew, claim)) return wrong;
  out.time = *time;
  auto& credential = out.credential;
  if (auto wrong = read_credential(claim.credential, credential)) return wrong;
  if (auto wrong = check_scope(credential, *time, options_.service)) return wrong;
  if (auto wrong = check_signed_headers(request, claim, options_)) return wrong;

  out.keys = keys();
  const auto secret = out.keys->secrets.find(credential.id);
  // Our keys have no sessions, so a session's token belongs to somebody else's.
  const bool has_token =
      !request.header("X-Amz-Security-Token").empty() || find_parameter(parameters, "X-Amz-Security-Token") != nullptr;
  if (secret == out.keys->secrets.end() || has_token) {
    return fault(Kind::UnknownKey, "The security token included in the request is invalid.");
  }
  out.secret = &secret->second;
  return std::nullopt;
}

std::optional<SignatureFault> SignatureVerifier::find_fault(const Request& request) const {
  Signed from;
  if (auto wrong = read_signed(request, from)) return wrong;
  const auto& [parameters, claim, credential, time, keys, secret] = from;
  const auto cached = keys->cached(claim.credential);
  const auto signing_key =
      cached ? *cached : derive_signing_key(*secret, credential.date, credential.region, credential.service);
  const auto canonical = canonical_request(request, parameters, claim.signed_headers);
  if (!equal_in_constant_time(sign(signing_key, time, credential.scope, canonical), claim.signature)) {
    return fault(Kind::Invalid,
                 "The request signature we calculated does not match the signature you provided. Check your AWS Secret "
                 "Access Key and signing method. Consult the service documentation for details.");
  }
  if (!cached) keys->remember(claim.credential, signing_key);
  return std::nullopt;
}

}  // namespace stator::http
