#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cmath>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>

#include "lib/plan/kind_bits.h"
#include "rowbloom/bloom_math.h"
#include "rowbloom/bloom_shape.h"
#include "rowbloom/bloom_type.h"
#include "rowbloom/classic_bloom_filter.h"
#include "rowbloom/cuckoo_filter.h"
#include "rowbloom/scalable_bloom_filter.h"
#include "tools/cli/arguments.h"
#include "tools/cli/text.h"
#include "tools/rowbloom/verbs.h"

namespace rowbloom::cli {
namespace {

// A line of the table; what does not apply, or cannot be, is left out.
struct SizeRow {
  std::string_view name;
  std::optional<double> bits;
  std::string parameters;
  std::string_view what;
};

SizeRow ClassicRow(uint64_t keys, double rate) {
  SizeRow row{"classic", std::nullopt, "", "static set; Guava's, for the JVM"};
  const uint64_t bits = ClassicBloomFilter::OptimalBits(keys, rate);
  if (bits == 0 || bits > ClassicBloomFilter::kMaxBits) return row;
  const int hashes = ClassicBloomFilter::OptimalHashes(keys, bits);
  if (hashes > ClassicBloomFilter::kMaxHashes) return row;
  row.bits = std::ceil(static_cast<double>(bits) / 64) * 64;
  row.parameters = fmt::format("{} hashes", hashes);
  return row;
}

SizeRow PlainRow(std::string_view name, uint64_t keys, double rate,
                 double bits_per_place, std::string_view what) {
  SizeRow row{name, std::nullopt, "", what};
  if (const auto shape = BloomShapeFor(keys, rate)) {
    row.bits = bits_per_place * static_cast<double>(shape->bits);
    row.parameters = fmt::format("{} hashes", shape->hashes);
  }
  return row;
}

SizeRow CuckooRow(uint64_t keys, double rate) {
  SizeRow row{"cuckoo", std::nullopt, "", "deletes; can be full"};
  if (const auto shape = CuckooShapeFor(keys, rate)) {
    row.bits = static_cast<double>(shape->buckets) * kCuckooBucketSlots *
               shape->fingerprint_bits;
    row.parameters = fmt::format("{}-bit prints", shape->fingerprint_bits);
  }
  return row;
}

SizeRow FileRow(FilterKind kind, uint64_t keys, double rate) {
  const double bits = BitsPerKey(rate);
  const bool reached = FalsePositiveRate(bits) <= rate * 1.001;
  SizeRow row{ToString(kind), std::nullopt, "", "one of a database's files"};
  if (kind == FilterKind::kRibbon) {
    row.bits = RibbonBitsPerKey(rate) * static_cast<double>(keys);
  } else if (reached) {
    row.bits = bits * static_cast<double>(keys);
    row.parameters = fmt::format("{} hashes", BestProbes(bits));
  }
  return row;
}

struct SizeArgs {
  uint64_t expected = 0;
  double rate = 0.01;

  void AddTo(CLI::App* command) {
    AddOptionTo(command, "--expected", &expected, "Number of distinct keys",
                "N")
        ->required();
    AddOptionTo(command, "--fpp", &rate,
                "False positive rate at that number, inside (0, 1)", "P")
        ->required();
  }
};

ExitCode FilterSize(const SizeArgs& args, const Streams& streams) {
  const auto [keys, rate] = args;
  if (!IsFalsePositiveRate(rate)) {
    return Fail(streams.err,
                fmt::format("--fpp {}: expected a rate inside (0, 1)", rate));
  }
  if (keys == 0) {
    return Fail(streams.err, "--expected 0: expected at least one key");
  }
  // A scalable filter's first stage has half of its rate.
  const SizeRow rows[] = {
      ClassicRow(keys, rate),
      PlainRow("counting", keys, rate, 4, "deletes"),
      PlainRow("scalable", keys, rate * (1 - ScalableOptions().tightening), 1,
               "growing set; at what was reserved"),
      CuckooRow(keys, rate),
      FileRow(FilterKind::kBloom, keys, rate),
      FileRow(FilterKind::kRibbon, keys, rate),
  };
  Table table({"kind", ">bytes", ">bits/key", ">", "for"});
  for (const SizeRow& row : rows) {
    table.AddRow(
        {std::string(row.name),
         row.bits ? fmt::format("{:.0f}", std::ceil(*row.bits / 8))
                  : "not possible",
         row.bits ? fmt::format("{:.2f}", *row.bits / static_cast<double>(keys))
                  : "",
         row.parameters, std::string(row.what)});
  }
  table.Print(streams.out, 0);
  return ExitCode::kOk;
}

}  // namespace

Action AddFilterSize(CLI::App* command) { return AddVerb(command, FilterSize); }

}  // namespace rowbloom::cli
