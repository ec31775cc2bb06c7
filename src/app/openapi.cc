#include "stator/app/openapi.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "stator/app/input.h"
#include "stator/app/system.h"
#include "stator/model/validate.h"
#include "stator/value/json.h"

namespace stator::app {
namespace {

using model::Kind;
using value::JsonWriter;

constexpr std::string_view kPatternOfUlid = "^[0-7][0-9A-HJKMNP-TV-Z]{25}$";

// The keyword in which JSON Schema says a bound, by what is bounded.
struct BoundWords {
  std::string_view min, max;
};
BoundWords bound_words(Kind kind) {
  switch (kind) {
    case Kind::Number:
    case Kind::Integer: return {"minimum", "maximum"};
    case Kind::List:
    case Kind::Set: return {"minItems", "maxItems"};
    case Kind::String:
    case Kind::Email:
    case Kind::Url: return {"minLength", "maxLength"};
    default: return {};  // binary is bounded before it is encoded, which JSON Schema cannot say
  }
}

std::string_view json_type(Kind kind) {
  switch (kind) {
    case Kind::Number: return "number";
    case Kind::Integer: return "integer";
    case Kind::Boolean: return "boolean";
    case Kind::List:
    case Kind::Set: return "array";
    case Kind::Map: return "object";
    case Kind::Any: return "";
    default: return "string";
  }
}

std::string_view json_format(Kind kind) {
  switch (kind) {
    case Kind::Uuid: return "uuid";
    case Kind::Date: return "date";
    case Kind::Timestamp: return "date-time";
    case Kind::Email: return "email";
    case Kind::Url: return "uri";
    case Kind::Domain: return "hostname";
    default: return "";
  }
}

// Writes one document.  The order of members is the order in which people read them.
class Document {
 public:
  Document(const model::Model& model, const Router& router, std::string_view prefix)
      : model_(model), router_(router), prefix_(prefix), json_(out_) {}

  std::string write() && {
    json_.begin_object().key("openapi").string("3.1.0");
    json_.key("info").begin_object().key("title").string(model_.name).key("version").string("1");
    if (!model_.description.empty()) json_.key("description").string(model_.description);
    json_.end_object();
    json_.key("servers").begin_array().begin_object().key("url").string(prefix_).end_object().end_array();
    json_.key("security").begin_array().begin_object().key("token").begin_array().end_array().end_object().end_array();
    write_paths();
    write_components();
    json_.end_object();
    return std::move(out_);
  }

 private:
  // --- schemas

  void write_type(const model::Type& type, std::string_view description = {},
                  const std::optional<value::AttributeValue>& default_value = {}) {
    json_.begin_object();
    if (const auto name = json_type(type.kind); !name.empty()) json_.key("type").string(name);
    if (!description.empty()) json_.key("description").string(description);
    if (const auto format = json_format(type.kind); !format.empty()) json_.key("format").string(format);
    if (type.kind == Kind::Ulid) json_.key("pattern").string(kPatternOfUlid);
    if (type.kind == Kind::Binary) json_.key("contentEncoding").string("base64");
    if (type.kind == Kind::Set) json_.key("uniqueItems").boolean(true);
    if (type.kind == Kind::Enum) {
      json_.key("enum").begin_array();
      for (const auto& value : type.values) json_.string(value);
      json_.end_array();
    }
    const auto [min, max] = bound_words(type.kind);
    if (type.min && !min.empty()) json_.key(min).raw(type.min->to_string());
    if (type.max && !max.empty()) json_.key(max).raw(type.max->to_string());
    if (type.step) json_.key("multipleOf").raw(type.step->to_string());
    if (type.pattern) json_.key("pattern").string(fmt::format("^(?:{})$", *type.pattern));
    if (json_type(type.kind) == "array") {
      json_.key("items");
      if (type.element != nullptr) {
        write_type(*type.element);
      } else {
        json_.begin_object().end_object();
      }
    }
    if (!type.shape.empty()) {
      write_properties(type.shape, [](const model::Attribute&) { return true; }, /*nullable=*/false);
      json_.key("additionalProperties").boolean(false);
    }
    if (default_value) {
      std::string text;
      model::append_plain_json(text, *default_value);
      json_.key("default").raw(text);
    }
    json_.end_object();
  }

  // "properties" and "required" of an object that is being written.
  template <typename Chosen>
  void write_properties(const std::vector<model::Attribute>& attributes, Chosen chosen, bool nullable) {
    json_.key("properties").begin_object();
    for (const auto& attribute : attributes) {
      if (!chosen(attribute)) continue;
      json_.key(attribute.name);
      if (nullable) {
        json_.begin_object().key("anyOf").begin_array();
        write_type(attribute.type, attribute.description);
        json_.begin_object().key("type").string("null").end_object().end_array().end_object();
      } else {
        write_type(attribute.type, attribute.description, attribute.default_value);
      }
    }
    json_.end_object();
    const auto is_required = [&](const model::Attribute& attribute) {
      return chosen(attribute) && attribute.required && !attribute.default_value && !attribute.next;
    };
    if (nullable || std::ranges::none_of(attributes, is_required)) return;
    json_.key("required").begin_array();
    for (const auto& attribute : attributes) {
      if (is_required(attribute)) json_.string(attribute.name);
    }
    json_.end_array();
  }

  void write_reference(std::string_view schema) {
    json_.begin_object().key("$ref").string(fmt::format("#/components/schemas/{}", schema)).end_object();
  }

  // What is served of an entity.
  void write_entity_schema(const model::Entity& entity) {
    json_.key(entity.name).begin_object().key("type").string("object");
    if (!entity.description.empty()) json_.key("description").string(entity.description);
    json_.key("properties").begin_object();
    for (const auto& attribute : entity.attributes) {
      if (attribute.hidden || attribute.transient) continue;
      json_.key(attribute.name);
      write_type(attribute.type, attribute.description);
    }
    const auto& table = model_.table;
    if (entity.find_attribute(table.type_attribute) == nullptr) {
      json_.key(table.type_attribute).begin_object().key("const").string(entity.name).end_object();
    }
    if (entity.versioned && entity.find_attribute(table.version_attribute) == nullptr) {
      json_.key(table.version_attribute).begin_object().key("type").string("integer").end_object();
    }
    json_.end_object().end_object();
  }

  // What a request may set.
  static bool settable(const model::Entity& entity, const model::Attribute& attribute) {
    return !attribute.computed() && attribute.name != entity.owner &&
           entity.path.find(fmt::format("{{{}}}", attribute.name)) == std::string::npos;
  }

  void write_components() {
    json_.key("components").begin_object();
    json_.key("securitySchemes").begin_object().key("token").begin_object();
    json_.key("type").string("http").key("scheme").string("bearer").key("bearerFormat").string("JWT");
    json_.end_object().end_object();
    json_.key("schemas").begin_object();
    for (const auto& entity : model_.entities) write_entity_schema(entity);
    json_.key("Problem").raw(
        R"({"type":"object","required":["code","message","details"],"properties":{"code":{"type":"string"},)"
        R"("message":{"type":"string"},"details":{"type":"array","items":{"type":"object","required":["attribute",)"
        R"("problem"],"properties":{"attribute":{"type":"string"},"problem":{"type":"string"}}}}}})");
    json_.end_object().end_object();
  }

  // --- routes

  void write_paths() {
    // Routes that only their query strings tell apart are one operation to OpenAPI: the one that asks for the least.
    std::map<std::string, std::map<std::string, const Route*>> paths;
    for (const auto& route : router_.routes()) paths[route.path].insert_or_assign(lower(route.method), &route);
    json_.key("paths").begin_object();
    for (const auto& [path, methods] : paths) {
      json_.key(path).begin_object();
      for (const auto& [method, route] : methods) {
        json_.key(method);
        write_operation(*route);
      }
      json_.end_object();
    }
    json_.end_object();
  }

  static std::string lower(std::string_view text) {
    std::string out(text);
    std::ranges::transform(out, out.begin(),
                           [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    return out;
  }

  void write_operation(const Route& route) {
    json_.begin_object().key("operationId").string(route.label);
    std::visit([&](const auto& target) { write_target(route, target); }, route.target);
    json_.end_object();
  }

  void write_description(std::string_view summary, std::string_view description, std::string_view tag) {
    json_.key("summary").string(summary);
    if (!description.empty()) json_.key("description").string(description);
    json_.key("tags").begin_array().string(tag).end_array();
  }

  void write_public(bool anyone) {
    if (anyone) json_.key("security").begin_array().end_array();
  }

  void write_parameter(std::string_view in, std::string_view name, bool required, const model::Type& type,
                       std::string_view description = {}) {
    json_.begin_object().key("name").string(name).key("in").string(in);
    if (!description.empty()) json_.key("description").string(description);
    if (required) json_.key("required").boolean(true);
    json_.key("schema");
    write_type(type);
    json_.end_object();
  }

  void write_path_parameters(const Route& route, const std::vector<model::Attribute>& attributes) {
    const model::Type text;
    for (const auto& part : route.segments) {
      if (part.capture.empty()) continue;
      const auto known = std::ranges::find(attributes, part.capture, &model::Attribute::name);
      write_parameter("path", part.capture, true, known != attributes.end() ? known->type : text);
    }
  }

  void write_header(std::string_view name, std::string_view description) {
    write_parameter("header", name, false, model::Type{}, description);
  }

  void write_answer(std::string_view status, std::string_view description, std::string_view schema) {
    json_.key(status).begin_object().key("description").string(description);
    if (!schema.empty()) {
      json_.key("content").begin_object().key("application/json").begin_object().key("schema");
      write_reference(schema);
      json_.end_object().end_object();
    }
    json_.end_object();
  }

  void write_list_answer(const model::Pattern& pattern) {
    json_.key("200").begin_object().key("description").string("One page of the list");
    json_.key("content").begin_object().key("application/json").begin_object().key("schema").begin_object();
    json_.key("type").string("object").key("required").begin_array().string("items").end_array();
    json_.key("properties").begin_object().key("items").begin_object().key("type").string("array").key("items");
    write_returned(pattern);
    json_.end_object();
    json_.key("nextToken")
        .begin_object()
        .key("type")
        .string("string")
        .key("description")
        .string("There is more: ask again with it")
        .end_object();
    json_.end_object().end_object().end_object().end_object().end_object();
  }

  void write_returned(const model::Pattern& pattern) {
    std::vector<std::string_view> names;
    for (const auto& returned : pattern.returns) {
      if (std::ranges::find(names, returned.entity) == names.end()) names.push_back(returned.entity);
    }
    if (names.size() == 1) return write_reference(names.front());
    json_.begin_object().key("anyOf").begin_array();
    for (const auto name : names) write_reference(name);
    json_.end_array().end_object();
  }

  void write_problems(std::initializer_list<std::string_view> statuses) {
    static const std::map<std::string_view, std::string_view> kMeanings = {
        {"400", "Something in the request is wrong; details tells what"},
        {"401", "No token, or one that is not valid"},
        {"403", "One may see it, and lacks the right"},
        {"404", "There is no such thing, or not for this caller"},
        {"409", "It conflicts with what is there"},
        {"412", "If-Match or If-None-Match does not hold"},
    };
    for (const auto status : statuses) write_answer(status, kMeanings.at(status), "Problem");
  }

  void write_include_deleted(const Route& route) {
    if (!takes_include_deleted(model_, route)) return;
    model::Type boolean;
    boolean.kind = Kind::Boolean;
    write_parameter("query", kIncludeDeleted, false, boolean, "Also what is deleted and can be restored");
  }

  template <typename Chosen>
  void write_body(const std::vector<model::Attribute>& attributes, Chosen chosen, bool nullable) {
    json_.key("requestBody").begin_object().key("required").boolean(true).key("content").begin_object();
    json_.key("application/json").begin_object().key("schema").begin_object().key("type").string("object");
    write_properties(attributes, chosen, nullable);
    json_.key("additionalProperties").boolean(false);
    json_.end_object().end_object().end_object().end_object();
  }

  void write_target(const Route& route, const EntityTarget& target) {
    const auto& entity = *target.entity;
    using Operation = EntityOperation;
    const auto operation = target.operation;
    const auto word = route.label.substr(route.label.rfind('.') + 1);
    write_description(fmt::format("{} {}", word, entity.name), entity.description, entity.name);
    write_public(operation == Operation::Get && entity.read.anyone);
    json_.key("parameters").begin_array();
    write_path_parameters(route, entity.attributes);
    if (operation == Operation::Create) write_header("Idempotency-Key", "The same key gets the same answer, for a day");
    if (operation == Operation::Get && entity.versioned)
      write_header("If-None-Match", "An ETag; 304 while it is current");
    if (operation != Operation::Get && operation != Operation::Create && entity.versioned) {
      write_header("If-Match", "The ETag of the version that is to be changed");
    }
    if (operation == Operation::Put) write_header("If-None-Match", "*: only create it, never change it");
    write_include_deleted(route);
    json_.end_array();
    const auto chosen = [&](const model::Attribute& attribute) {
      return settable(entity, attribute) && !(operation == Operation::Update && attribute.immutable);
    };
    const bool merges = operation == Operation::Update || operation == Operation::Put;
    if (operation == Operation::Create || merges) {
      const auto in_collection = [&](const model::Attribute& attribute) {
        const auto capture = fmt::format("{{{}}}", attribute.name);
        // A name at the end of the path that nobody generates is given when it is created.
        const bool at_the_end = entity.path.find(capture) != std::string::npos &&
                                entity.collection_path().find(capture) == std::string::npos;
        return chosen(attribute) || (operation == Operation::Create && !attribute.computed() && at_the_end &&
                                     attribute.name != entity.owner);
      };
      write_body(entity.attributes, in_collection, merges);
    }
    json_.key("responses").begin_object();
    switch (operation) {
      case Operation::Create:
        write_answer("201", "Created; Location and ETag are in the head", entity.name);
        write_problems({"400", "401", "403", "404", "409"});
        break;
      case Operation::Get:
        write_answer("200", "It; ETag is in the head", entity.name);
        write_problems({"401", "404"});
        break;
      case Operation::Put:
        write_answer("201", "Created; Location and ETag are in the head", entity.name);
        [[fallthrough]];
      case Operation::Update:
      case Operation::Restore:
        write_answer("200", "It, as it is now", entity.name);
        write_problems({"400", "401", "403", "404", "409", "412"});
        break;
      case Operation::Delete:
      case Operation::Purge:
        write_answer("204", "It is gone", {});
        write_problems({"401", "403", "404", "409", "412"});
        break;
    }
    json_.end_object();
  }

  void write_target(const Route& route, const model::Pattern* pattern) {
    write_description(pattern->name, pattern->description, "patterns");
    write_public(pattern->access.anyone);
    json_.key("parameters").begin_array();
    write_path_parameters(route, pattern->parameters);
    for (const auto& parameter : pattern->parameters) {
      const bool in_path =
          std::ranges::any_of(route.segments, [&](const Route::Part& part) { return part.capture == parameter.name; });
      if (in_path) continue;
      const auto part = std::ranges::find(route.query, parameter.name, &Route::Part::capture);
      const bool named = part != route.query.end();
      write_parameter("query", named ? part->name : parameter.name, named || parameter.required, parameter.type,
                      parameter.description);
    }
    if (pattern->order == model::Order::Asked) {
      model::Type order;
      order.kind = Kind::Enum;
      order.values = {"asc", "desc"};
      write_parameter("query", "order", false, order);
    }
    if (!pattern->single) {
      model::Type limit;
      limit.kind = Kind::Integer;
      limit.min = value::Number::from_int(1);
      limit.max = value::Number::from_int(pattern->max_limit);
      write_parameter("query", "limit", false, limit);
      write_parameter("query", "nextToken", false, model::Type{}, "From the page before");
    }
    write_include_deleted(route);
    json_.end_array();
    json_.key("responses").begin_object();
    if (pattern->single) {
      json_.key("200").begin_object().key("description").string("It; ETag is in the head");
      json_.key("content").begin_object().key("application/json").begin_object().key("schema");
      write_returned(*pattern);
      json_.end_object().end_object().end_object();
    } else {
      write_list_answer(*pattern);
    }
    write_problems({"400", "401", "404"});
    json_.end_object();
  }

  void write_target(const Route& route, const model::Action* action) {
    write_description(action->name, action->description, "actions");
    write_public(action->access.anyone);
    json_.key("parameters").begin_array();
    write_path_parameters(route, action->inputs);
    const bool in_query = inputs_from_query(*action);
    for (const auto& input : action->inputs) {
      const bool in_path =
          std::ranges::any_of(route.segments, [&](const Route::Part& part) { return part.capture == input.name; });
      if (in_query && !in_path) write_parameter("query", input.name, input.required, input.type, input.description);
    }
    write_include_deleted(route);
    if (route.method == "POST") write_header("Idempotency-Key", "The same key gets the same answer, for a day");
    json_.end_array();
    const auto in_body = [&](const model::Attribute& input) {
      return std::ranges::none_of(route.segments, [&](const Route::Part& part) { return part.capture == input.name; });
    };
    if (!in_query && std::ranges::any_of(action->inputs, in_body)) write_body(action->inputs, in_body, false);
    if (!action->accepts.empty()) {
      json_.key("requestBody").begin_object().key("required").boolean(true).key("content").begin_object();
      for (const auto& type : action->accepts) json_.key(type).begin_object().end_object();
      json_.end_object().end_object();
    }
    json_.key("responses").begin_object();
    const auto step = std::ranges::find_if(action->steps, [&](const model::Step& s) { return s.as == action->result; });
    if (action->native) {
      write_answer("200", "Done", {});
    } else if (!action->result || step == action->steps.end() || step->entities.empty()) {
      write_answer("204", "Done", {});
    } else {
      const bool created = step->kind == model::Step::Kind::Create;
      write_answer(created ? "201" : "200", "Done", step->entities.front());
    }
    write_problems({"400", "401", "403", "404", "409"});
    json_.end_object();
  }

  const model::Model& model_;
  const Router& router_;
  const std::string_view prefix_;
  std::string out_;
  JsonWriter json_;
};

}  // namespace

std::string openapi_document(const model::Model& model, const Router& router, std::string_view prefix) {
  return Document(model, router, prefix).write();
}

}  // namespace stator::app
