#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "stator/base/mutex.h"
#include "stator/base/random.h"
#include "stator/console/consistency_view.h"
#include "stator/console/model_run.h"
#include "stator/console/served_model.h"
#include "stator/http/message/message.h"
#include "stator/model/diagnostic.h"

namespace stator::console {

// Everything below /console/models: the served models as data, texts of models that are being written, and the repairs
// that the models' tables need.  Blocking, thread-safe.
class Models {
 public:
  static constexpr std::string_view kPath = "/console/models";
  static constexpr std::size_t kMostYamlBytes = std::size_t{1} << 20;
  static constexpr std::size_t kMostItemBytes = std::size_t{4} << 20;  // of identify
  static constexpr std::size_t kMostItems = 1'000;
  static constexpr int kChecksAtOnce = 2;  // of texts of models: each can take a worker for a second or two

  // Client, clock and the served models outlive it.  The client is that of the database; systems have their own.
  Models(std::vector<ServedModel> served, client::Client& client, const Clock& clock, ModelRunOptions run);

  bool empty() const { return served_.empty(); }
  const std::vector<ServedModel>& served() const { return served_; }

  // How much body a request may have, by its path.
  static std::size_t body_bytes(std::string_view path);
  http::Response handle(const http::Request& request, const Rights& rights);
  // Ends running checks, and those that begin later.
  void stop() { stop_.request_stop(); }

 private:
  http::Response list();
  http::Response show(const ServedModel& served);
  http::Response check(std::string_view yaml);
  http::Response identify(const ServedModel& served, std::string_view body);
  http::Response plan(const ServedModel& served, std::string_view yaml);
  http::Response post(const ServedModel& served, std::string_view what, std::string_view body, const Rights& rights);
  // Runs it, unless kChecksAtOnce others run: 429.
  http::Response in_turn(const std::function<http::Response()>& work);
  const ServedModel* find(std::string_view name) const;
  // Checked once: a model that is served does not change.
  const model::Diagnostics& findings_of(const ServedModel& served);

  const std::vector<ServedModel> served_;
  const Clock& clock_;
  const ModelRunOptions run_;
  Random random_;
  std::stop_source stop_;
  std::atomic<int> checks_{0};
  Mutex mutex_;
  std::map<std::string, model::Diagnostics, std::less<>> findings_ GUARDED_BY(mutex_);
  ConsistencyView consistency_;  // last: its thread uses the members above
};

}  // namespace stator::console
