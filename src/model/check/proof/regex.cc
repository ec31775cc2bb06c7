#include "stator/model/check/proof/regex.h"

#include <algorithm>
#include <bitset>
#include <string>

namespace stator::model {
namespace {

constexpr unsigned kMostRepeats = 64;
constexpr int kMostNested = 32;
constexpr int kMostAtoms = 128;  // what is proved about a pattern takes the square of its length
constexpr unsigned char kLastAscii = 0x7F;

// The characters of ASCII that a class has; `wide`: all others, too.
struct Class {
  std::bitset<kLastAscii + 1> ascii;
  bool wide = false;

  void add(unsigned char from, unsigned char upto) {
    for (unsigned c = from; c <= upto; ++c) ascii.set(c);
  }
  Class negated() const { return {~ascii, !wide}; }
};

constexpr std::string_view kKelvinSign = "\xE2\x84\xAA";  // a K, where case does not count
constexpr std::string_view kLongS = "\xC5\xBF";           // an s

// With the other case of every letter.
Class in_both_cases(const Class& all) {
  Class both = all;
  for (unsigned lower = 'a'; lower <= 'z'; ++lower) {
    const unsigned upper = lower - 'a' + 'A';
    if (all.ascii.test(lower) || all.ascii.test(upper)) both.ascii.set(lower).set(upper);
  }
  return both;
}

Class digits() {
  Class all;
  all.add('0', '9');
  return all;
}

Class word() {
  auto all = digits();
  all.add('A', 'Z');
  all.add('a', 'z');
  all.ascii.set('_');
  return all;
}

Class blank() {
  Class all;
  for (const char c : {' ', '\t', '\n', '\f', '\r'}) all.ascii.set(static_cast<unsigned char>(c));
  return all;
}

std::optional<Class> named_class(char name) {
  switch (name) {
    case 'd': return digits();
    case 'D': return digits().negated();
    case 'w': return word();
    case 'W': return word().negated();
    case 's': return blank();
    case 'S': return blank().negated();
    default: return std::nullopt;
  }
}

Language language_of(const Class& all, Steps& steps) {
  auto language = Language::nothing();
  for (unsigned c = 0; c <= kLastAscii; ++c) {
    if (!all.ascii.test(c)) continue;
    unsigned last = c;
    while (last < kLastAscii && all.ascii.test(last + 1)) ++last;
    language = language | Language::byte(static_cast<unsigned char>(c), static_cast<unsigned char>(last));
    if (!steps.take(language.states())) return Language::nothing();
    c = last;
  }
  return all.wide ? language | wide_character() : language;
}

class RegexReader {
 public:
  RegexReader(std::string_view pattern, Steps& steps) : steps_(steps), rest_(pattern), folds_(take("(?i)")) {
    if (rest_.starts_with('^')) rest_.remove_prefix(1);
    if (rest_.ends_with('$') && !rest_.ends_with("\\$")) rest_.remove_suffix(1);
  }

  std::optional<Language> read() {
    auto language = alternatives(0);
    return rest_.empty() ? language : std::nullopt;
  }

 private:
  bool take(std::string_view text) {
    if (!rest_.starts_with(text)) return false;
    rest_.remove_prefix(text.size());
    return true;
  }

  char next() {
    const char c = rest_.front();
    rest_.remove_prefix(1);
    return c;
  }

  // A character of more than one byte is one thing to repeat.
  std::string_view next_character() {
    const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; };
    std::size_t size = 1;
    while (size < rest_.size() && continues(rest_[size])) ++size;
    const auto character = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return character;
  }

  std::optional<Language> alternatives(int depth) {
    if (depth > kMostNested) return std::nullopt;
    auto language = sequence(depth);
    while (language && take("|")) {
      const auto other = sequence(depth);
      if (!other) return std::nullopt;
      language = *language | *other;
      if (!steps_.take(language->states())) return std::nullopt;
    }
    return language;
  }

  std::optional<Language> sequence(int depth) {
    auto language = Language::text("");
    while (!rest_.empty() && rest_.front() != '|' && rest_.front() != ')') {
      const auto one = atom(depth);
      const auto some = one ? repeated(*one) : std::nullopt;
      if (!some) return std::nullopt;
      language = language + *some;
      if (!steps_.take(language.states())) return std::nullopt;
    }
    return language;
  }

  std::optional<Language> atom(int depth) {
    if (++atoms_ > kMostAtoms) return std::nullopt;
    if (take("(?:")) return group(depth);
    if (rest_.starts_with("(?")) return std::nullopt;
    if (take("(")) return group(depth);
    if (take("[")) return bracketed();
    if (take(".")) return language_of(Class().negated(), steps_);
    if (take("\\")) {
      const auto all = escaped();
      return all ? std::optional(cased(*all)) : std::nullopt;
    }
    if (std::string_view("*+?{}^$").find(rest_.front()) != std::string_view::npos) return std::nullopt;
    return character(next_character());
  }

  std::optional<Language> character(std::string_view text) const {
    if (!folds_) return Language::text(text);
    if (text.size() > 1) return std::nullopt;
    Class one;
    one.ascii.set(static_cast<unsigned char>(text.front()));
    return cased(one);
  }

  Language cased(const Class& all) const {
    if (!folds_) return language_of(all, steps_);
    const auto both = in_both_cases(all);
    auto language = language_of(both, steps_);
    if (both.ascii.test('k')) language = language | Language::text(kKelvinSign);
    if (both.ascii.test('s')) language = language | Language::text(kLongS);
    return language;
  }

  std::optional<Language> group(int depth) {
    auto language = alternatives(depth + 1);
    return take(")") ? language : std::nullopt;
  }

  // The class of the escape that follows a backslash.
  std::optional<Class> escaped() {
    if (rest_.empty()) return std::nullopt;
    const char c = next();
    if (auto all = named_class(c)) return all;
    const auto byte = static_cast<unsigned char>(c);
    if (byte > kLastAscii || word().ascii.test(byte)) return std::nullopt;
    Class all;
    all.ascii.set(byte);
    return all;
  }

  std::optional<Language> bracketed() {
    const bool negated = take("^");
    Class all;
    bool first = true;
    while (first || !rest_.starts_with(']')) {
      first = false;
      if (rest_.empty() || rest_.starts_with("[:")) return std::nullopt;
      if (take("\\")) {
        const auto some = escaped();
        if (!some) return std::nullopt;
        all.ascii |= some->ascii;
        all.wide = all.wide || some->wide;
        continue;
      }
      const auto from = static_cast<unsigned char>(next());
      auto upto = from;
      if (rest_.size() > 1 && rest_[0] == '-' && rest_[1] != ']') {
        rest_.remove_prefix(1);
        upto = static_cast<unsigned char>(next());
      }
      if (from > kLastAscii || upto > kLastAscii || upto == '\\' || from > upto) return std::nullopt;
      all.add(from, upto);
    }
    rest_.remove_prefix(1);
    if (!negated) return cased(all);
    return language_of((folds_ ? in_both_cases(all) : all).negated(), steps_);
  }

  std::optional<Language> repeated(const Language& one) {
    std::optional<Language> some;
    if (take("*")) {
      some = one.repeated(0);
    } else if (take("+")) {
      some = one.repeated(1);
    } else if (take("?")) {
      some = one.repeated(0, 1);
    } else if (take("{")) {
      some = counted(one);
    } else {
      return one;
    }
    take("?");  // lazy or greedy, the texts are the same
    return some;
  }

  std::optional<unsigned> number() {
    if (rest_.empty() || rest_.front() < '0' || rest_.front() > '9') return std::nullopt;
    unsigned value = 0;
    while (!rest_.empty() && rest_.front() >= '0' && rest_.front() <= '9') {
      value = std::min(value * 10 + static_cast<unsigned>(next() - '0'), kMostRepeats + 1);
    }
    return value;
  }

  std::optional<Language> counted(const Language& one) {
    const auto least = number();
    if (!least) return std::nullopt;
    auto most = least;
    if (take(",")) most = number();
    if (!take("}")) return std::nullopt;
    if (most && *most > kMostRepeats) most = std::nullopt;
    return one.repeated(std::min(*least, kMostRepeats), most);
  }

  Steps& steps_;
  std::string_view rest_;
  bool folds_;  // case does not count
  int atoms_ = 0;
};

}  // namespace

std::optional<Language> regex_language(std::string_view pattern, Steps& steps) {
  return RegexReader(pattern, steps).read();
}

}  // namespace stator::model
