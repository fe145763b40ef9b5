#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <functional>
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
#include "tools/cli/interruption.h"
#include "tools/cli/progress.h"
#include "tools/cli/text.h"
#include "tools/rowbloom/filter_file.h"
#include "tools/rowbloom/line_reader.h"
#include "tools/rowbloom/verbs.h"

namespace rowbloom::cli {
namespace {

constexpr size_t kMaxLineBytes = size_t{64} << 20;

// Calls `visit` for each line, with a line of progress on a terminal.
std::optional<Error> VisitLines(
    const Streams& streams,
    const std::function<void(std::string_view)>& visit) {
  const Interruption interruption;
  LineReader lines(streams.in, "standard input", kMaxLineBytes);
  Progress progress(streams.err, {"standard input", std::nullopt, "lines"});
  while (true) {
    std::string_view line;
    bool at_end = false;
    const auto error = lines.Next(&line, &at_end);
    // An interruption breaks a stream that is read.
    interruption.Check(streams.out);
    if (error || at_end) return error;
    visit(line);
    progress.Update(lines.bytes_consumed(), lines.line_number());
  }
}

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
    command->add_option("--expected", expected, "Number of distinct keys")
        ->required()
        ->type_name("N");
    command
        ->add_option("--fpp", rate,
                     "False positive rate at that number, inside (0, 1)")
        ->required()
        ->type_name("P");
  }
};

ExitCode FilterSize(const SizeArgs& args, const Streams& streams) {
  const auto [keys, rate] = args;
  if (!IsFalsePositiveRate(rate)) {
    return Fail(streams.err,
                fmt::format("--fpp {}: expected a rate inside (0, 1)", rate));
  }
  if (keys == 0)
    return Fail(streams.err, "--expected 0: expected at least one key");
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
  constexpr auto kRight = Table::Align::kRight;
  Table table({{"kind"},
               {"bytes", kRight},
               {"bits/key", kRight},
               {"", kRight},
               {"for"}});
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

struct BuildArgs {
  SizeArgs size;
  std::string format = "rowbloom";
  std::string strategy = "mitz64";
  std::string file;
};

ExitCode FilterBuild(const BuildArgs& args, const Streams& streams) {
  auto filter = ClassicBloomFilter::Create(
      args.size.expected, args.size.rate,
      args.strategy == "mitz32" ? ClassicStrategy::kMurmur128Mitz32
                                : ClassicStrategy::kMurmur128Mitz64);
  if (!filter) return Fail(streams.err, filter.error());
  uint64_t lines = 0;
  uint64_t new_lines = 0;
  if (const auto error = VisitLines(streams, [&](std::string_view line) {
        ++lines;
        if (filter->Put(line)) ++new_lines;
      })) {
    return Fail(streams.err, error->message);
  }
  const std::string bytes = args.format == "guava" ? *filter->Serialize()
                                                   : filter->SerializeChecked();
  if (const auto error = WriteFilterFile(args.file, bytes)) {
    return Fail(streams.err, error->message);
  }
  const double rate = filter->ExpectedFpp();
  if (new_lines > args.size.expected && rate > args.size.rate) {
    Complain(streams.err,
             fmt::format("more lines than --expected {}: the rate is "
                         "{:.3g}, not {:.3g}",
                         args.size.expected, rate, args.size.rate));
  }
  streams.out << fmt::format(
      "{} lines, {} of them surely new; {} bytes, rate {:.3g}\n", lines,
      new_lines, bytes.size(), rate);
  return ExitCode::kOk;
}

struct CheckArgs {
  std::string file;
  bool absent = false;
};

ExitCode FilterCheck(const CheckArgs& args, const Streams& streams) {
  const auto filter = ReadFilterFile(args.file);
  if (!filter) return Fail(streams.err, filter.error());
  uint64_t printed = 0;
  if (const auto error = VisitLines(streams, [&](std::string_view line) {
        if (filter->MayContain(line) == args.absent) return;
        ++printed;
        streams.out << line << '\n';
      })) {
    return Fail(streams.err, error->message);
  }
  return printed > 0 ? ExitCode::kOk : ExitCode::kFinding;
}

ExitCode FilterInfo(const std::string& file, const Streams& streams) {
  const auto filter = ReadFilterFile(file);
  if (!filter) return Fail(streams.err, filter.error());
  const auto lines = filter->Describe();
  size_t width = 0;
  for (const auto& [name, value] : lines) width = std::max(width, name.size());
  for (const auto& [name, value] : lines) {
    streams.out << fmt::format("{:{}}  {}\n", name, width, value);
  }
  return ExitCode::kOk;
}

void AddFile(CLI::App* command, std::string* file) {
  command->add_option("FILE", *file, "The filter")->required()->type_name("");
}

}  // namespace

Action AddFilterSize(CLI::App* command) {
  const auto args = std::make_shared<SizeArgs>();
  args->AddTo(command);
  return [args](const Streams& streams) { return FilterSize(*args, streams); };
}

Action AddFilterBuild(CLI::App* command) {
  const auto args = std::make_shared<BuildArgs>();
  args->size.AddTo(command);
  command
      ->add_option("--format", args->format,
                   "rowbloom, with a checksum, or guava, for "
                   "BloomFilter.readFrom")
      ->transform(CLI::IsMember({"rowbloom", "guava"}, CLI::ignore_case))
      ->capture_default_str();
  command->add_option("--strategy", args->strategy, "Guava's: mitz64 or mitz32")
      ->transform(CLI::IsMember({"mitz64", "mitz32"}, CLI::ignore_case))
      ->capture_default_str();
  command->add_option("-o,--output", args->file, "Where the filter goes")
      ->required()
      ->type_name("FILE");
  return [args](const Streams& streams) { return FilterBuild(*args, streams); };
}

Action AddFilterCheck(CLI::App* command) {
  const auto args = std::make_shared<CheckArgs>();
  command->add_flag("-v,--absent", args->absent,
                    "Print those that surely are not in it instead");
  AddFile(command, &args->file);
  return [args](const Streams& streams) { return FilterCheck(*args, streams); };
}

Action AddFilterInfo(CLI::App* command) {
  const auto file = std::make_shared<std::string>();
  AddFile(command, file.get());
  return [file](const Streams& streams) { return FilterInfo(*file, streams); };
}

}  // namespace rowbloom::cli
