#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "stator/app/rest/extension.h"
#include "stator/base/random.h"
#include "stator/runtime/dynamo/dynamo.h"
#include "stator/runtime/problem.h"
#include "stator/systems/media-library/change_feed.h"
#include "stator/systems/media-library/search_indexes.h"

namespace stator::systems::media_library {

// Searches the libraries that a user owns and those shared with the user.  Shares are looked up at each search, so an
// unshared library is not found any more.  A search finds every item written before it began, as far as the table's
// stream has it.  Thread-safe.
class Search {
 public:
  explicit Search(const app::ExtensionParts& parts);

  Result<http::Response, runtime::Problem> search(const app::NativeCall& call);

  // Owners of shared libraries that are looked at in one search; the answer says `incomplete` when there are more, or
  // when one of them has too much to be searched, which must not keep others from searching.
  static constexpr std::size_t kMostOwners = 100;

 private:
  struct Found {
    SearchIndex::Hit hit;
    std::string owner;
  };
  // Owner -> the owner's shared libraries.
  struct Shares {
    std::map<std::string, std::set<std::string>> by_owner;
    bool all = true;
  };

  Result<Shares, runtime::Problem> shares_of(const std::string& user) const;
  Result<std::vector<Found>, runtime::Problem> find(const std::string& user, Shares& shares,
                                                    const SearchIndex::Query& query);
  // The items as they are now, in the same order, without those that are gone.
  Result<std::vector<runtime::Object>, runtime::Problem> fetch(const std::vector<Found>& found);

  const app::ExtensionParts parts_;
  Random random_ = Random::from_system();
  runtime::Dynamo dynamo_;
  SearchIndexes indexes_;
  ChangeFeed feed_;  // last: its thread tells the indexes
};

}  // namespace stator::systems::media_library
