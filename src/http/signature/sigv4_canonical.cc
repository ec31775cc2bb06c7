#include "stator/http/signature/sigv4_canonical.h"

#include <fmt/format.h>
#include <openssl/evp.h>

#include <algorithm>
#include <cstring>

#include "stator/base/assert.h"

namespace stator::http::sigv4 {
namespace {

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

Digest hash(std::string_view first, std::string_view second = {}) {
  thread_local Hasher hasher;
  return hasher(first, second);
}

Digest hmac(std::string_view key, std::string_view text) {
  constexpr std::size_t kBlock = 64;
  std::array<char, kBlock> inner{};
  if (key.size() > kBlock) {
    const auto digest = hash(key);
    std::memcpy(inner.data(), digest.data(), digest.size());
  } else {
    std::ranges::copy(key, inner.begin());
  }
  auto outer = inner;
  for (auto& c : inner) c ^= 0x36;
  for (auto& c : outer) c ^= 0x5c;
  const auto digest = hash({inner.data(), kBlock}, text);
  return hash({outer.data(), kBlock}, as_text(digest));
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

}  // namespace

Digest sha256(std::string_view text) { return hash(text); }

std::string_view take_until(std::string_view& text, std::string_view separators) {
  const auto end = std::min(text.find_first_of(separators), text.size());
  const auto part = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return part;
}

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

std::string iso_basic(std::chrono::sys_seconds time) {
  const auto day = std::chrono::floor<std::chrono::days>(time);
  const std::chrono::year_month_day date(day);
  const std::chrono::hh_mm_ss clock(time - day);
  return fmt::format("{:04}{:02}{:02}T{:02}{:02}{:02}Z", static_cast<int>(date.year()),
                     static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()), clock.hours().count(),
                     clock.minutes().count(), clock.seconds().count());
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
  out += hex_of(hash(request.body));
  return out;
}

Digest derive_signing_key(std::string_view secret, std::string_view date, std::string_view region,
                          std::string_view service) {
  auto key = hmac("AWS4" + std::string(secret), date);
  for (const auto part : {region, service, kTerminator}) key = hmac(as_text(key), part);
  return key;
}

std::string sign(const Digest& signing_key, std::chrono::sys_seconds time, std::string_view scope,
                 std::string_view canonical_request) {
  const auto text = fmt::format("{}\n{}\n{}\n{}", kAlgorithm, iso_basic(time), scope, hex_of(hash(canonical_request)));
  return hex_of(hmac(as_text(signing_key), text));
}

}  // namespace stator::http::sigv4
