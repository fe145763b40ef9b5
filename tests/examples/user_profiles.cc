// Profiles of users: a row for each user, a column for each property. The
// filters (ROWCOL, the default) answer for users that do not exist and for
// properties that a user does not have.
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include "rowbloom/store.h"

using rocksdb::Status;

namespace {

std::string User(int number) {
  return "user_" + std::to_string(10'000 + number);
}

// One batch: other threads, and a crash, see all of a user or nothing.
Status AddUser(rowbloom::Store* store, int number) {
  rowbloom::WriteBatch batch;
  batch.Put(User(number), "profile", "name", "Ada " + std::to_string(number));
  batch.Put(User(number), "profile", "mail", User(number) + "@example.org");
  if (number % 20 == 0) batch.Put(User(number), "profile", "phone", "555-0100");
  return store->Write(batch);
}

Status Run() {
  std::unique_ptr<rowbloom::Store> store;
  // The last three logins are kept. A front filter would answer first; here the
  // files' own filters are shown.
  Status s = rowbloom::Store::Open(
      {.front_filter_limit_bytes = 0}, "profiles.db",
      {{"profile", {}}, {"login", {.max_versions = 3}}}, &store);
  for (int user = 0; s.ok() && user < 2'000; user += 2) {
    s = AddUser(store.get(), user);
  }
  if (s.ok()) s = store->Flush();

  // Changes that depend on what is there, safe against other threads.
  bool changed = false;
  if (s.ok()) {
    s = store->CheckAndPut(User(40), "profile", "mail",
                           "user_10040@example.org", "ada@example.org",
                           &changed,
                           {.durability = rowbloom::Durability::kSync});
  }
  int64_t logins = 0;
  for (int i = 0; s.ok() && i < 3; ++i) {
    s = store->Increment(User(40), "login", "count", 1, &logins);
  }
  std::cout << "changed: " << changed << ", logins: " << logins << "\n";

  // A whole row, and single columns.
  std::vector<rowbloom::Cell> cells;
  if (s.ok()) {
    s = store->GetRow(User(40), &cells, {.columns = {{"profile"}}});
  }
  for (const rowbloom::Cell& cell : cells) {
    std::cout << "  " << cell.qualifier << ": " << cell.value << "\n";
  }
  int phones = 0;
  for (int user = 0; s.ok() && user < 2'000; ++user) {
    std::optional<std::string> phone;
    s = store->Get(User(user), "profile", "phone", &phone);
    if (phone) ++phones;
  }
  std::cout << phones << " of 2000 have a phone\n";

  rowbloom::StoreStats stats;
  if (s.ok()) s = store->Stats(&stats);
  const rowbloom::FilterStats& filter = stats.families["profile"].filter;
  std::cout << "asked for " << filter.asked << " keys, of which ROW ruled out "
            << filter.row.skipped << " and ROWCOL " << filter.row_col.skipped
            << "\n";
  return s;
}

}  // namespace

int main() {
  const Status s = Run();
  if (!s.ok()) std::cerr << s.ToString() << "\n";
  return s.ok() ? 0 : 1;
}
