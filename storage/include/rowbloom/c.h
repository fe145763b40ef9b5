// rowbloom for C, and for each language that can call C: the filters of a
// RocksDB database that is used through rocksdb/c.h, and the embedded store.
//
//   char* error;
//   const char* families[] = {"info,versions=3"};
//   rowbloom_store_t* store =
//       rowbloom_store_open("users.db", families, 1, NULL, &error);
//   if (store == NULL) { puts(error); rowbloom_free(error); return 1; }
//   rowbloom_store_put(store, "user_1001", 9, "info", "mail", 4,
//                      "ada@example.org", 15, &error);
//
// The library is librowbloom.so: link -lrowbloom, pkg-config has the flags.
// doc/other_languages.md has whole programs in C and Python.
//
// Errors. A function that can fail has `error` as its last argument, which must
// not be NULL. It sets *error to NULL if it succeeds, and else to a message
// that begins with the kind of the error, as RocksDB's do: "Invalid argument:
// ...", "NotFound: ...", "Not implemented: ...", "Corruption: ...", "IO error:
// ...", "Resource busy: ...", "Operation aborted: ...", "Operation failed. Try
// again.: ...". The next call overwrites it: handle each message, and release
// it. A function that returns bool returns true if it succeeds; one that
// returns a pointer returns NULL if it fails. No C++ exception leaves the
// library. (RocksDB's C functions release the *error that they are given: give
// them NULL, not a message of rowbloom's.)
//
// Ownership. The library copies what it keeps of arguments: they may be freed
// when the call returns. The caller owns what a function returns as `char*`,
// and each *error, and releases it with rowbloom_free. Objects have functions
// that release them, which take NULL, too.
//
// Bytes have a pointer and a size in bytes; the pointer may be NULL if the size
// is 0. A `const char*` without a size ends with a byte 0. No other pointer may
// be NULL unless its comment says so.
//
// Threads. A store may be used from all threads at once, and a front filter
// once it is attached; a batch, or rows, from one at a time. Nothing may be in
// use while it is released. In a child of fork, changes of its parent's store
// are "Not implemented", and reads and rowbloom_rows_destroy may wait for ever:
// it can open the store anew, for reading.
//
// Structs of options begin with their own size, so that members can be added:
// a program that was compiled with fewer members goes on to work. Members that
// are 0 have their defaults:
//
//   rowbloom_read_options_t options = {.struct_size = sizeof options,
//                                      .limit = 10};
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

// The version of the library, "0.1.0". Do not free it.
const char* rowbloom_version(void);

// Releases what the library returned as `char*`. `memory` may be NULL.
void rowbloom_free(void* memory);

// --- Filters of RocksDB -----------------------------------------------------
//
// These work with the RocksDB library that librowbloom.so is linked with, and
// give "Not implemented" where its minor version is another than the one it was
// built with, or where it is a static one. A second RocksDB in the program, as
// RocksJava has one inside its own library, knows nothing of them.
// doc/filter_policy.md is the guide to the filters.

// These types are those of rocksdb/c.h, which need not be included.
struct rocksdb_t;
struct rocksdb_options_t;
struct rocksdb_column_family_handle_t;
struct rocksdb_filterpolicy_t;
struct rocksdb_slicetransform_t;

// Makes the ids of filter policies and prefix extractors known to RocksDB, so
// that option strings and OPTIONS files can name them. Call it before these are
// read: RocksDB drops ids that it does not know, without an error. Calling it
// again has no effect.
bool rowbloom_register(char** error);

// The id of a filter policy for keys of a layout, such as "delimited::",
// "fixed:8", "escaped" or "u16" (rowbloom/key_layout.h). `bloom_type` is "ROW"
// or "ROWCOL", and NULL means "ROWCOL"; `kind` is "bloom" or "ribbon", and NULL
// means "bloom"; 0 means a `false_positive_rate` of 0.01.
// doc/other_languages.md has the form of ids, which can say more.
char* rowbloom_filter_id(const char* key_layout, const char* bloom_type,
                         const char* kind, double false_positive_rate,
                         char** error);

// The policy of an id and the extractor of its layout as an option string for
// rocksdb_get_options_from_string, and for the functions of that purpose that
// other languages have: "prefix_extractor=...;block_based_table_factory=...".
char* rowbloom_options_string(const char* filter_id, char** error);

// The policy of an id, for rocksdb_block_based_options_set_filter_policy, which
// takes it over.
struct rocksdb_filterpolicy_t* rowbloom_filterpolicy_create(
    const char* filter_id, char** error);

// The prefix extractor of the layout of a filter's id, for
// rocksdb_options_set_prefix_extractor, which takes it over.
//
// WARNING: with an extractor, an iterator that leaves the row of its seek key
// may miss rows, unless rocksdb_readoptions_set_total_order_seek is on.
struct rocksdb_slicetransform_t* rowbloom_slicetransform_create(
    const char* filter_id, char** error);

// The counters of the filters of a column family as JSON. `family` may be NULL,
// for the default one. "active" tells whether new files get filters of
// rowbloom's; "policy" is the id of its policy, or null; "filter" has the
// members of rowbloom::FilterStats, for all families that share the policy. It
// is null if this library did not make the policy: in option strings, a
// librowbloom_plugin.so that is preloaded comes first.
char* rowbloom_filter_stats(struct rocksdb_t* db,
                            struct rocksdb_column_family_handle_t* family,
                            char** error);

// --- The front filter -------------------------------------------------------
//
// It tells from memory that a row does not exist, before RocksDB looks at any
// file (rowbloom/front_filter.h): create; prepare the options of the database
// and of each family; open with rocksdb_open or rocksdb_open_column_families,
// or for reading only; attach.

typedef struct rowbloom_front_filter_t rowbloom_front_filter_t;

// A front filter for one opening of one database. `memory_limit_bytes` is the
// most that the ROW sections of its files may take, and
// `cell_memory_limit_bytes` that of ROWCOL sections, of which 0 keeps none;
// UINT64_MAX sets no limit.
rowbloom_front_filter_t* rowbloom_front_filter_create(
    uint64_t memory_limit_bytes, uint64_t cell_memory_limit_bytes,
    char** error);

// Releases the object. An attached database keeps its front filter.
void rowbloom_front_filter_destroy(rowbloom_front_filter_t* filter);

// Adds to the options, before the database is opened, what the filter learns
// from. The family needs a policy of rowbloom's and its extractor. Options that
// rocksdb_open_column_families takes for the database alone need neither, and
// have to be prepared, too: without them no row is ever answered.
bool rowbloom_front_filter_prepare(rowbloom_front_filter_t* filter,
                                   struct rocksdb_options_t* options,
                                   char** error);

// Lets the filter answer gets of absent rows of an open database, those of the
// default family and of `families`, which may be NULL if there are none. Call
// it once, before other threads use the database. Files are read in the
// background: until then each row may exist. Close the database with
// rocksdb_close, as ever. If it fails, the database works without the filter.
//
// WARNING: the handle gets another C++ object. A handle that was opened with a
// TTL, or is that of a transaction database's base, must not be attached:
// RocksDB's functions for these expect their own class behind it.
bool rowbloom_front_filter_attach(
    rowbloom_front_filter_t* filter, struct rocksdb_t* db,
    struct rocksdb_column_family_handle_t* const* families, size_t family_count,
    char** error);

// Waits until the files of all families were read.
void rowbloom_front_filter_wait_until_armed(
    const rowbloom_front_filter_t* filter);

// False: no key of the row is in the family, at some time during the call.
// `family` may be NULL, for the default one. `row` has the bytes that its keys
// begin with, end mark included. The database must be open.
bool rowbloom_front_filter_may_have_row(
    const rowbloom_front_filter_t* filter,
    const struct rocksdb_column_family_handle_t* family, const void* row,
    size_t row_size);

// Its counters as JSON, with the members of rowbloom::FrontFilterStats.
char* rowbloom_front_filter_stats(const rowbloom_front_filter_t* filter,
                                  char** error);

// --- The store --------------------------------------------------------------
//
// Cells addressed by row, family, qualifier and timestamp, in a directory
// (rowbloom/store.h, doc/store.md). Names of families are text; rows,
// qualifiers and values are any bytes. Timestamps are milliseconds since
// 1970-01-01 UTC, up to INT64_MAX.

typedef struct rowbloom_store_t rowbloom_store_t;

typedef struct rowbloom_store_options_t {
  size_t struct_size;  // sizeof(rowbloom_store_options_t)
  // The layout of rows in keys: "escaped" or "fixed:N". NULL: that of the
  // store, and "escaped" for a new one.
  const char* key_layout;
  uint64_t block_cache_bytes;   // 0: 64 MiB
  uint64_t write_buffer_bytes;  // of one family; 0: 64 MiB
  uint64_t file_bytes;          // of an SST, about; 0: 64 MiB
  // The most memory for the rows of files in the front filter; 0: no limit.
  uint64_t front_filter_limit_bytes;
  bool must_exist;          // a store that is not there is not created
  bool read_only;           // works beside a process that writes
  bool no_front_filter;     // absent rows are looked for in files
  bool no_auto_compaction;  // files are never merged
  bool statistics;          // counts hits of the block cache, too
} rowbloom_store_options_t;

// Opens the store at `path`, and creates it if need be. Each of `families`
// is a name, with settings after commas: "info", or "seen,versions=3,ttl=7d".
// The settings are bloom, rate, kind, prefix, compression, bottom_compression,
// dictionary, min_blob, block, timestamps, versions, min_versions and ttl;
// `rowbloom create --help` has their values and defaults. The store creates a
// family that it does not have; one that it has must have these options.
// Families that are not named are opened, too. `families` may be NULL if there
// are none, and `options` may be NULL.
// After an error of a flush or compaction, such as a full disk, all changes
// return it until the store is closed and opened again.
rowbloom_store_t* rowbloom_store_open(const char* path,
                                      const char* const* families,
                                      size_t family_count,
                                      const rowbloom_store_options_t* options,
                                      char** error);

// Closes the store. All of its rows must have been destroyed. A function that
// atexit got before the first store was opened must not do it: it is called
// when RocksDB's static objects are gone, and the process would crash.
void rowbloom_store_close(rowbloom_store_t* store);

// Puts a value, with the store's time. The write survives a failure of the
// process, and a batch can ask for more.
bool rowbloom_store_put(rowbloom_store_t* store, const void* row,
                        size_t row_size, const char* family,
                        const void* qualifier, size_t qualifier_size,
                        const void* value, size_t value_size, char** error);

// Deletes all versions of one column of a row.
bool rowbloom_store_delete(rowbloom_store_t* store, const void* row,
                           size_t row_size, const char* family,
                           const void* qualifier, size_t qualifier_size,
                           char** error);

// Deletes a row in all families.
bool rowbloom_store_delete_row(rowbloom_store_t* store, const void* row,
                               size_t row_size, char** error);

// The newest value of a cell, and its size in *value_size; a byte 0 that is not
// counted follows. NULL, and *error NULL: there is no such cell.
char* rowbloom_store_get(rowbloom_store_t* store, const void* row,
                         size_t row_size, const char* family,
                         const void* qualifier, size_t qualifier_size,
                         size_t* value_size, char** error);

// A family of a row, or one column of it.
typedef struct rowbloom_column_t {
  const char* family;
  // NULL: all columns of the family. The column with the empty qualifier has
  // size 0 and any pointer that is not NULL.
  const void* qualifier;
  size_t qualifier_size;
} rowbloom_column_t;

typedef struct rowbloom_read_options_t {
  size_t struct_size;  // sizeof(rowbloom_read_options_t)
  // The columns to read; none: all families.
  const rowbloom_column_t* columns;
  size_t column_count;
  // The range of a scan: from start_row up to, but without, stop_row, and only
  // rows that start with row_prefix. Size 0: no such bound.
  const void* start_row;
  size_t start_row_size;
  const void* stop_row;
  size_t stop_row_size;
  const void* row_prefix;
  size_t row_prefix_size;
  uint64_t limit;  // the most rows of a scan; 0: no limit
  // The versions that are seen, from begin_ms up to, but without, end_ms.
  uint64_t begin_ms;
  uint64_t end_ms;        // 0: no end
  uint32_t max_versions;  // the most of each column, the newest; 0: 1
  bool reverse;           // scans from the last row to the first
} rowbloom_read_options_t;

typedef struct rowbloom_cell_t {
  const char* family;  // ends with a byte 0
  const char* qualifier;
  size_t qualifier_size;
  const char* value;
  size_t value_size;
  uint64_t timestamp_ms;
} rowbloom_cell_t;

// A row. Its cells are ordered by family, by qualifier, and newest first.
typedef struct rowbloom_row_t {
  const char* row;
  size_t row_size;
  const rowbloom_cell_t* cells;
  size_t cell_count;
} rowbloom_row_t;

// The rows that a read gives, one after the other.
typedef struct rowbloom_rows_t rowbloom_rows_t;

// The rows of a range in the order of their bytes, as of the time of the call.
// `options` may be NULL: all rows.
rowbloom_rows_t* rowbloom_store_scan(rowbloom_store_t* store,
                                     const rowbloom_read_options_t* options,
                                     char** error);

// One row, or none if it has no cells. `options` may be NULL, and has no range,
// limit or order.
rowbloom_rows_t* rowbloom_store_get_row(rowbloom_store_t* store,
                                        const void* row, size_t row_size,
                                        const rowbloom_read_options_t* options,
                                        char** error);

// Sets *row to the next row, which is there until the next call, and returns
// true. False, and *error NULL: there are no more.
bool rowbloom_rows_next(rowbloom_rows_t* rows, rowbloom_row_t* row,
                        char** error);

// Has to come before the store is closed.
void rowbloom_rows_destroy(rowbloom_rows_t* rows);

// Changes that are written together or not at all.
typedef struct rowbloom_batch_t rowbloom_batch_t;

// The types of changes; rowbloom/write_batch.h has what each of them does.
enum rowbloom_change_type {
  ROWBLOOM_PUT = 4,
  ROWBLOOM_DELETE_VERSION = 8,          // of exactly the timestamp
  ROWBLOOM_DELETE_FAMILY_VERSION = 10,  // the same in all columns of a family
  ROWBLOOM_DELETE = 12,                 // all versions of a column
  ROWBLOOM_DELETE_FAMILY = 14,          // all columns of a family
  ROWBLOOM_REMOVE = 251,                // a column, for copies of a store
  ROWBLOOM_REMOVE_FAMILY = 252,         // all columns of a family, likewise
  ROWBLOOM_INCREMENT = 253,             // by a value of 8 bytes, big-endian
  ROWBLOOM_APPEND = 254,                // the value, after the newest one
  ROWBLOOM_DELETE_ROW = 255             // all families
};

// A change without a timestamp of its own.
#define ROWBLOOM_NO_TIMESTAMP ((int64_t)-1)
// A put that lives as long as its family says.
#define ROWBLOOM_NO_TTL ((int64_t)-1)

// The failures that a batch survives once it is written.
enum rowbloom_durability {
  ROWBLOOM_ASYNC = 0,    // of the process
  ROWBLOOM_SYNC = 1,     // of the machine, too
  ROWBLOOM_SKIP_WAL = 2  // none before the store is flushed
};

rowbloom_batch_t* rowbloom_batch_create(char** error);
void rowbloom_batch_destroy(rowbloom_batch_t* batch);
// Removes all changes, and the TTL that was set: the batch is as a new one.
void rowbloom_batch_clear(rowbloom_batch_t* batch);

// Sets the TTL of the puts, increments and appends that are added from now on,
// in milliseconds from their timestamps on; ROWBLOOM_NO_TTL, the default: none
// of their own (Change::ttl_ms in rowbloom/write_batch.h).
bool rowbloom_batch_set_ttl(rowbloom_batch_t* batch, int64_t ttl_ms,
                            char** error);

// Adds a change of a `rowbloom_change_type`. Deletes have no value; those of a
// family have no qualifier, and those of a row have no family either, NULL or
// "". Puts take a timestamp in families with "timestamps=client", deletes in
// these and in families with more than one version. The call refuses a type
// that takes more than a byte, and a timestamp below 0 that is not
// ROWBLOOM_NO_TIMESTAMP. rowbloom_store_write checks the rest; a change that it
// refuses stays in the batch until rowbloom_batch_clear.
bool rowbloom_batch_add(rowbloom_batch_t* batch, int change_type,
                        const void* row, size_t row_size, const char* family,
                        const void* qualifier, size_t qualifier_size,
                        const void* value, size_t value_size,
                        int64_t timestamp_ms, char** error);

// Writes the changes of a batch in their order, with a `rowbloom_durability`.
// The batch keeps them. If one change is refused, nothing is written.
bool rowbloom_store_write(rowbloom_store_t* store,
                          const rowbloom_batch_t* batch, int durability,
                          char** error);

// Writes what is in memory to files, with their filters.
bool rowbloom_store_flush(rowbloom_store_t* store, char** error);

// The statistics of the store as JSON: "key_layout", "cell_ttls",
// "block_cache_bytes_used", "families" by name with the settings, cells, files,
// levels and filters of each, and "front_filter" and "cache", or null
// (rowbloom/store_stats.h).
char* rowbloom_store_stats(rowbloom_store_t* store, char** error);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}  // extern "C"
#endif
