#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "stator/base/result.h"
#include "stator/model/validate.h"

namespace stator::systems::shops {

// What a crawler says of one URL.
struct UrlNews {
  std::string url;             // canonical
  model::PlainObject changes;  // type, hash, standards_used: absent keeps what is known, null clears it
};

struct RefusedUrl {
  std::string url;  // as it was given
  std::string problem;
};

struct UrlBatch {
  std::vector<UrlNews> news;  // each URL once, in the order of first mention
  std::vector<RefusedUrl> refused;
};

// Reads {"urls": ["https://...", {"url": "https://...", "type": "product", "hash": "...", "standards_used": ["json-ld"]}]} for the
// shop of that domain.  URLs are brought into their one spelling; what is said of one several times comes together, later words
// winning.  A URL that cannot be taken is refused alone.  `known` are the attributes that may be told.
// Errors: Validation, when the body as a whole cannot be read.
Result<UrlBatch> read_url_batch(std::string_view json, std::string_view domain,
                                const std::vector<model::Attribute>& known);

// A URL of the shop in its one spelling.  Errors: Validation.
Result<std::string> url_of_shop(std::string_view text, std::string_view domain);

}  // namespace stator::systems::shops
