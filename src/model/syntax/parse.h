#pragma once

#include "stator/model/syntax/syntax.h"

// What the parts of the parser share.
namespace stator::model {

void parse_table(const YamlNode& node, TableSyntax& table, Report& report);
void parse_entity(const YamlNode& node, Syntax& syntax, Report& report);
// An attribute of `entity`, added to it.
void parse_attribute(const YamlNode& node, EntitySyntax& entity, Report& report);
// An input, a parameter or a member of a map: it has a type, `required` and `default`, and nothing computes it.
std::optional<Attribute> parse_plain_attribute(const YamlNode& node, std::string_view what, Report& report);
void parse_pattern(const YamlNode& node, Syntax& syntax, Report& report);
void parse_action(const YamlNode& node, Syntax& syntax, Report& report);
void parse_grant(const YamlNode& node, Syntax& syntax, Report& report);
AccessSyntax parse_access(const YamlNode& node, Report& report);
enum class QueryString : bool { Refused, Allowed };
std::optional<Route> parse_route(const YamlNode& node, QueryString query, Report& report);
// How a unique rule compares: the word `fold`, or null.
Transform parse_fold(const YamlNode* node, Report& report);
// Takes `description` from `words`.
std::string parse_description(Words& words, Report& report);

}  // namespace stator::model
