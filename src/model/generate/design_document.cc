#include "stator/model/generate/design_document.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string_view>
#include <vector>

#include "stator/model/generate/words.h"

namespace stator::model::generate {
namespace {

// Text inside a table's cell: a bar would end it.
std::string cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

std::string code(std::string_view text) { return text.empty() ? "" : "`" + cell(text) + "`"; }

class MarkdownTable {
 public:
  MarkdownTable(std::string& out, const std::vector<std::string>& heads) : out_(out) {
    row(heads);
    out_ += "|";
    for (std::size_t i = 0; i < heads.size(); ++i) out_ += "---|";
    out_ += "\n";
  }
  void row(const std::vector<std::string>& cells) { out_ += fmt::format("| {} |\n", fmt::join(cells, " | ")); }

 private:
  std::string& out_;
};

std::string names(const std::vector<KeyAttribute>& keys) {
  std::vector<std::string> words;
  for (const auto& key : keys) words.push_back(fmt::format("`{}` ({})", key.name, value::type_name(key.type)));
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string projection_words(const Index& index) {
  switch (index.projection) {
    case Projection::All: return "all attributes";
    case Projection::KeysOnly: return "keys only";
    case Projection::Include: return fmt::format("keys, `{}`", fmt::join(index.included, "`, `"));
  }
  return "";
}

void write_table(std::string& out, const Model& model) {
  const Table& table = model.table;
  out += "## Table\n\n";
  if (!table.description.empty()) out += table.description + "\n\n";
  out += fmt::format("- **Name:** `{}`\n- **Partition key:** {}\n", table.name, names({table.partition}));
  if (table.sort) out += fmt::format("- **Sort key:** {}\n", names({*table.sort}));
  out += fmt::format("- **Type attribute:** `{}`\n- **Version attribute:** `{}`\n", table.type_attribute,
                     table.version_attribute);
  if (table.ttl_attribute) out += fmt::format("- **TTL attribute:** `{}`\n", *table.ttl_attribute);
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
      rows.row({record_words(entity, record), code(record.type), cell(entity.description)});
    }
  }
}

// One row per record that has these keys.
void write_keys_of(std::string& out, const Model& model, std::string_view title,
                   const std::vector<KeyAttribute>& attributes) {
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
  std::vector<KeyAttribute> primary = {model.table.partition};
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
  MarkdownTable rows(out, {"belongs to", "through", "when the parent is deleted"});
  for (const auto& parent : entity.parents) {
    std::vector<std::string> by;
    for (const auto& [theirs, ours] : parent.by)
      by.push_back(theirs == ours ? code(ours) : code(ours) + " = its " + code(theirs));
    auto through = fmt::format("{}", fmt::join(by, ", "));
    if (parent.when) through += " while " + code(parent.when->text());
    if (parent.optional) through += " (optional)";
    rows.row({fmt::format("{} (`{}`)", parent.entity, parent.name), through, on_delete_words(parent)});
  }
}

void write_rules(std::string& out, const Entity& entity) {
  std::vector<std::string> rules;
  if (entity.append_only) rules.emplace_back("Append-only: never updated, and deleted only together with its parent.");
  if (!entity.versioned) rules.emplace_back("Not versioned.");
  if (entity.soft_delete) {
    const auto keep = entity.soft_delete->keep ? fmt::format(", for {} days", entity.soft_delete->keep->count() / 86400)
                                               : std::string(", until it is purged");
    rules.push_back(fmt::format("Deleting sets `{}`{}; it can be restored.", entity.soft_delete->attribute, keep));
  }
  for (const auto& record : entity.records) {
    if (record.when)
      rules.push_back(fmt::format("The record `{}` exists while `{}`.", record.name, record.when->text()));
    if (record.expires)
      rules.push_back(fmt::format("The record `{}` expires at `{}`.", record.name, record.expires->text()));
  }
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

std::string returned_words(const Pattern& pattern) {
  std::vector<std::string> words;
  for (const auto& returned : pattern.returns) {
    words.push_back(returned.record == "main" ? returned.entity
                                              : fmt::format("{} ({})", returned.entity, returned.record));
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

std::string order_words(const Pattern& pattern) {
  const auto one = [](Order order) { return order == Order::Descending ? "descending" : "ascending"; };
  return pattern.order == Order::Asked ? fmt::format("as asked, or {}", one(pattern.default_order))
                                       : one(pattern.order);
}

void write_patterns(std::string& out, const Model& model) {
  if (model.patterns.empty()) return;
  out += "\n## Access patterns\n\n";
  MarkdownTable rows(out, {"pattern", "route", "index", "key condition", "order", "returns", "who", "purpose"});
  for (const auto& pattern : model.patterns) {
    auto condition = code(condition_words(pattern));
    if (pattern.filter) condition += ", filtered by " + code(pattern.filter->text());
    rows.row({code(pattern.name), pattern.path.empty() ? "" : code("GET " + pattern.path),
              pattern.index ? code(*pattern.index) : "table", condition, order_words(pattern),
              cell(returned_words(pattern)), cell(access_words(pattern.access)), cell(pattern.description)});
  }
}

std::string step_words(const Step& step) {
  std::vector<std::string> set;
  for (const auto& assignment : step.set)
    set.push_back(fmt::format("`{}` = `{}`", assignment.attribute, assignment.value.text()));
  std::string words;
  switch (step.kind) {
    case Step::Kind::Read:
      words = fmt::format("read {} as `{}`{}", fmt::join(step.entities, " or "), step.as,
                          step.optional ? ", if there" : "");
      break;
    case Step::Kind::Check:
      words = fmt::format("check `{}`, or answer {} {}: {}", step.that->text(), step.failure.status, step.failure.code,
                          step.failure.message);
      break;
    case Step::Kind::Create:
      words = fmt::format("create {} with {}", fmt::join(step.entities, ""), fmt::join(set, ", "));
      break;
    case Step::Kind::Update: words = fmt::format("update `{}`: {}", step.as, fmt::join(set, ", ")); break;
    case Step::Kind::Delete: words = fmt::format("delete `{}`", step.as); break;
  }
  if (step.when) words += fmt::format(", when `{}`", step.when->text());
  return words;
}

void write_actions(std::string& out, const Model& model) {
  if (model.actions.empty()) return;
  out += "\n## Actions\n";
  for (const auto& action : model.actions) {
    out += fmt::format("\n### {}\n\n`{} {}`, for: {}. {}\n\n", action.name, action.method, action.path,
                       access_words(action.access), action.native ? "In C++." : "One transaction.");
    if (!action.description.empty()) out += action.description + "\n\n";
    int number = 1;
    for (const auto& step : action.steps) out += fmt::format("{}. {}\n", number++, step_words(step));
  }
}

void write_grants(std::string& out, const Model& model) {
  if (model.grants.empty()) return;
  out += "\n## Grants\n\n";
  MarkdownTable rows(out, {"grant", "pointer", "found by", "gives"});
  for (const auto& grant : model.grants) {
    std::vector<std::string> key;
    for (const auto& [theirs, ours] : grant.key) key.push_back(fmt::format("`{}` = `{}`", theirs, ours));
    std::vector<std::string> gives;
    for (const auto& [ours, theirs] : grant.gives) gives.push_back(fmt::format("`{}` = its `{}`", ours, theirs));
    rows.row({code(grant.name), grant.pointer, fmt::format("{}", fmt::join(key, ", ")),
              fmt::format("{}", fmt::join(gives, ", "))});
  }
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
  return out;
}

}  // namespace stator::model::generate
