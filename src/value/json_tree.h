#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <optional>
#include <string_view>

// The result of JsonParser.  The tree belongs to the parser; elements, objects and arrays are cheap views of it.
//
// The tree is a tape of 64-bit words, as simdjson writes and documents it.  The high 8 bits of a word are its type. The
// rest is, for a string, where it is among the strings; for an object or an array, how many members it has (24 bits)
// and the word behind its end (32 bits).  The number of an integer or a real is the word after it.
namespace stator::value {

class JsonArray;
class JsonObject;

enum class JsonType : std::uint8_t { Object, Array, String, Int64, Uint64, Double, Bool, Null };

struct JsonTape {
  const std::uint64_t* words = nullptr;
  const std::uint8_t* strings = nullptr;  // each as 4 bytes of length and its bytes
};

// One value, or none: the result of a lookup that found nothing.
class JsonElement {
 public:
  JsonElement() = default;
  JsonElement(const JsonTape& tape, const std::uint64_t* at) : tape_(&tape), at_(at) {}

  explicit operator bool() const { return at_ != nullptr; }

  // False, and `out` is left alone, when it is something else or nothing.  An integer is taken for any number that can
  // hold it.
  bool get(JsonElement& out) const {
    if (at_ == nullptr) return false;
    out = *this;
    return true;
  }
  bool get(std::string_view& out) const {
    if (!is_string()) return false;
    out = string();
    return true;
  }
  bool get(bool& out) const {
    if (!is_bool()) return false;
    out = boolean();
    return true;
  }
  bool get(std::int64_t& out) const {
    if (tag() != 'l') return false;  // a Uint64 does not fit
    out = integer();
    return true;
  }
  bool get(std::uint64_t& out) const {
    if (tag() != 'u' && (tag() != 'l' || integer() < 0)) return false;
    out = natural();
    return true;
  }
  bool get(double& out) const {
    if (!is_number()) return false;
    out = real();
    return true;
  }
  bool get(JsonObject& out) const;
  bool get(JsonArray& out) const;

  // Only for an element that there is.
  JsonType type() const {
    switch (tag()) {
      case '{': return JsonType::Object;
      case '[': return JsonType::Array;
      case '"': return JsonType::String;
      case 'l': return JsonType::Int64;
      case 'u': return JsonType::Uint64;
      case 'd': return JsonType::Double;
      case 't':
      case 'f': return JsonType::Bool;
      default: return JsonType::Null;
    }
  }
  bool is_object() const { return tag() == '{'; }
  bool is_array() const { return tag() == '['; }
  bool is_string() const { return tag() == '"'; }
  bool is_number() const { return tag() == 'l' || tag() == 'u' || tag() == 'd'; }
  bool is_bool() const { return tag() == 't' || tag() == 'f'; }
  bool is_null() const { return tag() == 'n'; }

  // Only for an element of that type; real() is for every number.
  std::string_view string() const {
    const std::uint8_t* const text = tape_->strings + (*at_ & kPayload);
    std::uint32_t size = 0;
    std::memcpy(&size, text, sizeof(size));
    return {reinterpret_cast<const char*>(text + sizeof(size)), size};
  }
  bool boolean() const { return tag() == 't'; }
  std::int64_t integer() const { return std::bit_cast<std::int64_t>(at_[1]); }
  std::uint64_t natural() const { return at_[1]; }
  double real() const {
    switch (tag()) {
      case 'l': return static_cast<double>(integer());
      case 'u': return static_cast<double>(natural());
      default: return std::bit_cast<double>(at_[1]);
    }
  }
  // Empty for an element of another type, or none.
  JsonObject object() const;
  JsonArray array() const;

  // The member of that name, the first if there are several; nothing when it has none or is no object.
  JsonElement operator[](std::string_view name) const;

 private:
  friend class JsonArray;
  friend class JsonObject;

  static constexpr std::uint64_t kPayload = 0x00FF'FFFF'FFFF'FFFF;

  char tag() const { return at_ == nullptr ? '\0' : static_cast<char>(*at_ >> 56); }
  std::size_t count() const { return static_cast<std::size_t>(*at_ >> 32 & 0xFF'FFFF); }
  const std::uint64_t* behind() const {
    switch (static_cast<char>(*at_ >> 56)) {
      case '{':
      case '[': return tape_->words + static_cast<std::uint32_t>(*at_);
      case 'l':
      case 'u':
      case 'd': return at_ + 2;
      default: return at_ + 1;
    }
  }

  const JsonTape* tape_ = nullptr;
  const std::uint64_t* at_ = nullptr;
};

class JsonArray {
 public:
  class iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using difference_type = std::ptrdiff_t;
    using value_type = JsonElement;
    using reference = JsonElement;
    using pointer = void;

    iterator() = default;
    explicit iterator(JsonElement at) : at_(at) {}
    JsonElement operator*() const { return at_; }
    iterator& operator++() {
      at_.at_ = at_.behind();
      return *this;
    }
    iterator operator++(int) {
      const iterator before = *this;
      ++*this;
      return before;
    }
    bool operator==(const iterator& other) const { return at_.at_ == other.at_.at_; }

   private:
    JsonElement at_;
  };

  JsonArray() = default;  // without elements

  iterator begin() const { return array_ ? iterator({*array_.tape_, array_.at_ + 1}) : iterator(); }
  iterator end() const { return array_ ? iterator({*array_.tape_, array_.behind() - 1}) : iterator(); }
  std::size_t size() const { return array_ ? array_.count() : 0; }
  // Nothing when there are not that many.
  JsonElement at(std::size_t index) const {
    for (const JsonElement element : *this) {
      if (index-- == 0) return element;
    }
    return {};
  }
  // The array as an element.
  JsonElement element() const { return array_; }

 private:
  friend class JsonElement;
  explicit JsonArray(JsonElement array) : array_(array) {}

  JsonElement array_;
};

class JsonObject {
 public:
  struct Member {
    std::string_view key;
    JsonElement value;
  };

  class iterator {
   public:
    using iterator_category = std::forward_iterator_tag;
    using difference_type = std::ptrdiff_t;
    using value_type = Member;
    using reference = Member;
    using pointer = void;

    iterator() = default;
    explicit iterator(JsonElement name) : name_(name) {}
    std::string_view key() const { return name_.string(); }
    JsonElement value() const { return {*name_.tape_, name_.at_ + 1}; }
    Member operator*() const { return {key(), value()}; }
    iterator& operator++() {
      name_.at_ = value().behind();
      return *this;
    }
    iterator operator++(int) {
      const iterator before = *this;
      ++*this;
      return before;
    }
    bool operator==(const iterator& other) const { return name_.at_ == other.name_.at_; }

   private:
    JsonElement name_;
  };

  JsonObject() = default;  // without members

  iterator begin() const { return object_ ? iterator({*object_.tape_, object_.at_ + 1}) : iterator(); }
  iterator end() const { return object_ ? iterator({*object_.tape_, object_.behind() - 1}) : iterator(); }
  std::size_t size() const { return object_ ? object_.count() : 0; }
  // The member of that name, the first if there are several; nothing when there is none.
  JsonElement operator[](std::string_view name) const {
    const iterator last = end();
    for (iterator member = begin(); member != last; ++member) {
      if (member.key() == name) return member.value();
    }
    return {};
  }
  // The member of that name, if it has that type: text is std::string_view.
  template <typename T>
  std::optional<T> get(std::string_view name) const {
    T found{};
    return (*this)[name].get(found) ? std::optional<T>(found) : std::nullopt;
  }
  // The object as an element.
  JsonElement element() const { return object_; }

 private:
  friend class JsonElement;
  explicit JsonObject(JsonElement object) : object_(object) {}

  JsonElement object_;
};

inline JsonObject JsonElement::object() const { return is_object() ? JsonObject(*this) : JsonObject(); }
inline JsonArray JsonElement::array() const { return is_array() ? JsonArray(*this) : JsonArray(); }

inline bool JsonElement::get(JsonObject& out) const {
  if (!is_object()) return false;
  out = JsonObject(*this);
  return true;
}

inline bool JsonElement::get(JsonArray& out) const {
  if (!is_array()) return false;
  out = JsonArray(*this);
  return true;
}

inline JsonElement JsonElement::operator[](std::string_view name) const { return object()[name]; }

}  // namespace stator::value
