#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stator/value/json.h"

namespace stator::api {

// Reads the members of a request body that has passed check_request(): types are right, so a member of another type
// reads as absent.  So does null, as in the service.
class Request {
 public:
  explicit Request(value::JsonObject object) : object_(object) {}
  // Without members.
  static Request none();

  bool has(std::string_view name) const;
  std::optional<std::string_view> string(std::string_view name) const;
  std::optional<std::int64_t> integer(std::string_view name) const;
  std::optional<bool> boolean(std::string_view name) const;
  std::optional<Request> object(std::string_view name) const;
  std::optional<value::JsonArray> array(std::string_view name) const;
  // The members of a list; none when it is absent.
  std::vector<value::JsonElement> elements(std::string_view name) const;
  std::vector<Request> objects(std::string_view name) const;
  std::optional<value::JsonElement> element(std::string_view name) const;
  value::JsonObject json() const { return object_; }

 private:
  value::JsonObject object_;
};

// A request of one's own, for what reads it after the operation's function has returned.
class KeptRequest {
 public:
  // Errors: Serialization, when it is too large written out in full; Busy.
  static Result<std::shared_ptr<const KeptRequest>> make(const Request& request);
  KeptRequest(const KeptRequest&) = delete;
  KeptRequest& operator=(const KeptRequest&) = delete;

  const Request& request() const { return request_; }

 private:
  KeptRequest() = default;

  value::JsonParser parser_;  // holds what the request points into
  Request request_ = Request::none();
};

}  // namespace stator::api
