#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

// Where the cards of a picture are, and how lines lead from one to another.
namespace stator::model::generate {

struct Card {
  std::string title;
  std::string note;  // at the right end of the title's line
  std::vector<std::string> lines;
  std::string_view style;
  std::size_t column = 0;
  // Set by place_cards().  All lengths are in pixels of the picture.
  double x = 0, y = 0, width = 0, height = 0;

  double text_start() const;
  double text_end() const;
  double title_baseline() const;
  double baseline(std::size_t line) const;
};

// A line from one of a card's own lines to the title of another card, or of the same one.
struct Link {
  std::size_t from = 0, line = 0, to = 0;  // indexes of cards, and of a line of the first
};

struct Point {
  double x = 0, y = 0;
};
using LinePath = std::vector<Point>;  // every step is horizontal or vertical

struct Picture {
  double width = 0, height = 0;
  std::vector<LinePath> routes;  // one per link
};

// Places cards below each other in their columns, and finds routes that cross no card.
//
// A line leaves its card at the left side and arrives at the right side of the other card.  Between two columns, and
// left of the first one, is a channel with a vertical track for each card at which lines arrive.  Lines to the same
// card share its tracks.  To get from one channel to another, a line goes through a lane above all cards; each card at
// which such lines arrive has a lane of its own.
Picture place_cards(std::vector<Card>& cards, const std::vector<Link>& links);

}  // namespace stator::model::generate
