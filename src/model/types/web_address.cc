#include "stator/model/types/web_address.h"

#include <fmt/format.h>
#include <idn2.h>

#include <algorithm>
#include <charconv>
#include <vector>

#include "stator/base/ascii.h"

namespace stator::model {
namespace {

constexpr std::size_t kLongestUrl = 8000;

// The characters that RFC 3986 calls unreserved: they never need a percent sign.
bool is_unreserved(char c) {
  return is_letter(c) || is_digit(c) || std::string_view("-._~").find(c) != std::string_view::npos;
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return out;
}

Result<std::string> ascii_host(std::string_view host) {
  // Most hosts need no IDNA conversion, and its tables take longer than everything else here.
  const bool plain = host.find("--") == std::string_view::npos &&
                     std::all_of(host.begin(), host.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
  if (plain) return lower(host);
  char* ascii = nullptr;
  const auto text = std::string(host);
  const int status = idn2_to_ascii_8z(text.c_str(), &ascii, IDN2_NONTRANSITIONAL | IDN2_NFC_INPUT);
  std::string out = ascii == nullptr ? "" : lower(ascii);
  idn2_free(ascii);
  if (status != IDN2_OK) return validation_error(fmt::format("{} is not a host: {}", host, idn2_strerror(status)));
  return out;
}

// A host in its ASCII form, each label checked.  Underscores are not for registered names, but web sites have them in
// names below those.
Result<std::string> normal_host(std::string_view host) {
  while (!host.empty() && host.back() == '.') host.remove_suffix(1);  // "example.com." is the same host
  if (host.empty() || host.size() > kMostHostBytes)
    return validation_error(fmt::format("the host is empty or longer than {} characters", kMostHostBytes));
  const auto out = TRY(ascii_host(host));
  std::size_t start = 0;
  while (start <= out.size()) {
    const auto end = std::min(out.find('.', start), out.size());
    const auto label = std::string_view(out).substr(start, end - start);
    const bool fine = !label.empty() && label.size() <= 63 && label.front() != '-' && label.back() != '-' &&
                      std::all_of(label.begin(), label.end(),
                                  [](char c) { return is_letter(c) || is_digit(c) || c == '-' || c == '_'; });
    if (!fine) return validation_error(fmt::format("{} is not a host", host));
    start = end + 1;
  }
  return out;
}

int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

// Percent signs in upper case, and gone where they are not needed; what may not stand in a URL gets them.
std::string normal_percent(std::string_view text, std::string_view allowed) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    const bool encoded = c == '%' && i + 2 < text.size() && hex_digit(text[i + 1]) >= 0 && hex_digit(text[i + 2]) >= 0;
    if (encoded) {
      c = static_cast<char>(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2]));
      i += 2;
    }
    if (is_unreserved(c) || (!encoded && allowed.find(c) != std::string_view::npos)) {
      out += c;
    } else {
      constexpr std::string_view kDigits = "0123456789ABCDEF";
      const auto byte = static_cast<unsigned char>(c);
      out += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return out;
}

// Resolves "." and ".." as RFC 3986 says.
std::string without_dots(std::string_view path) {
  std::vector<std::string_view> parts;
  bool ends_in_folder = true;
  std::size_t start = 1;  // behind the first slash
  while (start <= path.size()) {
    const auto end = std::min(path.find('/', start), path.size());
    const auto part = path.substr(start, end - start);
    const bool last = end == path.size();
    ends_in_folder = false;
    if (part == "." || part == "..") {
      if (part == ".." && !parts.empty()) parts.pop_back();
      ends_in_folder = last;
    } else {
      parts.push_back(part);
    }
    start = end + 1;
  }
  std::string out;
  for (const auto& part : parts) out += "/" + std::string(part);
  if (ends_in_folder || out.empty()) out += "/";
  return out;
}

struct AddressParts {
  std::string scheme;
  std::string_view host;
  std::string_view port;
  std::string_view path;
  std::string_view query;  // with its question mark
};

Result<AddressParts> split(std::string_view text) {
  AddressParts parts;
  const auto colon = text.find("://");
  if (colon == std::string_view::npos) return validation_error("a URL begins with http:// or https://");
  parts.scheme = lower(text.substr(0, colon));
  if (parts.scheme != "http" && parts.scheme != "https")
    return validation_error("a URL begins with http:// or https://");
  text.remove_prefix(colon + 3);
  text = text.substr(0, text.find('#'));
  const auto end = std::min(text.find_first_of("/?\\"), text.size());
  auto authority = text.substr(0, end);
  text.remove_prefix(end);
  if (const auto at = authority.rfind('@'); at != std::string_view::npos) authority.remove_prefix(at + 1);
  const auto port = authority.rfind(':');
  parts.host = authority.substr(0, port);
  if (port != std::string_view::npos) parts.port = authority.substr(port + 1);
  const auto question = std::min(text.find('?'), text.size());
  parts.path = text.substr(0, question);
  parts.query = text.substr(question);
  return parts;
}

// ":8443", or nothing where the scheme says it: ":0443" is ":443", which https has anyway.
Result<std::string> normal_port(std::string_view scheme, std::string_view text) {
  if (text.empty()) return std::string();
  unsigned port = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size() || port > 65535)
    return validation_error(fmt::format("{} is not a port", text));
  const bool is_default = port == (scheme == "http" ? 80U : 443U);
  return is_default ? std::string() : fmt::format(":{}", port);
}

}  // namespace

Result<std::string> normal_domain(std::string_view text) {
  if (text.size() > kLongestUrl) return validation_error("the domain is too long");
  if (const auto scheme = text.find("://"); scheme != std::string_view::npos) text.remove_prefix(scheme + 3);
  text = text.substr(0, text.find_first_of("/?#\\"));
  if (const auto at = text.rfind('@'); at != std::string_view::npos) text.remove_prefix(at + 1);
  text = text.substr(0, text.rfind(':'));
  auto host = TRY(normal_host(text));
  if (host.starts_with("www.") && host.find('.', 4) != std::string::npos) host.erase(0, 4);
  return host;
}

Result<CanonicalUrl> canonical_url(std::string_view text) {
  const auto too_long = [] {
    return validation_error(fmt::format("the URL is longer than {} characters", kLongestUrl));
  };
  if (text.size() > kLongestUrl) return too_long();
  const auto parts = TRY(split(text));
  CanonicalUrl out;
  out.host = TRY(normal_host(parts.host));
  out.url = parts.scheme + "://" + out.host + TRY(normal_port(parts.scheme, parts.port));
  constexpr std::string_view kPath = "/!$&'()*+,;=:@";
  auto path = std::string(parts.path);
  std::replace(path.begin(), path.end(), '\\', '/');
  out.url += without_dots(path.empty() ? "/" : normal_percent(path, kPath));
  if (parts.query.size() > 1) out.url += "?" + normal_percent(parts.query.substr(1), "/?!$&'()*+,;=:@[]");
  if (out.url.size() > kLongestUrl) return too_long();  // percent signs have made it longer
  return out;
}

bool belongs_to(std::string_view host, std::string_view domain) {
  return host == domain ||
         (host.size() > domain.size() && host.ends_with(domain) && host[host.size() - domain.size() - 1] == '.');
}

}  // namespace stator::model
