// Checks for test programs in C: the first that fails ends the program.
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rowbloom/c.h"

#define CHECK(condition)                                             \
  do {                                                               \
    if (!(condition)) Fail(__FILE__, __LINE__, #condition, "false"); \
  } while (0)

// `call` has `&error` as its last argument.
#define CHECK_OK(call)                                         \
  do {                                                         \
    char* error = (char*)"unset";                              \
    (void)(call);                                              \
    if (error != NULL) Fail(__FILE__, __LINE__, #call, error); \
  } while (0)

// The call fails, says so by what it returns, and its message has the text.
#define CHECK_ERROR(text, call)                                       \
  do {                                                                \
    char* error = NULL;                                               \
    if (call) Fail(__FILE__, __LINE__, #call, "did not fail");        \
    if (error == NULL) Fail(__FILE__, __LINE__, #call, "no message"); \
    if (strstr(error, text) == NULL) {                                \
      Fail(__FILE__, __LINE__, #call, error);                         \
    }                                                                 \
    rowbloom_free(error);                                             \
  } while (0)

static inline _Noreturn void Fail(const char* file, int line, const char* what,
                                  const char* found) {
  fprintf(stderr, "%s:%d: %s: %s\n", file, line, what, found);
  exit(1);
}

// The number of the first member `name` after the first `"part":` in JSON.
static inline uint64_t NumberIn(const char* json, const char* part,
                                const char* name) {
  char quoted[100];
  snprintf(quoted, sizeof quoted, "\"%s\":", part);
  const char* at = strstr(json, quoted);
  if (at == NULL) Fail(__FILE__, __LINE__, quoted, json);
  snprintf(quoted, sizeof quoted, "\"%s\":", name);
  at = strstr(at, quoted);
  if (at == NULL) Fail(__FILE__, __LINE__, quoted, json);
  return strtoull(at + strlen(quoted), NULL, 10);
}
