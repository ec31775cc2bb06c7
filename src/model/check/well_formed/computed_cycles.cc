#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>

#include "stator/model/check/well_formed/well_formed.h"

namespace stator::model {
namespace {

// One attribute among all of a model, and what decides its value.
struct Decided {
  std::string name;  // "CAT.path"
  Position position;
  bool from_other_rows = false;  // it is a copy, a count or a sum
  std::vector<std::size_t> sources;
  std::vector<std::size_t> results;  // whose source it is
  std::size_t undecided_sources = 0;
  bool decided = false;
};

// Which attributes decide which, over all entities and the relations between them.
//
// If no attribute decides itself, the propagation of every change ends, even if rows refer to each other in a circle.
class Decisions {
 public:
  explicit Decisions(const Model& model) {
    for (const auto& entity : model.entities) {
      for (const auto& attribute : entity.attributes) {
        numbers_.emplace(&attribute, all_.size());
        all_.push_back({.name = fmt::format("{}.{}", entity.name, attribute.name),
                        .position = attribute.position,
                        .from_other_rows = attribute.copy_of || attribute.count || attribute.sum,
                        .sources = {},
                        .results = {}});
      }
    }
    for (const auto& entity : model.entities) {
      for (const auto& attribute : entity.attributes) add_sources(entity, attribute);
    }
  }

  // Shows `visit` attributes that decide themselves, each time in the order in which they are computed from each other.
  void for_each_cycle(const std::function<void(const std::vector<const Decided*>&)>& visit) {
    std::vector<std::size_t> next;
    for (std::size_t number = 0; number < all_.size(); ++number) {
      if (all_[number].sources.empty()) next.push_back(number);
    }
    decide(std::move(next));
    for (std::size_t number = 0; number < all_.size(); ++number) {
      if (all_[number].decided) continue;
      const auto cycle = cycle_from(number);
      std::vector<const Decided*> shown;
      for (const auto one : cycle) shown.push_back(&all_[one]);
      visit(shown);
      decide(cycle);  // which leaves the others
    }
  }

 private:
  void add_source(const Attribute& result, const Entity& entity, std::string_view name) {
    const Attribute* source = entity.find_attribute(name);
    if (source == nullptr) return;
    const auto from = numbers_.at(source);
    const auto to = numbers_.at(&result);
    all_[to].sources.push_back(from);
    all_[from].results.push_back(to);
    ++all_[to].undecided_sources;
  }

  // Which row a relation leads to, if to any.
  void add_relation(const Attribute& result, const Entity& child, const Parent& relation) {
    for (const auto& [theirs, ours] : relation.by) add_source(result, child, ours);
    if (!relation.when) return;
    for (const auto& path : relation.when->paths()) add_source(result, child, path);
  }

  void add_children(const Attribute& result, const std::vector<Children>& children, std::string_view summed) {
    for (const auto& of : children) {
      if (of.through == nullptr) continue;
      add_relation(result, *of.child, *of.through);
      if (of.child->soft_delete) add_source(result, *of.child, of.child->soft_delete->attribute);
      if (!summed.empty()) add_source(result, *of.child, summed);
    }
  }

  void add_sources(const Entity& entity, const Attribute& attribute) {
    if (attribute.derived) {
      for (const auto& path : attribute.derived->paths()) add_source(attribute, entity, path);
    }
    if (attribute.copy_of) {
      const Parent* relation = attribute.copy_of->through;
      if (relation == nullptr || relation->to == nullptr) return;
      add_relation(attribute, entity, *relation);
      add_source(attribute, *relation->to, attribute.copy_of->attribute);
    }
    if (attribute.next && attribute.next->through != nullptr) add_relation(attribute, entity, *attribute.next->through);
    if (attribute.count) add_children(attribute, attribute.count->of, {});
    if (attribute.sum) add_children(attribute, attribute.sum->of, attribute.sum->attribute);
  }

  // Marks these as decided, and then all attributes whose sources are all decided.
  void decide(std::vector<std::size_t> next) {
    while (!next.empty()) {
      auto& one = all_[next.back()];
      next.pop_back();
      if (std::exchange(one.decided, true)) continue;
      for (const auto result : one.results) {
        if (--all_[result].undecided_sources == 0) next.push_back(result);
      }
    }
  }

  // Each undecided attribute has an undecided source, so the path from source to source is a cycle.
  std::vector<std::size_t> cycle_from(std::size_t start) const {
    std::vector<std::size_t> path;
    std::map<std::size_t, std::size_t> places;
    auto at = start;
    while (places.emplace(at, path.size()).second) {
      path.push_back(at);
      const auto& sources = all_[at].sources;
      at = *std::find_if(sources.begin(), sources.end(), [&](std::size_t source) { return !all_[source].decided; });
    }
    path.erase(path.begin(), path.begin() + static_cast<std::ptrdiff_t>(places.at(at)));
    std::rotate(path.begin(), std::min_element(path.begin(), path.end()), path.end());
    return path;
  }

  std::vector<Decided> all_;  // in the order of the file
  std::map<const Attribute*, std::size_t> numbers_;
};

}  // namespace

void check_cycles(const Model& model, Report& report) {
  Decisions(model).for_each_cycle([&](const std::vector<const Decided*>& cycle) {
    std::vector<std::string_view> others;
    for (const auto* one : cycle) others.push_back(one->name);
    others.erase(others.begin());
    auto message = fmt::format("{} is computed from itself", cycle.front()->name);
    if (!others.empty()) message += fmt::format(", by way of {}", fmt::join(others, ", "));
    const bool leaves_the_row =
        std::any_of(cycle.begin(), cycle.end(), [](const Decided* one) { return one->from_other_rows; });
    if (leaves_the_row)
      message += "; rows that depend on each other would be computed without end, so let an action set one of them";
    report.error(cycle.front()->position, "computed-cycle", std::move(message), leaves_the_row ? "internal: true" : "");
  });
}

}  // namespace stator::model
