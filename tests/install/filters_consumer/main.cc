// A program that builds and asks a filter block by itself. Exits with 1 when
// the answers are wrong.
#include <cstdio>
#include <string>

#include "rowbloom/filter_block.h"

int main() {
  rowbloom::FilterBlockOptions options;
  options.key_layout = rowbloom::KeyLayout::Delimited(':');
  rowbloom::FilterBlockBuilder builder(options);
  for (int row = 0; row < 1000; ++row) {
    builder.AddKey("row" + std::to_string(row) + ":name");
  }
  const std::string bytes = builder.Finish();
  const auto block = rowbloom::FilterBlock::Open(bytes);
  int present = 0;
  int absent = 0;
  for (int row = 0; row < 1000; ++row) {
    const std::string name = "row" + std::to_string(row) + ":name";
    present += block.MayMatch(name).may_match ? 1 : 0;
    absent += block.MayMatch("no " + name).may_match ? 1 : 0;
  }
  std::printf("%d of 1000 present, %d of 1000 absent keys may match\n", present,
              absent);
  return block.usable() && present == 1000 && absent < 100 ? 0 : 1;
}
