// The address of a cell that has its own names, which CellAddress does not.
#pragma once

#include <string>
#include <vector>

#include "rowbloom/cell.h"

namespace rowbloom::test {

struct OwnedAddress {
  std::string row;
  std::string family;
  std::string qualifier;

  operator CellAddress() const { return {row, family, qualifier}; }
  friend bool operator==(const OwnedAddress&, const OwnedAddress&) = default;
};

// For Store::MultiGet; `addresses` outlive them.
inline std::vector<CellAddress> ViewsOf(
    const std::vector<OwnedAddress>& addresses) {
  return {addresses.begin(), addresses.end()};
}

}  // namespace rowbloom::test
