#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "stator/model/check/proof/steps.h"

namespace stator::model {

// A set of byte strings that a finite automaton can recognise: "every key that this template can give", "every key that
// this condition matches".  The checker proves a statement by showing that such a set is empty.
//
// A nondeterministic automaton with one start and one accepting state.  A value type; no operation changes its
// operands.
class Language {
 public:
  static Language nothing();                                     // no string at all
  static Language text(std::string_view text);                   // exactly this one
  static Language byte(unsigned char from, unsigned char upto);  // one byte of that range
  static Language anything();                                    // every string
  static Language one_of(const std::vector<std::string>& texts);

  friend Language operator+(const Language& a, const Language& b);  // one of a, then one of b
  friend Language operator|(const Language& a, const Language& b);  // in a or in b
  Language times(unsigned count) const;                             // so many in a row
  // `least` or more in a row; at most `most` of them if that is given.
  Language repeated(unsigned least, std::optional<unsigned> most = std::nullopt) const;

  // The strings that begin with one of these.
  Language extended() const { return *this + anything(); }
  // The strings that are not below, or not above, one of these in byte order.  Without `equal` the string itself is
  // left out.
  Language and_above(bool equal) const;
  Language and_below(bool equal) const;

  std::size_t states() const { return nodes_.size(); }

  // The rest walks automata, and takes steps.

  // How long the longest string is; nullopt when there is no longest.
  std::optional<std::size_t> longest(Steps& steps) const;
  // The strings that are in both.
  friend Language both(const Language& a, const Language& b, Steps& steps);
  // A shortest string that is in both, as readable as there is one; nullopt when there is none.
  friend std::optional<std::string> common(const Language& a, const Language& b, Steps& steps);

 private:
  using State = std::uint32_t;
  struct Edge {
    unsigned char from;
    unsigned char upto;
    State to;
  };
  struct Node {
    std::vector<Edge> edges;
    std::vector<State> silent;  // taken without reading
  };
  // How many steps a visit of a state of each takes, at once.
  static std::size_t steps_at(const Node& p, const Node& q) {
    return 1 + p.silent.size() + q.silent.size() + p.edges.size() * q.edges.size();
  }

  State add_state();
  // Copies the states of `other` behind ours.  Its state s becomes our state (the returned number + s).
  State append(const Language& other);
  // Makes this one of ours, then one of `other`.
  void follow_with(const Language& other);
  // Two new states: one that reads any bytes, and an end that can be reached from it at any time.
  std::pair<State, State> add_free_end();
  // For every state, whether the accepting one can be reached from it.
  std::vector<bool> productive() const;

  std::vector<Node> nodes_;
  State start_ = 0;
  State accept_ = 0;
};

// One character of UTF-8 that has more than one byte.
Language wide_character();

Language both(const Language& a, const Language& b, Steps& steps);
std::optional<std::string> common(const Language& a, const Language& b, Steps& steps);

}  // namespace stator::model
