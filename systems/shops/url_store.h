#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "stator/base/random.h"
#include "stator/client/client.h"
#include "stator/model/model.h"
#include "stator/runtime/dynamo/dynamo.h"
#include "stator/runtime/problem.h"
#include "stator/systems/shops/url_batch.h"

namespace stator::systems::shops {

// Which URLs an upsert created, changed, and found as they were.
struct UpsertReport {
  std::vector<std::string> created, changed, unchanged;
};

// Writes URLs in bulk, with the same effect as the repository, but in chunks as large as DynamoDB's transactions.
//
// A chunk is read with one request and written with one, together with the shop's count of URLs; URLs without a change
// are not written.  Each write requires that the rows are as they were read, so that a lost race is seen and the chunk
// is read again. Blocking, thread-safe.
class UrlStore {
 public:
  static constexpr std::size_t kChunk = 99;  // and the shop: a transaction takes 100

  UrlStore(const model::Model& model, client::Client& client, const Clock& clock);  // all outlive the store

  // The identity of a URL's row, for the repository.
  static value::Item naming(std::string_view domain, const std::string& url);

  // Chunk by chunk.  After a problem, the chunks before it stay written, and the whole call can be repeated.
  // Problems: NotFound (the shop is gone), Contention, and those of the database.
  Result<UpsertReport, runtime::Problem> upsert(const std::string& domain, std::vector<UrlNews> news);

 private:
  struct Plan;

  Result<void, runtime::Problem> upsert_chunk(const std::string& domain, std::span<UrlNews> chunk,
                                              UpsertReport& report);
  Result<Plan, runtime::Problem> plan(const std::string& domain, std::span<const UrlNews> chunk);
  Result<runtime::RowWrite, runtime::Problem> to_write(const value::Item& attributes, const value::Item* before) const;
  runtime::RowWrite count_write(const std::string& domain, std::size_t created) const;

  const model::Model& model_;
  const model::Entity& url_;
  const model::Entity& shop_;
  Random random_;
  runtime::Dynamo dynamo_;
};

}  // namespace stator::systems::shops
