#include "tests/stress/round.h"

#include "tests/support/random.h"

namespace rowbloom::stress {

using test::Mix64;

uint64_t Round::SeedOf(uint64_t part) const {
  return Mix64(Mix64(Mix64(seed) + number) + part);
}

std::string Round::Describe() const {
  return "--seed " + std::to_string(seed) + " --kinds " + kind + " --round " +
         std::to_string(number) + " --threads " + std::to_string(threads);
}

}  // namespace rowbloom::stress
