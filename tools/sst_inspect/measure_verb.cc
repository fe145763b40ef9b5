// measure-fpr looks up absent keys that it makes from the file's own keys:
// absent keys that applications look up resemble the keys that they store.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

#include "tools/cli/arguments.h"
#include "tools/sst_inspect/verbs.h"

namespace rowbloom::sst_inspect {
namespace {

struct MeasureArgs : FileArgs {
  uint64_t count = 100'000;  // each kind of absent key
  uint64_t seed = 1;

  void AddTo(CLI::App* command) {
    FileArgs::AddTo(command);
    cli::AddNumberTo(command, "--count", &count, "Absent keys of each kind")
        ->check(CLI::Range(uint64_t{1}, uint64_t{10'000'000}));
    cli::AddNumberTo(command, "--seed", &seed, "The same seed, the same keys");
    AddKeyLayoutTo(command);
  }
};

// The part of an absent key that the file lacks.
enum class AbsentKind : uint8_t {
  kRow,     // a row that the file does not have; the key is the row's bytes
  kCell,    // a cell of such a row
  kColumn,  // a cell that a row of the file lacks
  kKey,     // a key, if no layout is known
};

// Lets an interruption end the verb between two of millions of keys, during
// which no block is read.
void EndIfInterrupted(const TableFile& file) {
  file.ReadUpTo(file.size_bytes());
}

struct AbsentKeys {
  AbsentKind kind{};
  // Distinct, in the order of the file, or of bytes if that is not known.
  std::vector<std::string> keys;
};

// Makes absent keys from the keys of a file: about `count` of each kind that
// the layout allows, or fewer if there are not so many mixtures or they are
// long. Each is a mixture of keys drawn at random, and is compared with all
// keys of the file, which takes two passes over it. Keys that share a filter
// key with the file's keys are omitted, since "may match" is right for them. Of
// rows that share a filter key, such as a prefix, one is kept. The same seed
// gives the same keys.
class AbsentKeyMaker {
 public:
  // The file, the format and the filter must outlive it.
  AbsentKeyMaker(const TableFile& file, const KeyFormat& format,
                 const FilterReader& filter, uint64_t count, uint64_t seed)
      : file_(file),
        format_(format),
        filter_(filter),
        count_(count),
        engine_(seed) {}

  // Call it once.
  std::vector<AbsentKeys> Make() {
    Draw();
    if (sampled_.empty()) return {};
    Keys rows;
    Keys keys;
    if (rows_.empty()) {
      keys = MakeSome([this](int attempt) { return Mix(sampled_, attempt); });
    } else {
      rows = MakeSome(
          [this](int attempt) { return EncodeRow(Mix(rows_, attempt)); });
      keys = MakeSome([this](int attempt) { return Column(attempt); });
    }
    RemoveStored(&rows, &keys);
    std::vector<AbsentKeys> absent;
    if (rows_.empty()) {
      absent.push_back(Sorted(AbsentKind::kKey, {keys.begin(), keys.end()}));
      return absent;
    }
    absent.push_back(Sorted(AbsentKind::kRow, {rows.begin(), rows.end()}));
    std::vector<std::string> cells;
    for (const std::string& row : absent.front().keys) {
      EndIfInterrupted(file_);
      cells.push_back(format_.JoinKey(row, OneOf(qualifiers_)));
    }
    absent.push_back(Sorted(AbsentKind::kCell, std::move(cells)));
    absent.push_back(Sorted(AbsentKind::kColumn, {keys.begin(), keys.end()}));
    return absent;
  }

  // Longer keys of the file are not drawn. A small file can have many large
  // keys, as each may have all but its last bytes from the one before it.
  static constexpr size_t kMaxKeyBytes = 32 << 10;

 private:
  // The bytes of the keys of a kind, after which no more are made.
  static constexpr size_t kMaxMadeBytes = size_t{64} << 20;

  using Keys = std::unordered_set<std::string>;

  // Returns a number below `bound`. The distributions of standard libraries
  // differ. REQUIRES bound > 0.
  uint64_t Below(uint64_t bound) { return engine_() % bound; }
  char AnyByte() { return static_cast<char>(engine_()); }
  const std::string& OneOf(const std::vector<std::string>& from) {
    return from[Below(from.size())];
  }

  // Draws keys with equal probability (Vitter's algorithm R).
  void Draw() {
    // So many keys have far more mixtures of two than are needed.
    constexpr size_t kSampleKeys = 4096;
    const std::unique_ptr<CellReader> cells = file_.NewCellReader();
    uint64_t seen = 0;
    std::string last;
    while (cells->Next()) {
      const std::string_view key =
          format_.WithoutTimestamp(cells->cell().user_key);
      if (key.size() > kMaxKeyBytes || (seen > 0 && key == last)) continue;
      last.assign(key);
      ++seen;
      if (sampled_.size() < kSampleKeys) {
        sampled_.push_back(last);
      } else if (const uint64_t at = Below(seen); at < kSampleKeys) {
        sampled_[at] = last;
      }
    }
    Require(cells->status());
    for (const std::string& key : sampled_) {
      const auto split = format_.Split(key);
      const auto row = split ? format_.DecodeRow(split->row) : std::nullopt;
      if (!row) continue;
      rows_.push_back(*row);
      qualifiers_.emplace_back(split->qualifier);
    }
  }

  // Joins the start of one and the end of another. Later attempts also replace
  // bytes by those of a third, and the last attempts by random bytes, since all
  // other mixtures may be used up.
  std::string Mix(const std::vector<std::string>& from, int attempt) {
    const std::string& a = OneOf(from);
    const std::string& b = OneOf(from);
    const size_t cut = Below(std::min(a.size(), b.size()) + 1);
    std::string mixed = a.substr(0, cut) + b.substr(cut);
    if (mixed.empty()) return std::string(1, AnyByte());
    constexpr int kMixtures = 8;
    for (int i = 1; i < attempt; i += 2) {
      const std::string& c = OneOf(from);
      const size_t at = Below(mixed.size());
      mixed[at] =
          attempt < kMixtures && !c.empty() ? c[Below(c.size())] : AnyByte();
    }
    return mixed;
  }

  // nullopt: the layout cannot hold the row.
  std::optional<std::string> EncodeRow(const std::string& row) const {
    auto encoded = format_.EncodeRow(row);
    if (!encoded) return std::nullopt;
    return *std::move(encoded);
  }

  std::optional<std::string> Column(int attempt) {
    const auto row = EncodeRow(OneOf(rows_));
    if (!row) return std::nullopt;
    const std::string qualifier = Mix(qualifiers_, attempt + 1);
    // A row without a qualifier is no cell.
    if (qualifier.empty()) return std::nullopt;
    return format_.JoinKey(*row, qualifier);
  }

  template <typename MakeOne>
  Keys MakeSome(const MakeOne& make_one) const {
    constexpr int kAttempts = 16;
    Keys keys;
    size_t bytes = 0;
    for (uint64_t i = 0; i < count_ && bytes < kMaxMadeBytes; ++i) {
      EndIfInterrupted(file_);
      for (int attempt = 0; attempt < kAttempts; ++attempt) {
        const std::optional<std::string> key = make_one(attempt);
        if (!key || !keys.insert(*key).second) continue;
        bytes += key->size();
        break;
      }
    }
    return keys;
  }

  std::vector<std::string> KeysOf(std::string_view key, bool is_row) const {
    return filter_.KeysOf({.key = key, .is_row = is_row});
  }

  // Removes keys that the file has, and keys for which "may match" is right.
  void RemoveStored(Keys* rows, Keys* keys) const {
    Keys missing;  // filter keys that are probed and that the file lacks
    for (const bool is_row : {false, true}) {
      for (const std::string& key : is_row ? *rows : *keys) {
        EndIfInterrupted(file_);
        for (std::string& looked_up : KeysOf(key, is_row)) {
          missing.insert(std::move(looked_up));
        }
      }
    }
    const std::unique_ptr<CellReader> cells = file_.NewCellReader();
    std::string wanted;
    while (cells->Next()) {
      const std::string_view key =
          format_.WithoutTimestamp(cells->cell().user_key);
      if (!keys->empty()) {
        wanted.assign(key);
        keys->erase(wanted);
      }
      if (!missing.empty()) missing.erase(KeysOf(key, false).front());
      if (rows->empty()) continue;
      if (const auto split = format_.Split(key)) {
        wanted.assign(split->row);
        rows->erase(wanted);
      }
    }
    Require(cells->status());
    std::erase_if(*keys, [&](const std::string& key) {
      EndIfInterrupted(file_);
      return std::ranges::any_of(KeysOf(key, false),
                                 [&](const std::string& looked_up) {
                                   return !missing.contains(looked_up);
                                 });
    });
    // Keeps only one of the rows that share a prefix.
    std::erase_if(*rows, [&](const std::string& row) {
      EndIfInterrupted(file_);
      return std::ranges::any_of(KeysOf(row, true),
                                 [&](const std::string& looked_up) {
                                   return missing.erase(looked_up) == 0;
                                 });
    });
  }

  AbsentKeys Sorted(AbsentKind kind, std::vector<std::string> keys) const {
    const sst::KeyOrder order = file_.key_order() == sst::KeyOrder::kUnknown
                                    ? sst::KeyOrder::kBytewise
                                    : file_.key_order();
    std::ranges::sort(keys, [order](const auto& a, const auto& b) {
      return CompareUserKeys(order, 0, a, b) < 0;
    });
    return {kind, std::move(keys)};
  }

  const TableFile& file_;
  const KeyFormat& format_;
  const FilterReader& filter_;
  const uint64_t count_;
  std::mt19937_64 engine_;
  // The sample, and the decoded rows and the qualifiers of keys that split.
  std::vector<std::string> sampled_;
  std::vector<std::string> rows_;
  std::vector<std::string> qualifiers_;
};

// The results for one kind of absent key.
struct Measured {
  std::string_view question;
  uint64_t probed = 0;
  uint64_t passed = 0;
  double predicted = 0;  // sum over all lookups
};

std::string_view QuestionOf(AbsentKind kind, bool of_prefix) {
  switch (kind) {
    case AbsentKind::kRow:
      return of_prefix ? "absent row, prefix" : "absent row";
    case AbsentKind::kCell:
      return "cell of an absent row";
    case AbsentKind::kColumn:
      return "absent cell of a row";
    case AbsentKind::kKey:
      return "absent key";
  }
  return "";
}

Measured Measure(const TableFile& file, const AbsentKeys& absent,
                 FilterReader* filter) {
  Measured measured;
  FilterAnswer answer;
  for (const std::string& key : absent.keys) {
    EndIfInterrupted(file);
    const bool is_row = absent.kind == AbsentKind::kRow;
    filter->LookUp({.key = key, .is_row = is_row, .with_rates = true}, &answer);
    if (answer.unusable) Require(answer.problems.front().status);
    const bool by_key = answer.by == FilterAnswer::By::kKey;
    // The filter answers "may match" to absent keys of a present row or prefix.
    if (!answer.probed() || (!is_row && !by_key)) continue;
    measured.question =
        QuestionOf(absent.kind, answer.by == FilterAnswer::By::kPrefix);
    ++measured.probed;
    measured.passed += answer.may_match ? 1 : 0;
    measured.predicted +=
        absent.kind == AbsentKind::kColumn ? answer.column_rate : answer.rate;
  }
  return measured;
}

struct Interval {
  double low = 0;
  double high = 1;
};

// E. B. Wilson's interval of 95 % for a share, which also holds for shares near
// 0 ("Probable Inference, the Law of Succession, and Statistical Inference",
// 1927).
Interval WilsonInterval(uint64_t passed, uint64_t probed) {
  constexpr double kZ = 1.959963985;
  const auto n = static_cast<double>(probed);
  const double share = static_cast<double>(passed) / n;
  const double middle = share + kZ * kZ / (2 * n);
  const double half =
      kZ * std::sqrt(share * (1 - share) / n + kZ * kZ / (4 * n * n));
  const double scale = 1 + kZ * kZ / n;
  return {std::max(0.0, (middle - half) / scale),
          std::min(1.0, (middle + half) / scale)};
}

void PrintMeasured(const TableFile& file, uint64_t seed,
                   const std::vector<Measured>& results, const Output& output) {
  output.Line(file.path());
  output.Line(fmt::format("  seed {}", seed));
  Listing listing(output,
                  "question probed passed rate=measured_FPR "
                  "interval=95_%_interval predicted");
  for (const Measured& measured : results) {
    const auto probed = static_cast<double>(measured.probed);
    const Interval interval = WilsonInterval(measured.passed, measured.probed);
    listing.Add(
        Record("measured", file.path())
            .Text("question", measured.question)
            .Number("seed", seed)
            .Count("probed", measured.probed)
            .Count("passed", measured.passed)
            .Share("rate", static_cast<double>(measured.passed) / probed)
            .Share("low", interval.low)
            .Share("high", interval.high)
            .InText("interval",
                    fmt::format("{:.3g}-{:.3g} %", 100 * interval.low,
                                100 * interval.high))
            .Share("predicted", measured.predicted / probed));
  }
}

void PrintMeasure(const TableFile& file, FilterReader* filter,
                  const MeasureArgs& args, const Output& output) {
  const KeyFormat format =
      Require(FormatOf(file, args.key_layout, /*hex=*/false));
  std::vector<Measured> results;
  for (const AbsentKeys& keys :
       AbsentKeyMaker(file, format, *filter, args.count, args.seed).Make()) {
    const Measured measured = Measure(file, keys, filter);
    if (measured.probed > 0) results.push_back(measured);
  }
  if (results.empty()) {
    Require(Error{fmt::format(
        "{}: nothing to look up: no keys of at most {} bytes, none whose "
        "absence such a filter could tell, or each that was made is in the "
        "file: a larger --count makes more",
        file.path(), AbsentKeyMaker::kMaxKeyBytes)});
  }
  PrintMeasured(file, args.seed, results, output);
}

}  // namespace

Action AddMeasure(CLI::App* command) {
  const auto args = std::make_shared<MeasureArgs>();
  args->AddTo(command);
  return [args](const Streams& streams) {
    const Output output{streams.out, streams.err, args->json};
    // A database may have families without a filter.
    bool any_filter = false;
    const ExitCode worst =
        args->ForEachFile(streams, [&](const TableFile& file) {
          std::unique_ptr<FilterReader> filter;
          Require(file.NewFilterReader(&filter));
          if (filter->can_probe()) {
            any_filter = true;
            PrintMeasure(file, filter.get(), *args, output);
          } else {
            Complain(streams.err,
                     file.path() + ": no filter that can be probed");
          }
          return ExitCode::kOk;
        });
    return worst == ExitCode::kOk && !any_filter ? ExitCode::kFailed : worst;
  };
}

}  // namespace rowbloom::sst_inspect
