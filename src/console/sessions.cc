#include "stator/console/sessions.h"

#include <algorithm>
#include <array>

#include "stator/base/constant_time.h"
#include "stator/base/log.h"
#include "stator/base/random.h"

namespace stator::console {
namespace {

using http::sigv4::Digest;

std::string random_token() {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::array<unsigned char, 32> bytes;
  fill_with_entropy(bytes);
  std::string token;
  for (const auto byte : bytes) {
    token += kDigits[byte >> 4U];
    token += kDigits[byte & 15U];
  }
  return token;
}

std::string_view text_of(const Digest& digest) { return {reinterpret_cast<const char*>(digest.data()), digest.size()}; }

}  // namespace

Sessions::Sessions(const http::SignatureVerifier& keys, const Clock& clock, std::optional<SharedText> shared)
    : keys_(keys), clock_(clock) {
  if (!shared) return;
  signed_.emplace(keys, std::move(*shared));
  refresh();
}

void Sessions::refresh() {
  if (!signed_) return;
  const auto read = signed_->refresh();
  // Once, not each second.
  if (refresh_failed_.exchange(!read) || read) return;
  log::warning("console_sessions_not_read", {{"cause", read.error().message}});
}

Result<std::string, Sessions::Refusal> Sessions::sign_in(std::string_view key_id, std::string_view secret) {
  if (!keys_.keys_are_confirmed()) return Refusal::NoStore;
  const auto now = clock_.now();
  const auto given = http::sigv4::sha256(secret);
  const auto known = keys_.secret_digest(key_id);
  const bool right = equal_in_constant_time(text_of(given), text_of(known.value_or(Digest{}))) && known.has_value();
  // Only failures are throttled, so that guesses by others do not keep out a user with the right secret.
  if (!right) return note_failure(now);
  if (signed_) {
    auto token = signed_->open(key_id, now + kLifetime);
    if (!token) return Refusal::NoStore;
    return std::move(*token);
  }
  MutexLock lock(mutex_);
  std::erase_if(sessions_, [&](const auto& entry) { return entry.second.until <= now; });
  if (sessions_.size() >= kMost) {
    sessions_.erase(std::ranges::min_element(sessions_, {}, [](const auto& entry) { return entry.second.until; }));
  }
  auto token = random_token();
  sessions_.insert_or_assign(http::sigv4::sha256(token),
                             Session{.key_id = std::string(key_id), .secret = given, .until = now + kLifetime});
  return token;
}

Sessions::Refusal Sessions::note_failure(WallTime now) {
  MutexLock lock(mutex_);
  // A clock that was set back begins a new second.
  if (now - failures_since_ >= std::chrono::seconds(1) || now < failures_since_) {
    failures_since_ = now;
    failures_ = 0;
  }
  if (failures_ >= kFailuresPerSecond) return Refusal::TooMany;
  ++failures_;
  return Refusal::WrongKey;
}

std::optional<std::string> Sessions::key_of(std::string_view token) {
  if (signed_) return signed_->key_of(token, clock_.now());
  const auto hash = http::sigv4::sha256(token);
  MutexLock lock(mutex_);
  const auto found = sessions_.find(hash);
  if (found == sessions_.end()) return std::nullopt;
  const auto& session = found->second;
  if (session.until <= clock_.now() || keys_.secret_digest(session.key_id) != session.secret) {
    sessions_.erase(found);
    return std::nullopt;
  }
  return session.key_id;
}

Result<void> Sessions::sign_out(std::string_view token) {
  if (signed_) return signed_->end(token, clock_.now());
  MutexLock lock(mutex_);
  sessions_.erase(http::sigv4::sha256(token));
  return {};
}

}  // namespace stator::console
