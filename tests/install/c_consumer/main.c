// A cell written to a store, flushed and read back.
#include <rowbloom/c.h>
#include <stdio.h>
#include <string.h>

int main(int argc, char** argv) {
  if (argc != 2) {
    fprintf(stderr, "usage: %s NEW_STORE_DIRECTORY\n", argv[0]);
    return 2;
  }
  char* error = NULL;
  char* value = NULL;
  size_t size = 0;
  const char* const family = "info";
  rowbloom_store_t* store =
      rowbloom_store_open(argv[1], &family, 1, NULL, &error);
  if (store != NULL &&
      rowbloom_store_put(store, "user_1001", 9, "info", "mail", 4,
                         "ada@example.org", 15, &error) &&
      rowbloom_store_flush(store, &error)) {
    value = rowbloom_store_get(store, "user_1001", 9, "info", "mail", 4, &size,
                               &error);
  }
  const int right = value != NULL && strcmp(value, "ada@example.org") == 0;
  if (!right) fprintf(stderr, "%s\n", error == NULL ? "no cell" : error);
  rowbloom_free(value);
  rowbloom_free(error);
  rowbloom_store_close(store);
  return right ? 0 : 1;
}
