#include "stator/library/shared_store.h"

#include <fmt/format.h>

#include "stator/engine/keyspace.h"
#include "stator/storage/postgres/postgres_store.h"

namespace stator::library {

bool is_store_url(std::string_view url) { return storage::is_postgres_url(url); }
std::string described_store(std::string_view url) { return storage::described_postgres_url(url); }
std::string store_without_passwords(std::string_view url) { return storage::postgres_url_without_passwords(url); }
Result<std::unique_ptr<storage::Store>> open_store(const std::string& url, IfMissing missing) {
  return storage::open_postgres_store(
      {.url = url, .must_exist = missing == IfMissing::Refuse, .placement = std::make_shared<engine::KeyPlacement>()});
}
std::string store_schema(std::uint32_t lanes) { return storage::postgres_schema_script("stator", lanes); }
Result<std::uint32_t> make_store(const std::string& url, std::uint32_t lanes) {
  return storage::make_postgres_schema({.url = url, .lanes = lanes});
}
Result<std::string> upgrade_store(const std::string& url) {
  const auto done = TRY(storage::upgrade_postgres_schema({.url = url}));
  if (done.was_for == done.format) return fmt::format("the store has format {}; there was nothing to do", done.format);
  return fmt::format("the store has format {}; Stators that know only format {} have stopped", done.format,
                     done.format - 1);
}

}  // namespace stator::library
