// What a crawler has seen: a row for each URL. Its one column makes a ROWCOL
// filter needless; ROW rules out all URLs that are new, which most are.
#include <iostream>
#include <memory>
#include <string>

#include "rowbloom/store.h"

using rocksdb::Status;

namespace {

std::string Url(int number) {
  return "https://example.org/page/" + std::to_string(number) + ".html";
}

// Whether nobody has seen the URL before. Of several threads that come with one
// URL at the same time, one is told so.
Status SeeFirst(rowbloom::Store* store, const std::string& url, bool* is_new) {
  return store->CheckAndPut(url, "seen", "", std::nullopt, "", is_new);
}

Status Run() {
  std::unique_ptr<rowbloom::Store> store;
  Status s = rowbloom::Store::Open(
      {}, "crawler.db", {{"seen", {.bloom_type = rowbloom::BloomType::kRow}}},
      &store);
  int pages = 0;
  for (int link = 0; s.ok() && link < 6'000; ++link) {
    // Every third link leads to a page that another one has led to.
    const int page = link % 3 == 2 ? link / 6 * 3 : link;
    bool is_new = false;
    s = SeeFirst(store.get(), Url(page), &is_new);
    if (is_new) ++pages;
  }
  std::cout << "6000 links to " << pages << " pages\n";

  // From files alone, as they are after a while.
  if (s.ok()) s = store->Compact();
  for (int page = 2; s.ok() && page < 3'000; page += 3) {
    std::string value;
    s = store->Get(Url(page), "seen", "", &value);
    if (s.IsNotFound()) s = Status::OK();
  }
  rowbloom::StoreStats stats;
  if (s.ok()) s = store->Stats(&stats);
  const rowbloom::FamilyStats& seen = stats.families["seen"];
  std::cout << "of " << seen.filter.asked << " new URLs, " << seen.filter_bytes
            << " bytes of filter ruled out " << seen.filter.row.skipped << "\n";
  return s;
}

}  // namespace

int main() {
  const Status s = Run();
  if (!s.ok()) std::cerr << s.ToString() << "\n";
  return s.ok() ? 0 : 1;
}
