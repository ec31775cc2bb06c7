#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "stator/base/result.h"
#include "stator/value/attribute_value.h"

namespace stator::model {

// How an attribute's text is changed when it gets into a key.
enum class Transform : std::uint8_t {
  // The default: bytes up to and including '%' are written %XX, so that no text can hold a separator or sort below one.
  Escaped,
  Sortable,      // `|sortable`: case and diacritics folded, then escaped
  Alphabetical,  // `|alphabetical`: the same with fold_letters(): the order that people expect
  Raw,           // `|raw`: as it is; the checker asks for a reason when somebody else's text could come in
  Year,          // `|year`, `|month`, `|day`: 2026, 2026-01, 2026-01-15 of a date or timestamp
  Month,
  Day,
};

// Whether texts that differ can become the same by folding.
constexpr bool folds(Transform transform) {
  return transform == Transform::Sortable || transform == Transform::Alphabetical;
}

// A key with holes: "library#{LibraryId}#item#{Title|sortable}#{Order:05}", "true#{shard:8}".  A value type.
//
//   {Name}            an attribute, escaped (numbers and booleans as DynamoDB prints them)
//   {Name|transform}  an attribute, transformed
//   {Name:05}         a whole number from 0 on, padded with zeros to five digits
//   {shard:8}         0 to 7, fixed width, by the entity's own key; a pattern that names it reads all eight in order
//   {me}              the caller, in patterns
//   {{ and }}         a brace
class Template {
 public:
  struct Literal {
    std::string text;
    friend bool operator==(const Literal&, const Literal&) = default;
  };
  struct Field {
    std::string attribute;  // may be a path into a map: "address.city"
    Transform transform = Transform::Escaped;
    unsigned width = 0;  // digits of a padded number; 0 when it is not padded
    friend bool operator==(const Field&, const Field&) = default;
  };
  struct Shard {
    unsigned count = 1;
    friend bool operator==(const Shard&, const Shard&) = default;
  };
  using Part = std::variant<Literal, Field, Shard>;
  using Parts = std::vector<Part>;

  // Errors: Validation, with the column (from 1, inside the text) in the message.
  static Result<Template> parse(std::string_view text);

  const std::string& text() const { return text_; }
  const Parts& parts() const { return parts_; }  // no two literals side by side, none empty
  std::vector<std::string> attributes() const;   // names, each once, in order of appearance
  unsigned shards() const;                       // 1 when it has no shard
  bool constant() const;                         // literals only

  // Looks an attribute up; null when it is absent.
  using Lookup = std::function<const value::AttributeValue*(std::string_view attribute)>;

  // The text with its holes filled; nullopt when an attribute is absent or null.  `shard` fills {shard:N} modulo N.
  // Errors: Validation, when a value does not fit its hole (a negative or too wide number, a list, a text that is no
  // date).
  Result<std::optional<std::string>> render(const Lookup& lookup, unsigned shard = 0) const;

  // Whether render() could give `text`, if the attributes that `lookup` does not have can have any value that fits.
  bool could_give(std::string_view text, const Lookup& lookup) const;

  // The front of the text, up to the first hole without a value: the prefix of a range.
  // `complete` says whether that was all of it.
  struct Prefix {
    std::string text;
    bool complete = false;
  };
  Result<Prefix> render_prefix(const Lookup& lookup, unsigned shard = 0) const;

  friend bool operator==(const Template& a, const Template& b) { return a.parts_ == b.parts_; }

 private:
  std::string text_;
  Parts parts_;
};

// The text that a value is in the place of `field`.  Errors: Validation, when it does not fit.
Result<std::string> fill(const Template::Field& field, const value::AttributeValue& value);

// The value at a name, or at a path into maps ("address.city"); null when it is absent.
const value::AttributeValue* find_path(const value::Item& item, std::string_view path);
// Looks up in `item`, which must outlive it.
Template::Lookup lookup_in(const value::Item& item);

// Without regard to case and diacritics: "Crépuscule" is "crepuscule", and "Straße" "strasse".  Unicode's full case
// folding, without the combining marks that Latin, Greek and Cyrillic letters carry, composed.  Letters of their own
// (æ, ø, ł) are not changed, and neither are the vowel signs of other scripts.  Errors: Validation, when it is not
// UTF-8.
Result<std::string> fold(std::string_view text);
// The same, with the letters that people type for others: "Œuvre" is "oeuvre", "Łódź" "lodz", a katakana its hiragana,
// and a character that is only another form of others ("ﬁ", "³", "Ａ") is these.
Result<std::string> fold_letters(std::string_view text);
// Bytes up to and including '%' as %XX.  Order-preserving, and no result holds a byte below '%'.
std::string escape(std::string_view text);

// Which of `count` shards a row belongs to: a hash of its main record's primary key, the same on every machine and for
// ever.
unsigned shard_of(std::string_view partition_key, std::string_view sort_key);

}  // namespace stator::model
