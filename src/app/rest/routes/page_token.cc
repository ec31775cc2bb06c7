#include "stator/app/rest/routes/page_token.h"

#include "stator/app/auth/crypto.h"
#include "stator/base/bytes.h"
#include "stator/base/constant_time.h"
#include "stator/value/json.h"

namespace stator::app {
namespace {

constexpr std::size_t kTagBytes = 16;
constexpr std::size_t kMaxTokenBytes = 64 << 10;

// Parts are told apart by their lengths, so that no two bindings are written alike.
void append_part(std::string& out, std::string_view part) {
  append_varint(out, part.size());
  out += part;
}

std::string print(const runtime::PageEnd& end) {
  value::List keys;
  for (const auto& key : end.keys) keys.emplace_back(key);
  value::List done;
  for (const bool shard : end.done) done.push_back(value::AttributeValue::boolean(shard));
  std::string text;
  value::append_json(
      text, value::Item{{"d", value::AttributeValue(std::move(done))}, {"k", value::AttributeValue(std::move(keys))}});
  return text;
}

std::optional<runtime::PageEnd> read(std::string_view text) {
  const auto item = value::parse_item(text);
  if (!item) return std::nullopt;
  const auto* keys = item->find("k");
  const auto* done = item->find("d");
  if (keys == nullptr || done == nullptr || !keys->as_list() || !done->as_list()) return std::nullopt;
  runtime::PageEnd end;
  for (const auto& key : *keys->as_list()) {
    if (key.as_map() == nullptr) return std::nullopt;
    end.keys.push_back(*key.as_map());
  }
  for (const auto& shard : *done->as_list()) {
    if (shard.as_bool() == nullptr) return std::nullopt;
    end.done.push_back(*shard.as_bool());
  }
  return end;
}

}  // namespace

PageTokens::PageTokens(std::string_view secret)
    : tag_key_(hmac_sha256(secret, "page token: tag")), text_key_(hmac_sha256(secret, "page token: text")) {}

std::string PageTokens::tag_of(std::string_view text, const PageBinding& binding) const {
  std::string signed_text;
  append_part(signed_text, binding.system);
  append_part(signed_text, binding.pattern);
  std::string parameters;
  value::append_json(parameters, binding.parameters);
  append_part(signed_text, parameters);
  append_part(signed_text, binding.subject ? "subject" : "");
  append_part(signed_text, binding.subject.value_or(""));
  append_part(signed_text, text);
  return hmac_sha256(tag_key_, signed_text).substr(0, kTagBytes);
}

std::string PageTokens::seal(const runtime::PageEnd& end, const PageBinding& binding) const {
  const auto text = print(end);
  const auto tag = tag_of(text, binding);
  return base64url(tag + aes256_ctr(text_key_, tag, text));
}

Result<runtime::PageEnd> PageTokens::open(std::string_view token, const PageBinding& binding) const {
  const auto refused = validation_error("is not a token of this list");
  if (token.size() > kMaxTokenBytes) return refused;
  const auto bytes = decode_base64url(token);
  if (!bytes || bytes->size() < kTagBytes) return refused;
  const auto tag = std::string_view(*bytes).substr(0, kTagBytes);
  const auto text = aes256_ctr(text_key_, tag, std::string_view(*bytes).substr(kTagBytes));
  if (!equal_in_constant_time(tag_of(text, binding), tag)) return refused;
  auto end = read(text);
  if (!end) return refused;
  return std::move(*end);
}

}  // namespace stator::app
