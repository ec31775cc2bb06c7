// Feeds arbitrary text to the formats that the systems take from people: CSV, Twee, HTML of Twine, domains and web
// addresses.  Never a crash; what was read as CSV can be written and read again, and a normal form is its own normal
// form.  The first byte chooses, the rest is the text.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "stator/model/types/web_address.h"
#include "stator/systems/media-library/csv.h"
#include "stator/systems/stories/test_twee.h"
#include "stator/systems/stories/twine_archive.h"

namespace {

namespace model = stator::model;
using namespace stator::systems;

void require(bool condition) {
  if (!condition) std::abort();
}

std::vector<media_library::CsvRow> read_csv(std::string_view text) {
  stator::TextSource source(text);
  media_library::CsvReader reader(source);
  std::vector<media_library::CsvRow> rows;
  while (auto row = reader.next().value()) rows.push_back(std::move(*row));
  return rows;
}

std::string written(const std::vector<media_library::CsvRow>& rows) {
  std::string text;
  for (const auto& row : rows) media_library::append_csv(text, row.fields);
  return text;
}

// Not the same rows: what a spreadsheet would take for a formula is written with an apostrophe in front.
void check_csv(std::string_view text) {
  auto rows = read_csv(text);
  std::erase_if(rows, [](const auto& row) { return !row.problem.empty(); });
  const auto once = written(rows);
  const auto again = read_csv(once);
  require(again.size() == rows.size() && written(again) == once);
}

void check_twee(std::string_view text) {
  const auto story = stories::read_twee(text);
  if (!story) return;
  require(story->passages.size() <= 10'000);
  stories::write_twee(*story);
}

void check_twine(std::string_view text) {
  stator::TextSource source(text);
  stories::TwineReader reader(source);
  for (std::size_t passages = 0;; ++passages) {
    const auto passage = reader.next();
    if (!passage || !*passage) return;
    require(passages < stories::kMostPassages && (*passage)->story < reader.stories().size());
  }
}

void check_addresses(std::string_view text) {
  if (const auto domain = model::normal_domain(text)) {
    require(model::normal_domain(*domain).value() == *domain && model::belongs_to(*domain, *domain));
  }
  if (const auto address = model::canonical_url(text)) {
    const auto again = model::canonical_url(address->url);
    require(again.ok() && again->url == address->url && again->host == address->host);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text(reinterpret_cast<const char*>(data + 1), size - 1);
  switch (data[0] % 4) {
    case 0: check_csv(text); break;
    case 1: check_twee(text); break;
    case 2: check_twine(text); break;
    default: check_addresses(text);
  }
  return 0;
}
