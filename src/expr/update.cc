#include "stator/expr/update.h"

#include <algorithm>
#include <optional>

#include "stator/base/assert.h"
#include "stator/expr/bindings.h"
#include "stator/value/item_size.h"

namespace stator::expr {

using value::AttributeValue;
using value::Item;
using value::List;
using value::Type;

namespace {

Error missing_attribute() {
  return validation_error("The provided expression refers to an attribute that does not exist in the item");
}
Error wrong_type() { return validation_error("An operand in the update expression has an incorrect data type"); }
Error bad_path() {
  return validation_error("The document path provided in the update expression is invalid for update");
}

// The map or list that has, or could have, the last element of a nested path; nullptr when the path leads nowhere.
template <typename Item>
auto holder_of(Item& item, const Path& path) {
  auto* at = item.find(path.attribute);
  for (std::size_t i = 0; at != nullptr && i + 1 < path.elements.size(); ++i) {
    if (const auto* name = std::get_if<std::string>(&path.elements[i])) {
      auto* map = at->as_map();
      at = map != nullptr ? map->find(*name) : nullptr;
    } else {
      auto* list = at->as_list();
      const auto index = std::get<std::uint32_t>(path.elements[i]);
      at = list != nullptr && index < list->size() ? &(*list)[index] : nullptr;
    }
  }
  return at;
}

template <typename T>
std::vector<T> united(const std::vector<T>& a, const std::vector<T>& b) {
  std::vector<T> result;
  std::ranges::set_union(a, b, std::back_inserter(result));
  return result;
}

template <typename T>
std::vector<T> without(const std::vector<T>& a, const std::vector<T>& b) {
  std::vector<T> result;
  std::ranges::set_difference(a, b, std::back_inserter(result));
  return result;
}

// Applies one update to one item: computes every value from the old item, then writes to a copy of it.
class Application {
 public:
  Application(const Bindings& bindings, const std::vector<Path>& paths, const Item& old, bool item_exists)
      : bindings_(bindings), paths_(paths), old_(old), item_exists_(item_exists) {}

  Result<Item> run() {
    const auto& actions = bindings_.tree->actions;
    for (std::size_t i = 0; i < actions.size(); ++i) TRY(plan(actions[i], paths_[i]));
    item_ = old_;
    write();
    remove();
    TRY(value::check_nesting(item_));
    return std::move(item_);
  }

 private:
  struct Write {
    const Path* path;
    AttributeValue value;
    bool appends;  // to a list that ends before the position named
  };

  // ---- what to do, seen in the old item ----

  Result<void> plan(const Action& action, const Path& path) {
    switch (action.section) {
      case Action::Section::Set: {
        AttributeValue value = TRY(operand(action.value));
        return plan_write(path, std::move(value));
      }
      case Action::Section::Remove: return plan_remove(path);
      case Action::Section::Add: return plan_add(path, bindings_.value(bindings_.node(action.value)));
      case Action::Section::Delete: return plan_delete(path, bindings_.value(bindings_.node(action.value)));
    }
    return {};
  }

  Result<void> plan_write(const Path& path, AttributeValue value) {
    if (!has_place(path)) return bad_path();
    const bool in_list = !path.elements.empty() && std::holds_alternative<std::uint32_t>(path.elements.back());
    const bool appends = in_list && find(old_, path) == nullptr;
    // Written values become part of the item, so values larger than an item need not be built.
    written_bytes_ += value::attribute_size_bytes(path.attribute, value);
    if (written_bytes_ > value::kMaxItemSizeBytes) return value::update_size_error();
    writes_.push_back({&path, std::move(value), appends});
    return {};
  }

  Result<void> plan_remove(const Path& path) {
    if (!has_place(path)) return item_exists_ ? Result<void>(bad_path()) : Result<void>();
    if (find(old_, path) != nullptr) removals_.push_back(&path);
    return {};
  }

  Result<void> plan_add(const Path& path, const AttributeValue& value) {
    if (!has_place(path)) return bad_path();
    const AttributeValue* present = find(old_, path);
    if (present == nullptr) return plan_write(path, value);
    if (present->type() != value.type()) return wrong_type();
    return plan_write(path, TRY(sum(*present, value)));
  }

  static Result<AttributeValue> sum(const AttributeValue& a, const AttributeValue& b) {
    switch (a.type()) {
      case Type::N: return AttributeValue(TRY(a.as_number()->add(*b.as_number())));
      case Type::SS:
        return AttributeValue(value::StringSet{united(a.as_string_set()->members, b.as_string_set()->members)});
      case Type::NS:
        return AttributeValue(value::NumberSet{united(a.as_number_set()->members, b.as_number_set()->members)});
      case Type::BS:
        return AttributeValue(value::BinarySet{united(a.as_binary_set()->members, b.as_binary_set()->members)});
      default: return wrong_type();
    }
  }

  Result<void> plan_delete(const Path& path, const AttributeValue& value) {
    if (!has_place(path)) return bad_path();
    const AttributeValue* present = find(old_, path);
    if (present == nullptr) return {};
    if (present->type() != value.type()) return wrong_type();
    switch (value.type()) {
      case Type::SS:
        return plan_rest(path,
                         value::StringSet{without(present->as_string_set()->members, value.as_string_set()->members)});
      case Type::NS:
        return plan_rest(path,
                         value::NumberSet{without(present->as_number_set()->members, value.as_number_set()->members)});
      case Type::BS:
        return plan_rest(path,
                         value::BinarySet{without(present->as_binary_set()->members, value.as_binary_set()->members)});
      default: return wrong_type();
    }
  }

  // There is no empty set: the attribute goes with its last member.
  template <typename Set>
  Result<void> plan_rest(const Path& path, Set rest) {
    if (!rest.members.empty()) return plan_write(path, AttributeValue(std::move(rest)));
    removals_.push_back(&path);
    return {};
  }

  // Whether everything on the way to the last element is there and can have such an element.
  bool has_place(const Path& path) const {
    if (path.elements.empty()) return true;
    const AttributeValue* holder = holder_of(old_, path);
    if (holder == nullptr) return false;
    const bool in_map = std::holds_alternative<std::string>(path.elements.back());
    return in_map ? holder->as_map() != nullptr : holder->as_list() != nullptr;
  }

  Result<AttributeValue> operand(NodeIndex index) const {
    const Node& node = bindings_.node(index);
    const auto operands = bindings_.tree->operands(node);
    switch (node.op) {
      case Op::Value: return bindings_.value(node);
      case Op::Path: {
        const AttributeValue* value = bindings_.find(node, old_);
        if (value == nullptr) return missing_attribute();
        return *value;
      }
      case Op::IfNotExists: {
        const AttributeValue* value = bindings_.find(bindings_.node(operands[0]), old_);
        if (value != nullptr) return *value;
        return operand(operands[1]);
      }
      case Op::ListAppend: {
        AttributeValue first = TRY(operand(operands[0]));
        AttributeValue second = TRY(operand(operands[1]));
        if (first.as_list() == nullptr || second.as_list() == nullptr) return wrong_type();
        std::ranges::move(*second.as_list(), std::back_inserter(*first.as_list()));
        return first;
      }
      case Op::Plus:
      case Op::Minus: {
        const AttributeValue left = TRY(operand(operands[0]));
        const AttributeValue right = TRY(operand(operands[1]));
        if (left.as_number() == nullptr || right.as_number() == nullptr) return wrong_type();
        return AttributeValue(node.op == Op::Plus ? TRY(left.as_number()->add(*right.as_number()))
                                                  : TRY(left.as_number()->subtract(*right.as_number())));
      }
      default: break;
    }
    STATOR_ASSERT(false, "only operands stand where operands do");
  }

  // ---- doing it ----

  // Paths never overlap, so no write moves another's place, but for elements that are appended: those go in the order
  // of the positions named, after all others.
  void write() {
    std::ranges::sort(writes_, [](const Write& a, const Write& b) {
      if (a.appends != b.appends) return b.appends;
      return a.appends &&
             std::get<std::uint32_t>(a.path->elements.back()) < std::get<std::uint32_t>(b.path->elements.back());
    });
    std::vector<value::AttributeMap::Entry> whole;
    for (Write& write : writes_) {
      if (write.path->elements.empty()) whole.push_back({write.path->attribute, std::move(write.value)});
    }
    item_.set_all(std::move(whole));
    for (Write& write : writes_) {
      if (write.path->elements.empty()) continue;
      AttributeValue& holder = *holder_of(item_, *write.path);  // there, as has_place() saw
      const Path::Element& last = write.path->elements.back();
      if (const auto* name = std::get_if<std::string>(&last)) {
        holder.as_map()->set(*name, std::move(write.value));
      } else if (write.appends) {
        holder.as_list()->push_back(std::move(write.value));
      } else {
        (*holder.as_list())[std::get<std::uint32_t>(last)] = std::move(write.value);
      }
    }
  }

  // From the back, so that positions in a list keep their meaning until they are used.
  void remove() {
    std::ranges::sort(removals_, [](const Path* a, const Path* b) { return a->elements > b->elements; });
    for (const Path* path : removals_) {
      if (path->elements.empty()) {
        item_.erase(path->attribute);
        continue;
      }
      AttributeValue& holder = *holder_of(item_, *path);
      const Path::Element& last = path->elements.back();
      if (const auto* name = std::get_if<std::string>(&last)) {
        holder.as_map()->erase(*name);
      } else {
        List& list = *holder.as_list();
        list.erase(list.begin() + static_cast<std::ptrdiff_t>(std::get<std::uint32_t>(last)));
      }
    }
  }

  const Bindings& bindings_;
  const std::vector<Path>& paths_;
  const Item& old_;
  const bool item_exists_;
  Item item_;
  std::vector<Write> writes_;
  std::size_t written_bytes_ = 0;
  std::vector<const Path*> removals_;
};

// Adds up what DynamoDB charges for an update expression.  The numbers were measured on the service.
class Charge {
 public:
  explicit Charge(const Bindings& bindings) : bindings_(bindings) {}

  std::size_t of(const std::vector<Path>& paths) const {
    constexpr std::size_t kUpdate = 3;
    const auto& actions = bindings_.tree->actions;
    std::size_t bytes = kUpdate;
    for (std::size_t i = 0; i < actions.size(); ++i) bytes += of(actions[i]) + of_target(paths[i]);
    return bytes;
  }

 private:
  // Without its target.
  std::size_t of(const Action& action) const {
    constexpr std::size_t kWrite = 19;
    constexpr std::size_t kClear = 1;
    switch (action.section) {
      case Action::Section::Set:
      case Action::Section::Add: return kWrite + of_operand(bindings_.node(action.value));
      case Action::Section::Remove:
      case Action::Section::Delete: return kClear;
    }
    return 0;
  }

  static std::size_t of_target(const Path& path) {
    constexpr std::size_t kElement = 4;
    std::size_t bytes = path.attribute.size();
    for (const auto& element : path.elements) bytes += kElement + length_of(element);
    return bytes;
  }

  // A path costs its names; the value that it leads to is free.
  static std::size_t of_source(const Path& path) {
    constexpr std::size_t kPath = 1;
    constexpr std::size_t kElement = 14;
    std::size_t bytes = kPath + kElement + path.attribute.size();
    for (const auto& element : path.elements) bytes += kElement + length_of(element);
    return bytes;
  }

  // In bytes: of a name, or of the digits of a position.
  static std::size_t length_of(const Path::Element& element) {
    if (const auto* name = std::get_if<std::string>(&element)) return name->size();
    return std::to_string(std::get<std::uint32_t>(element)).size();
  }

  std::size_t of_operand(const Node& node) const {
    if (node.op == Op::Value) return value::value_size_bytes(bindings_.value(node));
    if (node.op == Op::Path) return of_source(bindings_.path(node));
    std::size_t bytes = of_function(node.op);
    for (const auto operand : bindings_.tree->operands(node)) bytes += of_operand(bindings_.node(operand));
    return bytes;
  }

  static std::size_t of_function(Op op) {
    switch (op) {
      case Op::Plus: return 34;
      case Op::Minus: return 37;
      case Op::ListAppend: return 37;
      case Op::IfNotExists: return 39;
      default: break;
    }
    STATOR_ASSERT(false, "only operands stand where operands do");
  }

  const Bindings& bindings_;
};

}  // namespace

Update::Update(std::shared_ptr<const Bindings> bindings, std::vector<Path> paths)
    : bindings_(std::move(bindings)), paths_(std::make_shared<const std::vector<Path>>(std::move(paths))) {}

Update Update::from_tree(std::shared_ptr<const Tree> tree, std::shared_ptr<const Placeholders> placeholders) {
  auto bindings = bind(std::move(tree), std::move(placeholders));
  STATOR_ASSERT(bindings->is_complete(), "a tree from a program has all its names and values");
  std::vector<Path> paths;
  for (const Action& action : bindings->tree->actions) paths.push_back(bindings->path(bindings->node(action.path)));
  return Update(std::move(bindings), std::move(paths));
}

std::vector<std::string_view> Update::nested_attributes() const {
  return bindings_->attributes(Bindings::Depth::Nested);
}

std::span<const value::AttributeValue* const> Update::values() const { return bindings_->values; }
std::span<const std::string> Update::placeholders() const { return bindings_->tree->values; }
std::span<const std::string* const> Update::names() const { return bindings_->names; }

std::size_t Update::charged_bytes() const { return Charge(*bindings_).of(*paths_); }

Result<Item> Update::apply(const Item& old) const { return Application(*bindings_, *paths_, old, true).run(); }
Result<Item> Update::create(const Item& key) const { return Application(*bindings_, *paths_, key, false).run(); }

}  // namespace stator::expr
