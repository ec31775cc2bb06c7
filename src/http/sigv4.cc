#include "stator/http/sigv4.h"

#include <fmt/format.h>
#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>
#include <map>
#include <string_view>
#include <utility>

#include "stator/base/assert.h"

namespace stator::http {
namespace {

using Kind = SignatureFault::Kind;
using Seconds = std::chrono::sys_seconds;
using Digest = std::array<unsigned char, 32>;

constexpr std::string_view kAlgorithm = "AWS4-HMAC-SHA256";
constexpr std::string_view kTerminator = "aws4_request";
constexpr std::size_t kSignedHeaders = 100;       // more are not a request of any SDK
constexpr std::size_t kCachedSigningKeys = 1024;  // each is one key on one day for one region
constexpr std::chrono::seconds kLongestExpiry = std::chrono::weeks(1);

// --- hashes

std::string_view as_text(const Digest& digest) { return {reinterpret_cast<const char*>(digest.data()), digest.size()}; }

// A context and an algorithm to be used again and again: looking them up costs more than hashing a request.
class Hasher {
 public:
  Hasher() : algorithm_(EVP_MD_fetch(nullptr, "SHA256", nullptr)), context_(EVP_MD_CTX_new()) {
    STATOR_ASSERT(algorithm_ != nullptr && context_ != nullptr, "the library has SHA-256");
  }
  ~Hasher() {
    EVP_MD_CTX_free(context_);
    EVP_MD_free(algorithm_);
  }
  Hasher(const Hasher&) = delete;
  Hasher& operator=(const Hasher&) = delete;

  Digest operator()(std::string_view first, std::string_view second = {}) {
    Digest digest;
    const bool done = EVP_DigestInit_ex2(context_, algorithm_, nullptr) == 1 &&
                      EVP_DigestUpdate(context_, first.data(), first.size()) == 1 &&
                      EVP_DigestUpdate(context_, second.data(), second.size()) == 1 &&
                      EVP_DigestFinal_ex(context_, digest.data(), nullptr) == 1;
    STATOR_ASSERT(done, "SHA-256 of bytes in memory cannot fail");
    return digest;
  }

 private:
  EVP_MD* algorithm_;
  EVP_MD_CTX* context_;
};

Digest sha256(std::string_view first, std::string_view second = {}) {
  thread_local Hasher hasher;
  return hasher(first, second);
}

Digest hmac(std::string_view key, std::string_view text) {
  constexpr std::size_t kBlock = 64;
  std::array<char, kBlock> inner{};
  if (key.size() > kBlock) {
    const auto digest = sha256(key);
    std::memcpy(inner.data(), digest.data(), digest.size());
  } else {
    std::ranges::copy(key, inner.begin());
  }
  auto outer = inner;
  for (auto& c : inner) c ^= 0x36;
  for (auto& c : outer) c ^= 0x5c;
  const auto digest = sha256({inner.data(), kBlock}, text);
  return sha256({outer.data(), kBlock}, as_text(digest));
}

std::string hex_of(const Digest& digest) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string out;
  out.reserve(2 * digest.size());
  for (const auto byte : digest) {
    out += kDigits[byte >> 4U];
    out += kDigits[byte & 15U];
  }
  return out;
}

// --- texts

SignatureFault fault(Kind kind, std::string message) { return {kind, std::move(message)}; }

// Cuts the part before the next separator off the front.
std::string_view take_until(std::string_view& text, std::string_view separators) {
  const auto end = std::min(text.find_first_of(separators), text.size());
  const auto part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

std::string percent_decoded(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '%' && i + 2 < text.size() && hex_digit(text[i + 1]) >= 0 && hex_digit(text[i + 2]) >= 0) {
      out += static_cast<char>(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2]));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

void append_percent_encoded(std::string& out, std::string_view text, std::string_view also_plain = {}) {
  static constexpr char kDigits[] = "0123456789ABCDEF";
  for (const char c : text) {
    const bool plain = (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' ||
                       c == '.' || c == '_' || c == '~' || also_plain.find(c) != std::string_view::npos;
    if (plain) {
      out += c;
    } else {
      out += '%';
      out += kDigits[static_cast<unsigned char>(c) >> 4U];
      out += kDigits[static_cast<unsigned char>(c) & 15U];
    }
  }
}

// --- times

std::string iso_basic(Seconds time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  return fmt::format("{:04}{:02}{:02}T{:02}{:02}{:02}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), clock.hours().count(),
                     clock.minutes().count(), clock.seconds().count());
}

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

using Parameters = std::vector<std::pair<std::string, std::string>>;

Parameters parse_query(std::string_view query) {
  Parameters parameters;
  while (!query.empty()) {
    auto value = take_until(query, "&");
    if (value.empty()) continue;
    const auto name = take_until(value, "=");
    parameters.emplace_back(percent_decoded(name), percent_decoded(value));
  }
  return parameters;
}

const std::string* find_parameter(const Parameters& parameters, std::string_view name) {
  const auto found = std::ranges::find(parameters, name, &Parameters::value_type::first);
  return found == parameters.end() ? nullptr : &found->second;
}

struct Claim {
  std::string algorithm, credential, signed_headers, signature, date;
  std::optional<std::chrono::seconds> expires = {};  // presigned only
};

using Outcome = std::optional<SignatureFault>;

Outcome read_header(const Request& request, std::string_view header, Claim& claim) {
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

Outcome read_query(const Parameters& parameters, Claim& claim) {
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

Outcome check_time(Seconds time, Seconds now, std::chrono::seconds skew, const Claim& claim) {
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

Outcome read_credential(std::string_view text, Credential& credential) {
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

Outcome check_scope(const Credential& credential, Seconds time, std::string_view service) {
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

Outcome check_signed_headers(const Request& request, const Claim& claim, const SignatureOptions& options) {
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

// --- what was signed

// Without "." and ".." and empty parts, and encoded once more than it was sent.
void append_path(std::string& out, std::string_view path) {
  std::vector<std::string_view> parts;
  auto rest = path;
  while (!rest.empty()) {
    const auto part = take_until(rest, "/");
    if (part == ".." && !parts.empty()) parts.pop_back();
    if (!part.empty() && part != "." && part != "..") parts.push_back(part);
  }
  for (const auto part : parts) {
    out += '/';
    append_percent_encoded(out, part);
  }
  const bool folder = path.ends_with('/') || path.ends_with("/.") || path.ends_with("/..");
  if (parts.empty() || folder) out += '/';
}

void append_query(std::string& out, const Parameters& parameters) {
  std::vector<std::pair<std::string, std::string>> encoded;
  encoded.reserve(parameters.size());
  for (const auto& [name, value] : parameters) {
    if (name == "X-Amz-Signature") continue;
    auto& [encoded_name, encoded_value] = encoded.emplace_back();
    append_percent_encoded(encoded_name, name);
    append_percent_encoded(encoded_value, value);
  }
  std::ranges::sort(encoded);
  for (std::size_t i = 0; i < encoded.size(); ++i) {
    if (i > 0) out += '&';
    out += encoded[i].first + '=' + encoded[i].second;
  }
}

// Without spaces at its ends, and with one wherever there are more.
void append_trimmed(std::string& out, std::string_view value) {
  bool space = false;
  bool any = false;
  for (const char c : value) {
    if (c == ' ' || c == '\t') {
      space = any;
      continue;
    }
    if (space) out += ' ';
    space = false;
    any = true;
    out += c;
  }
}

void append_headers(std::string& out, const Request& request, std::string_view signed_headers) {
  auto rest = signed_headers;
  while (!rest.empty()) {
    const auto name = take_until(rest, ";");
    out += name;
    out += ':';
    bool first = true;
    for (const auto& header : request.headers) {
      if (!equal_ignoring_case(header.name, name)) continue;
      if (!first) out += ',';
      first = false;
      append_trimmed(out, header.value);
    }
    out += '\n';
  }
}

std::string canonical_request(const Request& request, const Parameters& parameters, std::string_view signed_headers) {
  std::string out(request.method);
  out += '\n';
  append_path(out, request.path);
  out += '\n';
  append_query(out, parameters);
  out += '\n';
  append_headers(out, request, signed_headers);
  out += '\n';
  out += signed_headers;
  out += '\n';
  out += hex_of(sha256(request.body));
  return out;
}

Digest derive_signing_key(std::string_view secret, const Credential& credential) {
  auto key = hmac("AWS4" + std::string(secret), credential.date);
  for (const auto part : {credential.region, credential.service, credential.terminator}) key = hmac(as_text(key), part);
  return key;
}

bool equal_in_constant_time(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
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
    : options_(std::move(options)), clock_(clock), keys_(std::make_shared<Keys>()) {}

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

std::shared_ptr<SignatureVerifier::Keys> SignatureVerifier::keys() const {
  MutexLock lock(mutex_);
  return keys_;
}

std::optional<SignatureFault> SignatureVerifier::check(const Request& request) const {
  const auto parameters = parse_query(request.query);
  const bool presigned = find_parameter(parameters, "X-Amz-Algorithm") != nullptr;
  const auto header = request.header("Authorization");
  if (presigned && !header.empty()) {
    return fault(Kind::Invalid,
                 "Found both 'X-Amz-Algorithm' as a query-string param and 'Authorization' as HTTP header.");
  }
  if (!presigned && !header.starts_with("AWS4-")) {
    return fault(Kind::MissingToken, "Request is missing Authentication Token");
  }
  Claim claim;
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
  Credential credential;
  if (auto wrong = read_credential(claim.credential, credential)) return wrong;
  if (auto wrong = check_scope(credential, *time, options_.service)) return wrong;
  if (auto wrong = check_signed_headers(request, claim, options_)) return wrong;

  const auto keys = this->keys();
  const auto secret = keys->secrets.find(credential.id);
  // Our keys have no sessions, so a session's token belongs to somebody else's.
  const bool has_token =
      !request.header("X-Amz-Security-Token").empty() || find_parameter(parameters, "X-Amz-Security-Token") != nullptr;
  if (secret == keys->secrets.end() || has_token) {
    return fault(Kind::UnknownKey, "The security token included in the request is invalid.");
  }

  const auto cached = keys->cached(claim.credential);
  const auto signing_key = cached ? *cached : derive_signing_key(secret->second, credential);
  const auto canonical = canonical_request(request, parameters, claim.signed_headers);
  const auto string_to_sign =
      fmt::format("{}\n{}\n{}\n{}", kAlgorithm, iso_basic(*time), credential.scope, hex_of(sha256(canonical)));
  if (!equal_in_constant_time(hex_of(hmac(as_text(signing_key), string_to_sign)), claim.signature)) {
    return fault(Kind::Invalid,
                 "The request signature we calculated does not match the signature you provided. Check your AWS Secret "
                 "Access Key and signing method. Consult the service documentation for details.");
  }
  if (!cached) keys->remember(claim.credential, signing_key);
  return std::nullopt;
}

}  // namespace stator::http
