#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "stator/value/number.h"

namespace stator::value {

enum class Type : std::uint8_t { S, N, B, SS, NS, BS, M, L, Null, Bool };

// "S", "NULL", "BOOL", ...: the name in DynamoDB's JSON.
std::string_view type_name(Type type);

class AttributeValue;

// Attributes by name, in name order, each once.  An item is one; so is a value of type M.
class AttributeMap {
 public:
  struct Entry;
  using const_iterator = std::vector<Entry>::const_iterator;

  AttributeMap();
  AttributeMap(std::initializer_list<Entry> entries);
  AttributeMap(const AttributeMap&);
  AttributeMap(AttributeMap&&) noexcept;
  AttributeMap& operator=(const AttributeMap&);
  AttributeMap& operator=(AttributeMap&&) noexcept;
  ~AttributeMap();

  bool empty() const;
  std::size_t size() const;
  const_iterator begin() const;
  const_iterator end() const;

  const AttributeValue* find(std::string_view name) const;
  AttributeValue* find(std::string_view name);
  // The string of that name; empty when there is none.
  const std::string& text(std::string_view name) const&;
  const std::string& text(std::string_view name) && = delete;
  // The number of that name; null when there is none.
  const Number* number(std::string_view name) const;
  // The whole number of that name; 0 when there is none, or it is none that 64 bits hold.
  std::int64_t integer(std::string_view name) const;
  // Adds or replaces.
  AttributeValue& set(std::string_view name, AttributeValue value);
  // The same for many at once, in time that does not grow with their product.
  void set_all(std::vector<Entry> entries);
  bool erase(std::string_view name);
  // Erases the entries for which the condition holds.
  template <typename Condition>
  void erase_if(Condition condition) {
    std::erase_if(entries_, std::move(condition));
  }

  // Takes entries in any order; of two with one name the later stays.
  static AttributeMap from_unsorted(std::vector<Entry> entries);

  friend bool operator==(const AttributeMap&, const AttributeMap&);

 private:
  std::vector<Entry> entries_;
};

using Item = AttributeMap;
using List = std::vector<AttributeValue>;
struct Binary {
  std::string bytes;
  friend auto operator<=>(const Binary&, const Binary&) = default;
};
// Sets hold their members in order, each once, and never none: build them with make_set().
struct StringSet {
  std::vector<std::string> members;
  friend bool operator==(const StringSet&, const StringSet&) = default;
};
struct NumberSet {
  std::vector<Number> members;
  friend bool operator==(const NumberSet&, const NumberSet&) = default;
};
struct BinarySet {
  std::vector<std::string> members;
  friend bool operator==(const BinarySet&, const BinarySet&) = default;
};
struct Null {
  friend bool operator==(const Null&, const Null&) = default;
};

// One DynamoDB value of one of the ten types.  A value type; equality is DynamoDB's (numbers by value, sets without
// order).
class AttributeValue {
 public:
  // In the order of Type.
  using Variant =
      std::variant<std::string, Number, Binary, StringSet, NumberSet, BinarySet, AttributeMap, List, Null, bool>;

  AttributeValue() : variant_(Null{}) {}
  template <typename T>
    requires(!std::is_same_v<std::remove_cvref_t<T>, AttributeValue>) && std::is_constructible_v<Variant, T&&>
  explicit AttributeValue(T&& value) : variant_(std::forward<T>(value)) {}
  static AttributeValue string(std::string_view text) { return AttributeValue(std::string(text)); }
  static AttributeValue number(std::int64_t value) { return AttributeValue(Number::from_int(value)); }
  static AttributeValue binary(std::string_view bytes) { return AttributeValue(Binary{std::string(bytes)}); }
  static AttributeValue boolean(bool value) { return AttributeValue(Variant(std::in_place_type<bool>, value)); }

  Type type() const { return static_cast<Type>(variant_.index()); }

  // The value as that type, or nullptr when it is another.
  const std::string* as_string() const { return std::get_if<std::string>(&variant_); }
  const Number* as_number() const { return std::get_if<Number>(&variant_); }
  const Binary* as_binary() const { return std::get_if<Binary>(&variant_); }
  const StringSet* as_string_set() const { return std::get_if<StringSet>(&variant_); }
  const NumberSet* as_number_set() const { return std::get_if<NumberSet>(&variant_); }
  const BinarySet* as_binary_set() const { return std::get_if<BinarySet>(&variant_); }
  const AttributeMap* as_map() const { return std::get_if<AttributeMap>(&variant_); }
  AttributeMap* as_map() { return std::get_if<AttributeMap>(&variant_); }
  const List* as_list() const { return std::get_if<List>(&variant_); }
  List* as_list() { return std::get_if<List>(&variant_); }
  const bool* as_bool() const { return std::get_if<bool>(&variant_); }

  const Variant& variant() const { return variant_; }

  friend bool operator==(const AttributeValue&, const AttributeValue&) = default;

 private:
  explicit AttributeValue(Variant variant) : variant_(std::move(variant)) {}

  Variant variant_;
};

struct AttributeMap::Entry {
  std::string name;
  AttributeValue value;
  friend bool operator==(const Entry&, const Entry&) = default;
};

// Here, because they need to know how large an Entry is.
inline AttributeMap::AttributeMap() = default;
inline AttributeMap::AttributeMap(const AttributeMap&) = default;
inline AttributeMap::AttributeMap(AttributeMap&&) noexcept = default;
inline AttributeMap& AttributeMap::operator=(const AttributeMap&) = default;
inline AttributeMap& AttributeMap::operator=(AttributeMap&&) noexcept = default;
inline AttributeMap::~AttributeMap() = default;
inline bool AttributeMap::empty() const { return entries_.empty(); }
inline std::size_t AttributeMap::size() const { return entries_.size(); }
inline AttributeMap::const_iterator AttributeMap::begin() const { return entries_.begin(); }
inline AttributeMap::const_iterator AttributeMap::end() const { return entries_.end(); }

// Sorts the members; errors: Validation, with DynamoDB's texts, for an empty set or a member given twice.
Result<AttributeValue> make_string_set(std::vector<std::string> members);
Result<AttributeValue> make_number_set(std::vector<Number> members);
Result<AttributeValue> make_binary_set(std::vector<std::string> members);

}  // namespace stator::value
