#include "stator/console/model_view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <map>
#include <utility>
#include <vector>

#include "stator/model/check/cost.h"
#include "stator/model/check/print.h"
#include "stator/model/generate/design_document.h"
#include "stator/model/generate/words.h"

namespace stator::console {
namespace {

using model::generate::access_words;
using model::generate::condition_words;
using model::generate::record_words;
using model::generate::rule_words;
using model::generate::step_words;
using model::generate::type_words;
using value::JsonWriter;

std::string joined_names(const std::vector<model::KeyDesign>& keys) {
  std::vector<std::string_view> names;
  for (const auto& key : keys) names.push_back(key.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

void write_optional(JsonWriter& json, std::string_view text) {
  if (text.empty()) {
    json.null();
  } else {
    json.string(text);
  }
}

void write_table(JsonWriter& json, const model::TableDesign& table) {
  json.begin_object().key("name").string(table.name).key("partitionKey").string(table.partition.name);
  json.key("sortKey");
  write_optional(json, table.sort ? table.sort->name : "");
  json.key("typeAttribute").string(table.type_attribute).key("indexes").begin_array();
  for (const auto& index : table.indexes) {
    json.begin_object().key("name").string(index.name).key("kind").string(index.local ? "local" : "global");
    json.key("partitionKey").string(joined_names(index.partition)).key("sortKey");
    write_optional(json, joined_names(index.sort));
    using enum model::ProjectionKind;
    json.key("projection");
    json.string(index.projection == All        ? std::string("all")
                : index.projection == KeysOnly ? std::string("keys only")
                                               : fmt::format("{}", fmt::join(index.included, ", ")));
    json.key("description").string(index.description).key("line").integer(index.position.line).end_object();
  }
  json.end_array().end_object();
}

void write_flags(JsonWriter& json, const model::Attribute& attribute) {
  const std::pair<std::string_view, bool> flags[] = {{"immutable", attribute.immutable},
                                                     {"hidden", attribute.hidden},
                                                     {"transient", attribute.transient},
                                                     {"internal", attribute.internal},
                                                     {"generated", attribute.generated != model::Generated::No},
                                                     {"updated", attribute.updated},
                                                     {"derived", attribute.derived.has_value()},
                                                     {"count", attribute.count.has_value()},
                                                     {"sum", attribute.sum.has_value()},
                                                     {"copy", attribute.copy_of.has_value()},
                                                     {"numbered", attribute.next.has_value()}};
  json.key("flags").begin_array();
  for (const auto& [name, is_set] : flags) {
    if (is_set) json.string(name);
  }
  json.end_array();
}

// The values of an enum, for a form to choose from.
void write_choices(JsonWriter& json, const model::Type& type) {
  if (type.kind != model::Kind::Enum) return;
  json.key("values").begin_array();
  for (const auto& value : type.values) json.string(value);
  json.end_array();
}

void write_attributes(JsonWriter& json, const model::Entity& entity) {
  json.key("attributes").begin_array();
  for (const auto& attribute : entity.attributes) {
    json.begin_object().key("name").string(attribute.name).key("type").string(type_words(attribute.type));
    json.key("required").boolean(attribute.required);
    json.key("writable").boolean(!attribute.computed());
    write_choices(json, attribute.type);
    write_flags(json, attribute);
    json.key("detail").string(rule_words(entity, attribute)).key("description").string(attribute.description);
    json.key("line").integer(attribute.position.line).end_object();
  }
  json.end_array();
}

void write_keys(JsonWriter& json, const model::Record& record) {
  json.key("keys").begin_object();
  for (const auto& key : record.keys) {
    json.key(key.attribute).begin_array();
    for (const auto& alternative : key.alternatives) {
      json.string(alternative.when ? fmt::format("{} when {}", alternative.text.text(), alternative.when->text())
                                   : alternative.text.text());
    }
    json.end_array();
  }
  json.end_object();
}

void write_entity(JsonWriter& json, const model::Entity& entity) {
  json.begin_object().key("name").string(entity.name).key("description").string(entity.description).key("path");
  write_optional(json, entity.path);
  json.key("owner");
  write_optional(json, entity.owner.value_or(""));
  json.key("operations").begin_array();
  for (const auto& operation : entity.operations) json.string(operation);
  json.end_array().key("routes").begin_array();
  for (const auto& route : entity.routes()) {
    json.begin_object().key("operation").string(route.operation).key("method").string(route.method);
    json.key("path").string(route.path).end_object();
  }
  json.end_array();
  write_keys(json, entity.main());
  json.key("records").begin_array();
  for (const auto& record : entity.records) {
    json.begin_object().key("name").string(record.name).key("type").string(record.type);
    write_keys(json, record);
    json.end_object();
  }
  json.end_array();
  write_attributes(json, entity);
  json.key("parents").begin_array();
  for (const auto& parent : entity.parents) {
    json.begin_object().key("entity").string(parent.entity).key("relation").string(parent.name);
    json.key("by").begin_array();
    for (const auto& [theirs, ours] : parent.by) json.string(ours);
    json.end_array().end_object();
  }
  json.end_array().key("line").integer(entity.position.line).end_object();
}

// Where a parameter stands: in the path, or behind its question mark.
bool is_in_path(std::string_view path, std::string_view name) {
  return path.substr(0, path.find('?')).find(fmt::format("{{{}}}", name)) != std::string_view::npos;
}

void write_parameters(JsonWriter& json, const std::vector<model::Attribute>& parameters, std::string_view path,
                      std::string_view elsewhere) {
  json.begin_array();
  for (const auto& parameter : parameters) {
    json.begin_object().key("name").string(parameter.name);
    json.key("in").string(is_in_path(path, parameter.name) ? "path" : elsewhere);
    json.key("type").string(type_words(parameter.type)).key("required").boolean(parameter.required);
    write_choices(json, parameter.type);
    json.key("description").string(parameter.description).end_object();
  }
  json.end_array();
}

std::string_view order_word(model::Order order) {
  switch (order) {
    case model::Order::Ascending: return "ascending";
    case model::Order::Descending: return "descending";
    case model::Order::Asked: return "asked";
  }
  return "";
}

void write_pattern(JsonWriter& json, const model::Pattern& pattern, const model::PatternCost* cost) {
  json.begin_object().key("name").string(pattern.name).key("description").string(pattern.description);
  json.key("method").string("GET").key("path");
  write_optional(json, pattern.path);
  json.key("index");
  write_optional(json, pattern.index != nullptr ? pattern.index->name : "");
  json.key("kind").string("query").key("condition").string(condition_words(pattern));
  json.key("filter");
  write_optional(json, pattern.filter ? pattern.filter->text() : "");
  json.key("parameters");
  write_parameters(json, pattern.parameters, pattern.path, "query");
  json.key("returns").begin_array();
  for (const auto& returned : pattern.returns) json.string(returned.entity->name);
  json.end_array().key("returnedRecords").begin_array();
  for (const auto& returned : pattern.returns) json.string(record_words(*returned.entity, *returned.record));
  json.end_array().key("order").string(order_word(pattern.order)).key("single").boolean(pattern.single);
  json.key("access").string(access_words(pattern.access)).key("cost");
  json.string(cost == nullptr
                  ? std::string()
                  : fmt::format("{} request{}, {} row{}, {:.1f} RCU", cost->requests, cost->requests == 1 ? "" : "s",
                                cost->items_read, cost->items_read == 1 ? "" : "s", cost->read_units));
  json.key("line").integer(pattern.position.line).end_object();
}

void write_action(JsonWriter& json, const model::Action& action) {
  json.begin_object().key("name").string(action.name).key("description").string(action.description);
  json.key("method").string(action.method).key("path").string(action.path).key("inputs");
  const bool from_query = action.method == "GET" || !action.accepts.empty();
  write_parameters(json, action.inputs, action.path, from_query ? "query" : "body");
  json.key("accepts").begin_array();
  for (const auto& type : action.accepts) json.string(type);
  json.end_array().key("steps").begin_array();
  for (const auto& step : action.steps) json.string(step_words(step));
  json.end_array().key("native").boolean(action.native).key("access").string(access_words(action.access));
  json.key("line").integer(action.position.line).end_object();
}

void write_relation(JsonWriter& json, std::string_view from, std::string_view to, std::string_view kind,
                    std::string_view label) {
  json.begin_object().key("from").string(from).key("to").string(to).key("kind").string(kind);
  json.key("label").string(label).end_object();
}

void write_relations(JsonWriter& json, const model::Model& model) {
  json.begin_array();
  for (const auto& entity : model.entities) {
    for (const auto& parent : entity.parents) write_relation(json, entity.name, parent.entity, "parent", parent.name);
    for (const auto& attribute : entity.attributes) {
      if (attribute.copy_of) {
        write_relation(json, attribute.copy_of->through->entity, entity.name, "copy",
                       fmt::format("{} to {}", attribute.copy_of->attribute, attribute.name));
      }
      const auto* children = attribute.count ? &attribute.count->of : attribute.sum ? &attribute.sum->of : nullptr;
      if (children == nullptr) continue;
      for (const auto& each : *children) write_relation(json, each.entity, entity.name, "count", attribute.name);
    }
    for (const auto& unique : entity.uniques) {
      auto label = fmt::format("{}", fmt::join(unique.attributes, ", "));
      if (!unique.within.empty()) label += fmt::format(" within {}", fmt::join(unique.within, ", "));
      write_relation(json, entity.name, entity.name, "unique", label);
    }
  }
  json.end_array();
}

}  // namespace

std::string title_of(std::string_view name) {
  std::string title(name);
  std::ranges::replace(title, '-', ' ');
  std::ranges::replace(title, '_', ' ');
  if (!title.empty()) title.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(title.front())));
  return title;
}

void write_findings(JsonWriter& json, const model::Diagnostics& findings, const model::Model* model) {
  json.begin_array();
  for (const auto& finding : findings) {
    json.begin_object().key("severity").string(finding.severity == model::Severity::Error ? "error" : "warning");
    json.key("rule").string(finding.code).key("message").string(finding.message);
    json.key("line").integer(finding.position.line).key("column").integer(finding.position.column);
    const auto entity = finding.subject.substr(0, finding.subject.find('.'));
    if (model != nullptr && model->find_entity(entity) != nullptr) json.key("entity").string(entity);
    if (model != nullptr && model->find_pattern(finding.subject) != nullptr) {
      json.key("pattern").string(finding.subject);
    }
    json.key("subject").string(finding.subject).key("witness").string(finding.witness).key("fix").string(finding.fix);
    json.key("accepted").boolean(!finding.accepted.empty()).key("because").string(finding.accepted).end_object();
  }
  json.end_array();
}

void write_model(JsonWriter& json, const model::Model& model, const model::Diagnostics& findings) {
  std::map<std::string_view, const model::PatternCost*> costs;
  const auto computed = model::costs(model, {});
  for (const auto& cost : computed) costs[cost.pattern] = &cost;
  json.begin_object().key("name").string(model.name).key("title").string(title_of(model.name));
  json.key("description").string(model.description).key("table");
  write_table(json, model.table);
  json.key("entities").begin_array();
  for (const auto& entity : model.entities) write_entity(json, entity);
  json.end_array().key("patterns").begin_array();
  for (const auto& pattern : model.patterns) {
    const auto cost = costs.find(pattern.name);
    write_pattern(json, pattern, cost == costs.end() ? nullptr : cost->second);
  }
  json.end_array().key("actions").begin_array();
  for (const auto& action : model.actions) write_action(json, action);
  json.end_array().key("relations");
  write_relations(json, model);
  json.key("findings");
  write_findings(json, findings, &model);
  json.end_object();
}

model::Diagnostics all_findings(const model::Loaded& loaded, const model::CheckLimits& limits) {
  auto findings = loaded.diagnostics;
  if (loaded.model) {
    auto judged = model::check(*loaded.model, limits);
    findings.insert(findings.end(), std::make_move_iterator(judged.begin()), std::make_move_iterator(judged.end()));
  }
  std::ranges::stable_sort(findings, {}, &model::Diagnostic::position);
  return findings;
}

void write_checked(JsonWriter& json, const model::Model* model, const model::Diagnostics& findings) {
  json.key("ok").boolean(model != nullptr && !model::has_errors(findings)).key("findings");
  write_findings(json, findings, model);
  if (model == nullptr) {
    json.key("model").null().key("document").null().key("costs").null();
    return;
  }
  json.key("model");
  write_model(json, *model, findings);
  json.key("document").string(model::generate::design_document(*model));
  json.key("costs").raw(
      model::to_json(model::costs(*model, {}), model::write_costs(*model, {}), model::copy_costs(*model, {})));
}

}  // namespace stator::console
