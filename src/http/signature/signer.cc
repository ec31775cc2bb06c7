#include "stator/http/signature/signer.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "stator/http/client/client.h"

namespace stator::http {
namespace {

std::string lower_case(std::string_view text) {
  std::string out(text);
  for (auto& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

// "content-type;host;x-amz-date"
std::string names_of(const std::vector<Header>& headers) {
  std::vector<std::string> names;
  names.reserve(headers.size());
  for (const auto& header : headers) names.push_back(lower_case(header.name));
  std::ranges::sort(names);
  const auto [repeated, end] = std::ranges::unique(names);
  names.erase(repeated, end);
  return fmt::format("{}", fmt::join(names, ";"));
}

}  // namespace

OwnedHeaders Signer::sign(const Request& request, WallTime now) const {
  const auto time = std::chrono::floor<std::chrono::seconds>(now);
  const auto moment = sigv4::iso_basic(time);
  const auto date = moment.substr(0, 8);
  OwnedHeaders added = {{"X-Amz-Date", moment}};
  if (!options_.session_token.empty()) added.emplace_back("X-Amz-Security-Token", options_.session_token);

  std::vector<Header> headers(request.headers.begin(), request.headers.end());
  for (const auto& [name, value] : added) headers.push_back({name, value});
  Request signed_request = request;
  signed_request.headers = headers;
  const auto names = names_of(headers);
  const auto canonical = sigv4::canonical_request(signed_request, sigv4::parse_query(request.query), names);
  const auto scope = fmt::format("{}/{}/{}/{}", date, options_.region, options_.service, sigv4::kTerminator);
  added.emplace_back("Authorization", fmt::format("{} Credential={}/{}, SignedHeaders={}, Signature={}",
                                                  sigv4::kAlgorithm, options_.key.id, scope, names,
                                                  sigv4::sign(signing_key(date), time, scope, canonical)));
  return added;
}

void Signer::sign(ClientRequest& request, std::string_view host, WallTime now) const {
  std::vector<Header> headers = {{"Host", host}};
  for (const auto& [name, value] : request.headers) headers.push_back({name, value});
  Request to_sign;
  to_sign.method = request.method;
  const std::string_view target = request.target;
  const auto question = target.find('?');
  to_sign.path = target.substr(0, question);
  if (question != std::string_view::npos) to_sign.query = target.substr(question + 1);
  to_sign.headers = headers;
  to_sign.body = request.body;
  auto added = sign(to_sign, now);
  std::ranges::move(added, std::back_inserter(request.headers));
}

sigv4::Digest Signer::signing_key(const std::string& date) const {
  MutexLock lock(mutex_);
  if (date_ != date) {
    signing_key_ = sigv4::derive_signing_key(options_.key.secret, date, options_.region, options_.service);
    date_ = date;
  }
  return signing_key_;
}

}  // namespace stator::http
