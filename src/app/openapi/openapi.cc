#include "stator/app/openapi/openapi.h"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "stator/app/openapi/openapi_operation.h"
#include "stator/app/openapi/openapi_schema.h"
#include "stator/value/json.h"

namespace stator::app {
namespace {

using value::JsonWriter;

// Routes whose paths differ at most in the names of their captures: one path to OpenAPI.
struct PathItem {
  std::string path;                                    // of the first of them
  std::vector<std::string> names;                      // of its captures
  std::map<std::string, OpenApiOperation> operations;  // by method, in lower case
};

// "/books/{bookId}" is "/books/{}".
std::string shape_of(const Route& route) {
  std::string shape;
  for (const auto& part : route.segments) shape += '/' + (part.capture.empty() ? part.text : std::string("{}"));
  return shape.empty() ? "/" : shape;
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return out;
}

void add_route(PathItem& item, const model::Model& model, const Route& route) {
  if (item.path.empty()) {
    item.path = route.path;
    for (const auto& part : route.segments) {
      if (!part.capture.empty()) item.names.push_back(part.capture);
    }
  }
  auto operation = describe(model, route, item.names);
  const auto [there, added] = item.operations.try_emplace(lower(route.method), operation);
  if (!added) merge(there->second, std::move(operation));
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
    // A model does not say it, and linters ask for it.  NOASSERTION is the word of SPDX for that.
    json_.key("license").begin_object().key("name").string("Not stated");
    json_.key("identifier").string("NOASSERTION").end_object();
    json_.end_object();
    json_.key("servers").begin_array().begin_object().key("url").string(prefix_).end_object().end_array();
    json_.key("security").begin_array().begin_object().key("token").begin_array().end_array().end_object().end_array();
    write_paths();
    write_components();
    json_.end_object();
    return std::move(out_);
  }

 private:
  void write_paths() {
    std::map<std::string, PathItem> items;  // by shape
    for (const auto& route : router_.routes()) add_route(items[shape_of(route)], model_, route);
    json_.key("paths").begin_object();
    for (const auto& [shape, item] : items) {
      json_.key(item.path).begin_object();
      for (const auto& [method, operation] : item.operations) write_operation(json_.key(method), operation);
      json_.end_object();
    }
    json_.end_object();
  }

  void write_components() {
    json_.key("components").begin_object();
    json_.key("securitySchemes").begin_object().key("token").begin_object();
    json_.key("type").string("http").key("scheme").string("bearer").key("bearerFormat").string("JWT");
    json_.end_object().end_object();
    json_.key("schemas").begin_object();
    for (const auto& entity : model_.entities) {
      if (out_.find(reference_to(entity.name)) != std::string::npos) {
        json_.key(entity.name).raw(served_schema(model_, entity));
      }
    }
    json_.key("Problem").raw(
        R"({"type":"object","required":["code","message","details"],"properties":{"code":{"type":"string"},)"
        R"("message":{"type":"string"},"details":{"type":"array","items":{"type":"object","required":["attribute",)"
        R"("problem"],"properties":{"attribute":{"type":"string"},"problem":{"type":"string"}}},"maxItems":100},)"
        R"("more":{"type":"integer","minimum":1,"description":"Problems beside those in details"}}})");
    json_.end_object().end_object();
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
