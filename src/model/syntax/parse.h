#pragma once

#include "stator/model/syntax/syntax.h"

// Functions that the files of the parser share.
namespace stator::model {

void parse_table(const YamlNode& node, TableSyntax& table, Report& report);
void parse_entity(const YamlNode& node, Syntax& syntax, Report& report);
// An attribute of `entity`, added to it.
void parse_attribute(const YamlNode& node, EntitySyntax& entity, Syntax& syntax, Report& report);
// Takes the words of a type.  `implied`: the type if the file does not say it.
Type parse_type(Words& words, std::optional<Kind> implied, Syntax& syntax, Report& report);
// `name: string` is short for `name: { type: string }`.
Type parse_short_type(const YamlNode& node, Report& report);
// The default of a value of that type.
std::optional<value::AttributeValue> parse_default(const YamlNode* node, const std::string& attribute, const Type& type,
                                                   Syntax& syntax, Report& report);
// An input, a parameter or a member of a map: it has a type, `required` and `default`, and nothing computes it.
std::optional<Attribute> parse_plain_attribute(const YamlNode& node, std::string_view what, Syntax& syntax,
                                               Report& report);
void parse_pattern(const YamlNode& node, Syntax& syntax, Report& report);
void parse_action(const YamlNode& node, Syntax& syntax, Report& report);
void parse_grant(const YamlNode& node, Syntax& syntax, Report& report);
AccessSyntax parse_access(const YamlNode& node, Report& report);
enum class QueryString : bool { Refused, Allowed };
std::optional<RouteSyntax> parse_route(const YamlNode& node, QueryString query, Report& report);
// How a unique rule compares: the word `fold`, or null.
Transform parse_fold(const YamlNode* node, Report& report);
// Takes `description` from `words`.
std::string parse_description(Words& words, Report& report);

}  // namespace stator::model
