// A round of a run: it has files of its own and takes some seconds.
#pragma once

#include <cstdint>
#include <string>

#include "tests/support/random.h"

namespace rowbloom::stress {

// The fault that is made on purpose, to prove that a divergence is noticed.
enum class Sabotage {
  kNone,
  kFilter,  // a policy answers "no" for keys that are there
  kFront,   // a front filter is not told the rows of memtables
  kDelete,  // a key is deleted behind the model's back
  kSync,    // syncs of logs do nothing
};

struct Round {
  std::string kind;
  uint64_t number = 0;
  uint64_t seed = 0;  // the run's
  uint32_t threads = 1;
  std::string dir;  // empty at first, for all files of the round
  Sabotage sabotage = Sabotage::kNone;

  // The seed of a part of the round; parts are numbered as the round likes.
  uint64_t SeedOf(uint64_t part) const {
    using test::Mix64;
    return Mix64(Mix64(Mix64(seed) + number) + part);
  }
  // The facts that have to be known to run the round again.
  std::string Describe() const {
    return "--seed " + std::to_string(seed) + " --kinds " + kind + " --round " +
           std::to_string(number) + " --threads " + std::to_string(threads);
  }
};

}  // namespace rowbloom::stress
