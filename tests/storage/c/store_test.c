// The store of rowbloom/c.h, used by a C program: each function, and what each
// refuses.
#include <pthread.h>

#include "rowbloom/c.h"
#include "tests/storage/c/check.h"

static const char* const kFamilies[] = {"info",
                                        "log,versions=3,timestamps=client"};

static rowbloom_store_t* Open(const char* path,
                              const rowbloom_store_options_t* options) {
  rowbloom_store_t* store = NULL;
  CHECK_OK(store = rowbloom_store_open(path, kFamilies, 2, options, &error));
  CHECK(store != NULL);
  return store;
}

// Row, qualifier and value are texts.
static void Put(rowbloom_store_t* store, const char* row, const char* family,
                const char* qualifier, const char* value) {
  CHECK_OK(rowbloom_store_put(store, row, strlen(row), family, qualifier,
                              strlen(qualifier), value, strlen(value), &error));
}

// `expected` may be NULL, for no cell.
static void CheckCell(rowbloom_store_t* store, const char* row,
                      const char* family, const char* qualifier,
                      const char* expected) {
  char* value = NULL;
  size_t size = 1;
  CHECK_OK(value =
               rowbloom_store_get(store, row, strlen(row), family, qualifier,
                                  strlen(qualifier), &size, &error));
  CHECK((value == NULL) == (expected == NULL));
  CHECK(size == (expected == NULL ? 0 : strlen(expected)));
  if (expected != NULL) CHECK(strcmp(value, expected) == 0);
  rowbloom_free(value);
}

// The rows have these cells, as "row/family:qualifier@time=value;", the time
// only where it is below 1000. Destroys them.
static void CheckRows(rowbloom_rows_t* rows, const char* expected) {
  CHECK(rows != NULL);
  rowbloom_row_t row;
  char text[1000] = "";
  char* error = NULL;
  while (rowbloom_rows_next(rows, &row, &error)) {
    for (size_t i = 0; i < row.cell_count; ++i) {
      const rowbloom_cell_t* cell = &row.cells[i];
      char time[30] = "";
      if (cell->timestamp_ms < 1000) {
        snprintf(time, sizeof time, "@%d", (int)cell->timestamp_ms);
      }
      const size_t used = strlen(text);
      snprintf(text + used, sizeof text - used, "%.*s/%s:%.*s%s=%.*s;",
               (int)row.row_size, row.row, cell->family,
               (int)cell->qualifier_size, cell->qualifier, time,
               (int)cell->value_size, cell->value);
    }
  }
  CHECK(error == NULL);
  // It stays at the end.
  CHECK(!rowbloom_rows_next(rows, &row, &error));
  CHECK(error == NULL && row.row_size == 0 && row.cell_count == 0);
  rowbloom_rows_destroy(rows);
  if (strcmp(text, expected) != 0) Fail(__FILE__, __LINE__, expected, text);
}

static void CheckScan(rowbloom_store_t* store,
                      const rowbloom_read_options_t* options,
                      const char* expected) {
  rowbloom_rows_t* rows = NULL;
  CHECK_OK(rows = rowbloom_store_scan(store, options, &error));
  CheckRows(rows, expected);
}

static void CheckRow(rowbloom_store_t* store, const char* row,
                     const rowbloom_read_options_t* options,
                     const char* expected) {
  rowbloom_rows_t* rows = NULL;
  CHECK_OK(
      rows = rowbloom_store_get_row(store, row, strlen(row), options, &error));
  CheckRows(rows, expected);
}

// Family, qualifier and value may be NULL.
static void Add(rowbloom_batch_t* batch, int type, const char* row,
                const char* family, const char* qualifier, const char* value,
                int64_t timestamp_ms) {
  CHECK_OK(rowbloom_batch_add(batch, type, row, strlen(row), family, qualifier,
                              qualifier == NULL ? 0 : strlen(qualifier), value,
                              value == NULL ? 0 : strlen(value), timestamp_ms,
                              &error));
}

static void TestCells(void) {
  rowbloom_store_t* store = Open("cells.db", NULL);
  CheckCell(store, "ada", "info", "mail", NULL);
  Put(store, "ada", "info", "mail", "ada@example.org");
  Put(store, "ada", "info", "", "no qualifier");
  Put(store, "ada", "info", "note", "");
  CheckCell(store, "ada", "info", "mail", "ada@example.org");
  CheckCell(store, "ada", "info", "", "no qualifier");
  CheckCell(store, "ada", "info", "note", "");
  CheckCell(store, "ada", "log", "mail", NULL);

  // Sizes count, not bytes 0.
  const char bytes[] = {0, 1, 0, (char)0xff};
  char* value = NULL;
  size_t size = 0;
  CHECK_OK(
      rowbloom_store_put(store, bytes, 4, "info", bytes, 3, bytes, 4, &error));
  CHECK_OK(value = rowbloom_store_get(store, bytes, 4, "info", bytes, 3, &size,
                                      &error));
  CHECK(size == 4 && memcmp(value, bytes, 4) == 0 && value[4] == '\0');
  rowbloom_free(value);
  CHECK_OK(value = rowbloom_store_get(store, bytes, 3, "info", bytes, 3, &size,
                                      &error));
  CHECK(value == NULL);
  // A qualifier and a value of no bytes may have no address.
  CHECK_OK(
      rowbloom_store_put(store, "nil", 3, "info", NULL, 0, NULL, 0, &error));
  CheckCell(store, "nil", "info", "", "");

  CHECK_OK(rowbloom_store_delete(store, "ada", 3, "info", "mail", 4, &error));
  CheckCell(store, "ada", "info", "mail", NULL);
  CheckCell(store, "ada", "info", "", "no qualifier");
  CHECK_OK(rowbloom_store_delete_row(store, "ada", 3, &error));
  CheckCell(store, "ada", "info", "", NULL);

  CHECK_ERROR("Invalid argument: ",
              rowbloom_store_put(store, "", 0, "info", "q", 1, "v", 1, &error));
  CHECK_ERROR("none", rowbloom_store_put(store, "r", 1, "none", "q", 1, "v", 1,
                                         &error));
  CHECK_ERROR("none",
              rowbloom_store_get(store, "r", 1, "none", "q", 1, &size, &error));
  CHECK_ERROR("none",
              rowbloom_store_delete(store, "r", 1, "none", "q", 1, &error));
  CHECK_ERROR("Invalid argument: ",
              rowbloom_store_delete_row(store, NULL, 0, &error));
  rowbloom_store_close(store);
}

static void TestBatches(void) {
  rowbloom_store_t* store = Open("batches.db", NULL);
  rowbloom_batch_t* batch = NULL;
  CHECK_OK(batch = rowbloom_batch_create(&error));
  for (int time = 10; time <= 40; time += 10) {
    char value[20];
    snprintf(value, sizeof value, "at %d", time);
    Add(batch, ROWBLOOM_PUT, "r", "log", "a", value, time);
    Add(batch, ROWBLOOM_PUT, "r", "log", "b", value, time);
  }
  Add(batch, ROWBLOOM_PUT, "r", "info", "c", "v", ROWBLOOM_NO_TIMESTAMP);
  CHECK_OK(rowbloom_store_write(store, batch, ROWBLOOM_SYNC, &error));
  const rowbloom_column_t log = {.family = "log"};
  rowbloom_read_options_t options = {.struct_size = sizeof options,
                                     .columns = &log,
                                     .column_count = 1,
                                     .max_versions = 10};
  CheckRow(store, "r", &options,
           "r/log:a@40=at 40;r/log:a@30=at 30;r/log:a@20=at 20;"
           "r/log:b@40=at 40;r/log:b@30=at 30;r/log:b@20=at 20;");
  CheckCell(store, "r", "info", "c", "v");

  rowbloom_batch_clear(batch);
  Add(batch, ROWBLOOM_DELETE_VERSION, "r", "log", "a", NULL, 30);
  Add(batch, ROWBLOOM_DELETE_FAMILY_VERSION, "r", "log", NULL, NULL, 40);
  CHECK_OK(rowbloom_store_write(store, batch, ROWBLOOM_ASYNC, &error));
  CheckRow(store, "r", &options,
           "r/log:a@20=at 20;r/log:b@30=at 30;r/log:b@20=at 20;");
  rowbloom_batch_clear(batch);
  Add(batch, ROWBLOOM_DELETE, "r", "log", "b", NULL, 20);
  CHECK_OK(rowbloom_store_write(store, batch, ROWBLOOM_SKIP_WAL, &error));
  CheckRow(store, "r", &options, "r/log:a@20=at 20;r/log:b@30=at 30;");
  rowbloom_batch_clear(batch);
  Add(batch, ROWBLOOM_DELETE_FAMILY, "r", "log", NULL, NULL,
      ROWBLOOM_NO_TIMESTAMP);
  CHECK_OK(rowbloom_store_write(store, batch, ROWBLOOM_ASYNC, &error));
  CheckRow(store, "r", &options, "");
  CheckCell(store, "r", "info", "c", "v");
  rowbloom_batch_clear(batch);
  Add(batch, ROWBLOOM_DELETE_ROW, "r", NULL, NULL, NULL, ROWBLOOM_NO_TIMESTAMP);
  CHECK_OK(rowbloom_store_write(store, batch, ROWBLOOM_ASYNC, &error));
  CheckCell(store, "r", "info", "c", NULL);

  // Increments and appends see the changes before them.
  rowbloom_batch_clear(batch);
  for (int i = 0; i < 2; ++i) {
    CHECK_OK(rowbloom_batch_add(batch, ROWBLOOM_INCREMENT, "s", 1, "info", "n",
                                1, "\0\0\0\0\0\0\0\3", 8, ROWBLOOM_NO_TIMESTAMP,
                                &error));
    Add(batch, ROWBLOOM_APPEND, "s", "info", "t", "ab", ROWBLOOM_NO_TIMESTAMP);
  }
  Add(batch, ROWBLOOM_INCREMENT, "s", "info", "n",
      "AAAAAAA:", ROWBLOOM_NO_TIMESTAMP);
  CHECK_OK(rowbloom_store_write(store, batch, ROWBLOOM_ASYNC, &error));
  CheckCell(store, "s", "info", "n", "AAAAAAA@");
  CheckCell(store, "s", "info", "t", "abab");

  // A TTL is for the puts that come after it, and not for deletes.
  rowbloom_batch_clear(batch);
  CHECK_OK(rowbloom_batch_set_ttl(batch, 0, &error));
  Add(batch, ROWBLOOM_PUT, "s", "info", "over", "v", ROWBLOOM_NO_TIMESTAMP);
  Add(batch, ROWBLOOM_DELETE, "s", "info", "t", NULL, ROWBLOOM_NO_TIMESTAMP);
  CHECK_OK(rowbloom_batch_set_ttl(batch, ROWBLOOM_NO_TTL, &error));
  Add(batch, ROWBLOOM_PUT, "s", "info", "stays", "v", ROWBLOOM_NO_TIMESTAMP);
  CHECK_OK(rowbloom_store_write(store, batch, ROWBLOOM_ASYNC, &error));
  CheckCell(store, "s", "info", "over", NULL);
  CheckCell(store, "s", "info", "t", NULL);
  CheckCell(store, "s", "info", "stays", "v");
  CHECK_ERROR("a TTL is -2", rowbloom_batch_set_ttl(batch, -2, &error));
  // A batch that was cleared has none.
  CHECK_OK(rowbloom_batch_set_ttl(batch, 0, &error));
  rowbloom_batch_clear(batch);
  Add(batch, ROWBLOOM_PUT, "s", "info", "after", "v", ROWBLOOM_NO_TIMESTAMP);
  CHECK_OK(rowbloom_store_write(store, batch, ROWBLOOM_ASYNC, &error));
  CheckCell(store, "s", "info", "after", "v");

  // An error in one change: none is written.
  rowbloom_batch_clear(batch);
  Add(batch, ROWBLOOM_PUT, "r", "info", "c", "v", ROWBLOOM_NO_TIMESTAMP);
  Add(batch, 5, "r", "info", "c", "v", ROWBLOOM_NO_TIMESTAMP);
  CHECK_ERROR("unknown type 5",
              rowbloom_store_write(store, batch, ROWBLOOM_ASYNC, &error));
  CheckCell(store, "r", "info", "c", NULL);
  // A type that would be a put if it was cut to a byte, and one below 0.
  CHECK_ERROR("unknown type 260",
              rowbloom_batch_add(batch, 260, "r", 1, "info", "c", 1, "v", 1,
                                 ROWBLOOM_NO_TIMESTAMP, &error));
  CHECK_ERROR("unknown type -1",
              rowbloom_batch_add(batch, -1, "r", 1, "info", "c", 1, "v", 1,
                                 ROWBLOOM_NO_TIMESTAMP, &error));
  CHECK_ERROR("a timestamp is -2",
              rowbloom_batch_add(batch, ROWBLOOM_PUT, "r", 1, "log", "c", 1,
                                 "v", 1, -2, &error));
  CHECK_ERROR("durability is 3", rowbloom_store_write(store, batch, 3, &error));
  rowbloom_batch_destroy(batch);
  rowbloom_store_close(store);
}

static void TestScans(void) {
  rowbloom_store_t* store = Open("scans.db", NULL);
  const char* const rows[] = {"a1", "b1", "b2", "b3", "c1"};
  for (int i = 0; i < 5; ++i) {
    Put(store, rows[i], "info", "p", "x");
    Put(store, rows[i], "info", "q", "y");
  }
  Put(store, "b2", "log", "", "z");
  const rowbloom_column_t columns[] = {
      {.family = "info", .qualifier = "q", .qualifier_size = 1},
      {.family = "log", .qualifier = "", .qualifier_size = 0}};
  rowbloom_read_options_t options = {
      .struct_size = sizeof options, .columns = columns, .column_count = 2};
  CheckScan(store, &options,
            "a1/info:q=y;b1/info:q=y;b2/info:q=y;b2/log:=z;b3/info:q=y;"
            "c1/info:q=y;");
  options.column_count = 1;
  options.row_prefix = "b";
  options.row_prefix_size = 1;
  CheckScan(store, &options, "b1/info:q=y;b2/info:q=y;b3/info:q=y;");
  options.limit = 2;
  CheckScan(store, &options, "b1/info:q=y;b2/info:q=y;");
  options.reverse = true;
  CheckScan(store, &options, "b3/info:q=y;b2/info:q=y;");
  options.row_prefix_size = 0;
  options.limit = 0;
  options.start_row = "b2";
  options.start_row_size = 2;
  CheckScan(store, &options, "c1/info:q=y;b3/info:q=y;b2/info:q=y;");
  options.reverse = false;
  options.stop_row = "c1";
  options.stop_row_size = 2;
  CheckScan(store, &options, "b2/info:q=y;b3/info:q=y;");
  options.end_ms = 1;  // long ago
  CheckScan(store, &options, "");
  options.begin_ms = 1;
  options.end_ms = 0;
  CheckScan(store, &options, "b2/info:q=y;b3/info:q=y;");

  CheckRow(store, "b2", NULL, "b2/info:p=x;b2/info:q=y;b2/log:=z;");
  CheckRow(store, "none", NULL, "");
  CHECK_ERROR("takes no range",
              rowbloom_store_get_row(store, "b2", 2, &options, &error));
  options.column_count = 2;
  const rowbloom_column_t unknown[] = {{.family = "info"}, {.family = "none"}};
  options.columns = unknown;
  CHECK_ERROR("none", rowbloom_store_scan(store, &options, &error));

  // Rows that are not read to their end, and a scan of the state of its call.
  rowbloom_rows_t* scanned = NULL;
  CHECK_OK(scanned = rowbloom_store_scan(store, NULL, &error));
  CHECK_OK(rowbloom_store_delete_row(store, "a1", 2, &error));
  rowbloom_row_t row;
  CHECK_OK(rowbloom_rows_next(scanned, &row, &error));
  CHECK(row.row_size == 2 && memcmp(row.row, "a1", 2) == 0);
  rowbloom_rows_destroy(scanned);
  rowbloom_store_close(store);
}

static void TestOptions(void) {
  // Sizes that no version of the struct has.
  rowbloom_store_options_t options = {.struct_size = 0};
  CHECK_ERROR("struct_size of the options is 0",
              rowbloom_store_open("o.db", kFamilies, 2, &options, &error));
  options.struct_size = 55;  // the first version has 56
  CHECK_ERROR("expected",
              rowbloom_store_open("o.db", kFamilies, 2, &options, &error));
  options.struct_size = (size_t)1 << 40;
  CHECK_ERROR("Invalid argument: ",
              rowbloom_store_open("o.db", kFamilies, 2, &options, &error));
  // A later version has more members: unset they change nothing.
  struct {
    rowbloom_store_options_t options;
    uint64_t member;
  } later = {{.struct_size = sizeof later, .statistics = true}, 1};
  CHECK_ERROR("Not implemented: ", rowbloom_store_open("o.db", kFamilies, 2,
                                                       &later.options, &error));
  later.member = 0;
  later.options.must_exist = true;
  CHECK_ERROR("NotFound: ", rowbloom_store_open("o.db", kFamilies, 2,
                                                &later.options, &error));
  later.options.must_exist = false;
  later.options.key_layout = "delimited::";
  CHECK_ERROR(
      "Invalid argument: ",
      rowbloom_store_open("o.db", kFamilies, 2, &later.options, &error));
  later.options.key_layout = "nonsense";
  CHECK_ERROR("nonsense", rowbloom_store_open("o.db", kFamilies, 2,
                                              &later.options, &error));
  later.options.key_layout = "fixed:2";
  later.options.block_cache_bytes = 1 << 20;
  later.options.write_buffer_bytes = 1 << 20;
  later.options.file_bytes = 1 << 20;
  later.options.no_auto_compaction = true;
  later.options.no_front_filter = true;
  rowbloom_store_t* store = Open("o.db", &later.options);
  CHECK_ERROR("Invalid argument: ", rowbloom_store_put(store, "long", 4, "info",
                                                       "q", 1, "v", 1, &error));
  Put(store, "r1", "info", "q", "v");
  char* stats = NULL;
  CHECK_OK(stats = rowbloom_store_stats(store, &error));
  CHECK(strstr(stats, "\"key_layout\":\"fixed:2\"") != NULL);
  CHECK(strstr(stats, "\"front_filter\":null") != NULL);
  CHECK(strstr(stats, "\"cache\":{\"hits\":") != NULL);
  CHECK(strstr(stats, "\"versions\":\"3\"") != NULL);
  CHECK(strstr(stats, "\"blob_file_bytes\":0") != NULL);
  CHECK(strstr(stats, "\"files_passed_over\":0") != NULL);
  CHECK(strstr(stats, "\"cell_ttls\":") != NULL);
  rowbloom_free(stats);

  // One process writes a store; others may read.
  CHECK_ERROR("Resource busy: ",
              rowbloom_store_open("o.db", NULL, 0, NULL, &error));
  rowbloom_store_options_t reader = {.struct_size = sizeof reader,
                                     .read_only = true};
  rowbloom_store_t* readable = NULL;
  CHECK_OK(readable = rowbloom_store_open("o.db", NULL, 0, &reader, &error));
  CheckCell(readable, "r1", "info", "q", "v");
  CHECK_ERROR("Not implemented: ", rowbloom_store_put(readable, "r1", 2, "info",
                                                      "q", 1, "v", 1, &error));
  CHECK_ERROR("Not implemented: ", rowbloom_store_flush(readable, &error));
  rowbloom_store_close(readable);
  rowbloom_store_close(store);

  const char* const other = "log,versions=4,timestamps=client";
  CHECK_ERROR("Invalid argument: ",
              rowbloom_store_open("o.db", &other, 1, NULL, &error));
  const char* const unknown = "log,colour=red";
  CHECK_ERROR("colour", rowbloom_store_open("o.db", &unknown, 1, NULL, &error));
}

// Reads of absent rows must not open the files that a flush made.
static void TestFilters(void) {
  rowbloom_store_options_t options = {.struct_size = sizeof options,
                                      .no_front_filter = true,
                                      .no_auto_compaction = true};
  rowbloom_store_t* store = Open("filters.db", &options);
  Put(store, "a", "info", "q", "v");
  Put(store, "z", "info", "q", "v");
  CHECK_OK(rowbloom_store_flush(store, &error));
  for (char c = 'b'; c < 'z'; ++c) {
    const char row[] = {c, '\0'};
    CheckCell(store, row, "info", "q", NULL);
  }
  char* stats = NULL;
  CHECK_OK(stats = rowbloom_store_stats(store, &error));
  CHECK(NumberIn(stats, "info", "files") == 1);
  CHECK(NumberIn(stats, "row", "checked") == 24);
  CHECK(NumberIn(stats, "row", "skipped") >= 20);
  CHECK(NumberIn(stats, "filter", "asked") == 24);
  rowbloom_free(stats);
  rowbloom_store_close(store);

  options.no_front_filter = false;
  options.front_filter_limit_bytes = 1 << 20;
  store = Open("filters.db", &options);
  CheckCell(store, "b", "info", "q", NULL);
  CHECK_OK(stats = rowbloom_store_stats(store, &error));
  CHECK(strstr(stats, "\"front_filter\":{\"bytes\":") != NULL);
  CHECK(strstr(stats, "\"name\":\"info\"") != NULL);
  rowbloom_free(stats);
  rowbloom_store_close(store);
}

typedef struct {
  rowbloom_store_t* store;
  char name;
} Writer;

enum { kWriters = 4, kRowsOfWriter = 200 };

static void* PutAndGet(void* argument) {
  const Writer* writer = argument;
  for (int i = 0; i < kRowsOfWriter; ++i) {
    char row[20];
    snprintf(row, sizeof row, "%c%03d", writer->name, i);
    Put(writer->store, row, "info", "q", row);
    CheckCell(writer->store, row, "info", "q", row);
  }
  return NULL;
}

static void TestThreads(void) {
  rowbloom_store_t* store = Open("threads.db", NULL);
  pthread_t threads[kWriters];
  Writer writers[kWriters];
  for (int i = 0; i < kWriters; ++i) {
    writers[i] = (Writer){store, (char)('a' + i)};
    CHECK(pthread_create(&threads[i], NULL, PutAndGet, &writers[i]) == 0);
  }
  for (int i = 0; i < kWriters; ++i) {
    CHECK(pthread_join(threads[i], NULL) == 0);
  }
  rowbloom_rows_t* rows = NULL;
  CHECK_OK(rows = rowbloom_store_scan(store, NULL, &error));
  rowbloom_row_t row;
  char* error = NULL;
  int count = 0;
  while (rowbloom_rows_next(rows, &row, &error)) ++count;
  CHECK(error == NULL && count == kWriters * kRowsOfWriter);
  rowbloom_rows_destroy(rows);
  rowbloom_store_close(store);
}

int main(void) {
  CHECK(strcmp(rowbloom_version(), ROWBLOOM_VERSION) == 0);
  TestCells();
  TestBatches();
  TestScans();
  TestOptions();
  TestFilters();
  TestThreads();
  rowbloom_store_close(NULL);
  rowbloom_rows_destroy(NULL);
  rowbloom_batch_destroy(NULL);
  rowbloom_free(NULL);
  return 0;
}
