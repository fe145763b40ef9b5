// Included before each source that plant_faults.py has planted faults in. The
// environment's ROWBLOOM_PLANTED_FAULT has the number of the one that is made.
#pragma once
#pragma GCC system_header

#include <cstdlib>
#include <type_traits>

namespace rowbloom::planted {

inline int ChosenFault() {
  const char* const number = std::getenv("ROWBLOOM_PLANTED_FAULT");
  return number == nullptr ? -1 : std::atoi(number);
}

// Faults of code that runs before this is set are never made.
inline int chosen_fault = ChosenFault();

constexpr bool IsMade(int number) {
  return !std::is_constant_evaluated() && chosen_fault == number;
}

// a < b is written as a <Less{number}> b, and so are the others: what stands
// between has the precedence of the comparison.
struct Less {
  int number;
};
struct LessOrEqual {
  int number;
};
struct Greater {
  int number;
};
struct GreaterOrEqual {
  int number;
};

template <typename Left, typename Sign>
struct Comparison {
  const Left& left;
  Sign sign;
};

// Only these types of signs, so that no other comparison changes.
template <typename Sign>
concept IsSign =
    std::is_same_v<Sign, Less> || std::is_same_v<Sign, LessOrEqual> ||
    std::is_same_v<Sign, Greater> || std::is_same_v<Sign, GreaterOrEqual>;

template <typename Left, IsSign Sign>
constexpr Comparison<Left, Sign> operator<(const Left& left, Sign sign) {
  return {left, sign};
}

template <typename Left, typename Right>
constexpr bool operator>(const Comparison<Left, Less>& at, const Right& right) {
  return IsMade(at.sign.number) ? at.left <= right : at.left < right;
}
template <typename Left, typename Right>
constexpr bool operator>(const Comparison<Left, LessOrEqual>& at,
                         const Right& right) {
  return IsMade(at.sign.number) ? at.left < right : at.left <= right;
}
template <typename Left, typename Right>
constexpr bool operator>(const Comparison<Left, Greater>& at,
                         const Right& right) {
  return IsMade(at.sign.number) ? at.left >= right : at.left > right;
}
template <typename Left, typename Right>
constexpr bool operator>(const Comparison<Left, GreaterOrEqual>& at,
                         const Right& right) {
  return IsMade(at.sign.number) ? at.left > right : at.left >= right;
}

}  // namespace rowbloom::planted
