#include "stator/model/model.h"

#include <algorithm>

namespace stator::model {
namespace {

// The element of `list` with that name, or null.
template <typename T>
const T* by_name(const std::vector<T>& list, std::string_view name) {
  const auto found = std::find_if(list.begin(), list.end(), [&](const T& element) { return element.name == name; });
  return found == list.end() ? nullptr : &*found;
}

}  // namespace

const IndexDesign* TableDesign::find_index(std::string_view index) const { return by_name(indexes, index); }

KeyPair TableDesign::key_of(const IndexDesign* index) const {
  if (index != nullptr) return {.partition = index->partition, .sort = index->sort};
  return {.partition = {partition}, .sort = sort ? std::vector{*sort} : std::vector<KeyDesign>()};
}

bool TableDesign::projects(const IndexDesign& index, std::string_view attribute) const {
  if (index.projection == ProjectionKind::All || attribute == partition.name || (sort && attribute == sort->name))
    return true;
  if (by_name(index.partition, attribute) != nullptr || by_name(index.sort, attribute) != nullptr) return true;
  return std::find(index.included.begin(), index.included.end(), attribute) != index.included.end();
}

bool Next::in_every_row() const { return through != nullptr && !through->optional && !through->when; }

bool Attribute::computed() const {
  return internal || updated || generated != Generated::No || derived || count || sum || copy_of || last ||
         is_numbered();
}

const KeyRule* Record::find_key(std::string_view attribute) const {
  const auto found =
      std::find_if(keys.begin(), keys.end(), [&](const KeyRule& rule) { return rule.attribute == attribute; });
  return found == keys.end() ? nullptr : &*found;
}

bool Record::holds(std::string_view attribute) const {
  return attributes.empty() || std::find(attributes.begin(), attributes.end(), attribute) != attributes.end();
}

const Attribute* Entity::find_attribute(std::string_view attribute) const { return by_name(attributes, attribute); }
const Parent* Entity::find_parent(std::string_view relation) const { return by_name(parents, relation); }
const Record* Entity::find_record(std::string_view record) const { return by_name(records, record); }

bool Entity::drifts() const {
  return std::any_of(
             attributes.begin(), attributes.end(),
             [](const Attribute& one) { return one.count || one.sum || one.copy_of || one.last || one.drifts; }) ||
         std::any_of(parents.begin(), parents.end(),
                     [](const Parent& parent) { return parent.on_delete == OnDelete::Clear; });
}

std::string Entity::collection_path() const {
  auto collection = path;
  while (collection.ends_with('}')) collection.erase(std::min(collection.rfind('/'), collection.size()));
  return collection;
}

bool Entity::can_have_operation(std::string_view operation) const {
  if (operation == "put" || operation == "update" || operation == "delete") return !append_only;
  if (operation == "restore" || operation == "purge") return soft_delete.has_value();
  return true;
}

bool Entity::has_operation(std::string_view operation) const {
  return std::find(operations.begin(), operations.end(), operation) != operations.end();
}

std::vector<EntityRoute> Entity::routes() const {
  std::vector<EntityRoute> routes;
  if (path.empty()) return routes;
  const auto add = [&](std::string_view operation, std::string_view method, std::string at) {
    if (has_operation(operation)) routes.push_back({operation, method, std::move(at)});
  };
  add("create", "POST", collection_path());
  add("get", "GET", path);
  add("put", "PUT", path);
  add("update", "PATCH", path);
  add("delete", "DELETE", path);
  add("restore", "POST", path + "/restore");
  add("purge", "DELETE", path + "/purge");
  return routes;
}

bool Entity::is_named_by(std::string_view attribute) const {
  return std::find(identity.begin(), identity.end(), attribute) != identity.end();
}

bool Entity::expires() const {
  return std::any_of(records.begin(), records.end(), [](const Record& record) { return record.expires.has_value(); });
}

bool Entity::lets_in_by(const Grant& grant) const {
  const auto has = [&](const Access& access) {
    return std::find(access.grants.begin(), access.grants.end(), &grant) != access.grants.end();
  };
  return has(create) || has(read) || has(update) || has(remove);
}

const Parent* Join::through(const Entity& entity) const {
  const auto found =
      std::find_if(returned.begin(), returned.end(), [&](const Related& one) { return one.entity == &entity; });
  return found == returned.end() ? nullptr : found->through;
}

unsigned Pattern::shards() const {
  unsigned shards = 1;
  for (const auto& condition : partition) {
    for (const auto& operand : condition.operands) shards = std::max(shards, operand.shards());
  }
  return shards;
}

bool Action::creates(const Entity& entity) const {
  return std::any_of(steps.begin(), steps.end(), [&](const Step& step) {
    return step.kind == Step::Kind::Create && step.entities.front() == &entity;
  });
}

const Entity* Model::find_entity(std::string_view entity) const { return by_name(entities, entity); }
const Pattern* Model::find_pattern(std::string_view pattern) const { return by_name(patterns, pattern); }
const Action* Model::find_action(std::string_view action) const { return by_name(actions, action); }
const Grant* Model::find_grant(std::string_view grant) const { return by_name(grants, grant); }

std::pair<const Entity*, const Record*> Model::find_row_type(std::string_view type) const {
  for (const auto& entity : entities) {
    for (const auto& record : entity.records) {
      if (record.type == type) return {&entity, &record};
    }
  }
  return {nullptr, nullptr};
}

}  // namespace stator::model
