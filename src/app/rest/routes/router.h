#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "stator/app/rest/request/target.h"
#include "stator/base/result.h"
#include "stator/model/model.h"
#include "stator/model/validate.h"

namespace stator::app {

enum class EntityOperation : std::uint8_t { Create, Get, Put, Update, Delete, Restore, Purge };

struct EntityTarget {
  const model::Entity* entity = nullptr;
  EntityOperation operation = EntityOperation::Get;
};

// The target of a route.
using RouteTarget = std::variant<EntityTarget, const model::Pattern*, const model::Action*>;

// One method on one path.
struct Route {
  // "books" or "{bookId}"; in a query string also the name: status={status}, view=short.
  struct Part {
    std::string name;     // of a query parameter; empty in a path
    std::string text;     // the literal; empty: a capture
    std::string capture;  // the name inside braces; empty: a literal
  };

  std::string method;
  std::string path;   // "/books/{bookId}", without the query
  std::string label;  // "BOOK.create", "books_by_status", "lend": for people, metrics and OpenAPI
  std::vector<Part> segments;
  std::vector<Part> query;  // must all be there
  RouteTarget target;
};

struct RouteMatch {
  const Route* route = nullptr;
  // From the path and from the query parts of the route, decoded.
  std::vector<std::pair<std::string_view, std::string>> captured;
};

// Why there is none: 400, 404, or 405 with the methods that are allowed.
struct RouteMiss {
  int status = 404;
  std::string message;
  std::string allow;
  std::vector<model::ValueProblem> details = {};
};

// The routes of a model.
//
//   entity, path /books/{bookId}   POST /books    GET, PUT, PATCH, DELETE /books/{bookId}
//                                  POST /books/{bookId}/restore    DELETE /books/{bookId}/purge
//   pattern, action                as they say
//
// If several routes match, a literal is preferred to a capture, from left to right, and more query parts to fewer.  An
// entity whose path ends in a literal (/profile) is created by a POST to that path.  Immutable, thread-safe.
class Router {
 public:
  // The model outlives the router.  Errors: Validation, for two routes that match the same requests and for malformed
  // paths.
  static Result<Router> make(const model::Model& model);

  const std::vector<Route>& routes() const { return routes_; }  // the most specific first

  // `path` is below the system's prefix, as sent.  HEAD finds the routes of GET.
  Result<RouteMatch, RouteMiss> find(std::string_view method, std::string_view path,
                                     const QueryParameters& query) const;

  // The message for a query parameter that `route` does not take; it depends on other routes with the same path.
  std::string why_not(const Route& route, std::string_view name, std::string_view text) const;

 private:
  std::vector<Route> routes_;
};

}  // namespace stator::app
