#include "stator/model/check/proof/language.h"

#include <algorithm>
#include <deque>
#include <map>
#include <ranges>
#include <set>
#include <unordered_map>
#include <utility>

namespace stator::model {
namespace {

constexpr unsigned char kLast = 0xFF;

// The byte of a range that reads best in a message.
unsigned char most_readable(unsigned char from, unsigned char upto) {
  for (const char wish : {'a', '0', 'A', '#'}) {
    const auto byte = static_cast<unsigned char>(wish);
    if (from <= byte && byte <= upto) return byte;
  }
  constexpr unsigned char kFirstPrintable = '!';
  return from < kFirstPrintable && upto >= kFirstPrintable ? kFirstPrintable : from;
}

}  // namespace

Language::State Language::add_state() {
  nodes_.emplace_back();
  return static_cast<State>(nodes_.size() - 1);
}

Language::State Language::append(const Language& other) {
  const auto base = static_cast<State>(nodes_.size());
  nodes_.insert(nodes_.end(), other.nodes_.begin(), other.nodes_.end());
  for (auto node = nodes_.begin() + base; node != nodes_.end(); ++node) {
    for (auto& edge : node->edges) edge.to += base;
    for (auto& to : node->silent) to += base;
  }
  return base;
}

Language Language::nothing() {
  Language language;
  language.start_ = language.add_state();
  language.accept_ = language.add_state();
  return language;
}

Language Language::text(std::string_view text) {
  Language language;
  language.accept_ = language.start_ = language.add_state();
  for (const char c : text) {
    const auto next = language.add_state();
    const auto byte = static_cast<unsigned char>(c);
    language.nodes_[language.accept_].edges.push_back({byte, byte, next});
    language.accept_ = next;
  }
  return language;
}

Language Language::byte(unsigned char from, unsigned char upto) {
  auto language = nothing();
  language.nodes_[language.start_].edges.push_back({from, upto, language.accept_});
  return language;
}

Language Language::anything() { return byte(0, kLast).repeated(0); }

Language Language::one_of(const std::vector<std::string>& texts) {
  auto language = nothing();
  for (const auto& each : texts) {
    // Along what another begins with: hundreds of words are then walked as one.
    auto at = language.start_;
    for (const char c : each) {
      const auto byte = static_cast<unsigned char>(c);
      const auto& edges = language.nodes_[at].edges;
      const auto known = std::find_if(edges.begin(), edges.end(), [&](const Edge& edge) { return edge.from == byte; });
      if (known != edges.end()) {
        at = known->to;
        continue;
      }
      const auto next = language.add_state();
      language.nodes_[at].edges.push_back({byte, byte, next});
      at = next;
    }
    language.nodes_[at].silent.push_back(language.accept_);
  }
  return language;
}

Language operator+(const Language& a, const Language& b) {
  auto both = a;
  both.follow_with(b);
  return both;
}

Language operator|(const Language& a, const Language& b) {
  auto either = Language::nothing();
  for (const auto* side : {&a, &b}) {
    const auto base = either.append(*side);
    either.nodes_[either.start_].silent.push_back(base + side->start_);
    either.nodes_[base + side->accept_].silent.push_back(either.accept_);
  }
  return either;
}

Language both(const Language& a, const Language& b, Steps& steps) {
  auto product = Language::nothing();
  std::map<std::pair<Language::State, Language::State>, Language::State> known = {
      {{a.start_, b.start_}, product.start_}};
  std::deque<std::pair<Language::State, Language::State>> open = {{a.start_, b.start_}};
  const auto state_of = [&](Language::State p, Language::State q) {
    const auto [entry, fresh] = known.try_emplace({p, q}, 0);
    if (fresh) {
      entry->second = product.add_state();
      open.emplace_back(p, q);
    }
    return entry->second;
  };
  while (!open.empty()) {
    const auto [p, q] = open.front();
    open.pop_front();
    if (!steps.take(Language::steps_at(a.nodes_[p], b.nodes_[q]))) return Language::nothing();
    const auto here = known.at({p, q});
    const auto silent = [&](Language::State to) { product.nodes_[here].silent.push_back(to); };
    if (p == a.accept_ && q == b.accept_) silent(product.accept_);
    for (const auto to : a.nodes_[p].silent) silent(state_of(to, q));
    for (const auto to : b.nodes_[q].silent) silent(state_of(p, to));
    for (const auto& left : a.nodes_[p].edges) {
      for (const auto& right : b.nodes_[q].edges) {
        const auto from = std::max(left.from, right.from);
        const auto upto = std::min(left.upto, right.upto);
        if (from > upto) continue;
        const auto to = state_of(left.to, right.to);
        product.nodes_[here].edges.push_back({from, upto, to});
      }
    }
  }
  return product;
}

void Language::follow_with(const Language& other) {
  const auto base = append(other);
  nodes_[accept_].silent.push_back(base + other.start_);
  accept_ = base + other.accept_;
}

Language Language::times(unsigned count) const {
  auto language = text("");
  for (unsigned i = 0; i < count; ++i) language.follow_with(*this);
  return language;
}

Language Language::repeated(unsigned least, std::optional<unsigned> most) const {
  auto language = times(least);
  if (!most) {
    Language loop = text("");
    const auto base = loop.append(*this);
    loop.nodes_[loop.start_].silent.push_back(base + start_);
    loop.nodes_[base + accept_].silent.push_back(loop.start_);
    return language + loop;
  }
  // It may end behind each; a state then tells how many there were, and two such languages are walked side by side.
  std::vector<State> ends = {language.accept_};
  for (unsigned i = least; i < *most; ++i) {
    language.follow_with(*this);
    ends.push_back(language.accept_);
  }
  language.accept_ = language.add_state();
  for (const auto end : ends) language.nodes_[end].silent.push_back(language.accept_);
  return language;
}

std::pair<Language::State, Language::State> Language::add_free_end() {
  const auto free = add_state();
  const auto end = add_state();
  nodes_[free].edges.push_back({0, kLast, free});
  nodes_[free].silent.push_back(end);
  return {free, end};
}

std::vector<bool> Language::productive() const {
  std::vector<std::vector<State>> sources(nodes_.size());
  for (State state = 0; state < nodes_.size(); ++state) {
    for (const auto& edge : nodes_[state].edges) sources[edge.to].push_back(state);
    for (const auto to : nodes_[state].silent) sources[to].push_back(state);
  }
  std::vector<bool> marked(nodes_.size(), false);
  std::vector<State> open = {accept_};
  marked[accept_] = true;
  while (!open.empty()) {
    const auto state = open.back();
    open.pop_back();
    for (const auto source : sources[state]) {
      if (!marked[source]) open.push_back(source);
      marked[source] = true;
    }
  }
  return marked;
}

// A string is above another when it goes on where that one ends, or has the higher byte where they first differ.
Language Language::and_above(bool equal) const {
  const auto useful = productive();
  auto above = *this;
  const auto [free, end] = above.add_free_end();
  for (State state = 0; state < nodes_.size(); ++state) {
    for (const auto& edge : nodes_[state].edges) {
      if (!useful[edge.to] || edge.from == kLast) continue;
      above.nodes_[state].edges.push_back({static_cast<unsigned char>(edge.from + 1), kLast, free});
    }
  }
  above.nodes_[accept_].edges.push_back({0, kLast, free});
  if (equal) above.nodes_[accept_].silent.push_back(end);
  above.accept_ = end;
  return above;
}

// A string is below another when it ends where that one goes on, or has the lower byte where they first differ.
Language Language::and_below(bool equal) const {
  const auto useful = productive();
  auto below = *this;
  const auto [free, end] = below.add_free_end();
  for (State state = 0; state < nodes_.size(); ++state) {
    for (const auto& edge : nodes_[state].edges) {
      if (!useful[edge.to]) continue;
      below.nodes_[state].silent.push_back(end);
      if (edge.upto > 0) {
        below.nodes_[state].edges.push_back({0, static_cast<unsigned char>(edge.upto - 1), free});
      }
    }
  }
  if (equal) below.nodes_[accept_].silent.push_back(end);
  below.accept_ = end;
  return below;
}

std::optional<std::size_t> Language::longest(Steps& steps) const {
  const auto useful = productive();
  std::set<State> now = {start_};
  std::optional<std::size_t> longest;
  for (std::size_t length = 0; !now.empty(); ++length) {
    std::set<State> next;
    for (std::vector<State> open(now.begin(), now.end()); !open.empty();) {
      const auto state = open.back();
      open.pop_back();
      if (!steps.take(1 + nodes_[state].silent.size() + nodes_[state].edges.size())) return std::nullopt;
      for (const auto to : nodes_[state].silent) {
        if (useful[to] && now.insert(to).second) open.push_back(to);
      }
      for (const auto& edge : nodes_[state].edges) {
        if (useful[edge.to]) next.insert(edge.to);
      }
    }
    if (now.contains(accept_)) longest = length;
    if (length > nodes_.size()) return std::nullopt;  // longer than any way without a loop
    now = std::move(next);
  }
  return longest.value_or(0);
}

// Walks both automata at once, breadth first.  A silent step costs nothing, so it goes to the front of the queue; a
// pair of states is settled when it is taken from the queue for the first time.
std::optional<std::string> common(const Language& a, const Language& b, Steps& steps) {
  using State = Language::State;
  struct Visit {
    State p;
    State q;
    std::uint32_t before;  // where it was settled
    std::int16_t byte;     // -1: silent
  };
  std::vector<Visit> settled;
  std::unordered_map<State, std::vector<bool>> seen;  // for a state of a, which of b
  std::deque<Visit> open = {{a.start_, b.start_, 0, -1}};
  while (!open.empty()) {
    const auto visit = open.front();
    open.pop_front();
    auto& with = seen[visit.p];
    if (with.empty()) {
      with.resize(b.states());
      steps.take(b.states() / 64);  // a step for each of its words
    }
    if (with[visit.q]) continue;
    with[visit.q] = true;
    const auto here = static_cast<std::uint32_t>(settled.size());
    settled.push_back(visit);
    const auto [p, q] = std::pair(visit.p, visit.q);
    if (p == a.accept_ && q == b.accept_) break;
    if (!steps.take(Language::steps_at(a.nodes_[p], b.nodes_[q]))) return std::nullopt;
    // Backwards, because each is put in front of the one before: the first part of a union is tried first.
    for (const auto to : b.nodes_[q].silent | std::views::reverse) open.push_front({p, to, here, -1});
    for (const auto to : a.nodes_[p].silent | std::views::reverse) open.push_front({to, q, here, -1});
    for (const auto& left : a.nodes_[p].edges) {
      for (const auto& right : b.nodes_[q].edges) {
        const auto from = std::max(left.from, right.from);
        const auto upto = std::min(left.upto, right.upto);
        if (from <= upto) open.push_back({left.to, right.to, here, most_readable(from, upto)});
      }
    }
  }
  if (settled.back().p != a.accept_ || settled.back().q != b.accept_) return std::nullopt;
  std::string text;
  for (auto at = settled.size() - 1; at > 0; at = settled[at].before) {
    if (settled[at].byte >= 0) text.push_back(static_cast<char>(settled[at].byte));
  }
  std::reverse(text.begin(), text.end());
  return text;
}

Language wide_character() {
  const auto next = Language::byte(0x80, 0xBF);
  return (Language::byte(0xC2, 0xDF) + next) | (Language::byte(0xE0, 0xEF) + next.times(2)) |
         (Language::byte(0xF0, 0xF4) + next.times(3));
}

}  // namespace stator::model
