#include "stator/model/check/check_shared.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <utility>

#include "stator/base/article.h"
#include "stator/model/check/checked_pattern.h"
#include "stator/model/check/proof/forgery.h"
#include "stator/model/check/proof/keys.h"
#include "stator/model/check/rules.h"

namespace stator::model {
namespace {

std::string spell(const std::vector<KeyDesign>& keys) {
  std::vector<std::string> texts;
  for (const auto& key : keys) texts.push_back(fmt::format("{}:{}", key.name, value::type_name(key.type)));
  return fmt::format("[{}]", fmt::join(texts, ", "));
}

std::string spell(const IndexDesign* index) {
  if (index == nullptr) return "absent";
  auto included = index->included;
  std::sort(included.begin(), included.end());
  return fmt::format("{} {}, {}, projection {}", index->local ? "local" : "global", spell(index->partition),
                     spell(index->sort),
                     index->projection == ProjectionKind::All        ? "all"
                     : index->projection == ProjectionKind::KeysOnly ? "keys"
                                                                     : fmt::format("[{}]", fmt::join(included, ", ")));
}

std::string_view spell(StreamView view) {
  switch (view) {
    case StreamView::None: return "none";
    case StreamView::KeysOnly: return "keys_only";
    case StreamView::NewImage: return "new_image";
    case StreamView::OldImage: return "old_image";
    case StreamView::NewAndOldImages: return "new_and_old_images";
  }
  return {};
}

class SharedTable {
 public:
  SharedTable(const Model& first, const Model& second, const CheckLimits& limits)
      : first_(first), second_(second), report_(second.file), steps_(limits.steps, limits.stop) {}

  Diagnostics run() && {
    compare_names();
    compare_tables();
    compare_types();
    compare_keys();
    compare_texts();
    compare_reads();
    findings_.conclude(second_.table.position,
                       fmt::format("that it can share the table {} with {}", second_.table.name, first_.name));
    return std::move(report_).take_as_added();
  }

 private:
  void compare_names() {
    if (first_.name != second_.name) return;
    findings_.error({.code = "shared-name", .subject = second_.name, .position = second_.table.position},
                    fmt::format("{} is also called {}, and shares the table {}: neither could tell its reservations "
                                "and its progress from the other's",
                                first_.file, first_.name, first_.table.name),
                    "give one of the models another name");
  }

  void expect_same(const std::string& what, std::string_view ours, std::string_view theirs, Position position) {
    if (ours == theirs) return;
    findings_.error({.code = "shared-table", .subject = second_.table.name, .position = position},
                    fmt::format("{} is {} here and {} in {}, which shares the table", what, ours, theirs, first_.name),
                    "describe the same table in both models: whichever is served first makes it");
  }

  void compare_tables() {
    const auto& ours = second_.table;
    const auto& theirs = first_.table;
    const auto key = [](const TableDesign& table) { return spell(design_keys(table).front().attributes()); };
    const auto ttl = [](const TableDesign& table) { return table.ttl_attribute.value_or("absent"); };
    expect_same("the key", key(ours), key(theirs), ours.position);
    expect_same("type_attribute", ours.type_attribute, theirs.type_attribute, ours.position);
    expect_same("ttl", ttl(ours), ttl(theirs), ours.position);
    expect_same("stream", spell(ours.stream), spell(theirs.stream), ours.position);
    for (const auto& index : ours.indexes) {
      expect_same("index " + index.name, spell(&index), spell(theirs.find_index(index.name)), index.position);
    }
    for (const auto& index : theirs.indexes) {
      if (ours.find_index(index.name) == nullptr) {
        expect_same("index " + index.name, "absent", spell(&index), ours.position);
      }
    }
  }

  void compare_types() {
    for (const auto& row : rows(second_)) {
      const auto [entity, record] = first_.find_row_type(row.record->type);
      if (entity == nullptr) continue;
      findings_.error({.code = "shared-type", .subject = row.name(), .position = row.entity->position},
                      fmt::format("rows of {} have the type {}, and so have rows of {} in {}, which shares the table: "
                                  "each model would take the other's for its own",
                                  row.name(), row.record->type, KeyedRow{entity, record}.name(), first_.name),
                      "give one of them another type: `type: ...`");
    }
  }

  void compare_keys() {
    const auto space = design_keys(second_.table).front();
    if (spell(space.attributes()) != spell(design_keys(first_.table).front().attributes())) return;
    const auto reserves = [](const Model& model) {
      return std::any_of(model.entities.begin(), model.entities.end(),
                         [](const Entity& entity) { return !entity.uniques.empty(); });
    };
    for (const auto& row : rows(second_)) {
      const auto ours = forms(second_, row, space);
      if (!ours) continue;
      const auto keys = languages(*row.entity, *ours, kOrdinary, steps_);
      if (reserves(first_) && !reserves(second_)) {
        report_collision(row, *ours, "a reservation", common_key(keys, reservation_language(space), steps_), space);
      }
      for (const auto& other : rows(first_)) {
        const auto theirs = forms(first_, other, space);
        if (!theirs) continue;
        report_collision(row, *ours, other.name(),
                         common_key(keys, languages(*other.entity, *theirs, kOrdinary, steps_), steps_), space);
      }
    }
    if (!reserves(second_) || reserves(first_)) return;
    for (const auto& row : rows(first_)) {
      const auto theirs = forms(first_, row, space);
      if (!theirs) continue;
      const auto key =
          common_key(languages(*row.entity, *theirs, kOrdinary, steps_), reservation_language(space), steps_);
      if (!key) continue;
      findings_.error({.code = "key-collision", .subject = row.name(), .position = second_.table.position},
                      fmt::format("{} of {}, which shares the table, can have the primary key of a reservation, which "
                                  "keeps a unique value",
                                  row.name(), first_.name),
                      "keys that begin with unique# belong to reservations; use another prefix",
                      spell_key(space.attributes(), *key));
    }
  }

  void compare_texts() {
    const auto space = design_keys(second_.table).front();
    if (spell(space.attributes()) != spell(design_keys(first_.table).front().attributes())) return;
    forge(second_, "", first_, fmt::format(" of {}, which shares the table", first_.name), space);
    forge(first_, fmt::format(" of {}, which shares the table,", first_.name), second_, "", space);
  }

  // Forgeries by texts of `forging` of rows of `other`; `whose` and `of` are words for the messages.
  void forge(const Model& forging, const std::string& whose, const Model& other, const std::string& of,
             const DesignKey& space) {
    const auto exposed = victims(other, space, steps_);
    for (const auto& row : rows(forging)) {
      const auto found = forms(forging, row, space);
      if (!found) continue;
      for (const auto& forgery : forgeries(*row.entity, *found, exposed, steps_)) {
        findings_.error(
            {.code = "forged-key",
             .subject = fmt::format("{}.{}", row.entity->name, forgery.attribute),
             .position = &forging == &second_ ? found->back().front().position : forgery.victim->position},
            fmt::format(
                "{} is in the key of {}{} as it is: a value that contains a separator can give {} the key of {}{}",
                forgery.attribute, row.name(), whose, with_article(row.name()), forgery.victim->name, of),
            fmt::format("write {{{}}}", forgery.attribute), spell_key(space.attributes(), forgery.key));
      }
    }
  }

  void compare_reads() {
    for (const auto& pattern : second_.patterns) {
      find_untold(second_, pattern, first_, pattern.name, fmt::format(" of {}, which shares the table", first_.name),
                  pattern.position);
    }
    for (const auto& pattern : first_.patterns) {
      find_untold(first_, pattern, second_, fmt::format("{} of {}, which shares the table,", pattern.name, first_.name),
                  "", second_.table.position);
    }
  }

  // Rows of `other` that a pattern finds in an index without the type, by which it would know them; `who` and `of` say
  // which is the first model.
  void find_untold(const Model& reading, const Pattern& pattern, const Model& other, const std::string& who,
                   const std::string& of, Position position) {
    const auto& type = reading.table.type_attribute;
    const auto* index = pattern.index != nullptr ? other.table.find_index(pattern.index->name) : nullptr;
    if (index == nullptr || reading.table.projects(*pattern.index, type)) return;
    const CheckedPattern query{reading, pattern, design_key(reading.table, pattern.index), returned_rows(pattern),
                               steps_};
    const auto wanted = conditions(query, kOrdinary);
    const auto space = design_key(other.table, index);
    if (spell(space.attributes()) != spell(query.space.attributes())) return;
    for (const auto& row : rows(other)) {
      const auto theirs = forms(other, row, space);
      const auto key =
          theirs ? common_key(wanted, languages(*row.entity, *theirs, kOrdinary, steps_), steps_) : std::nullopt;
      if (!key) continue;
      findings_.error({.code = "shared-index", .subject = pattern.name, .position = position},
                      fmt::format("{} reads {}, which does not hold {}, and there it also finds {}{}: the rows of the "
                                  "models could not be told apart",
                                  who, index->name, type, row.name(), of),
                      fmt::format("add {} to the projection of {} in both models", type, index->name),
                      spell_key(space.attributes(), *key));
    }
  }

  void report_collision(const KeyedRow& row, const KeyForms& forms, const std::string& other,
                        const std::optional<std::vector<std::string>>& key, const DesignKey& space) {
    if (!key) return;
    findings_.error({.code = "key-collision", .subject = row.name(), .position = forms.back().front().position},
                    fmt::format("{} and {} of {}, which shares the table, can have the same primary key, and then one "
                                "takes the place of the other",
                                row.name(), other, first_.name),
                    "begin one of the keys with a prefix of its own", spell_key(space.attributes(), *key));
  }

  const Model& first_;
  const Model& second_;
  Report report_;
  Steps steps_;
  Findings findings_{report_, steps_};
};

}  // namespace

Diagnostics check_shared(const Model& first, const Model& second, const CheckLimits& limits) {
  if (first.table.name != second.table.name) return {};
  return SharedTable(first, second, limits).run();
}

}  // namespace stator::model
