// A crawler keeps a row for each URL that it has seen. Rows have a single
// column, so a ROWCOL filter would add nothing; ROW rules out new URLs, and
// most are new.
#include <iostream>
#include <memory>
#include <string>

#include "rowbloom/store.h"

using rocksdb::Status;

namespace {

std::string Url(int number) {
  return "https://example.org/page/" + std::to_string(number) + ".html";
}

// Marks the URL as seen, and sets *is_new when nobody had marked it before.
// When several threads bring the same URL at once, exactly one gets true.
Status SeeFirst(rowbloom::Store* store, const std::string& url, bool* is_new) {
  return store->CheckAndPut(url, "seen", "", std::nullopt, "", is_new);
}

Status Run() {
  std::unique_ptr<rowbloom::Store> store;
  // A front filter would answer first; here the files' own filters are shown.
  Status s = rowbloom::Store::Open(
      {.front_filter_limit_bytes = 0}, "crawler.db",
      {{"seen", {.bloom_type = rowbloom::BloomType::kRow}}}, &store);
  int pages = 0;
  for (int link = 0; s.ok() && link < 6'000; ++link) {
    // Every third link leads to a page that another one has led to.
    const int page = link % 3 == 2 ? link / 6 * 3 : link;
    bool is_new = false;
    s = SeeFirst(store.get(), Url(page), &is_new);
    if (is_new) ++pages;
  }
  std::cout << "6000 links to " << pages << " pages\n";

  // Compaction moves all rows from memory into files, where they are after a
  // while.
  if (s.ok()) s = store->Compact();
  for (int page = 2; s.ok() && page < 3'000; page += 3) {
    std::optional<std::string> value;
    s = store->Get(Url(page), "seen", "", &value);
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
