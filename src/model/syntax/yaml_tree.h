#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "stator/model/diagnostic.h"
#include "stator/model/report.h"

namespace stator::model {

// A piece of text from a file, with its place.
struct Text {
  std::string text;
  Position position;  // of its first character, or of its opening quote
  // How far behind `position` the text begins, when it stands in the file letter by letter; -1 when it does not
  // (escapes, several lines).
  int lead = -1;

  // The place of one of its characters; of the whole where that is not known.
  Position at(std::size_t offset) const;
};

// A YAML document as a tree with the facts that a checker needs: places, quotes, the order of words.
struct YamlNode {
  enum class Kind : std::uint8_t { Nothing, Scalar, List, Map };

  Kind kind = Kind::Nothing;
  Text text;                    // Scalar
  bool quoted = false;          // Scalar: written in quotes, or as a block
  std::vector<YamlNode> items;  // List; Map, where every item has a key and no two have the same
  Position position;
  Text key;  // of an item of a map

  bool is_scalar() const { return kind == Kind::Scalar; }
  bool is_list() const { return kind == Kind::List; }
  bool is_map() const { return kind == Kind::Map; }
  // "a list", for messages.
  std::string_view kind_name() const;
};

inline constexpr std::size_t kMostModelBytes = std::size_t{1} << 20;

// Reads the one document of `text`.  A word given twice is reported and its first value kept.  nullopt when the text
// is no document; the reason is in `report`.
//
// Bounds: kMostModelBytes, nesting 32, 100,000 nodes, 2,000 in one list or map; anchors, aliases and tags are refused.
std::optional<YamlNode> read_yaml(std::string_view text, Report& report);

}  // namespace stator::model
