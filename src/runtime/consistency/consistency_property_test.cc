// Random operations on a model with copies, counters, unique values and cascades, while managers are killed at random
// calls.  In the end verification finds nothing, and everything is as a plain reference in memory says.
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "stator/runtime/consistency/consistency_test_support.h"

namespace stator::runtime {
namespace {

struct BookState {
  std::string library;
  std::string collection;  // empty: none
  std::string isbn;        // empty: none
  std::string title;
  int pages = 0;
};

// The contents of the shelf as its user expects them.
struct Reference {
  std::map<std::string, std::string> libraries;                            // id -> name
  std::map<std::string, std::pair<std::string, std::string>> collections;  // id -> library, name
  std::map<std::string, BookState> books;
  std::set<std::string> fading;  // unique numbers of books whose cascade may not have come yet
};

class Session {
 public:
  explicit Session(std::uint64_t seed) : random_(seed) {}

  void run() {
    shelf_.propagate_all();  // the verification of a first start would otherwise do the work
    for (int i = 0; i < 120; ++i) {
      act();
      if (random_.below(6) == 0) run_a_mortal_manager();
    }
    shelf_.let_leases_run_out();
    shelf_.propagate_all();
    EXPECT_EQ(shelf_.findings(), std::vector<std::string>());
    compare();
  }

 private:
  template <typename Map>
  std::string pick(const Map& map) {
    if (map.empty()) return {};
    return std::next(map.begin(), static_cast<std::ptrdiff_t>(random_.below(map.size())))->first;
  }
  std::string word() { return std::string(1, static_cast<char>('a' + random_.below(12))); }
  static std::string id_in(const Object& object, std::string_view name) {
    return *object.attributes.find(name)->as_string();
  }

  void act() {
    switch (random_.below(10)) {
      case 0: return create_library();
      case 1:
      case 2: return create_collection();
      case 3:
      case 4: return create_book();
      case 5: return rename_collection();
      case 6: return move_book();
      case 7: return change_book();
      case 8: return remove_book_or_collection();
      case 9:
        if (random_.below(3) == 0) remove_library();
        return;
    }
  }

  void create_library() {
    const auto name = word();
    const auto made = shelf_.world.create("LIBRARY", {{"Name", text(name)}}, shelf_.alice);
    bool taken = false;
    for (const auto& [id, other] : reference_.libraries) taken = taken || other == name;
    ASSERT_EQ(made.ok(), !taken) << told(made);
    if (made) reference_.libraries[id_in(*made, "LibraryId")] = name;
  }

  bool name_taken(const std::string& library, const std::string& name, const std::string& except = {}) const {
    for (const auto& [id, collection] : reference_.collections) {
      if (id != except && collection.first == library && collection.second == name) return true;
    }
    return false;
  }

  void create_collection() {
    const auto library = pick(reference_.libraries);
    if (library.empty()) return;
    const auto name = word();
    const auto made =
        shelf_.world.create("COLLECTION", {{"LibraryId", text(library)}, {"Name", text(name)}}, shelf_.alice);
    ASSERT_EQ(made.ok(), !name_taken(library, name)) << told(made);
    if (made) reference_.collections[id_in(*made, "CollectionId")] = {library, name};
  }

  // A collection of that library, or none.
  std::string some_collection(const std::string& library) {
    std::map<std::string, bool> candidates = {{"", true}};
    for (const auto& [id, collection] : reference_.collections) {
      if (collection.first == library) candidates[id] = true;
    }
    return pick(candidates);
  }

  void create_book() {
    BookState book;
    book.library = pick(reference_.libraries);
    if (book.library.empty()) return;
    book.collection = some_collection(book.library);
    book.title = word();
    book.pages = static_cast<int>(random_.below(100));
    if (random_.below(2) == 0) book.isbn = std::to_string(random_.below(8));
    Item given = {{"LibraryId", text(book.library)}, {"Title", text(book.title)}, {"Pages", number(book.pages)}};
    if (!book.collection.empty()) given.set("CollectionId", text(book.collection));
    if (!book.isbn.empty()) given.set("Isbn", text(book.isbn));
    const auto made = shelf_.world.create("BOOK", given, shelf_.alice);
    bool taken = false;
    for (const auto& [id, other] : reference_.books) taken = taken || (!book.isbn.empty() && other.isbn == book.isbn);
    if (taken || !reference_.fading.contains(book.isbn)) {
      ASSERT_EQ(told(made), taken ? "409 Duplicate; Isbn is taken" : "ok");
    }
    if (made) reference_.books[id_in(*made, "ItemId")] = book;
  }

  void rename_collection() {
    const auto id = pick(reference_.collections);
    if (id.empty()) return;
    auto& [library, name] = reference_.collections.at(id);
    const auto to = word();
    const auto updated = shelf_.world.update("COLLECTION", {{"LibraryId", text(library)}, {"CollectionId", text(id)}},
                                             changes({{"Name", text(to)}}), shelf_.alice);
    ASSERT_EQ(updated.ok(), !name_taken(library, to, id)) << told(updated);
    if (updated) name = to;
  }

  void move_book() {
    const auto id = pick(reference_.books);
    if (id.empty()) return;
    auto& book = reference_.books.at(id);
    const auto to = some_collection(book.library);
    const auto given = to.empty() ? changes({}, {"CollectionId"}) : changes({{"CollectionId", text(to)}});
    ASSERT_EQ(told(shelf_.world.update("BOOK", key_of(id, book), given, shelf_.alice)), "ok");
    book.collection = to;
  }

  void change_book() {
    const auto id = pick(reference_.books);
    if (id.empty()) return;
    auto& book = reference_.books.at(id);
    book.title = word();
    book.pages = static_cast<int>(random_.below(100));
    const auto given = changes({{"Title", text(book.title)}, {"Pages", number(book.pages)}});
    ASSERT_EQ(told(shelf_.world.update("BOOK", key_of(id, book), given, shelf_.alice)), "ok");
  }

  void remove_book_or_collection() {
    if (random_.below(2) == 0) {
      const auto id = pick(reference_.books);
      if (id.empty()) return;
      ASSERT_EQ(told(shelf_.world.remove("BOOK", key_of(id, reference_.books.at(id)), shelf_.alice)), "ok");
      reference_.books.erase(id);
      return;
    }
    const auto id = pick(reference_.collections);
    if (id.empty()) return;
    const Item key = {{"LibraryId", text(reference_.collections.at(id).first)}, {"CollectionId", text(id)}};
    ASSERT_EQ(told(shelf_.world.remove("COLLECTION", key, shelf_.alice)), "ok");
    reference_.collections.erase(id);
    for (auto& [book_id, book] : reference_.books) {
      if (book.collection == id) book.collection.clear();
    }
  }

  void remove_library() {
    const auto id = pick(reference_.libraries);
    if (id.empty()) return;
    ASSERT_EQ(told(shelf_.world.remove("LIBRARY", {{"LibraryId", text(id)}}, shelf_.alice)), "ok");
    reference_.libraries.erase(id);
    std::erase_if(reference_.collections, [&](const auto& entry) { return entry.second.first == id; });
    for (const auto& [book_id, book] : reference_.books) {
      if (book.library == id) reference_.fading.insert(book.isbn);
    }
    std::erase_if(reference_.books, [&](const auto& entry) { return entry.second.library == id; });
  }

  void run_a_mortal_manager() {
    shelf_.let_leases_run_out();
    const auto fate = random_.below(2) == 0 ? FailingClient::Fate::Refused : FailingClient::Fate::Lost;
    FailingClient mortal(shelf_.world.client(),
                         FailingClient::dies_at(static_cast<unsigned>(random_.below(120)), fate));
    const auto manager = shelf_.manager(mortal);
    if (manager->catch_up()) reference_.fading.clear();
  }

  static Item key_of(const std::string& id, const BookState& book) {
    return {{"LibraryId", text(book.library)}, {"ItemId", text(id)}};
  }

  void compare() {
    std::map<std::string, std::size_t> types;
    for (const auto& row : shelf_.world.rows()) ++types[*row.find("EntityType")->as_string()];
    EXPECT_EQ(types["LIBRARY"], reference_.libraries.size());
    EXPECT_EQ(types["COLLECTION"], reference_.collections.size());
    EXPECT_EQ(types["BOOK"], reference_.books.size());
    for (const auto& [id, book] : reference_.books) {
      SCOPED_TRACE("book " + id);
      const auto stored = shelf_.world.get("BOOK", key_of(id, book), shelf_.alice);
      ASSERT_EQ(told(stored), "ok");
      const auto collection =
          book.collection.empty() ? "-" : '"' + reference_.collections.at(book.collection).second + '"';
      EXPECT_EQ(shown(*stored, "CollectionName"), collection);
      EXPECT_EQ(shown(*stored, "Title"), '"' + book.title + '"');
    }
    for (const auto& [id, name] : reference_.libraries) {
      int items = 0, pages = 0;
      for (const auto& [book_id, book] : reference_.books) {
        items += book.library == id ? 1 : 0;
        pages += book.library == id ? book.pages : 0;
      }
      EXPECT_EQ(shelf_.now("LIBRARY", {{"LibraryId", text(id)}}, "TotalItems"), std::to_string(items));
      EXPECT_EQ(shelf_.now("LIBRARY", {{"LibraryId", text(id)}}, "TotalPages"), std::to_string(pages));
    }
    for (const auto& [id, collection] : reference_.collections) {
      const auto items = std::count_if(reference_.books.begin(), reference_.books.end(),
                                       [&](const auto& entry) { return entry.second.collection == id; });
      const Item key = {{"LibraryId", text(collection.first)}, {"CollectionId", text(id)}};
      EXPECT_EQ(shelf_.now("COLLECTION", key, "ItemCount"), std::to_string(items));
    }
  }

  Shelf shelf_;
  Random random_;
  Reference reference_;
};

TEST(ConsistencyProperty, EverythingIsAsTheReferenceSaysAfterManagersDiedAnywhere) {
  for (std::uint64_t seed = 1; seed <= 15; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Session(seed).run();
    if (HasFatalFailure() || HasNonfatalFailure()) return;
  }
}

}  // namespace
}  // namespace stator::runtime
