#include "stator/model/generate/diagram.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string_view>
#include <vector>

#include "stator/model/generate/words.h"

namespace stator::model::generate {
namespace {

// All lengths are in pixels of the picture.
constexpr double kCharacter = 6.7;  // of the monospaced font at 11
constexpr double kLine = 16;
constexpr double kPadding = 10;
constexpr double kHead = 26;
constexpr double kGapAcross = 90;  // room for the arrows
constexpr double kGapDown = 24;
constexpr double kMargin = 24;
constexpr double kTitle = 40;
constexpr std::size_t kLongestLine = 72;  // characters; what is longer ends in an ellipsis

struct Card {
  std::string id;  // what arrows are drawn to
  std::string title;
  std::string note;  // under the title's right end
  std::vector<std::string> lines;
  std::string_view style;
  double x = 0, y = 0, width = 0, height = 0;
};

// Counts code points, because that is what takes room.
std::size_t length(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string shortened(std::string_view text) {
  if (length(text) <= kLongestLine) return std::string(text);
  std::size_t end = 0;
  for (std::size_t seen = 0; end < text.size(); ++end) {
    if ((text[end] & 0xC0) != 0x80 && ++seen == kLongestLine) break;
  }
  return std::string(text.substr(0, end)) + "…";
}

std::string xml(std::string_view text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\n':
      case '\r':
      case '\t': out += ' '; break;
      default:
        if (static_cast<unsigned char>(c) >= 0x20) out += c;  // no other control character is allowed in XML
    }
  }
  return out;
}

void measure(Card& card) {
  std::size_t longest = length(card.title) + length(card.note) + 4;
  for (auto& line : card.lines) {
    line = shortened(line);
    longest = std::max(longest, length(line));
  }
  card.width = static_cast<double>(longest) * kCharacter + 2 * kPadding;
  card.height = kHead + static_cast<double>(card.lines.size()) * kLine + (card.lines.empty() ? 0 : kPadding);
}

Card entity_card(const Model& model, const Entity& entity) {
  Card card{.id = entity.name, .title = entity.name, .note = entity.path, .lines = {}, .style = "entity"};
  for (const auto& record : entity.records) {
    if (entity.records.size() > 1) {
      card.lines.push_back(record.when ? fmt::format("{}, while {}", record.name, record.when->text()) : record.name);
    }
    for (const auto& rule : record.keys) {
      card.lines.push_back(fmt::format("{}: {}", rule.attribute, key_words(entity, record, rule.attribute)));
    }
  }
  for (const auto& attribute : entity.attributes) {
    const bool raw_key =
        std::any_of(model.table.indexes.begin(), model.table.indexes.end(), [&](const IndexDesign& index) {
          const auto names_it = [&](const KeyDesign& key) { return key.name == attribute.name; };
          return std::any_of(index.partition.begin(), index.partition.end(), names_it) ||
                 std::any_of(index.sort.begin(), index.sort.end(), names_it);
        });
    if (raw_key || attribute.count || attribute.sum || attribute.copy_of) {
      card.lines.push_back(
          fmt::format("{} {}", attribute.name, raw_key ? "(index key)" : rule_words(entity, attribute)));
    }
  }
  return card;
}

Card index_card(const Model& model, const IndexDesign* index) {
  Card card{
      .id = "", .title = index != nullptr ? index->name : model.table.name, .note = "", .lines = {}, .style = "index"};
  const auto add = [&](const std::vector<KeyDesign>& keys) {
    for (const auto& key : keys) card.note += (card.note.empty() ? "" : ", ") + key.name;
  };
  add(index != nullptr ? index->partition : std::vector{model.table.partition});
  if (index != nullptr) {
    add(index->sort);
  } else if (model.table.sort) {
    add({*model.table.sort});
  }
  for (const auto& pattern : model.patterns) {
    if (pattern.index != index) continue;
    std::string returned;
    for (const auto& one : pattern.returns) returned += (returned.empty() ? "" : ", ") + one.entity->name;
    card.lines.push_back(fmt::format("{} → {}", pattern.name, returned));
    card.lines.push_back("  " + condition_words(pattern));
  }
  return card;
}

// How many parents are above an entity, at most.  A relation back to an entity that is being looked at does not count.
std::size_t depth_of(const Entity& entity, std::map<std::string, std::size_t>& known) {
  const auto [place, fresh] = known.emplace(entity.name, 0);
  if (!fresh) return place->second;
  std::size_t depth = 0;
  for (const auto& parent : entity.parents) {
    if (parent.to != &entity) depth = std::max(depth, depth_of(*parent.to, known) + 1);
  }
  return known[entity.name] = depth;
}

// Puts cards below each other at `x`; the width of the widest.
double place_column(std::vector<Card*>& cards, double x) {
  double y = kMargin + kTitle;
  double width = 0;
  for (Card* card : cards) {
    card->x = x;
    card->y = y;
    y += card->height + kGapDown;
    width = std::max(width, card->width);
  }
  return width;
}

void draw_card(std::string& out, const Card& card) {
  out += fmt::format("<g class=\"{}\"><rect x=\"{:.0f}\" y=\"{:.0f}\" width=\"{:.0f}\" height=\"{:.0f}\" rx=\"6\"/>",
                     card.style, card.x, card.y, card.width, card.height);
  out += fmt::format("<text class=\"title\" x=\"{:.0f}\" y=\"{:.0f}\">{}</text>", card.x + kPadding, card.y + 18,
                     xml(card.title));
  if (!card.note.empty()) {
    out += fmt::format("<text class=\"note\" text-anchor=\"end\" x=\"{:.0f}\" y=\"{:.0f}\">{}</text>",
                       card.x + card.width - kPadding, card.y + 18, xml(card.note));
  }
  double y = card.y + kHead + 12;
  for (const auto& line : card.lines) {
    out += fmt::format("<text xml:space=\"preserve\" x=\"{:.0f}\" y=\"{:.0f}\">{}</text>", card.x + kPadding, y,
                       xml(line));
    y += kLine;
  }
  out += "</g>\n";
}

void draw_relation(std::string& out, const Card& child, const Card& parent, const Parent& relation, double offset) {
  const double from_x = child.x;
  const double from_y = child.y + 13 + offset;
  const double to_x = parent.x + parent.width;
  const double to_y = parent.y + 13;
  const double middle = (from_x + to_x) / 2;
  out += fmt::format(
      "<path class=\"relation{}\" marker-end=\"url(#arrow)\" d=\"M{:.0f},{:.0f} C{:.0f},{:.0f} {:.0f},{:.0f} "
      "{:.0f},{:.0f}\">"
      "<title>{}: {} belongs to {}</title></path>\n",
      relation.optional ? " optional" : "", from_x, from_y, middle, from_y, middle, to_y, to_x, to_y,
      xml(relation.name), xml(child.title), xml(parent.title));
}

constexpr std::string_view kStyle =
    "text{font:11px ui-monospace,Menlo,Consolas,monospace;fill:#1f2933}.title{font-weight:700;font-size:13px}"
    ".note{fill:#616e7c}.entity rect{fill:#f0f7ff;stroke:#3178c6}.index rect{fill:#fff8ec;stroke:#c98a1b}"
    ".relation{fill:none;stroke:#3178c6;stroke-width:1.4}.optional{stroke-dasharray:5 4}"
    "@media(prefers-color-scheme:dark){svg{background:#12181f}text{fill:#e4e9ef}.note{fill:#9aa5b1}"
    ".entity rect{fill:#172536}.index rect{fill:#2a2213}}";

}  // namespace

std::string diagram(const Model& model) {
  std::vector<Card> entities;
  for (const auto& entity : model.entities) entities.push_back(entity_card(model, entity));
  std::vector<Card> indexes = {index_card(model, nullptr)};
  for (const auto& index : model.table.indexes) indexes.push_back(index_card(model, &index));
  for (auto* cards : {&entities, &indexes}) {
    for (auto& card : *cards) measure(card);
  }

  std::map<std::string, std::size_t> depths;
  std::map<std::size_t, std::vector<Card*>> columns;
  for (auto& card : entities) columns[depth_of(*model.find_entity(card.id), depths)].push_back(&card);
  double x = kMargin;
  for (auto& [depth, cards] : columns) x += place_column(cards, x) + kGapAcross;
  std::vector<Card*> last;
  for (auto& card : indexes) last.push_back(&card);
  x += place_column(last, x) + kMargin;

  double bottom = 0;
  for (const auto* cards : {&entities, &indexes}) {
    for (const auto& card : *cards) bottom = std::max(bottom, card.y + card.height);
  }
  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "role=\"img\">\n"
      "<title>{2}</title><style>{3}</style>\n<defs><marker id=\"arrow\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" "
      "markerWidth=\"8\" markerHeight=\"8\" orient=\"auto\"><path d=\"M0,0 L8,4 L0,8 z\" "
      "fill=\"#3178c6\"/></marker></defs>\n"
      "<text class=\"title\" x=\"{4:.0f}\" y=\"{5:.0f}\">{2}</text>\n",
      x, bottom + kMargin, xml(model.name), kStyle, kMargin, kMargin + 14);
  const auto card_of = [&](const std::string& entity) {
    return std::find_if(entities.begin(), entities.end(), [&](const Card& card) { return card.id == entity; });
  };
  for (const auto& entity : model.entities) {
    double offset = 0;
    for (const auto& relation : entity.parents) {
      const auto parent = card_of(relation.entity);
      if (parent != entities.end() && relation.entity != entity.name) {
        draw_relation(out, *card_of(entity.name), *parent, relation, offset);
        offset += 6;
      }
    }
  }
  for (const auto& card : entities) draw_card(out, card);
  for (const auto& card : indexes) draw_card(out, card);
  out += "</svg>\n";
  return out;
}

}  // namespace stator::model::generate
