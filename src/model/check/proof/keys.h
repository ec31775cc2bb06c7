#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stator/model/check/proof/language.h"
#include "stator/model/model.h"

// The keys of a model as languages: which strings each row can have for each key attribute, and which a pattern asks
// for.
namespace stator::model {

// The key of the table or of one of its indexes.
struct DesignKey : KeyPair {
  const IndexDesign* index = nullptr;  // null: the table
  std::string name;                    // of the table or index
  Position position;

  std::vector<KeyDesign> attributes() const;  // partition, then sort
};
std::vector<DesignKey> design_keys(const TableDesign& table);              // the table first
DesignKey design_key(const TableDesign& table, const IndexDesign* index);  // null: of the table

// How the holes of a template are read.
struct Reading {
  enum class Text : std::uint8_t {
    Ordinary,  // no text has a byte that escaping would remove, also where it is not escaped
    AsItIs,    // raw text is any text
  };
  Text text = Text::Ordinary;
  // This attribute's raw text holds at least one byte that escaping would have taken away.
  std::optional<std::string> forged;
};

// One way to make one key attribute of one record: an alternative of its rule, or the attribute of that name as it is.
struct KeyForm {
  std::vector<Template::Part> parts;
  std::string text;                   // as written
  const KeyTemplate* rule = nullptr;  // null: the attribute as it is
  Position position;
};

// A record, and where it lies.
struct KeyedRow {
  const Entity* entity = nullptr;
  const Record* record = nullptr;

  std::string name() const;  // "BOOK", or "STORY.index"
};
std::vector<KeyedRow> rows(const Model& model);

// Every form of that key attribute; none when the record never has it.
std::vector<KeyForm> forms(const Model& model, const KeyedRow& row, const KeyDesign& key);
// A form for every attribute of a key: one way in which a record lies in a key space.
using KeyForms = std::vector<std::vector<KeyForm>>;
// Per attribute of `space`; nullopt when the record is never in it.
std::optional<KeyForms> forms(const Model& model, const KeyedRow& row, const DesignKey& space);

// The type of an attribute of an entity, or of a member of a map: "address.city".  Null when it has none.
const Type* type_of(const Entity& entity, std::string_view path);
const Type* type_of(const std::vector<Attribute>& attributes, std::string_view path);
// The same for a hole of a pattern: a parameter, or an attribute of a returned entity.
const Type* type_of(const Pattern& pattern, std::string_view path);

// The texts that one hole can have.  A null type: any text.
Language hole_language(const Template::Field& field, const Type* type, const Reading& reading, Steps& steps);
Language form_language(const Entity& entity, const KeyForm& form, const Reading& reading, Steps& steps);
Language forms_language(const Entity& entity, const std::vector<KeyForm>& forms, const Reading& reading, Steps& steps);
// The values of a key attribute that a condition matches, for any values of its parameters.
Language condition_language(const Pattern& pattern, const PatternCondition& condition, const Reading& reading,
                            Steps& steps);

// Whether a caller may leave out a parameter that is in `operand`.
bool may_be_left_out(const Pattern& pattern, const Template& operand);
// As much of the front of `operand` as there always is.
std::vector<Template::Part> certain_front(const Pattern& pattern, const Template& operand);

// Per attribute of a key space.
std::vector<Language> languages(const Entity& entity, const KeyForms& forms, const Reading& reading, Steps& steps);
// A key that both can have; nullopt when there is none.
std::optional<std::vector<std::string>> common_key(const std::vector<Language>& a, const std::vector<Language>& b,
                                                   Steps& steps);
// All that belongs to reservations: no other row's primary key may be like that.
std::vector<Language> reservation_language(const DesignKey& table);
// The partition key of the reservations that keep this rule, and the sort key of all; see reservations_of().
KeyForm reservation_form(const Model& model, const Entity& entity, const Unique& unique);
Language reservation_sort();

// Raw holes of free text: through them, a text from a request gets into a key without escapes.
std::vector<std::string> raw_texts(const Entity& entity, const std::vector<KeyForm>& forms, Steps& steps);

// Whether every value of the type is the same text in a key, whichever of the two puts it there.  Parts of dates are
// not looked at.
bool are_written_alike(const Type* type, Transform a, Transform b, Steps& steps);

// How many bytes of a moment are in a key: 24 of a timestamp, 10 of a date or day, 7 of a month, 4 of a year.  0: it is
// no moment.
std::size_t moment_bytes(const Type* type, Transform transform);

bool is_number(const Type* type);
// Whether it is a whole number from 0 on and all its values have the same number of digits: as text they are in the
// order of numbers.
bool has_fixed_digits(const Type* type);
bool is_free_text(const Type* type, Steps& steps);  // string, e-mail, URL: texts that people write, and null

// "PK 'owner#a', SK 'library#...'": a witness.
std::string spell_key(const std::vector<KeyDesign>& attributes, const std::vector<std::string>& values);
// Bytes that are not printable as \xNN, in quotes.
std::string spell_text(std::string_view bytes);

}  // namespace stator::model
