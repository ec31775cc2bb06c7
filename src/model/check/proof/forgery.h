#pragma once

#include <string>
#include <vector>

#include "stator/model/check/proof/keys.h"

// Finds rows whose key a raw (unescaped) text can imitate.
namespace stator::model {

// Rows in a key space: the rows of a record, or the reservations of a unique value.
struct Victim {
  std::string name;  // "a POST", "a reservation of USER"
  std::vector<Language> keys;
  Position position;
};
// All rows of a model in a key space, without forged keys.
std::vector<Victim> victims(const Model& model, const DesignKey& space, Steps& steps);

struct Forgery {
  std::string attribute;  // of the forger
  const Victim* victim;
  std::vector<std::string> key;  // that both have
};
// One for each attribute of `forger` that can forge a key with a separator in its text, with any text in the other raw
// attributes.
std::vector<Forgery> forgeries(const Entity& forger, const KeyForms& forms, const std::vector<Victim>& victims,
                               Steps& steps);

}  // namespace stator::model
