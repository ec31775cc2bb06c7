#include "stator/model/generate/diagram_layout.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace stator::model::generate {
namespace {

constexpr double kCharacter = 6.7;  // of the monospaced font at 11
constexpr double kLine = 16;
constexpr double kPadding = 10;
constexpr double kHead = 26;
constexpr double kTitle = 40;  // of the picture
constexpr double kMargin = 24;
// Tops and heights of cards are multiples of this.  So a line that leaves a card is never at the height of a line that
// arrives at one: two of them would look like one line.
constexpr double kGrid = 8;
constexpr double kArrival = 14;  // below the top of a card
constexpr double kTrack = 8;     // between two tracks, and between two lanes
constexpr double kBesideTracks = 24;
constexpr double kNarrowestChannel = 48;
constexpr double kLoop = 12;  // how far a line from a card to itself goes to the left

double on_grid(double length) { return std::ceil(length / kGrid) * kGrid; }

// Counts code points, because each takes the same room.
double width_of(std::string_view text) {
  const auto characters = std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; });
  return static_cast<double>(characters) * kCharacter;
}

void measure(Card& card) {
  double widest = width_of(card.title) * 1.2 + width_of(card.note) + 3 * kCharacter;  // titles are larger
  for (const auto& line : card.lines) widest = std::max(widest, width_of(line));
  card.width = std::ceil(widest + 2 * kPadding);
  card.height = on_grid(kHead + static_cast<double>(card.lines.size()) * kLine + (card.lines.empty() ? 0 : kPadding));
}

class Layout {
 public:
  Layout(std::vector<Card>& cards, const std::vector<Link>& links) : cards_(cards), links_(links) {
    for (auto& card : cards) {
      measure(card);
      columns_ = std::max(columns_, card.column + 1);
    }
  }

  Picture place() {
    choose_tracks();
    Picture picture;
    picture.height = place_rows() + kMargin;
    picture.width = place_columns() + kMargin;
    for (const auto& link : links_) picture.routes.push_back(route(link));
    return picture;
  }

 private:
  using Tracks = std::vector<std::size_t>;  // cards at which the lines arrive, from left to right

  // Channel n is left of column n.
  std::size_t channel_before(const Card& card) const { return card.column; }
  std::size_t channel_behind(const Card& card) const { return card.column + 1; }

  static void add(Tracks& tracks, std::size_t card) {
    if (std::find(tracks.begin(), tracks.end(), card) == tracks.end()) tracks.push_back(card);
  }

  void choose_tracks() {
    for (const auto& [from, line, to] : links_) {
      if (from == to) continue;
      const auto leaves = channel_before(cards_[from]), arrives = channel_behind(cards_[to]);
      add(tracks_[arrives], to);
      if (leaves == arrives) continue;
      add(tracks_[leaves], to);
      add(lanes_, to);
    }
  }

  // The lowest point of all cards.
  double place_rows() {
    const auto lanes = static_cast<double>(lanes_.size());
    const double top = on_grid(kMargin + kTitle + (lanes_.empty() ? 0 : (lanes + 1) * kTrack));
    std::vector<double> next(columns_, top);
    double bottom = top;
    for (auto& card : cards_) {
      card.y = next[card.column];
      next[card.column] += card.height + 3 * kGrid;
      bottom = std::max(bottom, card.y + card.height);
    }
    return bottom;
  }

  // The right end of all cards.
  double place_columns() {
    double x = kMargin;
    for (std::size_t column = 0; column < columns_; ++column) {
      channel_start_[column] = x;
      const auto tracks = static_cast<double>(tracks_[column].size());
      const double wide = tracks * kTrack + kBesideTracks + kLoop;
      if (column > 0) {
        x += std::max(wide, kNarrowestChannel);
      } else if (tracks > 0 || has_loop()) {
        x += wide;
      }
      double widest = 0;
      for (auto& card : cards_) {
        if (card.column != column) continue;
        card.x = x;
        widest = std::max(widest, card.width);
      }
      x += widest;
    }
    channel_start_[columns_] = x;
    return x;
  }

  bool has_loop() const {
    return std::any_of(links_.begin(), links_.end(),
                       [&](const Link& link) { return link.from == link.to && cards_[link.from].column == 0; });
  }

  double track(std::size_t channel, std::size_t card) {
    const auto& tracks = tracks_[channel];
    const auto place = std::find(tracks.begin(), tracks.end(), card) - tracks.begin();
    return channel_start_[channel] + kBesideTracks / 2 + static_cast<double>(place) * kTrack;
  }

  double lane(std::size_t card) const {
    const auto place = std::find(lanes_.begin(), lanes_.end(), card) - lanes_.begin();
    return kMargin + kTitle + static_cast<double>(place) * kTrack;
  }

  LinePath route(const Link& link) {
    const auto& from = cards_[link.from];
    const auto& to = cards_[link.to];
    const double leaves = from.baseline(link.line) - 4, arrives = to.y + kArrival;
    if (link.from == link.to) {
      const double left = from.x - kLoop;
      return {{from.x, leaves}, {left, leaves}, {left, arrives}, {from.x, arrives}};
    }
    const auto first = channel_before(from), last = channel_behind(to);
    const double there = track(last, link.to);
    LinePath points = {{from.x, leaves}};
    if (first != last) {
      const double here = track(first, link.to), across = lane(link.to);
      points.insert(points.end(), {{here, leaves}, {here, across}, {there, across}});
    } else {
      points.push_back({there, leaves});
    }
    points.insert(points.end(), {{there, arrives}, {to.x + to.width, arrives}});
    return points;
  }

  std::vector<Card>& cards_;
  const std::vector<Link>& links_;
  std::size_t columns_ = 1;
  std::map<std::size_t, Tracks> tracks_;  // by channel
  Tracks lanes_;                          // from top to bottom
  std::map<std::size_t, double> channel_start_;
};

}  // namespace

double Card::text_start() const { return x + kPadding; }
double Card::text_end() const { return x + width - kPadding; }
double Card::title_baseline() const { return y + kHead - kGrid; }
double Card::baseline(std::size_t line) const { return y + kHead + 12 + static_cast<double>(line) * kLine; }

Picture place_cards(std::vector<Card>& cards, const std::vector<Link>& links) { return Layout(cards, links).place(); }

}  // namespace stator::model::generate
