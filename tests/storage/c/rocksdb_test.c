// The filters of rowbloom/c.h in databases that a C program uses through
// RocksDB's C API. What the filters skipped is looked at each time: answers
// are the same without them.
#include <rocksdb/c.h>

#include "rowbloom/c.h"
#include "tests/storage/c/check.h"

static const char kFilter[] =
    "rowbloom.filter:ROWCOL:bloom:0.01:0:uniform:delimited::";
static const char kOptions[] =
    "prefix_extractor=rowbloom.row:delimited::;"
    "block_based_table_factory={filter_policy="
    "rowbloom.filter:ROWCOL:bloom:0.01:0:uniform:delimited::}";

enum { kFiles = 3, kRowsOfFile = 100 };

// An error of RocksDB, which is NULL before a call and set by one that fails.
static void CheckRocksDb(int line, char* error) {
  if (error != NULL) Fail(__FILE__, line, "RocksDB", error);
}

// Options that make a database; no file is merged.
static rocksdb_options_t* NewOptions(void) {
  rocksdb_options_t* options = rocksdb_options_create();
  rocksdb_options_set_create_if_missing(options, 1);
  rocksdb_options_set_create_missing_column_families(options, 1);
  rocksdb_options_set_disable_auto_compactions(options, 1);
  return options;
}

// The same with the filters, by RocksDB's own functions.
static rocksdb_options_t* NewFilteredOptions(void) {
  rocksdb_options_t* options = NewOptions();
  rocksdb_block_based_table_options_t* table =
      rocksdb_block_based_options_create();
  rocksdb_filterpolicy_t* policy = NULL;
  CHECK_OK(policy = rowbloom_filterpolicy_create(kFilter, &error));
  rocksdb_block_based_options_set_filter_policy(table, policy);
  rocksdb_options_set_block_based_table_factory(options, table);
  rocksdb_block_based_options_destroy(table);
  rocksdb_slicetransform_t* extractor = NULL;
  CHECK_OK(extractor = rowbloom_slicetransform_create(kFilter, &error));
  rocksdb_options_set_prefix_extractor(options, extractor);
  return options;
}

// Rows of all files interleave, so that only a filter can rule a file out.
static size_t MakeKey(int file, int row, const char* column, char* key) {
  return (size_t)sprintf(key, "row%d:%s", 1000 + row * kFiles + file, column);
}

static void Fill(rocksdb_t* db, rocksdb_column_family_handle_t* family) {
  rocksdb_writeoptions_t* write = rocksdb_writeoptions_create();
  rocksdb_flushoptions_t* flush = rocksdb_flushoptions_create();
  char* error = NULL;
  for (int file = 0; file < kFiles; ++file) {
    for (int row = 0; row < kRowsOfFile; ++row) {
      char key[40];
      const size_t size = MakeKey(file, row, "mail", key);
      if (family == NULL) {
        rocksdb_put(db, write, key, size, key, size, &error);
      } else {
        rocksdb_put_cf(db, write, family, key, size, key, size, &error);
      }
      CheckRocksDb(__LINE__, error);
    }
    if (family == NULL) {
      rocksdb_flush(db, flush, &error);
    } else {
      rocksdb_flush_cf(db, flush, family, &error);
    }
    CheckRocksDb(__LINE__, error);
  }
  rocksdb_flushoptions_destroy(flush);
  rocksdb_writeoptions_destroy(write);
}

// Gets of a column in all rows, which must all have it, or none.
static void CheckGets(rocksdb_t* db, rocksdb_column_family_handle_t* family,
                      const char* column, bool expected) {
  rocksdb_readoptions_t* read = rocksdb_readoptions_create();
  char* error = NULL;
  for (int file = 0; file < kFiles; ++file) {
    for (int row = 0; row < kRowsOfFile; ++row) {
      char key[40];
      const size_t size = MakeKey(file, row, column, key);
      size_t found_size = 0;
      char* found = family == NULL
                        ? rocksdb_get(db, read, key, size, &found_size, &error)
                        : rocksdb_get_cf(db, read, family, key, size,
                                         &found_size, &error);
      CheckRocksDb(__LINE__, error);
      CHECK((found != NULL) == expected);
      CHECK(!expected || (found_size == size && memcmp(found, key, size) == 0));
      rocksdb_free(found);
    }
  }
  rocksdb_readoptions_destroy(read);
}

// The cells of a row by an iterator that stays in it, which probes ROW.
static int CountCells(rocksdb_t* db, const char* row) {
  rocksdb_readoptions_t* read = rocksdb_readoptions_create();
  rocksdb_readoptions_set_prefix_same_as_start(read, 1);
  rocksdb_iterator_t* it = rocksdb_create_iterator(db, read);
  int count = 0;
  rocksdb_iter_seek(it, row, strlen(row));
  for (; rocksdb_iter_valid(it); rocksdb_iter_next(it)) ++count;
  char* error = NULL;
  rocksdb_iter_get_error(it, &error);
  CheckRocksDb(__LINE__, error);
  rocksdb_iter_destroy(it);
  rocksdb_readoptions_destroy(read);
  return count;
}

// Fills the database, and checks what its filters do.
static void CheckFilters(rocksdb_t* db,
                         rocksdb_column_family_handle_t* family) {
  Fill(db, family);
  CheckGets(db, family, "mail", true);
  CheckGets(db, family, "phone", false);
  char* stats = NULL;
  CHECK_OK(stats = rowbloom_filter_stats(db, family, &error));
  CHECK(strstr(stats, "\"active\":true") != NULL);
  CHECK(strstr(stats, kFilter) != NULL);
  CHECK(NumberIn(stats, "filter", "blocks_built") == kFiles);
  // The newest file is probed first: two on average until a cell is found, all
  // three for a cell that does not exist. 1,500 lookups, of which 300 deserve a
  // yes; some 12 more are false positives.
  CHECK(NumberIn(stats, "filter", "asked") == 1500);
  CHECK(NumberIn(stats, "filter", "may_match") >= 300);
  CHECK(NumberIn(stats, "filter", "may_match") < 350);
  CHECK(NumberIn(stats, "row", "skipped") > 0);
  CHECK(NumberIn(stats, "row_col", "skipped") > 0);
  rowbloom_free(stats);
}

static rocksdb_options_t* OptionsOfString(const char* text) {
  rocksdb_options_t* base = NewOptions();
  rocksdb_options_t* options = rocksdb_options_create();
  char* error = NULL;
  rocksdb_get_options_from_string(base, text, options, &error);
  CheckRocksDb(__LINE__, error);
  rocksdb_options_destroy(base);
  return options;
}

// RocksDB drops names that it does not know: the statistics tell. Comes before
// the ids are registered.
static void TestUnknownNames(void) {
  rocksdb_options_t* options = OptionsOfString(kOptions);
  char* error = NULL;
  rocksdb_t* db = rocksdb_open(options, "unknown.db", &error);
  CheckRocksDb(__LINE__, error);
  Fill(db, NULL);
  CheckGets(db, NULL, "mail", true);
  char* stats = NULL;
  CHECK_OK(stats = rowbloom_filter_stats(db, NULL, &error));
  CHECK(strstr(stats, "\"active\":false") != NULL);
  rowbloom_free(stats);
  rocksdb_close(db);
  rocksdb_options_destroy(options);
}

static void TestIds(void) {
  CHECK_OK(rowbloom_register(&error));
  CHECK_OK(rowbloom_register(&error));
  char* text = NULL;
  CHECK_OK(text = rowbloom_filter_id("delimited::", NULL, NULL, 0, &error));
  CHECK(strcmp(text, kFilter) == 0);
  rowbloom_free(text);
  CHECK_OK(text =
               rowbloom_filter_id("fixed:8", "ROW", "ribbon", 0.001, &error));
  CHECK(strcmp(text, "rowbloom.filter:ROW:ribbon:0.001:0:uniform:fixed:8") ==
        0);
  rowbloom_free(text);
  CHECK_ERROR("nonsense",
              rowbloom_filter_id("nonsense", NULL, NULL, 0, &error));
  CHECK_ERROR("COLUMN", rowbloom_filter_id("u16", "COLUMN", NULL, 0, &error));
  CHECK_ERROR("cuckoo", rowbloom_filter_id("u16", NULL, "cuckoo", 0, &error));
  CHECK_ERROR("Invalid argument: ",
              rowbloom_filter_id("u16", NULL, NULL, 1.5, &error));

  CHECK_OK(text = rowbloom_options_string(kFilter, &error));
  CHECK(strcmp(text, kOptions) == 0);
  rowbloom_free(text);
  const char* const wrong[] = {
      "", "bloomfilter:10:false", "rowbloom.filter:ROWCOL",
      "rowbloom.filter:ROWCOL:bloom:2:0:uniform:delimited::"};
  for (int i = 0; i < 4; ++i) {
    CHECK_ERROR("Invalid argument: ",
                rowbloom_options_string(wrong[i], &error));
    CHECK_ERROR("Invalid argument: ",
                rowbloom_filterpolicy_create(wrong[i], &error));
    CHECK_ERROR("Invalid argument: ",
                rowbloom_slicetransform_create(wrong[i], &error));
  }

  // An object that nobody takes over is destroyed by RocksDB's functions.
  rocksdb_filterpolicy_t* policy = NULL;
  CHECK_OK(policy = rowbloom_filterpolicy_create(kFilter, &error));
  rocksdb_filterpolicy_destroy(policy);
  rocksdb_slicetransform_t* extractor = NULL;
  CHECK_OK(extractor = rowbloom_slicetransform_create(kFilter, &error));
  rocksdb_slicetransform_destroy(extractor);
}

static void TestPolicy(void) {
  rocksdb_options_t* options = NewFilteredOptions();
  char* error = NULL;
  rocksdb_t* db = rocksdb_open(options, "policy.db", &error);
  CheckRocksDb(__LINE__, error);
  CheckFilters(db, NULL);
  char* stats = NULL;
  CHECK_OK(stats = rowbloom_filter_stats(db, NULL, &error));
  const uint64_t skipped = NumberIn(stats, "row", "skipped");
  rowbloom_free(stats);
  CHECK(CountCells(db, "row1000:") == 1);
  CHECK(CountCells(db, "row1000") == 0);
  CHECK(CountCells(db, "row1001.5:") == 0);
  CHECK_OK(stats = rowbloom_filter_stats(db, NULL, &error));
  CHECK(NumberIn(stats, "row", "skipped") > skipped);
  rowbloom_free(stats);
  rocksdb_close(db);
  rocksdb_options_destroy(options);
}

static void TestOptionString(void) {
  rocksdb_options_t* options = OptionsOfString(kOptions);
  char* error = NULL;
  rocksdb_t* db = rocksdb_open(options, "string.db", &error);
  CheckRocksDb(__LINE__, error);
  CheckFilters(db, NULL);
  rocksdb_close(db);
  rocksdb_options_destroy(options);

  // Its OPTIONS file names both.
  rocksdb_env_t* env = rocksdb_create_default_env();
  rocksdb_cache_t* cache = rocksdb_cache_create_lru(1 << 20);
  size_t families = 0;
  char** names = NULL;
  rocksdb_options_t** family_options = NULL;
  rocksdb_load_latest_options("string.db", env, false, cache, &options,
                              &families, &names, &family_options, &error);
  CheckRocksDb(__LINE__, error);
  CHECK(families == 1);
  rocksdb_column_family_handle_t* handle = NULL;
  db = rocksdb_open_column_families(
      options, "string.db", 1, (const char* const*)names,
      (const rocksdb_options_t* const*)family_options, &handle, &error);
  CheckRocksDb(__LINE__, error);
  CheckGets(db, handle, "mail", true);
  CheckGets(db, handle, "phone", false);
  char* stats = NULL;
  CHECK_OK(stats = rowbloom_filter_stats(db, handle, &error));
  CHECK(strstr(stats, "\"active\":true") != NULL);
  CHECK(NumberIn(stats, "row", "skipped") > 0);
  rowbloom_free(stats);
  rocksdb_column_family_handle_destroy(handle);
  rocksdb_close(db);
  rocksdb_load_latest_options_destroy(options, names, family_options, families);
  rocksdb_cache_destroy(cache);
  rocksdb_env_destroy(env);
}

static void TestFamilies(void) {
  rocksdb_options_t* plain = NewOptions();
  rocksdb_options_t* filtered = NewFilteredOptions();
  const char* const names[] = {"default", "cells", "stock"};
  rocksdb_options_t* stock = NewOptions();
  rocksdb_block_based_table_options_t* table =
      rocksdb_block_based_options_create();
  rocksdb_block_based_options_set_filter_policy(
      table, rocksdb_filterpolicy_create_bloom(10));
  rocksdb_options_set_block_based_table_factory(stock, table);
  rocksdb_block_based_options_destroy(table);
  const rocksdb_options_t* const options[] = {plain, filtered, stock};
  rocksdb_column_family_handle_t* handles[3];
  char* error = NULL;
  rocksdb_t* db = rocksdb_open_column_families(plain, "families.db", 3, names,
                                               options, handles, &error);
  CheckRocksDb(__LINE__, error);
  CheckFilters(db, handles[1]);
  char* stats = NULL;
  CHECK_OK(stats = rowbloom_filter_stats(db, NULL, &error));
  CHECK(strcmp(stats, "{\"active\":false,\"policy\":null,\"filter\":null}") ==
        0);
  rowbloom_free(stats);
  CHECK_OK(stats = rowbloom_filter_stats(db, handles[2], &error));
  CHECK(strstr(stats, "\"active\":false") != NULL);
  CHECK(strstr(stats, "\"policy\":\"") != NULL);
  CHECK(strstr(stats, "\"filter\":null") != NULL);
  rowbloom_free(stats);
  for (int i = 0; i < 3; ++i) rocksdb_column_family_handle_destroy(handles[i]);
  rocksdb_close(db);
  rocksdb_options_destroy(stock);
  rocksdb_options_destroy(filtered);
  rocksdb_options_destroy(plain);
}

static void TestFrontFilter(void) {
  rowbloom_front_filter_t* filter = NULL;
  CHECK_OK(filter =
               rowbloom_front_filter_create(UINT64_MAX, UINT64_MAX, &error));
  CHECK(rowbloom_front_filter_may_have_row(filter, NULL, "x", 1));
  rocksdb_options_t* options[] = {NewFilteredOptions(), NewFilteredOptions()};
  for (int i = 0; i < 2; ++i) {
    CHECK_OK(rowbloom_front_filter_prepare(filter, options[i], &error));
  }
  // The database's own options, which have no policy.
  rocksdb_options_t* of_database = NewOptions();
  CHECK_OK(rowbloom_front_filter_prepare(filter, of_database, &error));
  const char* const names[] = {"default", "cells"};
  rocksdb_column_family_handle_t* handles[2];
  char* error = NULL;
  rocksdb_t* db = rocksdb_open_column_families(
      of_database, "front.db", 2, names,
      (const rocksdb_options_t* const*)options, handles, &error);
  CheckRocksDb(__LINE__, error);
  CHECK_OK(rowbloom_front_filter_attach(filter, db, handles, 2, &error));
  rowbloom_front_filter_wait_until_armed(filter);
  Fill(db, NULL);
  Fill(db, handles[1]);
  rocksdb_writeoptions_t* write = rocksdb_writeoptions_create();
  rocksdb_put_cf(db, write, handles[1], "new:a", 5, "v", 1, &error);
  CheckRocksDb(__LINE__, error);
  rocksdb_writeoptions_destroy(write);

  CHECK(rowbloom_front_filter_may_have_row(filter, NULL, "row1000:", 8));
  CHECK(rowbloom_front_filter_may_have_row(filter, handles[1], "new:", 4));
  CHECK(!rowbloom_front_filter_may_have_row(filter, handles[0], "new:", 4));
  CHECK(!rowbloom_front_filter_may_have_row(filter, NULL, "new:", 4));
  // No row of the layout.
  CHECK(rowbloom_front_filter_may_have_row(filter, NULL, "new", 3));

  // Gets of absent rows are answered before RocksDB counts a lookup.
  CheckGets(db, handles[1], "mail", true);
  rocksdb_readoptions_t* read = rocksdb_readoptions_create();
  char* stats = NULL;
  CHECK_OK(stats = rowbloom_filter_stats(db, NULL, &error));
  const uint64_t asked = NumberIn(stats, "filter", "asked");
  rowbloom_free(stats);
  for (int i = 0; i < 100; ++i) {
    char key[40];
    size_t size = 0;
    sprintf(key, "row%d.5:mail", 1000 + i);
    CHECK(rocksdb_get(db, read, key, strlen(key), &size, &error) == NULL);
    CheckRocksDb(__LINE__, error);
  }
  CHECK_OK(stats = rowbloom_filter_stats(db, NULL, &error));
  CHECK(NumberIn(stats, "filter", "asked") < asked + 10);
  rowbloom_free(stats);
  CHECK_OK(stats = rowbloom_front_filter_stats(filter, &error));
  CHECK(NumberIn(stats, "cell_bytes", "answered") >= 97);
  CHECK(NumberIn(stats, "families", "answered") >= 97);
  CHECK(strstr(stats, "\"name\":\"cells\",\"state\":\"armed\"") != NULL);
  rowbloom_free(stats);

  // The database keeps its filter when the object is gone.
  rowbloom_front_filter_destroy(filter);
  CheckGets(db, NULL, "mail", true);
  CheckGets(db, NULL, "phone", false);
  rocksdb_readoptions_destroy(read);
  for (int i = 0; i < 2; ++i) rocksdb_column_family_handle_destroy(handles[i]);
  rocksdb_close(db);
  for (int i = 0; i < 2; ++i) rocksdb_options_destroy(options[i]);
  rocksdb_options_destroy(of_database);
}

// One filter serves one database, and a database that it refuses goes on.
static void TestSecondDatabase(void) {
  rowbloom_front_filter_t* filter = NULL;
  CHECK_OK(filter = rowbloom_front_filter_create(UINT64_MAX, 0, &error));
  rocksdb_options_t* prepared = NewFilteredOptions();
  rocksdb_options_t* others = NewFilteredOptions();
  CHECK_OK(rowbloom_front_filter_prepare(filter, prepared, &error));
  char* error = NULL;
  rocksdb_t* first = rocksdb_open(prepared, "first.db", &error);
  CheckRocksDb(__LINE__, error);
  rocksdb_t* second = rocksdb_open(others, "second.db", &error);
  CheckRocksDb(__LINE__, error);
  CHECK_OK(rowbloom_front_filter_attach(filter, first, NULL, 0, &error));
  CHECK_ERROR("Invalid argument: ",
              rowbloom_front_filter_attach(filter, second, NULL, 0, &error));
  CheckFilters(second, NULL);
  rocksdb_close(second);
  rocksdb_close(first);
  rowbloom_front_filter_destroy(filter);
  rocksdb_options_destroy(others);
  rocksdb_options_destroy(prepared);
}

int main(void) {
  TestUnknownNames();
  TestIds();
  TestPolicy();
  TestOptionString();
  TestFamilies();
  TestFrontFilter();
  TestSecondDatabase();
  rowbloom_front_filter_destroy(NULL);
  return 0;
}
