#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "stator/base/byte_source.h"
#include "stator/base/result.h"
#include "stator/model/json_reader.h"
#include "stator/model/validate.h"

namespace stator::systems::shops {

// The report of a crawler about one URL.
struct UrlNews {
  std::string url;             // canonical
  model::PlainObject changes;  // type, hash, standards_used: absent keeps the known value, null clears it
};

// One entry of a batch: news, or why it is refused.
struct UrlEntry {
  std::int64_t index = 0;  // its place in the list, from 0
  UrlNews news;
  std::string refused_url;  // as it was given, shortened
  std::string problem;      // empty: it is news
};

// Reads {"urls": ["https://...", {"url": "https://...", "type": "product", "hash": "...", "standards_used":
// ["json-ld"]}]} for the shop of that domain, entry by entry.  URLs are brought into their one spelling.  `known` are
// the attributes that may be told.  Confined to one thread.
class UrlBatchReader {
 public:
  // All outlive the reader.
  UrlBatchReader(ByteSource& json, std::string_view domain, const std::vector<model::Attribute>& known)
      : reader_(json, problems_), domain_(domain), known_(known) {}

  // The next entry; nullopt when there is no more.  Errors: Validation, when the body as a whole cannot be read; those
  // of the source.
  Result<std::optional<UrlEntry>> next();

 private:
  Result<UrlEntry> read_entry();
  Result<UrlEntry> read_object();
  // The problem of a member; empty: none.
  Result<std::string> read_member(const std::string& name, model::PlainObject& changes);
  UrlEntry entry(std::string_view url, model::PlainObject changes) const;

  std::vector<model::ValueProblem> problems_;  // of the member that is being read
  model::JsonReader reader_;
  const std::string_view domain_;
  const std::vector<model::Attribute>& known_;
  bool begun_ = false;
  std::int64_t read_ = 0;  // entries
};

// Merges the entries of a batch about the same URL.  Later values win.
//
// All URLs are noted first.  When the batch is read again, a URL with one entry is written at once, and the few with
// several entries are held until its end.  Confined to one thread.
class RepeatedUrls {
 public:
  void note(std::string_view url);
  void end_notes();

  // Whether `news` is held, because the batch has more entries about its URL.
  bool hold(UrlNews& news);
  // The entries that are held, in the order of first mention.
  std::vector<UrlNews> take() { return std::move(held_); }

  std::size_t bytes() const { return bytes_; }  // approximately

 private:
  std::size_t bytes_ = 0;
  // Of all URLs; after end_notes(), of URLs with several entries, and of a few with equal hashes.
  std::vector<std::uint64_t> hashes_;
  std::vector<UrlNews> held_;
  std::unordered_map<std::string, std::size_t> places_;  // URL -> its place there
};

// A URL of the shop in its one spelling.  Errors: Validation.
Result<std::string> url_of_shop(std::string_view text, std::string_view domain);

}  // namespace stator::systems::shops
