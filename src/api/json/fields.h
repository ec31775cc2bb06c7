#pragma once

#include <fmt/format.h>

#include <cmath>
#include <concepts>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "stator/api/answer_item.h"
#include "stator/api/json/capacity_json.h"
#include "stator/api/json/enum_names.h"
#include "stator/api/json/json_members.h"
#include "stator/api/json/request_check.h"
#include "stator/base/clock.h"
#include "stator/value/json.h"

// Structs as JSON objects.  One list of a struct's members both writes and reads it:
//
//   template <typename Fields, Is<Throughput> T>
//   void fields(Fields& f, T& throughput) {
//     f("ReadCapacityUnits", throughput.read_units);
//     f("WriteCapacityUnits", throughput.write_units);
//   }
//
// An optional member that is empty is not written.  A member that is absent, or of another type, is not read; nor is a
// list with an element of another type.
namespace stator::api {

template <typename T, typename Plain>
concept Is = std::same_as<std::remove_const_t<T>, Plain>;

template <typename T>
inline constexpr bool kIsOptional = false;
template <typename T>
inline constexpr bool kIsOptional<std::optional<T>> = true;
template <typename T>
inline constexpr bool kIsVector = false;
template <typename T>
inline constexpr bool kIsVector<std::vector<T>> = true;

class FieldWriter {
 public:
  static constexpr bool kReads = false;
  explicit FieldWriter(value::JsonWriter& json) : json_(json) {}

  template <typename T>
  void operator()(std::string_view name, T& member) {
    if constexpr (kIsOptional<std::remove_const_t<T>>) {
      if (member) (*this)(name, *member);
    } else {
      json_.key(name);
      write(member);
    }
  }
  // A member without which the struct cannot be read.
  template <typename T>
  void required(std::string_view name, T& member) {
    (*this)(name, member);
  }
  // A list that is left out when it is empty.
  template <typename T>
  void unless_empty(std::string_view name, T& list) {
    if (!list.empty()) (*this)(name, list);
  }

  // Items of a page are taken out of it.
  template <typename T>
  void write(T& value) {
    using Plain = std::remove_const_t<T>;
    if constexpr (std::same_as<Plain, std::string>) {
      json_.string(value);
    } else if constexpr (std::same_as<Plain, bool>) {
      json_.boolean(value);
    } else if constexpr (std::integral<Plain>) {
      json_.integer(static_cast<std::int64_t>(value));
    } else if constexpr (std::same_as<Plain, WallTime>) {
      json_.real(epoch_seconds(value));
    } else if constexpr (std::is_enum_v<Plain>) {
      json_.string(wire_name(value));
    } else if constexpr (std::same_as<Plain, value::AttributeValue>) {
      json_.attribute(value);
    } else if constexpr (std::same_as<Plain, value::Item>) {
      json_.item(value);
    } else if constexpr (std::same_as<Plain, AnswerItem>) {
      value.write(json_);
    } else if constexpr (std::same_as<Plain, AnswerItems>) {
      json_.begin_array().take_members(std::move(value).take_json()).end_array();
    } else if constexpr (std::same_as<Plain, ConsumedCapacity>) {
      write_consumed(json_, value);
    } else if constexpr (kIsVector<Plain>) {
      json_.begin_array();
      for (auto& element : value) write(element);
      json_.end_array();
    } else {
      json_.begin_object();
      fields(*this, value);
      json_.end_object();
    }
  }

 private:
  value::JsonWriter& json_;
};

class FieldReader {
 public:
  static constexpr bool kReads = true;
  explicit FieldReader(const JsonMembers& object) : object_(&object) {}

  template <typename T>
  void operator()(std::string_view name, T& member) {
    if (const auto element = object_->element(name)) read(*element, member);
  }
  template <typename T>
  void required(std::string_view name, T& member) {
    const auto element = object_->element(name);
    if (element && read(*element, member)) return;
    note(validation_error(fmt::format("The member {} is {}", name, element ? "not of its type" : "missing")));
  }
  template <typename T>
  void unless_empty(std::string_view name, T& list) {
    (*this)(name, list);
  }

  // Errors: Validation, when a member that is required is absent, or an attribute's value is none.
  const Result<void>& result() const { return result_; }

 private:
  // Whether it is of that type.
  template <typename T>
  bool read(value::JsonElement json, T& out) {
    if constexpr (kIsOptional<T>) {
      typename T::value_type content;
      if (!read_plain(json, content)) return false;
      out = std::move(content);
      return true;
    } else {
      return read_plain(json, out);
    }
  }
  template <typename T>
  bool read_plain(value::JsonElement json, T& out) {
    if constexpr (std::same_as<T, std::string>) {
      std::string_view text;
      if (!json.get(text)) return false;
      out = text;
    } else if constexpr (std::same_as<T, bool>) {
      return json.get(out);
    } else if constexpr (std::integral<T>) {
      if (!json.is_number()) return false;
      out = static_cast<T>(integer_of(json));
    } else if constexpr (std::same_as<T, WallTime>) {
      double seconds = 0;  // whole or not
      if (!json.get(seconds) || !(std::abs(seconds) < 1e12)) return false;
      out = WallTime{std::chrono::microseconds(std::llround(seconds * 1e6))};
    } else if constexpr (std::is_enum_v<T>) {
      std::string_view text;
      if (!json.get(text)) return false;
      const auto found = from_wire_name<T>(text);
      if (!found) return false;
      out = *found;
    } else if constexpr (std::same_as<T, value::AttributeValue>) {
      return take(value::decode_value(json), out);
    } else if constexpr (std::same_as<T, value::Item>) {
      return take(value::decode_stored_item(json), out);
    } else if constexpr (std::same_as<T, AnswerItem>) {
      value::Item item;
      if (!read_plain(json, item)) return false;
      out = AnswerItem(std::move(item));
    } else if constexpr (std::same_as<T, AnswerItems>) {
      std::vector<value::Item> items;
      if (!read_plain(json, items)) return false;
      out = AnswerItems(std::move(items));
    } else if constexpr (std::same_as<T, ConsumedCapacity>) {
      if (!json.is_object()) return false;
      out = read_consumed(JsonMembers(json.object()));
    } else if constexpr (kIsVector<T>) {
      value::JsonArray array;
      if (!json.get(array)) return false;
      T list;
      for (const value::JsonElement element : array) {
        if (!read(element, list.emplace_back())) return false;
      }
      out = std::move(list);
    } else if constexpr (requires { unreadable_json(out); }) {  // one unreadable element does not spoil the others
      if (!read_object(json, out)) unreadable_json(out) = value::json_text(json);
    } else {
      if (!json.is_object()) return false;
      if (const auto read = read_object(json, out); !read) note(read.error());
    }
    return true;
  }

  template <typename T>
  static Result<void> read_object(value::JsonElement json, T& out) {
    if (!json.is_object()) return validation_error("an object is missing");
    const JsonMembers object(json.object());
    FieldReader reader(object);
    fields(reader, out);
    return reader.result();
  }
  template <typename T>
  bool take(Result<T> from, T& out) {
    if (!from) {
      note(from.error());
      return false;
    }
    out = std::move(*from);
    return true;
  }
  void note(const Error& error) {
    if (result_) result_ = error;
  }

  const JsonMembers* object_;
  Result<void> result_;
};

template <typename T>
std::string fields_to_json(T& object) {
  std::string body;
  value::JsonWriter json(body);
  FieldWriter(json).write(object);
  return body;
}

// Errors: Validation.
template <typename T>
Result<void> read_fields(const JsonMembers& json, T& object) {
  FieldReader reader(json);
  fields(reader, object);
  return reader.result();
}

}  // namespace stator::api
