#pragma once

#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "stator/model/diagnostic.h"
#include "stator/model/model.h"

namespace stator::model {

// Collects what the checker finds in one model.  The same finding about the same subject in the same words is kept once.
class Findings {
 public:
  explicit Findings(const Model& model) : file_(model.file) {}

  // A finding without its message.
  struct About {
    std::string_view code;
    std::string subject;
    Position position;
  };
  void error(About about, std::string message, std::string fix, std::string witness = {});
  void warning(About about, std::string message, std::string fix, std::string witness = {});

  Diagnostics take() && { return std::move(diagnostics_); }

 private:
  void add(Severity severity, About about, std::string message, std::string fix, std::string witness);

  std::string file_;
  Diagnostics diagnostics_;
  std::set<std::tuple<std::string, std::string, std::string>> known_;  // code, subject, message
};

// The groups of rules, each in its file.
void check_keys(const Model& model, Findings& findings);      // what keys can be: collisions, forgeries, order, length
void check_identity(const Model& model, Findings& findings);  // whether a key names one entity for its life
void check_partitions(const Model& model, Findings& findings);  // how rows spread
void check_patterns(const Model& model, Findings& findings);    // what patterns read
void check_rules(const Model& model, Findings& findings);       // relations, counters, copies, transactions, the stream

}  // namespace stator::model
