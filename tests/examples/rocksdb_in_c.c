// rocksdb_in_c.c: filters in a database of RocksDB's C API, by an option
// string.
#include <rocksdb/c.h>
#include <rowbloom/c.h>
#include <stdio.h>
#include <stdlib.h>

static void Check(const char* error) {
  if (error == NULL) return;
  fprintf(stderr, "%s\n", error);
  exit(1);
}

int main(void) {
  char* error = NULL;
  rowbloom_register(&error);
  Check(error);
  // Keys such as user_1001:mail, 1 % false positives.
  char* id = rowbloom_filter_id("delimited::", "ROWCOL", "bloom", 0.01, &error);
  Check(error);
  char* text = rowbloom_options_string(id, &error);
  Check(error);
  printf("%s\n", text);

  rocksdb_options_t* base = rocksdb_options_create();
  rocksdb_options_set_create_if_missing(base, 1);
  rocksdb_options_t* options = rocksdb_options_create();
  rocksdb_get_options_from_string(base, text, options, &error);
  Check(error);
  rocksdb_t* db = rocksdb_open(options, "users.db", &error);
  Check(error);

  rocksdb_writeoptions_t* write = rocksdb_writeoptions_create();
  rocksdb_put(db, write, "user_1001:mail", 14, "ada@example.org", 15, &error);
  rocksdb_put(db, write, "user_1003:mail", 14, "eve@example.org", 15, &error);
  rocksdb_flushoptions_t* flush = rocksdb_flushoptions_create();
  rocksdb_flush(db, flush, &error);  // writes the file and its filter block
  Check(error);
  rocksdb_readoptions_t* read = rocksdb_readoptions_create();
  size_t size = 0;
  char* mail = rocksdb_get(db, read, "user_1002:mail", 14, &size, &error);
  Check(error);
  printf("user_1002 %s\n", mail == NULL ? "has no mail" : "has mail");

  // "row" has 1 in "checked" and 1 in "skipped": the file was not opened.
  char* stats = rowbloom_filter_stats(db, NULL, &error);
  Check(error);
  printf("%s\n", stats);

  rowbloom_free(stats);
  rowbloom_free(text);
  rowbloom_free(id);
  rocksdb_free(mail);
  rocksdb_readoptions_destroy(read);
  rocksdb_flushoptions_destroy(flush);
  rocksdb_writeoptions_destroy(write);
  rocksdb_close(db);
  rocksdb_options_destroy(options);
  rocksdb_options_destroy(base);
  return 0;
}
