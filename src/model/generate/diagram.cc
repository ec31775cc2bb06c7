#include "stator/model/generate/diagram.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>
#include <vector>

#include "stator/model/generate/diagram_layout.h"
#include "stator/model/generate/words.h"

namespace stator::model::generate {
namespace {

constexpr double kCorner = 5;             // radius of a line's turns
constexpr std::size_t kLongestLine = 76;  // characters; a longer one is continued in the next line

// Lines to the same parent have the same colour.
constexpr auto kColours = std::to_array<std::string_view>(
    {"#3178c6", "#c2410c", "#15803d", "#9333ea", "#b45309", "#0e7490", "#be185d", "#64748b"});

bool is_start(char c) { return (c & 0xC0) != 0x80; }  // of a code point

// Where to end a line: behind the last space that fits, or in the middle of a long word.
std::size_t line_end(std::string_view text, std::size_t most) {
  std::size_t end = 0, space = 0;
  for (std::size_t seen = 0; end < text.size(); ++end) {
    if (is_start(text[end]) && seen++ == most) break;
    if (text[end] == ' ' && end > most / 3) space = end + 1;
  }
  if (end == text.size()) return end;
  return space > 0 ? space : end;
}

void add_wrapped(std::vector<std::string>& lines, std::string_view text) {
  std::string indent;
  while (!text.empty()) {
    const auto end = line_end(text, kLongestLine - indent.size());
    lines.push_back(indent + std::string(text.substr(0, end)));
    while (lines.back().ends_with(' ')) lines.back().pop_back();
    text.remove_prefix(end);
    indent = "    ";
  }
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

// The source of an attribute, if other rows or an index depend on it; otherwise nothing.
std::string source_words(const Model& model, const Attribute& attribute) {
  if (attribute.count) return "counts " + children_words(attribute.count->of);
  if (attribute.sum) return fmt::format("sum of {} of {}", attribute.sum->attribute, children_words(attribute.sum->of));
  if (attribute.last) return "last number given";
  const auto is_it = [&](const KeyDesign& key) { return key.name == attribute.name; };
  const bool raw_key =
      std::any_of(model.table.indexes.begin(), model.table.indexes.end(), [&](const IndexDesign& index) {
        return std::any_of(index.partition.begin(), index.partition.end(), is_it) ||
               std::any_of(index.sort.begin(), index.sort.end(), is_it);
      });
  const auto copied =
      attribute.copy_of ? fmt::format("copy of {}.{}", attribute.copy_of->relation, attribute.copy_of->attribute) : "";
  if (!raw_key) return copied;
  return copied.empty() ? "(index key)" : copied + " (index key)";
}

// Begins with a line for each relation.
Card entity_card(const Model& model, const Entity& entity, std::size_t column) {
  Card card{.title = entity.name, .note = entity.path, .lines = {}, .style = "entity", .column = column};
  for (const auto& relation : entity.parents) {
    card.lines.push_back(
        fmt::format("{} → {}{}", relation.name, relation.entity, relation.optional ? " (optional)" : ""));
  }
  for (const auto& record : entity.records) {
    if (entity.records.size() > 1) {
      add_wrapped(card.lines,
                  record.when ? fmt::format("{}, while {}", record.name, record.when->text()) : record.name);
    }
    for (const auto& rule : record.keys) {
      add_wrapped(card.lines, fmt::format("{}: {}", rule.attribute, key_words(entity, record, rule.attribute)));
    }
  }
  for (const auto& attribute : entity.attributes) {
    const auto words = source_words(model, attribute);
    if (!words.empty()) add_wrapped(card.lines, fmt::format("{} {}", attribute.name, words));
  }
  return card;
}

Card index_card(const Model& model, const IndexDesign* index, std::size_t column) {
  Card card{.title = index != nullptr ? index->name : model.table.name,
            .note = "",
            .lines = {},
            .style = "index",
            .column = column};
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
    add_wrapped(card.lines, fmt::format("{} → {}", pattern.name, returned));
    add_wrapped(card.lines, "  " + condition_words(pattern));
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

void draw_card(std::string& out, const Card& card) {
  out += fmt::format("<g class=\"{}\"><rect x=\"{:.0f}\" y=\"{:.0f}\" width=\"{:.0f}\" height=\"{:.0f}\" rx=\"6\"/>",
                     card.style, card.x, card.y, card.width, card.height);
  out += fmt::format("<text class=\"title\" x=\"{:.0f}\" y=\"{:.0f}\">{}</text>", card.text_start(),
                     card.title_baseline(), xml(card.title));
  if (!card.note.empty()) {
    out += fmt::format("<text class=\"note\" text-anchor=\"end\" x=\"{:.0f}\" y=\"{:.0f}\">{}</text>", card.text_end(),
                       card.title_baseline(), xml(card.note));
  }
  for (std::size_t i = 0; i < card.lines.size(); ++i) {
    out += fmt::format("<text xml:space=\"preserve\" x=\"{:.0f}\" y=\"{:.0f}\">{}</text>", card.text_start(),
                       card.baseline(i), xml(card.lines[i]));
  }
  out += "</g>\n";
}

// The path of a line, with round turns.
std::string path_of(const LinePath& route) {
  const auto towards = [](const Point& from, const Point& to) {
    const double length = std::abs(to.x - from.x) + std::abs(to.y - from.y);
    const double part = length == 0 ? 0 : std::min(kCorner, length / 2) / length;
    return Point{from.x + (to.x - from.x) * part, from.y + (to.y - from.y) * part};
  };
  auto path = fmt::format("M{:.1f},{:.1f}", route.front().x, route.front().y);
  for (std::size_t i = 1; i + 1 < route.size(); ++i) {
    const auto& turn = route[i];
    const auto before = towards(turn, route[i - 1]), behind = towards(turn, route[i + 1]);
    path += fmt::format(" L{:.1f},{:.1f} Q{:.1f},{:.1f} {:.1f},{:.1f}", before.x, before.y, turn.x, turn.y, behind.x,
                        behind.y);
  }
  return path + fmt::format(" L{:.1f},{:.1f}", route.back().x, route.back().y);
}

void draw_relation(std::string& out, const Entity& child, const Parent& relation, const LinePath& route,
                   std::size_t colour) {
  out += fmt::format(
      "<path class=\"relation{}\" stroke=\"{}\" marker-end=\"url(#arrow{})\" d=\"{}\"><title>{}: {} belongs to "
      "{}</title></path>\n",
      relation.optional ? " optional" : "", kColours[colour], colour, path_of(route), xml(relation.name),
      xml(child.name), xml(relation.entity));
}

constexpr std::string_view kStyle =
    "text{font:11px ui-monospace,Menlo,Consolas,monospace;fill:#1f2933}.title{font-weight:700;font-size:13px}"
    ".note{fill:#616e7c}.entity rect{fill:#f0f7ff;stroke:#3178c6}.index rect{fill:#fff8ec;stroke:#c98a1b}"
    ".relation{fill:none;stroke-width:1.4}.optional{stroke-dasharray:5 4}"
    "@media(prefers-color-scheme:dark){svg{background:#12181f}text{fill:#e4e9ef}.note{fill:#9aa5b1}"
    ".entity rect{fill:#172536}.index rect{fill:#2a2213}}";

std::string arrows() {
  std::string out;
  for (std::size_t i = 0; i < kColours.size(); ++i) {
    out += fmt::format(
        "<marker id=\"arrow{}\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" "
        "orient=\"auto\"><path d=\"M0,0 L8,4 L0,8 z\" fill=\"{}\"/></marker>",
        i, kColours[i]);
  }
  return out;
}

}  // namespace

std::string diagram(const Model& model) {
  std::map<std::string, std::size_t> depths;
  std::vector<Card> cards;
  std::size_t columns = 0;
  for (const auto& entity : model.entities) {
    cards.push_back(entity_card(model, entity, depth_of(entity, depths)));
    columns = std::max(columns, cards.back().column + 1);
  }
  cards.push_back(index_card(model, nullptr, columns));
  for (const auto& index : model.table.indexes) cards.push_back(index_card(model, &index, columns));

  std::vector<Link> links;  // in the order of entities and their relations
  for (std::size_t child = 0; child < model.entities.size(); ++child) {
    const auto& parents = model.entities[child].parents;
    for (std::size_t i = 0; i < parents.size(); ++i) {
      const auto parent = static_cast<std::size_t>(parents[i].to - model.entities.data());
      links.push_back({.from = child, .line = i, .to = parent});
    }
  }
  const auto picture = place_cards(cards, links);

  std::string out = fmt::format(
      "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0:.0f} {1:.0f}\" width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "role=\"img\">\n"
      "<title>{2}</title><style>{3}</style>\n<defs>{4}</defs>\n"
      "<text class=\"title\" x=\"24\" y=\"38\">{2}</text>\n",
      picture.width, picture.height, xml(model.name), kStyle, arrows());
  std::map<std::size_t, std::size_t> colours;  // by parent
  for (std::size_t i = 0; i < links.size(); ++i) {
    const auto& [from, line, to] = links[i];
    const auto colour = colours.emplace(to, colours.size() % kColours.size()).first->second;
    const auto& child = model.entities[from];
    draw_relation(out, child, child.parents[line], picture.routes[i], colour);
  }
  for (const auto& card : cards) draw_card(out, card);
  out += "</svg>\n";
  return out;
}

}  // namespace stator::model::generate
