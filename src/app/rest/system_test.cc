#include "stator/app/rest/system.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <stdexcept>

#include "stator/app/rest/answer.h"
#include "stator/app/rest/request/file_body.h"
#include "stator/client/client.h"
#include "stator/library/instance.h"
#include "stator/model/testing/load_or_fail.h"
#include "stator/runtime/problem.h"

namespace stator::app {
namespace {

constexpr std::string_view kGarden = R"yaml(
model: garden
table: { name: Garden, key: [PK, SK] }
entities:
  BED:
    path: /beds/{bedId}
    owner: userId
    access: { read: [owner, looking, tending, { public: "open = true" }], write: owner }
    keys: { PK: "USER#{userId}", SK: "BED#{bedId}" }
    attributes:
      userId: string
      bedId: { type: string, required: true, min: 1, max: 10, pattern: "[a-z]+" }
      open: { type: boolean, default: false }
  LOOKER:
    path: /lookers/{who}/{bedId}
    access: { write: signed-in }
    keys: { PK: "LOOKER#{who}", SK: "BED#{bedId}" }
    attributes: { who: string, bedId: string, userId: string }
  TENDER:
    path: /tenders/{who}/{bedId}
    access: { write: signed-in }
    keys: { PK: "TENDER#{who}", SK: "BED#{bedId}" }
    attributes: { who: string, bedId: string, userId: string }
  TOOL:
    path: /tools/{toolId}
    operations: [put, get]
    owner: keeper
    keys: { PK: "KEEPER#{keeper}", SK: "TOOL#{toolId}" }
    attributes: { keeper: uuid, toolId: { type: string, min: 1, max: 10 } }
grants:
  looking: { pointer: LOOKER, key: { who: me, bedId: bedId }, gives: { userId: userId } }
  tending: { pointer: TENDER, key: { who: me, bedId: bedId }, gives: { userId: userId } }
patterns:
  tools: { get: /tools, query: { PK: "KEEPER#{me}" }, returns: TOOL }
  beds:
    get: /beds?first={from}
    query: { PK: "USER#{me}", SK: { between: ["BED#{from}", "BED#{to}"] } }
    parameters: { from: { type: string, max: 10 }, to: { type: string, max: 10 } }
    returns: BED
actions:
  water:
    post: /beds/{bedId}/water
    within: BED
    native: true
    input: { litres: { type: integer, required: true, min: 1 }, how: { type: string, default: softly } }
  prune:
    post: /users/{userId}/beds/{bedId}/prune
    within: BED
    native: true
    access: [owner, tending, "role:gardener"]
  weather:
    get: /weather
    native: true
    input: { day: { type: date, required: true } }
  seed:
    post: /seeds
    native: true
    accepts: [text/csv]
    access: "role:gardener"
    input: { dry: { type: boolean, default: false } }
  rest:
    post: /rest
    native: true
    accepts: none
    input: { hours: { type: integer, default: 1 } }
  clear:
    delete: /beds/{bedId}/plants
    native: true
    within: BED
    input: { kind: { type: string, max: 10 } }
)yaml";

TokenUser somebody(std::string subject, std::vector<std::string> roles = {}) {
  return {
      .caller = {.subject = std::move(subject), .roles = std::move(roles), .system = false}, .name = {}, .email = {}};
}

// One request.
struct Sent {
  std::string method, target;
  std::string body = {};
  std::string type = "application/json";
  std::map<std::string, std::string> headers = {};
};

// A database some of whose answers get lost.
class LossyClient final : public client::Client {
 public:
  explicit LossyClient(api::Operations& service) : database_(service) {}

  void lose_answers_to_writes(bool lose) { lose_ = lose; }

  // Idempotency keys arrive.
  void call(std::string_view operation, std::string_view json, api::ReplyCallback reply) override {
    const bool writes = operation == "PutItem" || operation == "TransactWriteItems";
    if (!lose_ || !writes || json.find("idempotency") != std::string_view::npos) {
      return database_.call(operation, json, std::move(reply));
    }
    database_.call(operation, json, [reply = std::move(reply)](const api::Reply&) mutable {
      reply({.outcome = api::Fault{.type = "NetworkFailure",
                                   .message = "http://10.1.2.3:8000 closed the connection",
                                   .server_side = true},
             .table = {}});
    });
  }

 private:
  client::InProcessClient database_;
  bool lose_ = false;
};

// A system on a database in memory, asked without HTTP.
class Garden {
 public:
  explicit Garden(const Extension& extension)
      : instance_(std::move(*library::Instance::open({.data_folder = {}, .in_memory = true}))),
        client_(instance_->operations()) {
    auto opened =
        System::open(std::make_shared<const model::Model>(model::load_or_fail(kGarden)),
                     {.client = client_, .clock = clock_, .random = random_, .page_tokens = tokens_}, extension);
    if (opened) {
      system_ = std::move(*opened);
    } else {
      error_ = opened.error().message;
    }
  }

  LossyClient& client() { return client_; }
  const std::string& error() const { return error_; }
  const std::string& openapi() const { return system_->openapi(); }

  // "200 body", or "404 NotFound; attribute problem".
  std::string ask(const Sent& sent, const TokenUser* user) {
    const auto question = std::min(sent.target.find('?'), sent.target.size());
    const auto path = std::string_view(sent.target).substr(0, question);
    const auto query =
        QueryParameters::parse(std::string_view(sent.target).substr(std::min(question + 1, sent.target.size())));
    auto route = system_->router().find(sent.method, path, *query);
    if (!route) return std::to_string(route.error().status);
    std::vector<http::Header> headers{{"Content-Type", sent.type}};
    for (const auto& [name, value] : sent.headers) headers.push_back({name, value});
    std::string body = sent.body;
    body.reserve(body.size() + http::kBodyPadding);
    const http::Request request{.method = sent.method,
                                .target = sent.target,
                                .path = path,
                                .query = {},
                                .headers = headers,
                                .body = body,
                                .keep_alive = true};
    const RestCall call{.request = request, .path = path, .query = *query, .body = body, .user = user};
    const auto answer = system_->run(*route, call);
    if (answer) return std::to_string(answer->status) + " " + answer->body;
    auto text = answer.error().code;
    for (const auto& [attribute, problem] : answer.error().details) text += "; " + attribute + " " + problem;
    return text;
  }

 private:
  std::unique_ptr<library::Instance> instance_;
  LossyClient client_;
  ManualClock clock_;
  Random random_{1};
  PageTokens tokens_{"a secret for tests"};
  std::unique_ptr<System> system_;
  std::string error_;
};

http::Response said(std::string text) {
  return {.status = 200, .content_type = "text/plain", .headers = {}, .body = std::move(text), .close = false};
}

std::string text_of(const value::Item& item, std::string_view name) {
  const auto* found = item.find(name);
  if (found == nullptr) return "-";
  if (const auto* number = found->as_number()) return number->to_string();
  if (const auto* boolean = found->as_bool()) return *boolean ? "true" : "false";
  return *found->as_string();
}

Additions natives(const ExtensionParts&) {
  Additions all;
  all.natives["water"] = [](const NativeCall& call) -> RestAnswer {
    return said(text_of(call.inputs, "litres") + " " + text_of(call.inputs, "how") + " on " +
                text_of(call.within->attributes, "bedId"));
  };
  all.natives["prune"] = [](const NativeCall&) -> RestAnswer { return said("pruned"); };
  all.natives["weather"] = [](const NativeCall& call) -> RestAnswer {
    return said("sun on " + text_of(call.inputs, "day"));
  };
  all.natives["seed"] = [](const NativeCall& call) -> RestAnswer {
    FileBody file(call.call);
    std::string text;
    while (true) {
      const auto piece = file.next();
      if (!piece) return unreadable(piece.error());
      if (piece->empty()) return said(text + " dry=" + text_of(call.inputs, "dry"));
      text += *piece;
    }
  };
  all.natives["rest"] = [](const NativeCall& call) -> RestAnswer {
    if (text_of(call.inputs, "hours") == "99") throw std::runtime_error("overslept");
    return said("rested " + text_of(call.inputs, "hours"));
  };
  all.natives["clear"] = [](const NativeCall& call) -> RestAnswer {
    return said("cleared " + text_of(call.inputs, "kind"));
  };
  return all;
}

struct SystemTest : ::testing::Test {
  SystemTest() {
    EXPECT_EQ(garden.ask({"POST", "/beds", R"({"bedId":"roses"})"}, &ann).substr(0, 3), "201");
    EXPECT_EQ(garden.ask({"POST", "/beds", R"({"bedId":"herbs","open":true})"}, &ann).substr(0, 3), "201");
  }

  Garden garden{natives};
  TokenUser ann = somebody("ann"), bob = somebody("bob"), gardener = somebody("gus", {"gardener"});
};

TEST(SystemOpen, NeedsTheCppOfEveryNativeAction) {
  const Garden without([](const ExtensionParts& parts) {
    auto some = natives(parts);
    some.natives.erase("seed");
    return some;
  });
  EXPECT_EQ(without.error(), "garden: seed is native, and this program has no C++ for it");
  EXPECT_NE(Garden(nullptr).error(), "");
}

TEST(SystemOpen, SaysWhatATableLacksAndWhatToDo) {
  const auto instance = std::move(*library::Instance::open({.data_folder = {}, .in_memory = true}));
  client::InProcessClient client(instance->operations());
  ManualClock clock;
  Random random{1};
  PageTokens tokens{std::string(32, 'k')};
  const auto open = [&](std::string_view indexes) {
    const auto text = fmt::format(R"yaml(
model: small
table: {{ name: Small, key: [PK], indexes: {{ {} }} }}
entities:
  THING:
    path: /things/{{id}}
    access: {{ read: public, write: signed-in }}
    keys: {{ PK: "{{id}}" }}
    attributes: {{ id: uuid }}
)yaml",
                                  indexes);
    const auto opened = System::open(std::make_shared<const model::Model>(model::load_or_fail(text)),
                                     {.client = client, .clock = clock, .random = random, .page_tokens = tokens}, {});
    return opened ? std::string("ok") : opened.error().message;
  };
  EXPECT_EQ(open(""), "ok");
  EXPECT_EQ(open("ById: { key: [id] }"),
            "small: table Small differs from the model: ById is not in the table. "
            "`stator model migrate` changes a table from one model to another");
}

TEST_F(SystemTest, ANativeActionGetsCheckedInputsAndWhatItIsWithin) {
  EXPECT_EQ(garden.ask({"POST", "/beds/roses/water", R"({"litres":3})"}, &ann), "200 3 softly on roses");
  EXPECT_EQ(garden.ask({"POST", "/beds/roses/water", R"({"litres":3,"how":"hard"})"}, &ann), "200 3 hard on roses");
}

TEST_F(SystemTest, ANativeActionIsNotCalledWithWhatIsWrong) {
  EXPECT_EQ(garden.ask({"POST", "/beds/roses/water", R"({"litres":0,"how":7,"when":"now"})"}, &ann),
            "Invalid; how must be a text; when is not an attribute of this; litres must be at least 1");
  EXPECT_EQ(garden.ask({"POST", "/beds/roses/water"}, &ann), "Invalid; litres is required");
  EXPECT_EQ(garden.ask({"POST", "/beds/roses/water?x=1", R"({"litres":3})"}, &ann),
            "Invalid; x is not a parameter of this route");
}

TEST_F(SystemTest, ANativeActionIsForThoseWhomItsAccessLetsIn) {
  const Sent water{"POST", "/beds/roses/water", R"({"litres":3})"};
  EXPECT_EQ(garden.ask(water, nullptr), "Unauthenticated");
  EXPECT_EQ(garden.ask(water, &bob), "NotFound");
  EXPECT_EQ(garden.ask({"POST", "/beds/none/water", R"({"litres":3})"}, &ann), "NotFound");
  EXPECT_EQ(garden.ask({"POST", "/beds/NONE/water", R"({"litres":3})"}, &ann), "NotFound") << "no bed can be called so";
  EXPECT_EQ(garden.ask({"POST", "/seeds", "a,b", "text/csv"}, &ann), "Forbidden");
}

TEST_F(SystemTest, ANativeActionIsForThoseWhoHaveAGrantThatItNames) {
  const auto tess = somebody("tess"), luke = somebody("luke"), both = somebody("both");
  const auto allow = [&](const std::string& as, const std::string& who) {
    for (const auto* bed : {"roses", "herbs"}) {
      const auto body = R"({"who":")" + who + R"(","bedId":")" + bed + R"(","userId":"ann"})";
      EXPECT_EQ(garden.ask({"POST", as, body}, &ann).substr(0, 3), "201");
    }
  };
  for (const auto* who : {"luke", "both"}) allow("/lookers", who);
  for (const auto* who : {"tess", "both"}) allow("/tenders", who);
  const auto prune = [&](const std::string& bed, const TokenUser* who) {
    return garden.ask({"POST", "/users/ann/beds/" + bed + "/prune"}, who);
  };
  for (const auto* bed : {"roses", "herbs"}) {  // herbs are there for everybody to see
    for (const TokenUser* who : std::initializer_list<const TokenUser*>{&ann, &tess, &both})
      EXPECT_EQ(prune(bed, who), "200 pruned") << bed;
    EXPECT_EQ(prune(bed, &luke), "Forbidden") << bed;
    EXPECT_EQ(prune(bed, nullptr), "Unauthenticated") << bed;
  }
  EXPECT_EQ(prune("herbs", &bob), "Forbidden");
  EXPECT_EQ(prune("herbs", &gardener), "200 pruned");
  EXPECT_EQ(prune("roses", &bob), "NotFound");
  EXPECT_EQ(prune("roses", &gardener), "NotFound") << "what cannot be seen is not there";
}

TEST_F(SystemTest, ANativeActionIsCalledOnlyInTheVersionThatIsExpected) {
  const auto water = [&](std::string_view name, std::string value) {
    return garden.ask(
        {"POST", "/beds/roses/water", R"({"litres":3})", "application/json", {{std::string(name), std::move(value)}}},
        &ann);
  };
  const auto bed = garden.ask({"GET", "/beds/roses"}, &ann);
  const auto version = bed.substr(bed.find("\"Version\":") + 10);
  const auto current = '"' + version.substr(0, version.find_first_not_of("0123456789")) + '"';
  EXPECT_EQ(water("If-Match", current), "200 3 softly on roses");
  EXPECT_EQ(water("If-Match", "*"), "200 3 softly on roses");
  EXPECT_EQ(water("If-Match", "\"2\""), "VersionMismatch");
  EXPECT_EQ(water("If-None-Match", current), "VersionMismatch");
}

TEST_F(SystemTest, AHeaderThatDecidesWhetherSomethingIsDoneIsNotEmpty) {
  const auto send = [&](std::string method, std::string target, std::string header) {
    return garden.ask({std::move(method), std::move(target), {}, "application/json", {{std::move(header), ""}}}, &ann);
  };
  EXPECT_EQ(send("DELETE", "/beds/roses", "If-Match"), "Invalid; If-Match is empty");
  EXPECT_EQ(send("POST", "/beds/roses/water", "Idempotency-Key"), "Invalid; Idempotency-Key is empty");
  EXPECT_EQ(send("GET", "/beds/roses", "If-Match").substr(0, 3), "200");
}

TEST(SystemExtension, LooksAtEveryCallBeforehandAndTakesOutWhatIsNotForItsCaller) {
  Garden guarded([](const ExtensionParts& parts) {
    auto additions = natives(parts);
    additions.beforehand = [](const RouteMatch& match, const RestCall& call) -> Result<void, runtime::Problem> {
      if (call.user != nullptr && call.user->email.empty()) return runtime::forbidden();
      return match.route->label == "weather" ? Result<void, runtime::Problem>(runtime::not_found("weather"))
                                             : Result<void, runtime::Problem>();
    };
    additions.redact = [](runtime::Object& object, const runtime::Caller& caller) {
      if (caller.subject != text_of(object.attributes, "userId")) object.attributes.erase("open");
    };
    return additions;
  });
  const auto nameless = somebody("ann");
  auto ann = nameless, bob = somebody("bob");
  ann.email = bob.email = "a@example.org";
  EXPECT_EQ(guarded.ask({"POST", "/beds", R"({"bedId":"herbs","open":true})"}, &nameless), "Forbidden");
  EXPECT_NE(guarded.ask({"POST", "/beds", R"({"bedId":"herbs","open":true})"}, &ann).find(R"("open":true)"),
            std::string::npos);
  EXPECT_EQ(guarded.ask({"GET", "/weather?day=2026-05-01"}, &ann), "NotFound");
  EXPECT_NE(guarded.ask({"GET", "/beds?first=a&to=z"}, &ann).find(R"("open":true)"), std::string::npos);
  EXPECT_EQ(guarded.ask({"POST", "/lookers", R"({"who":"bob","bedId":"herbs","userId":"ann"})"}, &ann).substr(0, 3),
            "201");
  const auto seen = guarded.ask({"GET", "/beds/herbs"}, &bob);
  EXPECT_EQ(seen.substr(0, 4), "200 ");
  EXPECT_EQ(seen.find("open"), std::string::npos) << seen;
}

TEST_F(SystemTest, ANativeGetTakesItsInputsFromTheQuery) {
  EXPECT_EQ(garden.ask({"GET", "/weather?day=2026-05-01"}, &ann), "200 sun on 2026-05-01");
  EXPECT_EQ(garden.ask({"GET", "/weather"}, &ann), "Invalid; day is required");
  EXPECT_EQ(garden.ask({"GET", "/weather?day=May&hour=7"}, &ann).substr(0, 7), "Invalid");
  EXPECT_EQ(garden.ask({"GET", "/weather?day=2026-05-01"}, nullptr), "Unauthenticated");
}

TEST_F(SystemTest, ANativeActionTakesTheBodiesThatItAccepts) {
  EXPECT_EQ(garden.ask({"POST", "/seeds?dry=true", "a,b", "text/csv; charset=utf-8"}, &gardener), "200 a,b dry=true");
  EXPECT_EQ(garden.ask({"POST", "/seeds", "a,b", "TEXT/CSV"}, &gardener), "200 a,b dry=false");
  EXPECT_EQ(garden.ask({"POST", "/seeds", "{}"}, &gardener).substr(0, 3), "415");
  EXPECT_EQ(garden.ask({"POST", "/beds/roses/water", "litres=3", "text/csv"}, &ann).substr(0, 3), "415");
}

TEST_F(SystemTest, AnActionThatTakesNoBodyHasItsInputsInTheQuery) {
  EXPECT_EQ(garden.ask({"POST", "/rest"}, &ann), "200 rested 1");
  EXPECT_EQ(garden.ask({"POST", "/rest?hours=3", "{}"}, &ann), "200 rested 3");
  EXPECT_EQ(garden.ask({"POST", "/rest?hours=x", R"({"days":2})"}, &ann),
            "Invalid; hours must be a number; days is not an attribute of this");
  EXPECT_EQ(garden.ask({"POST", "/rest", "{"}, &ann).substr(0, 11), "InvalidJson");
  EXPECT_EQ(garden.ask({"POST", "/rest", "a,b", "text/csv"}, &ann).substr(0, 3), "415");
}

TEST_F(SystemTest, ABodyWhereNoneIsTakenIsRefusedByName) {
  EXPECT_EQ(garden.ask({"DELETE", "/beds/roses/plants?kind=weed", R"({"kind":"rose"})"}, &ann),
            "Invalid; kind belongs in the query string");
  EXPECT_EQ(garden.ask({"DELETE", "/beds/roses", R"({"really":true})"}, &ann),
            "Invalid; really is not an attribute of this");
  EXPECT_EQ(garden.ask({"DELETE", "/beds/roses", "{}"}, &ann), "204 ");
}

TEST_F(SystemTest, AParameterIsNamedAsTheClientWroteIt) {
  EXPECT_EQ(garden.ask({"GET", "/beds?first=marigolds-and-others"}, &ann).substr(0, 15), "Invalid; first ");
}

TEST_F(SystemTest, ARangeThatEndsBeforeItBeginsNamesBothParameters) {
  EXPECT_EQ(garden.ask({"GET", "/beds?first=b&to=a"}, &ann),
            "Invalid; first is behind the end of the range; to is before the beginning of the range");
  EXPECT_EQ(garden.ask({"GET", "/beds?first=b&to=b"}, &ann), R"(200 {"items":[]})");
}

TEST_F(SystemTest, AKeyedPostIsCarriedOutOnce) {
  const Sent first{"POST", "/beds", R"({"bedId":"lilies"})", "application/json", {{"Idempotency-Key", "k1"}}};
  const auto answer = garden.ask(first, &ann);
  EXPECT_EQ(answer.substr(0, 3), "201");
  EXPECT_EQ(garden.ask(first, &ann), answer);
  EXPECT_EQ(garden.ask(first, &bob).substr(0, 3), "201") << "a key is its caller's own";
  auto other = first;
  other.body = R"({"bedId":"tulips"})";
  EXPECT_EQ(garden.ask(other, &ann), "IdempotencyKeyReused");
}

TEST_F(SystemTest, ARefusedRequestLeavesItsKeyFree) {
  Sent wrong{"POST", "/beds", R"({"bedId":"LILIES"})", "application/json", {{"Idempotency-Key", "k1"}}};
  EXPECT_EQ(garden.ask(wrong, &ann).substr(0, 7), "Invalid");
  wrong.body = R"({"bedId":"lilies"})";
  EXPECT_EQ(garden.ask(wrong, &ann).substr(0, 3), "201");
}

TEST_F(SystemTest, AKeyedPostOfWhichNobodyKnowsWhetherItWasCarriedOutIsNotCarriedOutAgain) {
  const Sent sent{"POST", "/beds", R"({"bedId":"lilies"})", "application/json", {{"Idempotency-Key", "k1"}}};
  garden.client().lose_answers_to_writes(true);
  EXPECT_EQ(garden.ask(sent, &ann), "NetworkFailure");
  garden.client().lose_answers_to_writes(false);
  EXPECT_EQ(garden.ask({"DELETE", "/beds/lilies"}, &ann), "204 ") << "it was";
  EXPECT_EQ(garden.ask(sent, &ann), "OutcomeUnknown");
  EXPECT_EQ(garden.ask({"GET", "/beds/lilies"}, &ann), "NotFound");
}

TEST_F(SystemTest, AKeyedPostThatEndsInAnExceptionIsNotCarriedOutAgain) {
  const Sent sent{"POST", "/rest?hours=99", {}, "application/json", {{"Idempotency-Key", "k1"}}};
  EXPECT_THROW(garden.ask(sent, &ann), std::runtime_error);
  EXPECT_EQ(garden.ask(sent, &ann), "OutcomeUnknown");
}

TEST_F(SystemTest, AKeyedPostWithAnAnswerThatIsTooLargeToKeepIsCarriedOutOnce) {
  const Sent large{"POST", "/seeds", std::string(500'000, 'x'), "text/csv", {{"Idempotency-Key", "k1"}}};
  EXPECT_EQ(garden.ask(large, &gardener).substr(0, 3), "200");
  EXPECT_EQ(garden.ask(large, &gardener), "AnswerNotKept");
}

TEST_F(SystemTest, ACallerIsTheSameInEverySpellingOfAnId) {
  const auto lower = somebody("0b2f6a3e-96e4-4f0a-9a5b-6f6c1f1a2b3c"),
             upper = somebody("0B2F6A3E-96E4-4F0A-9A5B-6F6C1F1A2B3C");
  EXPECT_EQ(garden.ask({"PUT", "/tools/hoe", "{}"}, &upper).substr(0, 3), "201");
  EXPECT_EQ(garden.ask({"PUT", "/tools/hoe", "{}"}, &lower).substr(0, 3), "200");
  EXPECT_EQ(garden.ask({"GET", "/tools/hoe"}, &upper), garden.ask({"GET", "/tools/hoe"}, &lower));
  const auto list = garden.ask({"GET", "/tools"}, &upper);
  EXPECT_NE(list.find("hoe"), std::string::npos) << list;
  EXPECT_EQ(garden.ask({"PUT", "/tools/hoe", "{}"}, &ann),
            "Invalid; keeper is not a uuid such as 123e4567-e89b-12d3-a456-426614174000")
      << "who is none owns nothing";
}

TEST_F(SystemTest, TheDocumentDescribesNativeActions) {
  const auto& document = garden.openapi();
  for (const auto* part :
       {R"("operationId":"water")", R"("operationId":"weather")", R"("text/csv":{})", R"("name":"day")"}) {
    EXPECT_NE(document.find(part), std::string::npos) << part;
  }
}

TEST_F(SystemTest, LooksAtRowsBeforeALargeBodyBecomesValues) {
  const std::string large = "{" + std::string(100'000, ' ') + "nonsense";
  const auto send = [&](std::string method, std::string target, const TokenUser& who) {
    return garden.ask({std::move(method), std::move(target), large}, &who);
  };
  EXPECT_EQ(send("PATCH", "/beds/roses", bob), "NotFound");
  EXPECT_EQ(send("PATCH", "/beds/weeds", ann), "NotFound");
  EXPECT_EQ(send("PATCH", "/beds/roses", ann), "InvalidJson");
  EXPECT_EQ(send("POST", "/beds/roses/water", bob), "NotFound");
  EXPECT_EQ(send("POST", "/beds/roses/water", ann), "InvalidJson");
  EXPECT_EQ(send("POST", "/beds", ann), "InvalidJson");
  EXPECT_EQ(garden.ask({"PATCH", "/beds/roses", "{nonsense"}, &bob), "InvalidJson") << "a small one is cheaper to read";
}

TEST_F(SystemTest, TellsOfAHundredProblemsAndHowManyMore) {
  std::string body = R"({"bedId":"tulips")";
  for (int i = 0; i < 1000; ++i) body += ",\"x" + std::to_string(i) + "\":1";
  const auto answer = garden.ask({"POST", "/beds", body + "}"}, &ann);
  EXPECT_EQ(std::ranges::count(answer, ';'), 101) << "an entry counts the rest";
  EXPECT_NE(answer.find("900"), std::string::npos);
  std::vector<model::ValueProblem> problems;
  for (int i = 0; i < 250; ++i) problems.push_back({"x" + std::to_string(i), "is wrong"});
  const auto told = problem_answer(runtime::invalid(problems)).body;
  EXPECT_NE(told.find("\"250 values are wrong\""), std::string::npos) << told;
  EXPECT_TRUE(told.ends_with("}],\"more\":150}")) << told;
  problems.resize(100);
  EXPECT_TRUE(problem_answer(runtime::invalid(problems)).body.ends_with("}]}"));
}

TEST_F(SystemTest, BuildsNoMoreValuesThanAnItemCanHold) {
  std::string body = R"({"bedId":[1)";
  for (int i = 0; i < 100'000; ++i) body += ",1";
  EXPECT_EQ(garden.ask({"POST", "/beds", body + "]}"}, &ann), "TooManyValues");
}

}  // namespace
}  // namespace stator::app
