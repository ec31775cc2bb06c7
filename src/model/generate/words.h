#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "stator/model/model.h"

// How the parts of a model are put into words, for every generator alike.
namespace stator::model::generate {

// "string", "list of email", "one of SHELF, READING".  With the rules of the members, without those of the attribute.
std::string type_words(const Type& type);
// "1 to 100 characters, unique within LibraryId": everything that an attribute demands or promises, in one line; may be
// empty.
std::string rule_words(const Entity& entity, const Attribute& attribute);
// The same for an input of an action or a parameter of a pattern.
std::string input_words(const Attribute& input);
// "BOOK.library, VIDEO.library".
std::string children_words(const std::vector<Children>& children);
// "30 days", "36 hours".
std::string duration_words(std::chrono::seconds duration);
// "owner, role:admin", as in the model; "nobody" when empty.
std::string access_words(const Access& access);
// "GSI1PK = owner#{me}, GSI1SK begins with item#": a pattern's key conditions.
std::string condition_words(const Pattern& pattern);
// "item#{Title|sortable}" for one template; alternatives are joined with " or ".  Empty when the row has no such key.
std::string key_words(const Entity& entity, const Record& record, const std::string& attribute);
// "BOOK", or "STORY (index)" where an entity has several records.
std::string record_words(const Entity& entity, const Record& record);
// "read LIBRARY as `library` by `LibraryId` = `LibraryId`": one step of an action, in Markdown.
std::string step_words(const Step& step);

}  // namespace stator::model::generate
