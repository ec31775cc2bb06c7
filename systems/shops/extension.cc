#include "stator/systems/shops/extension.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "stator/app/rest/answer.h"
#include "stator/app/rest/request/file_body.h"
#include "stator/base/memory_budget.h"
#include "stator/model/problem_list.h"
#include "stator/runtime/problem.h"
#include "stator/runtime/write/transaction.h"
#include "stator/systems/shops/public_suffix.h"
#include "stator/systems/shops/url_batch.h"
#include "stator/systems/shops/url_store.h"
#include "stator/systems/shops/work_queue.h"
#include "stator/value/json.h"

namespace stator::systems::shops {
namespace {

using app::NativeCall;
using runtime::Problem;
using value::AttributeValue;
using value::JsonWriter;

// The answer to a batch, put together while it is written.  Of refused entries it has the first hundred.
class UpsertAnswer {
 public:
  void add(const UpsertReport& report) {
    created_.add(report.created);
    changed_.add(report.changed);
    unchanged_.add(report.unchanged);
  }
  void refuse(const UrlEntry& entry) {
    if (refused_.count++ >= static_cast<std::int64_t>(model::kMostProblems)) return;
    refused_.json.begin_object().key("index").integer(entry.index).key("url").string(entry.refused_url);
    refused_.json.key("problem").string(entry.problem).end_object();
  }

  std::int64_t taken() const { return created_.count + changed_.count + unchanged_.count; }
  std::size_t bytes() const { return created_.text.size() + changed_.text.size() + unchanged_.text.size(); }

  std::string body() && {
    std::string body;
    JsonWriter json(body);
    const std::pair<std::string_view, Urls*> lists[] = {
        {"created", &created_}, {"changed", &changed_}, {"unchanged", &unchanged_}, {"refused", &refused_}};
    json.begin_object().key("counts").begin_object();
    for (const auto& [name, list] : lists) json.key(name).integer(list->count);
    json.end_object();
    for (const auto& [name, list] : lists) {
      list->json.end_array();
      json.key(name).raw(list->text);
      list->text = std::string();
    }
    json.end_object();
    return body;
  }

 private:
  struct Urls {
    void add(const std::vector<std::string>& urls) {
      for (const auto& url : urls) json.string(url);
      count += static_cast<std::int64_t>(urls.size());
    }
    std::string text = {};
    JsonWriter json = std::move(JsonWriter(text).begin_array());
    std::int64_t count = 0;
  };
  Urls created_, changed_, unchanged_, refused_;
};

// Nobody's shop is a whole "com".  One that is stored already can still be changed and deleted.
Result<void, Problem> refuse_public_suffix(runtime::Transaction&, runtime::Draft& shop) {
  const auto& domain = shop.after->text("domain");
  if (shop.before || !is_public_suffix(domain)) return {};
  return runtime::invalid({{"domain", fmt::format("must be a name below {}, which is a public suffix", domain)}});
}

// The native actions of the model, by their names there.
class Shops {
 public:
  explicit Shops(const app::ExtensionParts& parts)
      : repository_(parts.repository),
        model_(repository_.model()),
        url_(*model_.find_entity("URL")),
        store_(model_, parts.client, parts.clock),
        queue_(repository_, parts.clock) {
    for (const auto& attribute : url_.attributes) {
      const bool told = attribute.name == "type" || attribute.name == "hash" || attribute.name == "standards_used";
      if (told) told_.push_back(attribute);
    }
  }

  Result<http::Response, Problem> upsert_urls(const NativeCall& call) {
    const auto& domain = call.within->attributes.text("domain");
    MemoryClaim claim(call.call.memory, MemoryPart::Values);
    RepeatedUrls repeated;
    TRY(note_urls(call.call, domain, repeated, claim));
    UpsertAnswer answer;
    const auto written = write_urls(call.call, domain, repeated, claim, answer);
    if (!written) return after(answer.taken(), written.error());
    return app::json_answer(200, std::move(answer).body());
  }

  Result<http::Response, Problem> get_url(const NativeCall& call) {
    const auto url = TRY(repository_.get(url_, TRY(naming(call)), call.caller()));
    std::string body;
    app::append_object(body, model_.table, url);
    auto answer = app::json_answer(200, std::move(body));
    answer.headers = "ETag: " + app::etag_of(url) + "\r\n";
    return answer;
  }

  Result<http::Response, Problem> delete_url(const NativeCall& call) {
    TRY(repository_.remove(url_, TRY(naming(call)), call.caller()));
    return app::no_content();
  }

  Result<http::Response, Problem> set_hash(const NativeCall& call) {
    const auto name = TRY(naming(call));
    const auto& hash = *call.inputs.find("hash");
    std::optional<AttributeValue> before;
    TRY(repository_.transact([&](runtime::Transaction& transaction) -> Result<void, Problem> {
      auto* draft = TRY(transaction.load(url_, name));
      if (draft == nullptr) return runtime::not_found(url_.name);
      const auto* known = draft->after->find("hash");
      before = known == nullptr ? std::nullopt : std::optional(*known);
      model::PlainObject changes;
      changes.values.set("hash", hash);
      return transaction.change(*draft, changes, runtime::ValueSource::Request);
    }));
    std::string body;
    JsonWriter json(body);
    json.begin_object().key("url").string(name.text("url")).key("changed").boolean(before != hash);
    json.key("hash").string(*hash.as_string());
    if (before) json.key("previous").string(*before->as_string());
    json.end_object();
    return app::json_answer(200, std::move(body));
  }

  Result<http::Response, Problem> claim(const NativeCall& call) {
    const ClaimRequest request{.op = call.inputs.text("op"),
                               .country = call.inputs.text("country"),
                               .seconds = *call.inputs.find("seconds")->as_number()->to_int64()};
    const auto claimed = queue_.claim(request, call.caller());
    if (!claimed) return as_claimed(claimed.error());
    const auto& lease = *claimed;
    if (!lease) return app::no_content();
    std::string shop;
    app::append_object(shop, model_.table, lease->shop);
    std::string body;
    JsonWriter json(body);
    json.begin_object().key("op").string(request.op).key("domain").string(lease->shop.attributes.text("domain"));
    json.key("lease").string(lease->token);
    json.key("until").string(lease->until).key("shop").raw(shop).end_object();
    return app::json_answer(200, std::move(body));
  }

 private:
  // The queue calls the country by the name of its attribute; the caller gave the parameter `country`.
  static runtime::Problem as_claimed(runtime::Problem problem) {
    const auto is_country = [](const model::ValueProblem& detail) { return detail.attribute == "shop_country"; };
    const auto country = std::ranges::find_if(problem.details, is_country);
    if (country == problem.details.end()) return problem;
    country->attribute = "country";
    return runtime::invalid(std::move(problem.details));
  }

  static Result<value::Item, Problem> naming(const NativeCall& call) {
    const auto& domain = call.within->attributes.text("domain");
    const auto url = url_of_shop(call.inputs.text("url"), domain);
    if (!url) return runtime::invalid({{"url", url.error().message}});
    return UrlStore::naming(domain, *url);
  }

  // Reads the batch for the first time, to its end, and notes its URLs.
  Result<void, Problem> note_urls(const app::RestCall& call, std::string_view domain, RepeatedUrls& repeated,
                                  MemoryClaim& claim) const {
    app::FileBody file(call);
    UrlBatchReader reader(file, domain, told_);
    while (true) {
      const auto entry = reader.next();
      if (!entry) return app::unreadable(entry.error());
      if (!*entry) break;
      if (!(*entry)->problem.empty()) continue;
      repeated.note((*entry)->news.url);
      TRY(hold(claim, repeated.bytes()));
    }
    repeated.end_notes();
    return {};
  }

  // Reads it again, and writes it chunk by chunk.
  Result<void, Problem> write_urls(const app::RestCall& call, const std::string& domain, RepeatedUrls& repeated,
                                   MemoryClaim& claim, UpsertAnswer& answer) {
    std::vector<UrlNews> chunk;
    const auto write_chunk = [&]() -> Result<void, Problem> {
      if (!chunk.empty()) answer.add(TRY(store_.upsert(domain, std::exchange(chunk, {}))));
      return hold(claim, repeated.bytes() + 2 * answer.bytes());
    };
    app::FileBody file(call);
    UrlBatchReader reader(file, domain, told_);
    while (true) {
      auto entry = reader.next();
      if (!entry) return app::unreadable(entry.error());
      if (!*entry) break;
      if (!(*entry)->problem.empty()) {
        answer.refuse(**entry);
      } else if (!repeated.hold((*entry)->news)) {
        chunk.push_back(std::move((*entry)->news));
        if (chunk.size() == UrlStore::kChunk) TRY(write_chunk());
      } else {
        TRY(hold(claim, repeated.bytes() + 2 * answer.bytes()));
      }
    }
    TRY(write_chunk());
    for (auto& news : repeated.take()) {
      chunk.push_back(std::move(news));
      if (chunk.size() == UrlStore::kChunk) TRY(write_chunk());
    }
    return write_chunk();
  }

  // The problem that ended a batch after so many URLs were written.
  static runtime::Problem after(std::int64_t taken, runtime::Problem problem) {
    if (taken == 0) return problem;
    problem.message +=
        fmt::format("; {} URLs of the batch were taken before: sent again, they are found unchanged", taken);
    return problem;
  }

  static Result<void, Problem> hold(MemoryClaim& claim, std::size_t bytes) {
    if (bytes <= MemoryBudget::kSmallBytes || bytes <= claim.bytes() || claim.resize(bytes)) return {};
    return app::unreadable({ErrorCode::Busy, "there is no memory left for this batch: send it again in a moment"});
  }

  runtime::Repository& repository_;
  const model::Model& model_;
  const model::Entity& url_;
  std::vector<model::Attribute> told_;  // the attributes that crawlers report about a URL
  UrlStore store_;
  WorkQueue queue_;
};

}  // namespace

app::Additions extension(const app::ExtensionParts& parts) {
  const auto shops = std::make_shared<Shops>(parts);
  return {.natives =
              {
                  {"upsert_urls", [shops](const NativeCall& call) { return shops->upsert_urls(call); }},
                  {"get_url", [shops](const NativeCall& call) { return shops->get_url(call); }},
                  {"look_up_url", [shops](const NativeCall& call) { return shops->get_url(call); }},
                  {"delete_url", [shops](const NativeCall& call) { return shops->delete_url(call); }},
                  {"delete_long_url", [shops](const NativeCall& call) { return shops->delete_url(call); }},
                  {"set_hash", [shops](const NativeCall& call) { return shops->set_hash(call); }},
                  {"claim", [shops](const NativeCall& call) { return shops->claim(call); }},
              },
          .follow = {{parts.repository.model().find_entity("SHOP"), refuse_public_suffix}}};
}

}  // namespace stator::systems::shops
