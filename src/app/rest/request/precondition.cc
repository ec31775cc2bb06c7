#include "stator/app/rest/request/precondition.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string>
#include <vector>

#include "stator/base/trim.h"

namespace stator::app {
namespace {

struct EntityTag {
  bool weak = false;
  std::string_view text;  // between the quotes
};

struct EntityTags {
  bool any = false;
  std::vector<EntityTag> tags;
};

// A tag that cannot be read is left out: it matches nothing.
EntityTags read_tags(std::string_view header) {
  EntityTags tags;
  auto rest = trim(header);
  tags.any = rest == "*";
  while (!rest.empty()) {
    EntityTag tag;
    tag.weak = rest.starts_with("W/");
    if (tag.weak) rest.remove_prefix(2);
    const auto close = rest.starts_with('"') ? rest.find('"', 1) : rest.npos;
    if (close == rest.npos) break;
    tag.text = rest.substr(1, close - 1);
    rest = trim(rest.substr(close + 1));
    if (!rest.empty() && !rest.starts_with(',')) break;
    tags.tags.push_back(tag);
    if (!rest.empty()) rest = trim(rest.substr(1));
  }
  return tags;
}

std::optional<std::uint64_t> version_in(std::string_view text) {
  std::uint64_t version = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), version);
  if (error != std::errc() || std::to_string(version) != text) return std::nullopt;
  return version;
}

}  // namespace

runtime::Precondition precondition_of(const http::Request& request) {
  runtime::Precondition precondition;
  if (const auto header = request.header("If-Match"); !header.empty()) {
    const auto tags = read_tags(header);
    precondition.present = tags.any;
    if (!tags.any) precondition.versions.emplace();
    for (const auto& tag : tags.tags) {
      const auto version = version_in(tag.text);
      if (version && !tag.weak) precondition.versions->push_back(*version);
    }
  }
  const auto tags = read_tags(request.header("If-None-Match"));
  precondition.absent = tags.any;
  for (const auto& tag : tags.tags) {
    if (const auto version = version_in(tag.text)) precondition.other_than.push_back(*version);
  }
  return precondition;
}

bool has_already(const http::Request& request, std::string_view etag) {
  const auto [any, tags] = read_tags(request.header("If-None-Match"));
  return any || std::ranges::any_of(tags, [&](const EntityTag& tag) {
           return etag.size() == tag.text.size() + 2 && etag.substr(1, tag.text.size()) == tag.text;
         });
}

}  // namespace stator::app
