#include "stator/console/signed_sessions.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "stator/app/auth/crypto.h"
#include "stator/base/constant_time.h"

namespace stator::console {
namespace {

constexpr std::size_t kSecretBytes = 32;
constexpr std::size_t kNonceBytes = 16;
constexpr std::size_t kMostTokenBytes = 512;

std::int64_t seconds_of(WallTime time) {
  return std::chrono::duration_cast<std::chrono::seconds>(time.time_since_epoch()).count();
}

std::string new_secret() { return app::base64url(app::random_bytes(kSecretBytes)); }

std::optional<std::int64_t> number_of(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (wrong != std::errc() || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return number;
}

// Up to the next separator, which is taken away, too.
std::string_view take(std::string_view& rest, char separator) {
  const auto part = rest.substr(0, rest.find(separator));
  rest.remove_prefix(std::min(rest.size(), part.size() + 1));
  return part;
}

}  // namespace

Result<SignedSessions::State> SignedSessions::parse(std::string_view text) {
  State state;
  while (!text.empty()) {
    auto line = take(text, '\n');
    const auto word = take(line, ' ');
    if (word == "secret") {
      state.secret = line;
    } else if (word == "ended") {
      const auto token = take(line, ' ');
      const auto until = number_of(line);
      if (!until) return Error{ErrorCode::Corruption, "the console's sessions in the store cannot be read"};
      state.ended.emplace(token, *until);
    }
  }
  if (app::decode_base64url(state.secret).value_or("").size() != kSecretBytes) {
    return Error{ErrorCode::Corruption, "the console's sessions in the store have no secret"};
  }
  return state;
}

std::string SignedSessions::print(const State& state) {
  auto text = fmt::format("secret {}\n", state.secret);
  for (const auto& [token, until] : state.ended) text += fmt::format("ended {} {}\n", token, until);
  return text;
}

bool SignedSessions::is_known() const {
  MutexLock lock(mutex_);
  return !state_.secret.empty();
}

Result<void> SignedSessions::refresh() {
  const auto ends = [&] {
    MutexLock lock(mutex_);
    return ends_;
  }();
  auto text = TRY(text_.read());
  if (!text) {
    TRY(text_.change([&](const std::optional<std::string>& made) -> Result<std::string> {
      // Another server may have made it meanwhile.
      text = made ? *made : print({.secret = new_secret(), .ended = {}});
      return *text;
    }));
  }
  auto state = TRY(parse(*text));
  MutexLock lock(mutex_);
  // A session has ended meanwhile, and the text may be older than that.  The next refresh reads it again.
  if (ends_ != ends && !state_.secret.empty()) return {};
  state_ = std::move(state);
  return {};
}

// The signature depends on the secret of the access key: a key that is removed or gets another secret takes its
// sessions along.
std::optional<std::string> SignedSessions::signature(std::string_view claims, std::string_view key_id,
                                                     const std::string& secret) const {
  const auto digest = keys_.secret_digest(key_id);
  if (!digest || secret.empty()) return std::nullopt;
  const std::string_view key_secret(reinterpret_cast<const char*>(digest->data()), digest->size());
  return app::base64url(app::hmac_sha256(secret, fmt::format("console session\n{}\n{}", claims, key_secret)));
}

Result<std::string> SignedSessions::open(std::string_view key_id, WallTime until) {
  if (!is_known()) TRY(refresh());
  const auto claims = fmt::format("{}.{}.{}", seconds_of(until), app::base64url(app::random_bytes(kNonceBytes)),
                                  app::base64url(key_id));
  MutexLock lock(mutex_);
  const auto signed_by = signature(claims, key_id, state_.secret);
  if (!signed_by) return Error{ErrorCode::Storage, "the access key has just been removed"};
  return fmt::format("{}.{}", claims, *signed_by);
}

std::optional<SignedSessions::Claims> SignedSessions::claims_of(std::string_view token,
                                                                const std::string& secret) const {
  if (token.size() > kMostTokenBytes) return std::nullopt;
  const auto last = token.rfind('.');
  if (last == std::string_view::npos) return std::nullopt;
  const auto claims = token.substr(0, last);
  auto rest = claims;
  const auto until = number_of(take(rest, '.'));
  take(rest, '.');
  auto key_id = app::decode_base64url(rest);
  if (!until || !key_id) return std::nullopt;
  const auto right = signature(claims, *key_id, secret);
  if (!right || !equal_in_constant_time(*right, token.substr(last + 1))) return std::nullopt;
  return Claims{.key_id = std::move(*key_id), .until = *until};
}

std::optional<std::string> SignedSessions::key_of(std::string_view token, WallTime now) const {
  MutexLock lock(mutex_);
  auto claims = claims_of(token, state_.secret);
  if (!claims || claims->until <= seconds_of(now)) return std::nullopt;
  if (state_.ended.contains(app::base64url(app::sha256(token)))) return std::nullopt;
  return std::move(claims->key_id);
}

Result<void> SignedSessions::end(std::string_view token, WallTime now) {
  if (!is_known()) TRY(refresh());
  if (!key_of(token, now)) return {};
  const auto hash = app::base64url(app::sha256(token));
  State changed;
  std::int64_t until = 0;
  bool is_replaced = false;
  TRY(text_.change([&](const std::optional<std::string>& text) -> Result<std::string> {
    changed = text ? TRY(parse(*text)) : State{.secret = new_secret(), .ended = {}};
    const auto claims = claims_of(token, changed.secret);
    if (claims) {
      until = claims->until;
      std::erase_if(changed.ended, [&](const auto& each) { return each.second <= seconds_of(now); });
      changed.ended.emplace(hash, until);
    }
    is_replaced = changed.ended.size() > kMostEnded;
    if (is_replaced) changed = {.secret = new_secret(), .ended = {}};
    return print(changed);
  }));
  MutexLock lock(mutex_);
  // Another end can have come later and be known already, so this one is only added.
  ++ends_;
  if (is_replaced) state_ = std::move(changed);
  state_.ended.emplace(hash, until);
  return {};
}

}  // namespace stator::console
