// A program that views a filter block, and uses filters without a database.
// Exits with 1 when the answers are wrong.
#include <cstdio>

#include "rowbloom/classic_bloom_filter.h"
#include "rowbloom/counting_bloom_filter.h"
#include "rowbloom/cuckoo_filter.h"
#include "rowbloom/filter_block.h"
#include "rowbloom/key_layout.h"
#include "rowbloom/scalable_bloom_filter.h"

// Checks that each filter has the key that it was given, and not the other.
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
  const auto layout = rowbloom::KeyLayout::Delimited(':');
  const auto split = layout.Split("user_1001:tags");
  const auto block = rowbloom::FilterBlock::Open("no filter block");
  const bool works = split && split->row == "user_1001:" && !block.usable() &&
                     block.MayMatch("a:x").may_match() &&
                     StandaloneFiltersWork();
  std::printf("%s\n", works ? "works" : "does not work");
  return works ? 0 : 1;
}
