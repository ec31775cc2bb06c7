#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <utility>

#include "stator/base/article.h"
#include "stator/model/check/checked_pattern.h"
#include "stator/model/check/proof/forgery.h"
#include "stator/model/check/proof/keys.h"
#include "stator/model/check/proof/regex.h"
#include "stator/model/check/rules.h"
#include "stator/model/row_keys.h"
#include "stator/model/types/text.h"
#include "stator/model/types/web_address.h"

namespace stator::model {
namespace {

using Field = Template::Field;
using Literal = Template::Literal;

const std::string& family(const Entity& entity) { return entity.key_family.empty() ? entity.name : entity.key_family; }

// A row in a key space, with the language of each of its key attributes.
struct Placed {
  KeyedRow row;
  KeyForms forms;
  std::vector<Language> ordinary;
};

std::vector<Placed> placed(const Model& model, const DesignKey& space, Steps& steps) {
  std::vector<Placed> all;
  for (const auto& row : rows(model)) {
    auto found = forms(model, row, space);
    if (!found) continue;
    auto ordinary = languages(*row.entity, *found, kOrdinary, steps);
    all.push_back({row, std::move(*found), std::move(ordinary)});
  }
  return all;
}

Position position_of(const Placed& placed) { return placed.forms.back().front().position; }

void find_collisions(const Model& model, const DesignKey& table, const std::vector<Placed>& all, Findings& findings) {
  for (auto b = all.begin(); b != all.end(); ++b) {
    for (auto a = all.begin(); a != b; ++a) {
      if (a->row.entity != b->row.entity && family(*a->row.entity) == family(*b->row.entity)) continue;
      const auto key = common_key(a->ordinary, b->ordinary, findings.steps());
      if (!key) continue;
      findings.error({.code = "key-collision", .subject = b->row.name(), .position = position_of(*b)},
                     fmt::format("{} and {} can have the same primary key, and then one takes the place of the other",
                                 a->row.name(), b->row.name()),
                     "begin one of the keys with a prefix of its own, or give both the same key_family if they share "
                     "keys on purpose",
                     spell_key(table.attributes(), *key));
    }
  }
  const bool reserves = std::any_of(model.entities.begin(), model.entities.end(),
                                    [](const Entity& entity) { return !entity.uniques.empty(); });
  if (!reserves) return;
  const auto reservation = reservation_language(table);
  for (const auto& each : all) {
    const auto key = common_key(each.ordinary, reservation, findings.steps());
    if (!key) continue;
    findings.error(
        {.code = "key-collision", .subject = each.row.name(), .position = position_of(each)},
        fmt::format("{} can have the primary key of a reservation, which keeps a unique value", each.row.name()),
        "keys that begin with unique# belong to reservations; use another prefix", spell_key(table.attributes(), *key));
  }
}

// Two alternatives of one key attribute that can give the same key to two rows of one record.
void find_own_collisions(const DesignKey& table, const Placed& placed, Findings& findings) {
  const auto attributes = table.attributes();
  for (std::size_t at = 0; at < placed.forms.size(); ++at) {
    const auto& alternatives = placed.forms[at];
    for (std::size_t b = 1; b < alternatives.size(); ++b) {
      for (std::size_t a = 0; a < b; ++a) {
        auto one = placed.ordinary;
        auto other = placed.ordinary;
        one[at] = form_language(*placed.row.entity, alternatives[a], kOrdinary, findings.steps());
        other[at] = form_language(*placed.row.entity, alternatives[b], kOrdinary, findings.steps());
        const auto key = common_key(one, other, findings.steps());
        if (!key) continue;
        findings.error({.code = "key-collision", .subject = placed.row.name(), .position = alternatives[b].position},
                       fmt::format("two alternatives of {} can give two of {} the same primary key",
                                   attributes[at].name, placed.row.name()),
                       "begin one of them with a prefix of its own", spell_key(attributes, *key));
      }
    }
  }
}

// Text that is not escaped, and holds what escaping takes away, gives a key that an ordinary row has.
void find_forgeries(const Model& model, const DesignKey& space, const std::vector<Placed>& all, Findings& findings) {
  const auto exposed = victims(model, space, findings.steps());
  for (const auto& forger : all) {
    for (const auto& forgery : forgeries(*forger.row.entity, forger.forms, exposed, findings.steps())) {
      findings.error(
          {.code = "forged-key",
           .subject = fmt::format("{}.{}", forger.row.entity->name, forgery.attribute),
           .position = position_of(forger)},
          fmt::format(
              "{} is in the key of {} as it is: a value that contains a separator can give {} the key of {} in {}",
              forgery.attribute, forger.row.name(), with_article(forger.row.name()), forgery.victim->name, space.name),
          fmt::format("write {{{0}}}, or {{{0}|sortable}} for the order that people expect", forgery.attribute),
          spell_key(space.attributes(), forgery.key));
    }
  }
}

// --------------------------------------------------------------------------------------------------- one key attribute

// One key attribute of one record, with all that there is to say about it.
struct KeyUse {
  KeyedRow row;
  KeyDesign key;
  KeyForm form;
  bool sorts = false;  // it is the sort key of the table or of an index
  std::size_t most_bytes = 0;
};

std::vector<KeyUse> key_uses(const Model& model) {
  std::map<std::string, std::pair<KeyDesign, bool>> keys;
  for (const auto& space : design_keys(model.table)) {
    for (const auto& key : space.partition) keys.try_emplace(key.name, key, false);
    for (const auto& key : space.sort) keys.try_emplace(key.name, key, true).first->second.second = true;
  }
  std::vector<KeyUse> uses;
  for (const auto& row : rows(model)) {
    for (const auto& [name, use] : keys) {
      const auto& [key, sorts] = use;
      for (auto& form : forms(model, row, key)) {
        uses.push_back({row, key, std::move(form), sorts, sorts ? kMaxSortKeyBytes : kMaxPartitionKeyBytes});
      }
    }
  }
  return uses;
}

std::string subject_of(const KeyUse& use, const Field& field) {
  return fmt::format("{}.{}", use.row.entity->name, field.attribute);
}

// The texts from the beginning of one `separator` to the beginning of the next: the separator and more, or, if the two
// overlap, a front of it, such as "-" of "--".
Language distances(const std::string& separator) {
  auto all = Language::text(separator).extended();
  for (std::size_t size = 1; size < separator.size(); ++size) {
    const auto front = separator.substr(0, size);
    if ((front + separator).starts_with(separator)) all = all | Language::text(front);
  }
  return all;
}

// The text between two holes must show where the first ends: otherwise "a:b" and "c" give the key of "a" and "b:c".
void find_ambiguities(const Model& model, const KeyUse& use, Findings& findings) {
  const auto& parts = use.form.parts;
  for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
    const auto* field = std::get_if<Field>(&parts[i]);
    const bool last_hole = std::none_of(parts.begin() + static_cast<std::ptrdiff_t>(i) + 1, parts.end(),
                                        [](const auto& part) { return !std::holds_alternative<Literal>(part); });
    if (field == nullptr || last_hole) continue;
    const auto* literal = std::get_if<Literal>(&parts[i + 1]);
    // Of two rows that differ, both may have texts that nobody expects.
    const auto texts = hole_language(*field, type_of(*use.row.entity, field->attribute), kAsItIs, findings.steps());
    const auto some = literal != nullptr ? distances(literal->text) : Language::byte(0, 255).extended();
    const auto holder = common(texts, texts + some, findings.steps());
    if (!holder) continue;
    KeyForm behind;
    behind.parts.assign(parts.begin() + static_cast<std::ptrdiff_t>(i) + 1, parts.end());
    const auto rest = form_language(*use.row.entity, behind, kAsItIs, findings.steps());
    if (!common(rest, some + rest, findings.steps())) continue;  // what is behind it begins in one place only
    const Report::About about{
        .code = "forgeable-separator", .subject = subject_of(use, *field), .position = use.form.position};
    const auto separator = literal != nullptr ? spell_text(literal->text) : std::string("nothing");
    const auto message =
        fmt::format("{} of {} has {} behind {}, whose text can {}: two different rows can have the same key",
                    use.key.name, use.row.name(), separator, field->attribute,
                    literal == nullptr || holder->find(literal->text) != std::string::npos ? "hold the same"
                                                                                           : "end with a part of it");
    const auto fix = field->transform == Transform::Raw
                         ? fmt::format("write {{{}}}, and separate them by #, which is then escaped", field->attribute)
                         : std::string("separate them by #, which is escaped in every text");
    const auto& table = model.table;
    const bool is_primary = use.key.name == table.partition.name || (table.sort && use.key.name == table.sort->name);
    // Behind an index's partition key, it only mixes rows that one caller may see.
    if (is_primary || !use.sorts) {
      findings.error(about, message, fix, spell_text(*holder));
    } else {
      findings.warning(about, message, fix, spell_text(*holder));
    }
  }
}

// 'a b' lies between 'a' and 'a#': what was meant to stand together does not.
void find_text_order(const KeyUse& use, Findings& findings) {
  if (!use.sorts) return;
  for (std::size_t i = 0; i + 1 < use.form.parts.size(); ++i) {
    const auto* field = std::get_if<Field>(&use.form.parts[i]);
    const auto* literal = std::get_if<Literal>(&use.form.parts[i + 1]);
    if (field == nullptr || literal == nullptr || field->transform != Transform::Raw) continue;
    const auto first = static_cast<unsigned char>(literal->text.front());
    if (first == 0) continue;
    const auto texts = hole_language(*field, type_of(*use.row.entity, field->attribute), kAsItIs, findings.steps());
    const auto lower = [&] {
      return common(texts,
                    Language::byte('!', '~') + Language::byte(0, static_cast<unsigned char>(first - 1)).extended(),
                    findings.steps());
    };
    auto text = first > ' ' ? common(texts, Language::text("a b"), findings.steps()) : std::nullopt;
    if (!text) text = lower();
    if (!text) continue;
    const auto shorter = text->substr(0, 1);
    findings.error({.code = "text-order", .subject = subject_of(use, *field), .position = use.form.position},
                   fmt::format("{} is in {} as it is, and its text can have characters that sort before the {} behind "
                               "it: rows that belong together are not adjacent",
                               field->attribute, use.key.name, spell_text(literal->text)),
                   fmt::format("write {{{0}}} or {{{0}|sortable}}: then nothing in the text sorts before a separator",
                               field->attribute),
                   fmt::format("{} lies between {} and {}", spell_text(*text), spell_text(shorter),
                               spell_text(shorter + literal->text)));
  }
}

// A number and a lower one that as text sorts behind it; nullopt when there are none.
std::optional<std::pair<std::string, std::string>> misplaced(const Type& type) {
  const auto are_possible = [&](const std::string& upper, const std::string& lower) {
    return (!type.min || *type.min <= *value::Number::parse(lower)) &&
           (!type.max || *value::Number::parse(upper) <= *type.max);
  };
  constexpr std::size_t kMostDigits = 37;
  for (std::size_t digits = 1; digits < kMostDigits; ++digits) {
    auto lower = std::string(digits, '9');
    auto upper = "1" + std::string(digits, '0');
    if (are_possible(upper, lower)) return std::pair(std::move(upper), std::move(lower));
  }
  if (are_possible("-1", "-2")) return std::pair("-1", "-2");
  return std::nullopt;
}

// Whether it counts up from 0, and no request sets it.
bool is_never_negative(const Entity& entity, const std::string& name) {
  const auto* attribute = entity.find_attribute(name);
  return attribute != nullptr && (attribute->count || attribute->last || (attribute->next && attribute->computed()));
}

void find_numbers(const KeyUse& use, Findings& findings) {
  if (use.key.type != value::Type::S) return;
  for (const auto& part : use.form.parts) {
    const auto* field = std::get_if<Field>(&part);
    const auto* type = field == nullptr ? nullptr : type_of(*use.row.entity, field->attribute);
    if (field == nullptr || type == nullptr) continue;
    const auto about = [&](std::string_view code) {
      return Report::About{.code = code, .subject = subject_of(use, *field), .position = use.form.position};
    };
    if (!is_number(type)) {
      if (field->width == 0 || type->kind == Kind::Any) continue;
      findings.error(about("padding"),
                     fmt::format("{} is padded in {}, but is no number, and only numbers can be padded",
                                 field->attribute, use.key.name),
                     fmt::format("write {{{}}}, or make it an integer", field->attribute));
      continue;
    }
    if (field->width == 0) {
      const auto numbers = use.sorts ? misplaced(*type) : std::nullopt;
      if (!numbers) continue;
      const auto& [upper, lower] = *numbers;
      constexpr std::size_t kUsualDigits = 5;
      findings.error(about("unpadded-number"),
                     fmt::format("{} sorts by {} as text, so that {} comes before {}", use.key.name, field->attribute,
                                 upper, lower),
                     fmt::format("pad it to the digits of its largest value: {{{}:0{}}}", field->attribute,
                                 type->max ? type->max->to_string().size() : kUsualDigits),
                     fmt::format("'{}' sorts before '{}'", upper, lower));
      continue;
    }
    if (type->kind == Kind::Number && !(type->step && type->step->is_integer())) {
      findings.error(about("padding"),
                     fmt::format("{} is padded in {}, but can be a fraction, and fractions cannot be padded",
                                 field->attribute, use.key.name),
                     "make it an integer, or give it a whole step");
    }
    if (type->min && type->min->is_negative()) {
      findings.error(about("padding"),
                     fmt::format("{} is padded in {}, but can be negative, and negative numbers cannot be padded",
                                 field->attribute, use.key.name),
                     "give it a min of 0 or more");
    }
    const auto widest = value::Number::parse(std::string(field->width, '9'));
    if (type->max && widest && *type->max > *widest) {
      findings.error(about("padding"),
                     fmt::format("{} can be {}, which does not fit the {} digits it has in {}", field->attribute,
                                 type->max->to_string(), field->width, use.key.name),
                     fmt::format("pad it to {} digits", type->max->to_string().size()));
    } else if (is_never_negative(*use.row.entity, field->attribute)) {
      if (type->max) continue;
      findings.warning(about("padding"),
                       fmt::format("{} has {} digits in {}, but no rule limits it to at most {}", field->attribute,
                                   field->width, use.key.name, std::string(field->width, '9')),
                       "give it a max");
    } else if (!type->max || !type->min) {
      findings.warning(about("padding"),
                       fmt::format("{} has {} digits in {}, but no rule limits it to 0 to {}", field->attribute,
                                   field->width, use.key.name, std::string(field->width, '9')),
                       "give it a min and a max, so that a request with another value is refused");
    }
  }
}

// -------------------------------------------------------------------------------------------------------------- length

struct Bytes {
  std::size_t plain = 0;                 // when every character is a letter
  std::size_t worst = 0;                 // when every character takes as many bytes as it can
  std::optional<std::string> unlimited;  // an attribute that has no limit
};

constexpr std::size_t kSubjectBytes = 128;  // what a token's subject is taken to have at most
constexpr std::size_t kNumberBytes = 40;
constexpr std::size_t kIsbnBytes = 13;

// How many characters a text has at most; nullopt when nothing says so.
std::optional<std::size_t> most_characters(const Type& type, Steps& steps) {
  if (const auto most = type.max ? type.max->to_int64() : std::nullopt) return static_cast<std::size_t>(*most);
  if (type.kind == Kind::Email) return kMostEmailBytes;
  if (type.kind == Kind::Url) return kMostUrlBytes;
  if (type.kind == Kind::Isbn) return kIsbnBytes;
  if (type.kind == Kind::Domain) return kMostHostBytes;
  const auto texts = type.pattern ? regex_language(*type.pattern, steps) : std::nullopt;
  return texts ? texts->longest(steps) : std::nullopt;
}

std::size_t widest_character(const Type& type, Transform transform, Steps& steps) {
  constexpr std::size_t kEscapeBytes = 3;
  constexpr std::size_t kWideBytes = 4;
  if (type.kind == Kind::Binary) return 1;
  if (type.kind == Kind::Email || type.kind == Kind::Url) return transform == Transform::Raw ? 1 : kEscapeBytes;
  const auto texts = type.pattern ? regex_language(*type.pattern, steps) : std::nullopt;
  const bool wide = !texts || common(*texts, Language::anything() + Language::byte(0x80, 0xFF).extended(), steps);
  return is_free_text(&type, steps) || (type.kind == Kind::String && wide) ? kWideBytes : 1;
}

// An attribute, and whose it is.
struct Held {
  const Entity* entity = nullptr;
  const Attribute* attribute = nullptr;

  bool has_limit(Steps& steps) const {
    return most_characters(attribute->type, steps) || entity->owner == attribute->name;
  }
};

// Where the length of a text is limited: where it is, or in the parent that it names, because that exists and so has
// such a name.
Held limited(Held held, Steps& steps, unsigned depth = 0) {
  if (held.has_limit(steps) || depth == kMostGenerations) return held;
  for (const auto& relation : held.entity->parents) {
    const bool holds = relation.must_exist && !relation.when && (!relation.optional || relation.by.size() == 1);
    if (!holds) continue;
    for (const auto& [theirs, ours] : relation.by) {
      const auto* name = ours == held.attribute->name ? relation.to->find_attribute(theirs) : nullptr;
      if (name == nullptr) continue;
      if (const auto source = limited({relation.to, name}, steps, depth + 1); source.has_limit(steps)) return source;
    }
  }
  return held;
}

void add_length(const Entity& entity, const Field& field, Bytes& bytes, Steps& steps) {
  const auto fixed = [&](std::size_t size) {
    bytes.plain += size;
    bytes.worst += size;
  };
  if (field.width > 0) return fixed(field.width);
  const auto* type = type_of(entity, field.attribute);
  if (const auto size = moment_bytes(type, field.transform)) return fixed(size);
  if (type == nullptr) return;
  switch (type->kind) {
    case Kind::Uuid: return fixed(36);
    case Kind::Ulid: return fixed(26);
    case Kind::Boolean: return fixed(5);
    case Kind::Integer:
    case Kind::Number: return fixed(kNumberBytes);
    case Kind::Enum: {
      std::size_t most = 0;
      for (const auto& value : type->values) most = std::max(most, escape(value).size());
      return fixed(most);
    }
    default: break;
  }
  const auto* attribute = entity.find_attribute(field.attribute);
  const auto source = attribute == nullptr ? Held() : limited({&entity, attribute}, steps);
  if (attribute != nullptr) type = &source.attribute->type;
  if (const auto most = most_characters(*type, steps)) {
    bytes.plain += *most;
    bytes.worst += *most * widest_character(*type, field.transform, steps);
  } else if (attribute != nullptr && source.has_limit(steps)) {
    fixed(kSubjectBytes);
  } else {
    bytes.unlimited = field.attribute;
  }
}

Bytes length_of(const Entity& entity, const std::vector<Template::Part>& parts, Steps& steps) {
  Bytes bytes;
  for (const auto& part : parts) {
    if (const auto* literal = std::get_if<Literal>(&part)) {
      bytes.plain += literal->text.size();
      bytes.worst += literal->text.size();
    } else if (const auto* field = std::get_if<Field>(&part)) {
      add_length(entity, *field, bytes, steps);
    }
  }
  return bytes;
}

// `key` is the name of it in a message: "SK of PAGE".
void report_length(const Report::About& about, std::string_view key, const Bytes& bytes, std::size_t most,
                   Findings& findings) {
  const auto message = [&](std::size_t size, std::string_view when) {
    return fmt::format("{} can have {} bytes{}, but holds at most {}", key, size, when, most);
  };
  const auto fix = "lower the max of its attributes, or put a generated id into the key instead of the longest";
  if (bytes.plain > most) {
    findings.error(about, message(bytes.plain, ""), fix);
  } else if (bytes.worst > most) {
    findings.warning(about, message(bytes.worst, ", if its text has four bytes per character"), fix);
  }
}

void find_length(const KeyUse& use, Findings& findings) {
  if (use.key.type == value::Type::N) return;
  const auto bytes = length_of(*use.row.entity, use.form.parts, findings.steps());
  if (bytes.unlimited) {
    findings.warning({.code = "key-too-long",
                      .subject = fmt::format("{}.{}", use.row.entity->name, *bytes.unlimited),
                      .position = use.form.position},
                     use.form.rule == nullptr
                         ? fmt::format("{} is a key, which holds at most {} bytes, and has no limit of its own",
                                       *bytes.unlimited, use.most_bytes)
                         : fmt::format("{} is in {}, which holds at most {} bytes, and has no limit of its own",
                                       *bytes.unlimited, use.key.name, use.most_bytes),
                     fmt::format("give {} a max", *bytes.unlimited));
  }
  report_length({.code = "key-too-long", .subject = use.row.name(), .position = use.form.position},
                fmt::format("{} of {}", use.key.name, use.row.name()), bytes, use.most_bytes, findings);
}

// Unique values are in the key of a reservation, even if they are also in other keys.
void find_reservation_length(const Model& model, const Entity& entity, const Unique& unique, Findings& findings) {
  const auto names = fmt::format("{}", fmt::join(unique.attributes, ", "));
  const auto bytes = length_of(entity, reservation_form(model, entity, unique).parts, findings.steps());
  if (bytes.unlimited) {
    findings.warning(
        {.code = "key-too-long",
         .subject = fmt::format("{}.{}", entity.name, *bytes.unlimited),
         .position = unique.position},
        fmt::format("{} is in the reservation of {}, whose key holds at most {} bytes, and has no limit of its own",
                    *bytes.unlimited, names, kMaxPartitionKeyBytes),
        fmt::format("give {} a max", *bytes.unlimited));
  }
  report_length({.code = "key-too-long", .subject = entity.name, .position = unique.position},
                fmt::format("the key of the reservation of {} of {}", names, entity.name), bytes, kMaxPartitionKeyBytes,
                findings);
}

// A truth value as a number or a text: keys cannot be booleans, so it was made for an index.
bool is_flag(const Type& type) {
  if (type.kind == Kind::Integer) {
    return type.min && type.max && type.min->to_int64() == 0 && type.max->to_int64() == 1;
  }
  constexpr std::array<std::pair<std::string_view, std::string_view>, 4> kFlags = {
      {{"true", "false"}, {"yes", "no"}, {"1", "0"}, {"Y", "N"}}};
  return type.kind == Kind::Enum && type.values.size() == 2 &&
         std::any_of(kFlags.begin(), kFlags.end(), [&](const auto& flag) {
           return (type.values[0] == flag.first && type.values[1] == flag.second) ||
                  (type.values[1] == flag.first && type.values[0] == flag.second);
         });
}

// A flag repeats another attribute.  A request that sets both can make them contradict each other.
void find_flags(const KeyUse& use, Findings& findings) {
  const auto* attribute = use.form.rule == nullptr ? use.row.entity->find_attribute(use.key.name) : nullptr;
  if (attribute == nullptr || attribute->computed() || !is_flag(attribute->type)) return;
  findings.warning(
      {.code = "settable-flag",
       .subject = fmt::format("{}.{}", use.row.entity->name, attribute->name),
       .position = attribute->position},
      fmt::format("{} is a flag for an index and is set by hand: it can contradict the attribute that it stands for",
                  attribute->name),
      "derive it: \"if(type = 'product', 1, null)\"; where it is null the row is not in the index");
}

}  // namespace

void check_keys(const Model& model, Findings& findings) {
  const auto spaces = design_keys(model.table);
  for (const auto& space : spaces) {
    const auto all = placed(model, space, findings.steps());
    if (space.index == nullptr) {
      find_collisions(model, space, all, findings);
      for (const auto& each : all) find_own_collisions(space, each, findings);
    }
    find_forgeries(model, space, all, findings);
  }
  for (const auto& use : key_uses(model)) {
    find_flags(use, findings);
    find_text_order(use, findings);
    find_ambiguities(model, use, findings);
    find_numbers(use, findings);
    find_length(use, findings);
  }
  for (const auto& entity : model.entities) {
    for (const auto& unique : entity.uniques) find_reservation_length(model, entity, unique, findings);
  }
}

}  // namespace stator::model
