#include "stator/value/canonical_json.h"

#include <simdjson.h>

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "stator/value/json.h"
#include "stator/value/plain_text.h"

namespace stator::value {
namespace {

// Confined to one text.  Every function returns false for text that it does not know; the caller then drops the earlier
// values.
class Reader {
 public:
  explicit Reader(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

  bool read(AttributeMap& item) { return map(item, 1) && at_ == end_; }

 private:
  static constexpr int kMostLevels = 50;  // deeper ones are rare
  static constexpr std::size_t kUsualAttributes = 8;

  bool take(char c) {
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    return true;
  }

  bool take(std::string_view word) {
    if (!std::string_view(at_, end_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  bool map(AttributeMap& out, int level) {
    if (level > kMostLevels || !take('{')) return false;
    std::vector<AttributeMap::Entry> entries;
    if (!take('}')) {
      if (level == 1) entries.reserve(kUsualAttributes);  // those of the item; small maps in it may be many
      do {
        auto& entry = entries.emplace_back();
        if (!text(entry.name) || !take(':') || !value(entry.value, level)) return false;
      } while (take(','));
      if (!take('}')) return false;
    }
    out = AttributeMap::from_unsorted(std::move(entries));
    return true;
  }

  bool value(AttributeValue& out, int level) {
    if (!take("{\"")) return false;
    const char* const name = at_;
    while (at_ != end_ && *at_ >= 'A' && *at_ <= 'Z') ++at_;
    const std::string_view type(name, at_);
    return take("\":") && typed(out, type, level) && take('}');
  }

  bool typed(AttributeValue& out, std::string_view type, int level) {
    if (type == "S") return make<std::string>(out, [&](auto& to) { return text(to); });
    if (type == "N") return make<Number>(out, [&](auto& to) { return number(to); });
    if (type == "M") return make<AttributeMap>(out, [&](auto& to) { return map(to, level + 1); });
    if (type == "L") return make<List>(out, [&](auto& to) { return list(to, level + 1); });
    if (type == "B") return make<Binary>(out, [&](auto& to) { return binary(to.bytes); });
    if (type == "BOOL") {
      const bool is_true = take("true");
      out = AttributeValue::boolean(is_true);
      return is_true || take("false");
    }
    if (type == "NULL") return take("true") && make<Null>(out, [](auto&) { return true; });
    if (type == "SS") return set<std::string>(out, make_string_set, [&](auto& to) { return text(to); });
    if (type == "NS") return set<Number>(out, make_number_set, [&](auto& to) { return number(to); });
    if (type == "BS") return set<std::string>(out, make_binary_set, [&](auto& to) { return binary(to); });
    return false;
  }

  template <typename T, typename Read>
  static bool make(AttributeValue& out, Read read) {
    T content;
    if (!read(content)) return false;
    out = AttributeValue(std::move(content));
    return true;
  }

  template <typename T, typename Make, typename Read>
  bool set(AttributeValue& out, Make make_set, Read read) {
    std::vector<T> members;
    if (!array([&] { return read(members.emplace_back()); })) return false;
    auto made = make_set(std::move(members));
    if (!made) return false;
    out = *std::move(made);
    return true;
  }

  bool list(List& out, int level) {
    return level <= kMostLevels && array([&] { return value(out.emplace_back(), level); });
  }

  template <typename Read>
  bool array(Read read) {
    if (!take('[')) return false;
    if (take(']')) return true;
    do {
      if (!read()) return false;
    } while (take(','));
    return take(']');
  }

  bool number(Number& out) {
    std::string_view digits;
    if (!plain_text(digits)) return false;
    auto parsed = Number::parse(digits);
    if (!parsed) return false;
    out = *parsed;
    return true;
  }

  bool binary(std::string& out) {
    std::string_view base64;
    return plain_text(base64) && decode_base64(base64, out);
  }

  // A text without escapes.
  bool plain_text(std::string_view& out) {
    if (!take('"')) return false;
    out = {at_, plain_length({at_, end_})};
    at_ += out.size();
    return take('"');
  }

  bool text(std::string& out) {
    if (!take('"')) return false;
    const std::string_view first(at_, plain_length({at_, end_}));
    at_ += first.size();
    out.assign(first);
    while (!take('"')) {
      if (!take('\\') || !escaped(out)) return false;
      const std::string_view more(at_, plain_length({at_, end_}));
      at_ += more.size();
      out.append(more);
    }
    return true;
  }

  bool escaped(std::string& out) {
    if (at_ == end_) return false;
    switch (*at_++) {
      case '"': out += '"'; return true;
      case '\\': out += '\\'; return true;
      case 'b': out += '\b'; return true;
      case 'f': out += '\f'; return true;
      case 'n': out += '\n'; return true;
      case 'r': out += '\r'; return true;
      case 't': out += '\t'; return true;
      default: return false;  // others are rare
    }
  }

  const char* at_;
  const char* const end_;
};

}  // namespace

std::optional<AttributeMap> read_canonical_json(std::string_view json) {
  if (json.size() > JsonParser::kMaxJsonBytes || !simdjson::validate_utf8(json.data(), json.size()))
    return std::nullopt;
  std::optional<AttributeMap> item(std::in_place);
  if (!Reader(json).read(*item)) item.reset();
  return item;
}

}  // namespace stator::value
