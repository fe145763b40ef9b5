// store_in_c.c: users and their logins in a store. Rows are users, and a login
// is a version of a cell, of which the last three are kept.
#include <rowbloom/c.h>
#include <stdio.h>
#include <string.h>

static int Run(rowbloom_store_t* store, char** error) {
  if (!rowbloom_store_put(store, "user_1001", 9, "info", "mail", 4,
                          "ada@example.org", 15, error)) {
    return 1;
  }
  // All of a batch is written, or nothing.
  rowbloom_batch_t* batch = rowbloom_batch_create(error);
  if (batch == NULL) return 1;
  bool ok = true;
  const char* const places[] = {"Rome", "Oslo", "Lima", "Cork"};
  for (int i = 0; ok && i < 4; ++i) {
    ok = rowbloom_batch_add(batch, ROWBLOOM_PUT, "user_1001", 9, "login",
                            "place", 5, places[i], strlen(places[i]),
                            ROWBLOOM_NO_TIMESTAMP, error);
  }
  ok = ok && rowbloom_store_write(store, batch, ROWBLOOM_SYNC, error);
  rowbloom_batch_destroy(batch);
  if (!ok) return 1;

  size_t size = 0;
  char* mail = rowbloom_store_get(store, "user_1001", 9, "info", "mail", 4,
                                  &size, error);
  if (*error != NULL) return 1;
  if (mail != NULL) printf("mail: %.*s\n", (int)size, mail);
  if (mail == NULL) printf("no mail\n");
  rowbloom_free(mail);

  rowbloom_read_options_t options = {.struct_size = sizeof options,
                                     .row_prefix = "user_",
                                     .row_prefix_size = 5,
                                     .limit = 10,
                                     .max_versions = 3};
  rowbloom_rows_t* rows = rowbloom_store_scan(store, &options, error);
  if (rows == NULL) return 1;
  rowbloom_row_t row;
  while (rowbloom_rows_next(rows, &row, error)) {
    printf("%.*s\n", (int)row.row_size, row.row);
    for (size_t i = 0; i < row.cell_count; ++i) {
      const rowbloom_cell_t* cell = &row.cells[i];
      printf("  %s:%.*s = %.*s\n", cell->family, (int)cell->qualifier_size,
             cell->qualifier, (int)cell->value_size, cell->value);
    }
  }
  rowbloom_rows_destroy(rows);
  return *error != NULL;
}

int main(void) {
  char* error = NULL;
  const char* const families[] = {"info", "login,versions=3,ttl=90d"};
  rowbloom_store_t* store =
      rowbloom_store_open("logins.db", families, 2, NULL, &error);
  const int failed = store == NULL || Run(store, &error) != 0;
  if (failed) fprintf(stderr, "%s\n", error);
  rowbloom_free(error);
  rowbloom_store_close(store);
  return failed;
}
