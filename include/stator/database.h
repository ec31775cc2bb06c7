#pragma once

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

namespace stator {

struct DatabaseOptions {
  std::string data_folder = "./stator-data";
  bool in_memory = false;            // keep nothing; data_folder is not used
  bool relaxed_durability = false;   // answer a write before it is on disk; the disk follows within milliseconds
  std::string region = "us-east-1";  // what ARNs say
};

class OpenError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// A DynamoDB inside your process: the same operations, JSON and errors as over the wire, without the wire.
//
//   stator::Database database({.in_memory = true});
//   auto answer = database.call("ListTables", "{}");
//
// Thread-safe.
class Database {
 public:
  explicit Database(const DatabaseOptions& options = {});  // throws OpenError
  ~Database();

  struct Answer {
    bool ok = false;
    std::string body;        // the operation's answer, or {"__type":...,"message":...}
    std::string error_name;  // "ResourceNotFoundException"; empty when ok
  };
  // Runs one operation, such as "PutItem", with its JSON body.
  Answer call(std::string_view operation, std::string_view json);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace stator
