#include "tools/rowbloom/filter_verbs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <istream>
#include <optional>
#include <ostream>
#include <string_view>

#include "lib/plan/kind_bits.h"
#include "rowbloom/bloom_math.h"
#include "rowbloom/bloom_shape.h"
#include "rowbloom/bloom_type.h"
#include "rowbloom/cuckoo_filter.h"
#include "rowbloom/scalable_bloom_filter.h"
#include "tools/rowbloom/filter_file.h"
#include "tools/rowbloom/line_reader.h"
#include "tools/terminal/progress.h"

namespace rowbloom::cli {
namespace {

constexpr size_t kMaxLineBytes = size_t{64} << 20;

// Calls `visit` for each line, with a line of progress on a terminal.
std::optional<Error> VisitLines(
    std::istream& in, std::ostream& err, bool err_is_terminal,
    const std::function<bool(std::string_view)>& visit) {
  LineReader lines(in, kMaxLineBytes);
  terminal::Progress progress(err, err_is_terminal,
                              {"standard input", std::nullopt, "lines"});
  while (true) {
    std::string_view line;
    switch (lines.Next(&line)) {
      case LineReader::Outcome::kLine:
        break;
      case LineReader::Outcome::kEnd:
        return std::nullopt;
      case LineReader::Outcome::kTooLong:
        return Error{
            fmt::format("standard input:{}: a line of more than {} bytes",
                        lines.line_number(), kMaxLineBytes)};
      case LineReader::Outcome::kReadError:
        return Error{fmt::format("standard input:{}: cannot be read",
                                 lines.line_number())};
    }
    if (!visit(line)) return Error{"cannot write to standard output"};
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

}  // namespace

ExitCode FilterSize(uint64_t keys, double rate, std::ostream& out,
                    std::ostream& err) {
  if (!IsFalsePositiveRate(rate)) {
    return Fail(err,
                fmt::format("--fpp {}: expected a rate inside (0, 1)", rate));
  }
  if (keys == 0) return Fail(err, "--expected 0: expected at least one key");
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
  out << fmt::format("{:8}  {:>15}  {:>8}  {:>13}  {}\n", "kind", "bytes",
                     "bits/key", "", "for");
  for (const SizeRow& row : rows) {
    if (row.bits) {
      out << fmt::format("{:8}  {:>15.0f}  {:>8.2f}  {:>13}  {}\n", row.name,
                         std::ceil(*row.bits / 8),
                         *row.bits / static_cast<double>(keys), row.parameters,
                         row.what);
    } else {
      out << fmt::format("{:8}  {:>15}  {:>8}  {:>13}  {}\n", row.name,
                         "not possible", "", "", row.what);
    }
  }
  return ExitCode::kOk;
}

ExitCode FilterBuild(const FilterBuildOptions& options, std::istream& in,
                     std::ostream& out, std::ostream& err,
                     bool err_is_terminal) {
  auto filter = ClassicBloomFilter::Create(options.expected, options.rate,
                                           options.strategy);
  if (!filter) return Fail(err, filter.error());
  uint64_t lines = 0;
  uint64_t new_lines = 0;
  if (const auto error =
          VisitLines(in, err, err_is_terminal, [&](std::string_view line) {
            ++lines;
            if (filter->Put(line)) ++new_lines;
            return true;
          })) {
    return Fail(err, error->message);
  }
  const std::string bytes =
      options.guava_form ? *filter->Serialize() : filter->SerializeChecked();
  if (const auto error = WriteFilterFile(options.file, bytes)) {
    return Fail(err, error->message);
  }
  const double rate = filter->ExpectedFpp();
  if (new_lines > options.expected && rate > options.rate) {
    Complain(err, fmt::format("more lines than --expected {}: the rate is "
                              "{:.3g}, not {:.3g}",
                              options.expected, rate, options.rate));
  }
  out << fmt::format("{} lines, {} of them surely new; {} bytes, rate {:.3g}\n",
                     lines, new_lines, bytes.size(), rate);
  return ExitCode::kOk;
}

ExitCode FilterCheck(const std::string& file, bool absent, std::istream& in,
                     std::ostream& out, std::ostream& err,
                     bool err_is_terminal) {
  const auto filter = ReadFilterFile(file);
  if (!filter) return Fail(err, filter.error());
  uint64_t printed = 0;
  if (const auto error =
          VisitLines(in, err, err_is_terminal, [&](std::string_view line) {
            if (filter->MayContain(line) == absent) return true;
            ++printed;
            return static_cast<bool>(out << line << '\n');
          })) {
    return Fail(err, error->message);
  }
  return printed > 0 ? ExitCode::kOk : ExitCode::kFinding;
}

ExitCode FilterInfo(const std::string& file, std::ostream& out,
                    std::ostream& err) {
  const auto filter = ReadFilterFile(file);
  if (!filter) return Fail(err, filter.error());
  const auto lines = filter->Describe();
  size_t width = 0;
  for (const auto& [name, value] : lines) width = std::max(width, name.size());
  for (const auto& [name, value] : lines) {
    out << fmt::format("{:{}}  {}\n", name, width, value);
  }
  return ExitCode::kOk;
}

}  // namespace rowbloom::cli
