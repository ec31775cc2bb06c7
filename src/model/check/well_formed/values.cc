#include <fmt/format.h>

#include <algorithm>

#include "stator/model/check/well_formed/well_formed.h"
#include "stator/model/validate.h"

namespace stator::model {
namespace {

// --------------------------------------------------------------------------------------------------------------- types

void check_set(const TypeSyntax& written, Position of, Report& report) {
  const Type* element = written.type.element.get();
  if (written.type.kind != Kind::Set || element == nullptr) return;
  switch (element->kind) {
    case Kind::Boolean:
    case Kind::Domain:
    case Kind::Isbn:
    case Kind::List:
    case Kind::Set:
    case Kind::Map:
    case Kind::Any:
      report.error(of, "wrong-type",
                   fmt::format("a set holds texts, numbers or binary values, not {}", kind_name(element->kind)),
                   "list");
      return;
    default: return;
  }
}

void check_type(const TypeSyntax& written, Report& report) {
  const Type& type = written.type;
  for (const auto& [word, value] : written.words) {
    const auto& known = type_word(word.text);
    if (!known.fits(type.kind))
      report.error(
          word.position, "contradiction",
          fmt::format("{} is for {}, and this is of type {}", word.text, known.meant_for, kind_name(type.kind)));
    if (word.text == "of") check_set(written, value, report);
    if (word.text == "max" && type.min && type.max && *type.min > *type.max)
      report.error(value, "contradiction",
                   fmt::format("no value is at least {} and at most {}", type.min->to_string(), type.max->to_string()));
  }
  for (auto value = written.values.begin(); value != written.values.end(); ++value) {
    const auto is_same = [&](const Text& earlier) { return earlier.text == value->text; };
    if (std::any_of(written.values.begin(), value, is_same))
      report.error(value->position, "repeated-word", fmt::format("the enum has {} already", value->text));
  }
}

void check_default(const DefaultSyntax& written, Report& report) {
  auto value = written.value;
  std::vector<ValueProblem> problems;
  check_value(written.type, written.attribute, value, problems);
  for (const auto& problem : problems)
    report.error(written.position, "bad-default",
                 fmt::format("the default of {} {}", problem.attribute, problem.problem));
}

// ---------------------------------------------------------------------------------------------------------- attributes

// Whether values that are decided so can be of that type.
bool can_be(const Attribute& attribute, Kind kind) {
  if (attribute.count || attribute.next || attribute.last) return kind == Kind::Integer;
  if (attribute.sum) return is_number(kind);
  if (attribute.updated || attribute.generated == Generated::Now) return kind == Kind::Timestamp;
  if (attribute.generated == Generated::Uuid) return kind == Kind::Uuid || kind == Kind::String;
  if (attribute.generated == Generated::Ulid) return kind == Kind::Ulid || kind == Kind::String;
  return true;
}

// The source of a value, and the words that contradict it.
void check_source(const AttributeSyntax& written, const Attribute& attribute, Report& report) {
  const auto& sources = written.sources;
  for (std::size_t i = 1; i < sources.size(); ++i)
    report.error(
        sources[i].position, "contradiction",
        fmt::format("a value has one source: {} and {} cannot both decide it", sources[0].text, sources[i].text));
  const bool is_computed = !sources.empty() && sources[0].text != "default";
  if (is_computed && written.type && !can_be(attribute, attribute.type.kind)) {
    const auto implied = kind_name(*implied_kind(attribute));
    report.error(
        *written.type, "wrong-type",
        fmt::format("with {} the type is {}, not {}", sources[0].text, implied, kind_name(attribute.type.kind)),
        std::string(implied));
  }
  const bool settable = !is_computed || attribute.updated || attribute.next;  // by actions, too
  if (attribute.drifts && (!settable || attribute.transient))
    report.error(attribute.position, "contradiction",
                 fmt::format("{} drifts: actions set it; nothing else can decide it", attribute.name));
  if (attribute.transient && (is_computed || written.internal))
    report.error(attribute.position, "contradiction",
                 fmt::format("{} is transient: taken from a request and not stored; nothing else can decide it",
                             attribute.name));
  if (written.fold)
    report.error(
        *written.fold, "contradiction",
        "fold says how unique_within compares; for an order without case write {Name|alphabetical} in the key");
}

void check_number_of_parent(const AttributeSyntax& written, Report& report) {
  if (written.order)
    report.error(*written.order, "contradiction",
                 "a number comes from an order (in) or from a parent (by), not from both");
  if (written.distinct)
    report.error(*written.distinct, "contradiction", "a parent never gives a number twice; distinct is for `in`");
}

}  // namespace

void check_values(const Syntax& syntax, const Model& model, Report& report) {
  for (const auto& type : syntax.types) check_type(type, report);
  for (const auto& value : syntax.defaults) check_default(value, report);
  for (const auto position : syntax.binary_defaults)
    report.error(position, "bad-default", "a binary value cannot have a default");
  for (std::size_t i = 0; i < model.entities.size(); ++i) {
    const auto& attributes = model.entities[i].attributes;
    for (std::size_t j = 0; j < attributes.size(); ++j) {
      const auto& written = syntax.entities[i].attributes[j];
      check_source(written, attributes[j], report);
      check_number_of_parent(written, report);
    }
  }
}

}  // namespace stator::model
