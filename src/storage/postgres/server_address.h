#pragma once

#include <chrono>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stator/base/result.h"
#include "stator/storage/postgres/libpq.h"

namespace stator::storage::postgres {

// libpq's parameters for one server: its name or address, and everything else in the address of the store.
struct ServerParameters {
  std::vector<std::pair<std::string, std::string>> values;
  std::string place;  // tells it from the others
};

// The servers that the address of a store leads to.
struct ServerAddress {
  std::vector<ServerParameters> servers;  // at least one
  std::chrono::seconds connect_within{5};
};

// Finds the addresses of names: a name can have several.  Parameters that the URL lacks come from PostgreSQL's
// variables and service files.  Waits for names no longer than for connections.  Errors: Usage: the URL is wrong.
// Storage: no name has an address.
Result<ServerAddress> read_address(const Libpq& libpq, const std::string& url);

// Where a URL leads, for people: hosts, ports and the database, as libpq understands them, and never a password.
// postgres://... if that is not sure.  Texts that are no URL of PostgreSQL lose what could be a password, too.
std::string described_url(std::string_view url);
// The URL with *** in the place of its passwords.  If that is not sure, as described_url() shows it.
std::string url_without_passwords(std::string_view url);

}  // namespace stator::storage::postgres
