#include "tools/rowbloom/filter_file.h"

#include <fmt/format.h>

#include <limits>
#include <memory>

#include "storage/format/input_file.h"
#include "storage/format/output_file.h"

namespace rowbloom::cli {
namespace {

Error At(const std::string& path, const std::string& problem) {
  return Error{path + ": " + problem};
}

using FactLines = std::vector<std::pair<std::string, std::string>>;

void Add(FactLines* lines, std::string name, std::string value) {
  lines->emplace_back(std::move(name), std::move(value));
}

std::string Rate(double rate) { return fmt::format("{:.3g}", rate); }

FactLines DescriptionOf(const ClassicBloomFilter& filter) {
  FactLines lines;
  Add(&lines, "strategy", std::string(ToString(filter.strategy())));
  Add(&lines, "bits", std::to_string(filter.bits()));
  Add(&lines, "hashes", std::to_string(filter.hashes()));
  const uint64_t set = filter.CountSetBits();
  Add(&lines, "bits set",
      fmt::format(
          "{} ({:.1f} %)", set,
          100 * static_cast<double>(set) / static_cast<double>(filter.bits())));
  const uint64_t keys = filter.ApproximateElementCount();
  Add(&lines, "keys, about",
      keys == std::numeric_limits<uint64_t>::max() ? "too many to tell"
                                                   : std::to_string(keys));
  Add(&lines, "false positive rate, now", Rate(filter.ExpectedFpp()));
  return lines;
}

FactLines DescriptionOf(const CountingBloomFilter& filter) {
  FactLines lines;
  Add(&lines, "counters", std::to_string(filter.counters()));
  Add(&lines, "hashes", std::to_string(filter.hashes()));
  Add(&lines, "counters stuck", std::to_string(filter.stuck_counters()));
  Add(&lines, "keys", std::to_string(filter.keys()));
  Add(&lines, "false positive rate, now", Rate(filter.ExpectedRate()));
  return lines;
}

FactLines DescriptionOf(const ScalableBloomFilter& filter) {
  const ScalableInfo info = filter.Info();
  FactLines lines;
  Add(&lines, "stages", std::to_string(info.stages));
  Add(&lines, "growth", std::to_string(info.growth));
  Add(&lines, "tightening", fmt::format("{}", info.tightening));
  Add(&lines, "bytes", std::to_string(info.size_bytes));
  Add(&lines, "keys",
      fmt::format("{} of {} before it grows", info.keys, info.capacity));
  Add(&lines, "false positive rate, at most", Rate(info.target_rate));
  Add(&lines, "false positive rate, now", Rate(info.expected_rate));
  return lines;
}

FactLines DescriptionOf(const CuckooFilter& filter) {
  FactLines lines;
  Add(&lines, "buckets", std::to_string(filter.shape().buckets));
  Add(&lines, "fingerprint bits",
      std::to_string(filter.shape().fingerprint_bits));
  Add(&lines, "keys",
      fmt::format("{} of {} slots ({:.1f} %)", filter.keys(), filter.slots(),
                  100 * filter.load()));
  Add(&lines, "false positive rate, at most",
      Rate(FalsePositiveRate(filter.shape(), 1)));
  Add(&lines, "false positive rate, now", Rate(filter.ExpectedRate()));
  return lines;
}

template <typename Filter>
Result<FilterFile> Loaded(const std::string& path, FilterForm form,
                          uint64_t file_bytes, Result<Filter> filter) {
  if (!filter) return At(path, filter.error());
  return FilterFile{form, file_bytes, *std::move(filter)};
}

}  // namespace

bool FilterFile::MayContain(std::string_view key) const {
  return std::visit(
      [key](const auto& any) {
        if constexpr (requires { any.MightContain(key); }) {
          return any.MightContain(key);
        } else {
          return any.Contains(key);
        }
      },
      filter);
}

FactLines FilterFile::Describe() const {
  FactLines lines = {{"kind", std::string(ToString(form))},
                     {"file bytes", std::to_string(file_bytes)}};
  FactLines more =
      std::visit([](const auto& any) { return DescriptionOf(any); }, filter);
  lines.insert(lines.end(), more.begin(), more.end());
  return lines;
}

Result<FilterFile> ReadFilterFile(const std::string& path) {
  std::unique_ptr<InputFile> file;
  std::string bytes;
  rocksdb::Status s = InputFile::Open(path, &file);
  if (s.ok()) {
    bytes.resize(file->size_bytes());
    s = file->ReadAt(0, bytes.size(), bytes.data());
  }
  if (!s.ok()) return Error{s.getState()};
  const Result<FilterForm> form = IdentifyFilter(bytes);
  if (!form) return At(path, form.error());
  switch (*form) {
    case FilterForm::kGuava:
      return Loaded(path, *form, bytes.size(),
                    ClassicBloomFilter::Parse(bytes));
    case FilterForm::kClassic:
      return Loaded(path, *form, bytes.size(),
                    ClassicBloomFilter::ParseChecked(bytes));
    case FilterForm::kCounting:
      return Loaded(path, *form, bytes.size(),
                    CountingBloomFilter::Parse(bytes));
    case FilterForm::kScalable:
      return Loaded(path, *form, bytes.size(),
                    ScalableBloomFilter::Parse(bytes));
    case FilterForm::kCuckoo:
      return Loaded(path, *form, bytes.size(), CuckooFilter::Parse(bytes));
  }
  return At(path, "a filter of a kind that is not known");
}

std::optional<Error> WriteFilterFile(const std::string& path,
                                     std::string_view bytes) {
  std::unique_ptr<OutputFile> file;
  rocksdb::Status s = OutputFile::Create(nullptr, path, &file);
  if (s.ok()) s = file->Append(bytes);
  if (s.ok()) s = file->Commit();
  if (s.ok()) return std::nullopt;
  return Error{s.getState()};
}

}  // namespace rowbloom::cli
