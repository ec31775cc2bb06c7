#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "stator/base/clock.h"
#include "stator/storage/placement.h"
#include "stator/storage/store.h"

namespace stator::storage {

enum class PostgresSharing : std::uint8_t {
  Exclusive,  // one store at a time; others are refused while it is open
  Shared,     // any number of stores at a time; their batches name the keys that they read
};

struct PostgresOptions {
  std::string url;  // postgres://host1,host2/database; other parameters come from PostgreSQL's variables and files
  PostgresSharing sharing = PostgresSharing::Exclusive;
  bool relaxed = false;          // commits are answered before they are on disk
  bool must_exist = false;       // the tables are not made
  std::size_t connections = 24;  // for readers, at least two; commits have their own, one for each lane and at most 16
  std::string holder = {};       // names this process, for the error of others that are refused
  std::string schema = "stator";
  std::uint32_t lanes = 1;  // if the tables are made: a power of two, at most 64.  Tables that are there have theirs.
  std::shared_ptr<const Placement> placement = {};  // of the keys; needed where there are several lanes
  // How long a commit waits for all of its lanes.
  std::chrono::milliseconds lock_patience = std::chrono::seconds(15);
  std::shared_ptr<const Clock> clock = std::make_shared<SystemClock>();  // for its waits
};

bool is_postgres_url(std::string_view url);
// Where a URL leads, for people: never with a password.
std::string described_postgres_url(std::string_view url);
// The URL with *** in the place of its passwords; as described_postgres_url() shows it if they cannot be told apart.
std::string postgres_url_without_passwords(std::string_view url);

// A store in the tables of a PostgreSQL database, reached through libpq, which is loaded now.
//
// Makes the tables when they are not there.  A commit locks the rows of its lanes, and its number is greater than
// theirs, so commits of a lane happen one after another, in all processes.  Lanes that it only read are locked in share
// mode.  A store that was opened exclusively has a fence number, checked inside each commit and with each read: when
// another process has taken over, nothing is written or read here any more, however long this process was stopped.
//
// A snapshot is a read-only transaction on a connection of its own, so their number is bounded: one that finds none
// within five seconds answers Busy to its readers.
//
// When the server does not answer, commits and reads fail with Storage, and at once while that is known.  Readers find
// it again by themselves within a second or two, and commits by recover().  A commit whose connection breaks is looked
// up before anything else happens: it is answered as done if it was done, and repeated if it was not.
//
// Errors: Usage: another process has it open; the role may not make the tables; libpq is missing; a number of lanes
// that cannot be.  Storage.
Result<std::unique_ptr<Store>> open_postgres_store(PostgresOptions options);

// The tables as statements, for databases in which only an administrator may make them.
std::string postgres_schema_script(std::string_view schema = "stator", std::uint32_t lanes = 1);
// Makes the tables if they are not there.  Answers how many lanes they have.  Errors: as open_postgres_store().
Result<std::uint32_t> make_postgres_schema(const PostgresOptions& options);

struct PostgresUpgrade {
  int format = 0;   // of the tables
  int was_for = 0;  // programs of this format could use them before; the same as `format`: nothing was to be done
};
// Ends the time in which programs of an older format can use the tables beside those of the newest one.  Older programs
// that run stop.  Errors: as open_postgres_store().
Result<PostgresUpgrade> upgrade_postgres_schema(const PostgresOptions& options);

}  // namespace stator::storage
