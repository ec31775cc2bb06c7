#pragma once

#include <string>
#include <vector>

#include "stator/model/check/proof/keys.h"

// Whose keys a text can take that gets into a key as it is.
namespace stator::model {

// Rows that lie in a key space: of a record, or what keeps a unique value.
struct Victim {
  std::string name;  // "a POST", "a reservation of USER"
  std::vector<Language> keys;
  Position position;
};
// All rows of a model in a key space, as they are when nobody forges anything.
std::vector<Victim> victims(const Model& model, const KeySpace& space, Steps& steps);

struct Forgery {
  std::string attribute;  // of the forger
  const Victim* victim;
  std::vector<std::string> key;  // that both have
};
// One for each attribute of `forger` that forges a key with a separator in its text, whatever the other raw texts hold.
std::vector<Forgery> forgeries(const Entity& forger, const KeyForms& forms, const std::vector<Victim>& victims,
                               Steps& steps);

}  // namespace stator::model
