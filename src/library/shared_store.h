#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "stator/base/result.h"
#include "stator/storage/store.h"

// A store on a database server, for settings and commands.
namespace stator::library {

// Whether it is the address of a kind of store that there is: postgres://host/database.
bool is_store_url(std::string_view url);
// Where it leads, for people: never with a password.
std::string described_store(std::string_view url);
// The address with *** in the place of its passwords.
std::string store_without_passwords(std::string_view url);

enum class IfMissing : std::uint8_t {
  Make,    // makes its tables
  Refuse,  // changes nothing
};
// Opens one that no server uses.  Errors: Usage: one does, or there is no store.  Storage.
Result<std::unique_ptr<storage::Store>> open_store(const std::string& url, IfMissing missing = IfMissing::Make);

// The statements that make the tables of a store with so many lanes: 1, 2, 4, ... 64.
std::string store_schema(std::uint32_t lanes);
// Makes them if they are not there.  Answers how many lanes they have.  Errors: Usage: the role may not, or libpq is
// missing, or there cannot be so many lanes.  Storage.
Result<std::uint32_t> make_store(const std::string& url, std::uint32_t lanes);
// Gives the tables the newest form for good: older programs cannot use them any more.  Answers a report for people.
// Errors: as make_store().
Result<std::string> upgrade_store(const std::string& url);

}  // namespace stator::library
