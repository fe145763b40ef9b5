// A program that builds and asks a filter block, and the filters that programs
// use by themselves. Exits with 1 when the answers are wrong.
#include <cstdio>
#include <string>

#include "rowbloom/classic_bloom_filter.h"
#include "rowbloom/counting_bloom_filter.h"
#include "rowbloom/cuckoo_filter.h"
#include "rowbloom/filter_block.h"
#include "rowbloom/scalable_bloom_filter.h"

// Whether each has the key that it was given, and not the other.
bool StandaloneFiltersWork() {
  auto classic = rowbloom::ClassicBloomFilter::Create(100, 1e-6);
  auto counting = rowbloom::CountingBloomFilter::Create(100, 1e-6);
  auto scalable = rowbloom::ScalableBloomFilter::Reserve(100, 1e-6);
  auto cuckoo = rowbloom::CuckooFilter::Create(100, 1e-6);
  if (!classic || !counting || !scalable || !cuckoo) return false;
  classic->Put("a");
  counting->Add("a");
  scalable->Add("a");
  return cuckoo->Add("a") == rowbloom::CuckooFilter::AddOutcome::kAdded &&
         classic->MightContain("a") && !classic->MightContain("b") &&
         counting->Contains("a") && !counting->Contains("b") &&
         scalable->Contains("a") && !scalable->Contains("b") &&
         cuckoo->Contains("a") && !cuckoo->Contains("b");
}

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
  return block.usable() && present == 1000 && absent < 100 &&
                 StandaloneFiltersWork()
             ? 0
             : 1;
}
