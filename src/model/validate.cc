#include "stator/model/validate.h"

#include <re2/re2.h>

#include <algorithm>
#include <memory>
#include <unordered_map>

#include <fmt/format.h>

#include "stator/base/mutex.h"
#include "stator/model/problem_list.h"
#include "stator/model/types/calendar.h"
#include "stator/model/types/isbn.h"
#include "stator/model/types/text.h"
#include "stator/model/types/type_rules.h"
#include "stator/model/types/web_address.h"
#include "stator/value/plain_text.h"

namespace stator::model {
namespace {

using value::AttributeValue;
using value::Item;
using value::Number;
using Problems = std::vector<ValueProblem>;

// Compiled patterns by their text; a model has few.  Thread-safe.
class Patterns {
 public:
  std::shared_ptr<const RE2> get(const std::string& text) {
    const MutexLock lock(mutex_);
    if (const auto found = compiled_.find(text); found != compiled_.end()) return found->second;
    if (compiled_.size() >= kMaxPatterns) compiled_.clear();
    return compiled_.emplace(text, std::make_shared<const RE2>(text, RE2::Quiet)).first->second;
  }

 private:
  static constexpr std::size_t kMaxPatterns = 1000;

  Mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<const RE2>> compiled_ GUARDED_BY(mutex_);
};

bool matches(const std::string& pattern, std::string_view text) {
  static Patterns patterns;  // compiling takes longer than all the rest of a check
  return RE2::FullMatch(re2::StringPiece(text.data(), text.size()), *patterns.get(pattern));
}

// "1 character", "2 characters"
std::string counted(const Number& count, std::string_view what) {
  return fmt::format("{} {}{}", count.to_string(), what, count == Number::from_int(1) ? "" : "s");
}

// The problem of a text that does not match its pattern, in the words of the model: few people read regular
// expressions.
std::string wrong_form(const Type& type) {
  std::string_view form = type.form;
  while (form.ends_with('.')) form.remove_suffix(1);
  return form.empty() ? "is not in the expected form" : fmt::format("is not in the expected form ({})", form);
}

// One value and what is in it.
class Check {
 public:
  explicit Check(Problems& problems) : problems_(problems) {}

  void value(const Type& type, const std::string& name, AttributeValue& value) {
    if (!is_stored_as(type, value)) return add(name, misfit(type));
    switch (type.kind) {
      case Kind::Number:
      case Kind::Integer: return number(type, name, *value.as_number());
      case Kind::Binary: return size(type, name, value.as_binary()->bytes.size(), "byte");
      case Kind::List: return list(type, name, *value.as_list());
      case Kind::Set: return set(type, name, value);
      case Kind::Map: return map(type, name, *value.as_map());
      case Kind::Boolean:
      case Kind::Any: return;
      default: return text(type, name, value);
    }
  }

 private:
  void add(const std::string& name, std::string problem) { add_problem(problems_, name, std::move(problem)); }

  void size(const Type& type, const std::string& name, std::size_t actual, std::string_view what) {
    const Number count = Number::from_int(static_cast<std::int64_t>(actual));
    if (type.min && count < *type.min) add(name, "must have at least " + counted(*type.min, what));
    if (type.max && count > *type.max) add(name, "must have at most " + counted(*type.max, what));
  }

  void number(const Type& type, const std::string& name, const Number& number) {
    if (type.kind == Kind::Integer && !number.is_integer()) return add(name, misfit(type));
    if (type.min && number < *type.min) add(name, "must be at least " + type.min->to_string());
    if (type.max && number > *type.max) add(name, "must be at most " + type.max->to_string());
    if (type.step && !is_multiple(number, *type.step)) add(name, "must be a multiple of " + type.step->to_string());
  }

  // A quotient that was rounded to a whole number does not lead back to the number.
  static bool is_multiple(const Number& number, const Number& step) {
    const auto quotient = number.divide(step);
    if (!quotient.ok() || !quotient->is_integer()) return false;
    const auto product = quotient->multiply(step);
    return product.ok() && *product == number;
  }

  void text(const Type& type, const std::string& name, AttributeValue& value) {
    std::string text = *value.as_string();
    if (!normalise(type, text)) return add(name, misfit(type));
    if (type.lower) {
      auto lower = lower_case(text);
      if (!lower) return add(name, lower.error().message);
      text = std::move(*lower);
    }
    characters(type, name, text);
    size(type, name, value::count_code_points(text), "character");
    if (type.pattern && !matches(*type.pattern, text)) add(name, wrong_form(type));
    if (text != *value.as_string()) value = AttributeValue(std::move(text));
  }

  // Characters that cannot be seen or typed do not belong into a text.
  void characters(const Type& type, const std::string& name, std::string_view text) {
    if (const auto found = find_control(text, type.many_lines)) {
      if (is_line_break(*found)) return add(name, "must be one line");
      return add(name, fmt::format("has the control character U+{:04X}", static_cast<std::uint32_t>(*found)));
    }
    if (!text.empty() && is_blank(text)) add(name, "must not be blank");
  }

  static std::optional<Moment> moment_of(const Type& type, std::string_view text) {
    const auto day = type.date ? parse_date(text) : std::nullopt;
    if (!day) return parse_timestamp(text);
    return *type.date == DayEnd::Start ? *day : *day + std::chrono::days(1);
  }

  static bool normalise(const Type& type, std::string& text) {
    switch (type.kind) {
      case Kind::Uuid: return normalise_uuid(text);
      case Kind::Ulid: return normalise_ulid(text);
      case Kind::Date: return parse_date(text).has_value();
      case Kind::Timestamp: {
        const auto moment = moment_of(type, text);
        if (moment) text = format_timestamp(*moment);
        return moment.has_value();
      }
      case Kind::Email: return normalise_email(text);
      case Kind::Url: return is_url(text);
      case Kind::Domain: {
        auto domain = normal_domain(text);
        if (domain) text = std::move(*domain);
        return domain.ok();
      }
      case Kind::Isbn: {
        const auto isbn = normal_isbn(text);
        if (isbn) text = *isbn;
        return isbn.has_value();
      }
      case Kind::Enum: return std::find(type.values.begin(), type.values.end(), text) != type.values.end();
      default: return true;
    }
  }

  void list(const Type& type, const std::string& name, value::List& list) {
    size(type, name, list.size(), "member");
    if (type.element == nullptr) return;
    for (std::size_t i = 0; i < list.size(); ++i) value(*type.element, fmt::format("{}[{}]", name, i), list[i]);
  }

  void set(const Type& type, const std::string& name, AttributeValue& set) {
    value::List members = members_of(set);
    size(type, name, members.size(), "member");
    for (std::size_t i = 0; i < members.size(); ++i) {
      value(element_of(type), fmt::format("{}[{}]", name, i), members[i]);
    }
    set = set_of(type, members);  // the spelling of members may have changed
  }

  void map(const Type& type, const std::string& name, Item& map) {
    if (type.shape.empty()) return;
    for (const auto& attribute : type.shape) {
      const std::string path = name + "." + attribute.name;
      if (map.find(attribute.name) == nullptr && attribute.default_value) {
        map.set(attribute.name, *attribute.default_value);
      }
      if (AttributeValue* member = map.find(attribute.name)) {
        value(attribute.type, path, *member);
      } else if (attribute.required) {
        add(path, "is required");
      }
    }
    for (const auto& entry : map) {
      if (!is_known(type.shape, entry.name)) {
        const auto shown = shown_name(entry.name);
        add(name + "." + shown, unknown_attribute(type.shape, shown));
      }
    }
  }

  Problems& problems_;
};

}  // namespace

void check_value(const Type& type, std::string_view name, AttributeValue& value, Problems& problems) {
  Check(problems).value(type, std::string(name), value);
}

}  // namespace stator::model
