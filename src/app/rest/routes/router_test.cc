#include "stator/app/rest/routes/router.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "stator/app/rest/system.h"

namespace stator::app {
namespace {

model::Entity book() {
  model::Entity entity;
  entity.name = "BOOK";
  entity.path = "/books/{bookId}";
  entity.operations = {"create", "get", "put", "update", "delete", "restore", "purge"};
  return entity;
}

model::Pattern pattern(std::string name, std::string path) {
  model::Pattern pattern;
  pattern.name = std::move(name);
  pattern.path = std::move(path);
  return pattern;
}

struct RouterTest : ::testing::Test {
  RouterTest() {
    model::Entity profile;
    profile.name = "PROFILE";
    profile.path = "/profile";
    profile.operations = {"create", "get"};
    model.entities = {book(), profile};
    model.patterns = {pattern("books", "/books"), pattern("by_status", "/books?status={state}"),
                      pattern("unread", "/books?status=SHELF"), pattern("search", "/books/search?q={q}")};
    model::Action lend;
    lend.name = "lend";
    lend.path = "/books/{bookId}/lend";
    model.actions = {lend};
  }

  // "books", "404", "405 GET, HEAD", "BOOK.get bookId=7"
  std::string route(std::string_view method, std::string_view target) {
    const auto router = Router::make(model);
    if (!router) return router.error().message;
    const auto question = std::min(target.find('?'), target.size());
    const auto query = QueryParameters::parse(target.substr(std::min(question + 1, target.size())));
    if (!query) return query.error().message;
    const auto found = router->find(method, target.substr(0, question), *query);
    if (!found) {
      return std::to_string(found.error().status) + (found.error().allow.empty() ? "" : " " + found.error().allow);
    }
    auto text = found->route->label;
    for (const auto& [name, value] : found->captured) text += " " + std::string(name) + "=" + value;
    return text;
  }

  // Why nothing is got there.
  std::string refusal(std::string_view target) {
    const auto question = std::min(target.find('?'), target.size());
    const auto query = QueryParameters::parse(target.substr(std::min(question + 1, target.size())));
    const auto found = Router::make(model)->find("GET", target.substr(0, question), *query);
    if (found) return "it is there";
    std::string text;
    for (const auto& [name, problem] : found.error().details) text += (text.empty() ? "" : "; ") + name + " " + problem;
    return text;
  }

  model::Model model;
};

TEST_F(RouterTest, AnEntityHasACollectionAndItems) {
  EXPECT_EQ(route("POST", "/books"), "BOOK.create");
  EXPECT_EQ(route("GET", "/books/7"), "BOOK.get bookId=7");
  EXPECT_EQ(route("HEAD", "/books/7"), "BOOK.get bookId=7");
  EXPECT_EQ(route("PUT", "/books/7"), "BOOK.put bookId=7");
  EXPECT_EQ(route("PATCH", "/books/7"), "BOOK.update bookId=7");
  EXPECT_EQ(route("DELETE", "/books/7"), "BOOK.delete bookId=7");
  EXPECT_EQ(route("POST", "/books/7/restore"), "BOOK.restore bookId=7");
  EXPECT_EQ(route("DELETE", "/books/7/purge"), "BOOK.purge bookId=7");
  EXPECT_EQ(route("POST", "/books/7/lend"), "lend bookId=7");
}

TEST_F(RouterTest, APathThatEndsInAWordIsItsOwnCollection) {
  EXPECT_EQ(route("POST", "/profile"), "PROFILE.create");
  EXPECT_EQ(route("GET", "/profile"), "PROFILE.get");
}

TEST_F(RouterTest, TheMostSpecificPatternWhoseQueryIsThereAnswers) {
  EXPECT_EQ(route("GET", "/books"), "books");
  EXPECT_EQ(route("GET", "/books?limit=3"), "books");
  EXPECT_EQ(route("GET", "/books?status=READ"), "by_status state=READ");
  EXPECT_EQ(route("GET", "/books?limit=3&status=SHELF"), "unread");
}

TEST_F(RouterTest, ALiteralWinsOverACapture) {
  EXPECT_EQ(route("GET", "/books/search?q=a+b"), "search q=a b");
  EXPECT_EQ(route("DELETE", "/books/search"), "BOOK.delete bookId=search");
}

TEST_F(RouterTest, SaysWhatIsWrongWithOthers) {
  EXPECT_EQ(route("GET", "/films"), "404");
  EXPECT_EQ(route("GET", "/books/"), "404");
  EXPECT_EQ(route("GET", "/books//lend"), "404");
  EXPECT_EQ(route("PUT", "/books"), "405 GET, HEAD, POST");
  EXPECT_EQ(route("GET", "/books/7/lend"), "405 POST");
}

TEST_F(RouterTest, DecodesStrictly) {
  EXPECT_EQ(route("GET", "/books/a%2Fb%20c"), "BOOK.get bookId=a/b c");
  EXPECT_EQ(route("GET", "/books/a+b"), "BOOK.get bookId=a+b");
  EXPECT_EQ(route("GET", "/books/%zz"), "400");
  EXPECT_EQ(route("GET", "/books/%4"), "400");
  EXPECT_EQ(route("GET", "/books/%ff"), "400") << "not UTF-8";
  EXPECT_EQ(route("GET", "/books?status=%f"), "the query string is not percent-encoded UTF-8");
  EXPECT_EQ(route("GET", "/books?status=a&status=b"), "status is given twice");
}

TEST_F(RouterTest, AMissingQueryParameterIsNamed) {
  model.patterns = {pattern("by_status", "/books?status={state}")};
  EXPECT_EQ(route("GET", "/books"), "400");
  EXPECT_EQ(refusal("/books"), "status is required");
}

TEST_F(RouterTest, TheWordsThatAQueryParameterCanBeAreNamed) {
  model.patterns = {pattern("to_crawl", "/due?op=crawl"), pattern("to_scrape", "/due?op=scrape")};
  for (const auto* target : {"/due", "/due?op=fetch"}) {
    EXPECT_EQ(refusal(target), "op must be crawl or scrape");
  }
}

TEST_F(RouterTest, WhatIsAskedForIsTheLeastThatMakesTheRequestFit) {
  model.patterns = {pattern("to_crawl", "/due?op=crawl&country={country}"),
                    pattern("to_scrape", "/due?op=scrape&country={country}")};
  EXPECT_EQ(refusal("/due?op=scrape"), "country is required");
  EXPECT_EQ(refusal("/due?op=crawl"), "country is required");
  EXPECT_EQ(refusal("/due?country=DE"), "op must be crawl or scrape");
  EXPECT_EQ(refusal("/due"), "op must be crawl or scrape; country is required");
}

TEST_F(RouterTest, WhereOneOfSeveralParametersIsNeededAllAreNamed) {
  model.patterns = {pattern("by_tmdb", "/content?tmdbId={tmdbId}"), pattern("by_imdb", "/content?imdbId={imdbId}"),
                    pattern("by_place", "/content?room={room}&shelf={shelf}")};
  EXPECT_EQ(refusal("/content"), "tmdbId or imdbId is required");
}

TEST_F(RouterTest, KnowsWhatAParameterIsOnOtherRoutesOfTheSamePath) {
  model.patterns = {pattern("books", "/books"), pattern("by_update", "/books?sort=updatedAt"),
                    pattern("by_status", "/books?status={state}")};
  const auto router = *Router::make(model);
  const auto& books = *std::ranges::find(router.routes(), "books", &Route::label);
  EXPECT_EQ(router.why_not(books, "sort", "title"), "must be updatedAt");
  EXPECT_EQ(router.why_not(books, "status", "READ"), "cannot be combined with the other parameters");
  EXPECT_EQ(router.why_not(books, "colour", "red"), "is not a parameter of this route");
}

TEST_F(RouterTest, RefusesTwoRoutesForTheSameRequests) {
  model::Action again;
  again.method = "GET";
  again.path = "/books/{id}";
  again.name = "again";
  again.native = true;
  model.actions = {again};
  EXPECT_EQ(route("GET", "/books"), "BOOK.get and again have the same route: GET /books/{bookId}");
}

TEST(Percent, EncodesWhatAPathCannotHold) { EXPECT_EQ(encode_percent("a/b ü~"), "a%2Fb%20%C3%BC~"); }

}  // namespace
}  // namespace stator::app
