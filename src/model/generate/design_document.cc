#include "stator/model/generate/design_document.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>
#include <vector>

#include "stator/model/generate/markdown.h"
#include "stator/model/generate/operations_document.h"
#include "stator/model/generate/words.h"

namespace stator::model::generate {
namespace {

std::string names(const std::vector<KeyDesign>& keys) {
  std::vector<std::string> words;
  for (const auto& key : keys) words.push_back(fmt::format("`{}` ({})", key.name, value::type_name(key.type)));
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string projection_words(const IndexDesign& index) {
  switch (index.projection) {
    case ProjectionKind::All: return "all attributes";
    case ProjectionKind::KeysOnly: return "keys only";
    case ProjectionKind::Include: return fmt::format("keys, `{}`", fmt::join(index.included, "`, `"));
  }
  return "";
}

std::string_view stream_words(StreamView view) {
  switch (view) {
    case StreamView::None: return "none";
    case StreamView::KeysOnly: return "keys only";
    case StreamView::NewImage: return "new images";
    case StreamView::OldImage: return "old images";
    case StreamView::NewAndOldImages: return "new and old images";
  }
  return "";
}

void write_table(std::string& out, const Model& model) {
  const TableDesign& table = model.table;
  out += "## Table\n\n";
  if (!table.description.empty()) out += table.description + "\n\n";
  out += fmt::format("- **Name:** `{}`\n- **Partition key:** {}\n", table.name, names({table.partition}));
  if (table.sort) out += fmt::format("- **Sort key:** {}\n", names({*table.sort}));
  out += fmt::format("- **Type attribute:** `{}`\n- **Version attribute:** `{}`\n", table.type_attribute,
                     table.version_attribute);
  if (table.ttl_attribute) out += fmt::format("- **TTL attribute:** `{}`\n", *table.ttl_attribute);
  out += fmt::format("- **Stream:** {}\n", stream_words(table.stream));
  out += table.provisioned ? fmt::format("- **Billing:** provisioned, {} read and {} write units\n",
                                         table.provisioned->read, table.provisioned->write)
                           : "- **Billing:** on demand\n";
  if (table.indexes.empty()) return;
  out += "\n### Indexes\n\n";
  MarkdownTable rows(out, {"index", "kind", "partition key", "sort key", "projection", "purpose"});
  for (const auto& index : table.indexes) {
    rows.row({code(index.name), index.local ? "local" : "global", names(index.partition), names(index.sort),
              projection_words(index), cell(index.description)});
  }
}

void write_entities(std::string& out, const Model& model) {
  out += "\n## Entities\n\n";
  MarkdownTable rows(out, {"entity", fmt::format("`{}`", model.table.type_attribute), "description"});
  for (const auto& entity : model.entities) {
    for (const auto& record : entity.records) {
      rows.row({record_words(entity, record), code(record.type),
                cell(record.description.empty() ? entity.description : record.description)});
    }
  }
}

// One row per record that has these keys.
void write_keys_of(std::string& out, const Model& model, std::string_view title,
                   const std::vector<KeyDesign>& attributes) {
  std::vector<std::string> heads = {"entity"};
  for (const auto& attribute : attributes) heads.push_back(code(attribute.name));
  out += fmt::format("\n### {}\n\n", title);
  MarkdownTable rows(out, heads);
  for (const auto& entity : model.entities) {
    for (const auto& record : entity.records) {
      std::vector<std::string> cells = {record_words(entity, record)};
      bool present = true;
      for (const auto& attribute : attributes) {
        const bool is_type = attribute.name == model.table.type_attribute;
        const auto words = is_type ? record.type : key_words(entity, record, attribute.name);
        present = present && !words.empty();
        cells.push_back(code(words));
      }
      if (present) rows.row(cells);
    }
  }
}

void write_keys(std::string& out, const Model& model) {
  out += "\n## Key patterns\n";
  std::vector<KeyDesign> primary = {model.table.partition};
  if (model.table.sort) primary.push_back(*model.table.sort);
  write_keys_of(out, model, "Table", primary);
  for (const auto& index : model.table.indexes) {
    auto attributes = index.partition;
    attributes.insert(attributes.end(), index.sort.begin(), index.sort.end());
    write_keys_of(out, model, index.name, attributes);
  }
}

std::string on_delete_words(const Parent& parent) {
  switch (parent.on_delete) {
    case OnDelete::Nothing: return "it stays";
    case OnDelete::Cascade: return "it goes, too";
    case OnDelete::Clear: return fmt::format("`{}` are cleared", fmt::join(parent.clear, "`, `"));
    case OnDelete::Restrict: return "the parent cannot be deleted";
  }
  return "";
}

void write_parents(std::string& out, const Entity& entity) {
  if (entity.parents.empty()) return;
  out += "\n";
  MarkdownTable rows(out, {"belongs to", "through", "when the parent is deleted", "description"});
  for (const auto& parent : entity.parents) {
    std::vector<std::string> by;
    for (const auto& [theirs, ours] : parent.by)
      by.push_back(theirs == ours ? code(ours) : code(ours) + " = its " + code(theirs));
    auto through = fmt::format("{}", fmt::join(by, ", "));
    if (parent.when) through += " while " + code(parent.when->text());
    if (parent.optional) through += " (optional)";
    if (!parent.must_exist) through += " (need not exist)";
    rows.row({fmt::format("{} (`{}`)", parent.entity, parent.name), through, on_delete_words(parent),
              cell(parent.description)});
  }
}

void add_record_rules(std::vector<std::string>& rules, const Entity& entity) {
  for (const auto& record : entity.records) {
    if (!record.attributes.empty())
      rules.push_back(fmt::format("The record `{}` holds `{}`.", record.name, fmt::join(record.attributes, "`, `")));
    if (record.when)
      rules.push_back(fmt::format("The record `{}` exists while `{}`.", record.name, record.when->text()));
    if (record.expires)
      rules.push_back(fmt::format("The record `{}` expires at `{}`.", record.name, record.expires->text()));
  }
}

std::string soft_delete_words(const SoftDelete& rule) {
  const auto keep = rule.keep ? fmt::format("for {}", duration_words(*rule.keep)) : std::string("until it is purged");
  const auto at = rule.at ? fmt::format(", and `{}` to the time of it", *rule.at) : std::string();
  return fmt::format("Deleting sets `{}`{}, {}; it can be restored.", rule.attribute, at, keep);
}

void write_rules(std::string& out, const Entity& entity) {
  std::vector<std::string> rules;
  if (entity.append_only) rules.emplace_back("Append-only: never updated, and deleted only together with its parent.");
  if (!entity.versioned) rules.emplace_back("Not versioned.");
  if (entity.key_family != entity.name)
    rules.push_back(fmt::format("Of the key family `{}`, which may share keys.", entity.key_family));
  if (entity.soft_delete) rules.push_back(soft_delete_words(*entity.soft_delete));
  if (entity.unfinished) rules.push_back(fmt::format("Nobody sees it while `{}` is true.", *entity.unfinished));
  add_record_rules(rules, entity);
  for (const auto& check : entity.checks)
    rules.push_back(fmt::format("`{}`, or `{}` {}.", check.that.text(), check.attribute, check.problem));
  std::vector<std::string> routes;
  for (const auto& route : entity.routes()) routes.push_back(fmt::format("`{} {}`", route.method, route.path));
  if (!routes.empty()) rules.push_back(fmt::format("Routes: {}.", fmt::join(routes, ", ")));
  if (entity.has_operation("put"))
    rules.emplace_back("PUT creates it when it is missing, and otherwise changes what it names.");
  rules.push_back(fmt::format("Create: {}. Read: {}. Update: {}. Delete: {}.", access_words(entity.create),
                              access_words(entity.read), access_words(entity.update), access_words(entity.remove)));
  out += "\n";
  for (const auto& rule : rules) out += "- " + rule + "\n";
}

void write_attributes(std::string& out, const Model& model) {
  out += "\n## Attributes\n";
  for (const auto& entity : model.entities) {
    out += fmt::format("\n### {}\n\n", entity.name);
    if (!entity.description.empty()) out += entity.description + "\n\n";
    MarkdownTable rows(out, {"attribute", "type", "rules", "description"});
    for (const auto& attribute : entity.attributes) {
      rows.row({code(attribute.name), cell(type_words(attribute.type)), cell(rule_words(entity, attribute)),
                cell(attribute.description)});
    }
    write_parents(out, entity);
    write_rules(out, entity);
  }
}

void write_accepted(std::string& out, const Model& model) {
  if (model.accepted.empty()) return;
  out += "\n## Accepted findings\n\n";
  MarkdownTable rows(out, {"finding", "on", "because"});
  for (const auto& each : model.accepted) rows.row({code(each.finding), cell(each.on), cell(each.because)});
}

}  // namespace

std::string design_document(const Model& model) {
  std::string out = fmt::format("# {}\n\n", model.name);
  if (!model.description.empty()) out += model.description + "\n\n";
  write_table(out, model);
  write_entities(out, model);
  write_keys(out, model);
  write_attributes(out, model);
  write_patterns(out, model);
  write_actions(out, model);
  write_grants(out, model);
  write_accepted(out, model);
  return out;
}

}  // namespace stator::model::generate
