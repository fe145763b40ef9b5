// The corpus of standalone_filter; see corpus_test.cc for how it is written
// anew.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bit>
#include <cstddef>
#include <map>
#include <string>

#include "lib/bytes/integers.h"
#include "lib/standalone/frame.h"
#include "rowbloom/classic_bloom_filter.h"
#include "rowbloom/counting_bloom_filter.h"
#include "rowbloom/cuckoo_filter.h"
#include "rowbloom/filter_form.h"
#include "rowbloom/scalable_bloom_filter.h"
#include "tests/fuzz/corpus.h"

namespace rowbloom::standalone_corpus_test {
namespace {

using testing::HasSubstr;

struct Seed {
  std::string bytes;
  std::string problem;  // Parse's error; "" when there is none
};

std::map<std::string, Seed> Seeds() {
  auto classic = *ClassicBloomFilter::Create(3, 0.03);
  auto classic_32 =
      *ClassicBloomFilter::Create(20, 0.01, ClassicStrategy::kMurmur128Mitz32);
  auto counting = *CountingBloomFilter::Create(3, 0.1);
  auto scalable = *ScalableBloomFilter::Reserve(2, 0.1);
  auto cuckoo = *CuckooFilter::Create(20, 0.01);
  auto full_cuckoo = *CuckooFilter::Create(1, 0.03);
  for (int i = 0; i < 40; ++i) {
    const std::string key = std::to_string(i);
    if (i < 3) classic.Put(key);
    classic_32.Put(key);
    if (i < 3) counting.Add(key);
    counting.Add("often");
    if (i < 7) scalable.Add(key);
    static_cast<void>(cuckoo.Add(key));
    static_cast<void>(full_cuckoo.Add(key));
  }
  const std::string good = counting.Serialize();
  const auto with_byte = [&good](size_t at, char byte) {
    std::string bytes = good;
    bytes[at] = byte;
    return bytes;
  };
  std::string huge = frame::Begin(FilterForm::kScalable, std::nullopt, 49);
  PutFixed(&huge, std::bit_cast<uint64_t>(0.1), 8);
  PutFixed(&huge, std::bit_cast<uint64_t>(0.5), 8);
  PutFixed(&huge, 64, 4);
  PutFixed(&huge, 1, 4);
  PutFixed(&huge, uint64_t{1} << 60, 8);
  PutFixed(&huge, uint64_t{1} << 60, 8);
  PutFixed(&huge, uint64_t{1} << 62, 8);
  PutFixed(&huge, 1, 1);
  return {
      {"guava_mitz64", {*classic.Serialize(), ""}},
      {"guava_mitz32", {*classic_32.Serialize(), ""}},
      {"guava_cut", {classic_32.Serialize()->substr(0, 13), "neither"}},
      {"classic", {classic.SerializeChecked(), ""}},
      {"counting_with_stuck_counters", {good, ""}},
      {"scalable_of_stages", {scalable.Serialize(), ""}},
      {"scalable_of_more_bits_than_bytes",
       {frame::Finish(huge), "does not go together"}},
      {"cuckoo", {cuckoo.Serialize(), ""}},
      {"cuckoo_full", {full_cuckoo.Serialize(), ""}},
      {"unknown_version", {with_byte(8, 2), "version 2"}},
      {"unknown_kind", {with_byte(9, 9), "unknown kind 9"}},
      {"keyed", {with_byte(10, 2), "checksum"}},
      {"body_too_long", {with_byte(24, 1), "a body of"}},
      {"wrong_checksum", {with_byte(good.size() - 1, 'x'), "checksum"}},
      {"cut", {good.substr(0, 20), "cut short"}},
  };
}

std::string Problem(const std::string& bytes) {
  const auto form = IdentifyFilter(bytes);
  if (!form) return form.error();
  const auto error = [](const auto& parsed) {
    return parsed ? "" : parsed.error();
  };
  switch (*form) {
    case FilterForm::kGuava:
      return error(ClassicBloomFilter::Parse(bytes));
    case FilterForm::kClassic:
      return error(ClassicBloomFilter::ParseChecked(bytes));
    case FilterForm::kCounting:
      return error(CountingBloomFilter::Parse(bytes));
    case FilterForm::kScalable:
      return error(ScalableBloomFilter::Parse(bytes));
    case FilterForm::kCuckoo:
      return error(CuckooFilter::Parse(bytes));
  }
  return "no form";
}

TEST(FuzzCorpus, StandaloneFiltersAreWhatTheirNamesSay) {
  fuzz::Files files;
  for (const auto& [name, seed] : Seeds()) {
    if (seed.problem.empty()) {
      EXPECT_EQ(Problem(seed.bytes), "") << name;
    } else {
      EXPECT_THAT(Problem(seed.bytes), HasSubstr(seed.problem)) << name;
    }
    files[name] = seed.bytes;
  }
  fuzz::ExpectSeeds("standalone_filter", files);
}

}  // namespace
}  // namespace rowbloom::standalone_corpus_test
