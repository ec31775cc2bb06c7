#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "stator/storage/store.h"

// The contract of a store, as tests that every backend runs.

namespace stator::storage::testing {

// A place for one store.  The store is opened, closed by destroying it, and opened again; only one is open at a time.
class StorePlace {
 public:
  virtual ~StorePlace() = default;
  // The store, with its earlier contents if it is durable.  Fails the test when it cannot be opened.
  virtual std::unique_ptr<Store> open() = 0;
};
using NewPlace = std::function<std::unique_ptr<StorePlace>()>;

// A place for a store that keeps nothing.
NewPlace place_for(std::function<std::unique_ptr<Store>()> open);

// `count` seeds, the same ones in every run; STATOR_SEED=n in the environment runs that one alone.
std::vector<std::uint64_t> seeds(std::size_t count);

// Random batches, held snapshots, cursors and reopenings, compared step by step with a std::map.
void expect_same_as_map(const NewPlace& new_place, std::uint64_t seed);

// One writer moves amounts between accounts, several readers find the same total on every snapshot, for `commits`
// commits.
void expect_snapshots_whole_under_writes(const NewPlace& new_place, std::size_t readers, std::size_t commits);

// Registers one test per sentence of the contract, named <suite>.<sentence>.  Call it while a variable of namespace
// scope is initialised.  Gives back true, to have something to initialise.
bool register_contract_tests(const std::string& suite, const NewPlace& new_place);

// Everything in a range, in the order of the cursor.  Fails the test if the cursor ends in an error.
using Entries = std::vector<std::pair<Bytes, Bytes>>;
Entries entries(const Snapshot& snapshot, const KeyRange& range = {}, Direction direction = Direction::Forward);

}  // namespace stator::storage::testing
