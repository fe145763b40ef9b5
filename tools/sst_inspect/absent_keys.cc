#include "tools/sst_inspect/absent_keys.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <random>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "tools/sst_inspect/output.h"

namespace rowbloom::sst_inspect {
namespace {

using Keys = std::unordered_set<std::string>;

// Enough that mixtures of two are far more than are wanted.
constexpr size_t kSampleKeys = 4096;

// A fixed algorithm, unlike the standard library's distributions.
class Dice {
 public:
  explicit Dice(uint64_t seed) : engine_(seed) {}
  // REQUIRES bound > 0.
  uint64_t Below(uint64_t bound) { return engine_() % bound; }
  char Byte() { return static_cast<char>(engine_()); }

 private:
  std::mt19937_64 engine_;
};

struct Sample {
  std::vector<std::string> keys;
  std::vector<std::string> rows;  // the application's, where a layout is known
  std::vector<std::string> qualifiers;
};

// Draws keys with equal chances (Vitter's algorithm R).
Sample Draw(const TableFile& file, const KeyFormat& format, Dice* dice) {
  Sample sample;
  const std::unique_ptr<CellReader> cells = file.NewCellReader();
  uint64_t seen = 0;
  std::string last;
  while (cells->Next()) {
    const std::string_view key =
        format.WithoutTimestamp(cells->cell().user_key);
    if (seen > 0 && key == last) continue;
    last.assign(key);
    ++seen;
    if (sample.keys.size() < kSampleKeys) {
      sample.keys.push_back(last);
    } else if (const uint64_t at = dice->Below(seen); at < kSampleKeys) {
      sample.keys[at] = last;
    }
  }
  Require(cells->status());
  for (const std::string& key : sample.keys) {
    const auto split = format.Split(key);
    const auto row = split ? format.DecodeRow(split->row) : std::nullopt;
    if (!row) continue;
    sample.rows.push_back(*row);
    sample.qualifiers.emplace_back(split->qualifier);
  }
  return sample;
}

// The start of one and the end of another, and perhaps a byte of a third; in
// the end, when all such are there, bytes at random.
std::string Mix(const std::vector<std::string>& from, int attempt, Dice* dice) {
  const std::string& a = from[dice->Below(from.size())];
  const std::string& b = from[dice->Below(from.size())];
  const size_t cut = dice->Below(std::min(a.size(), b.size()) + 1);
  std::string mixed = a.substr(0, cut) + b.substr(cut);
  if (mixed.empty()) return std::string(1, dice->Byte());
  constexpr int kMixtures = 8;
  for (int i = 1; i < attempt; i += 2) {
    const std::string& c = from[dice->Below(from.size())];
    const size_t at = dice->Below(mixed.size());
    mixed[at] = attempt < kMixtures && !c.empty() ? c[dice->Below(c.size())]
                                                  : dice->Byte();
  }
  return mixed;
}

class AbsentKeyMaker {
 public:
  AbsentKeyMaker(const KeyFormat& format, const Sample& sample, uint64_t count,
                 Dice* dice)
      : format_(format), sample_(sample), count_(count), dice_(*dice) {}

  Keys Rows() {
    return Make([this](int attempt) -> std::optional<std::string> {
      auto row = format_.EncodeRow(Mix(sample_.rows, attempt, &dice_));
      if (!row) return std::nullopt;
      return *std::move(row);
    });
  }

  Keys Columns() {
    return Make([this](int attempt) -> std::optional<std::string> {
      const auto row =
          format_.EncodeRow(sample_.rows[dice_.Below(sample_.rows.size())]);
      if (!row) return std::nullopt;
      const std::string qualifier =
          Mix(sample_.qualifiers, attempt + 1, &dice_);
      // A row with nothing behind it is no cell.
      if (qualifier.empty()) return std::nullopt;
      return format_.JoinKey(*row, qualifier);
    });
  }

  Keys WholeKeys() {
    return Make([this](int attempt) -> std::optional<std::string> {
      return Mix(sample_.keys, attempt, &dice_);
    });
  }

 private:
  template <typename MakeOne>
  Keys Make(const MakeOne& make_one) {
    constexpr int kAttempts = 16;
    Keys keys;
    for (uint64_t i = 0; i < count_; ++i) {
      for (int attempt = 0; attempt < kAttempts; ++attempt) {
        const auto key = make_one(attempt);
        if (key && keys.insert(*key).second) break;
      }
    }
    return keys;
  }

  const KeyFormat& format_;
  const Sample& sample_;
  const uint64_t count_;
  Dice& dice_;
};

// Takes out what the file has, and what its filter lets pass rightly.
void RemoveStored(const TableFile& file, const KeyFormat& format,
                  const FilterReader& filter, Keys* rows, Keys* keys) {
  const auto keys_of = [&](std::string_view key, bool is_row) {
    return filter.KeysOf({.key = key, .is_row = is_row});
  };
  Keys missing;  // keys of the filter that are looked up
  for (const bool is_row : {false, true}) {
    for (const std::string& key : is_row ? *rows : *keys) {
      for (std::string& looked_up : keys_of(key, is_row)) {
        missing.insert(std::move(looked_up));
      }
    }
  }
  const std::unique_ptr<CellReader> cells = file.NewCellReader();
  std::string wanted;
  while (cells->Next()) {
    const std::string_view key =
        format.WithoutTimestamp(cells->cell().user_key);
    if (!keys->empty()) {
      wanted.assign(key);
      keys->erase(wanted);
    }
    if (!missing.empty()) missing.erase(keys_of(key, false).front());
    if (rows->empty()) continue;
    if (const auto split = format.Split(key)) {
      wanted.assign(split->row);
      rows->erase(wanted);
    }
  }
  Require(cells->status());
  std::erase_if(*keys, [&](const std::string& key) {
    return std::ranges::any_of(keys_of(key, false),
                               [&](const std::string& looked_up) {
                                 return !missing.contains(looked_up);
                               });
  });
  // Only one of the rows that share a prefix is looked up.
  std::erase_if(*rows, [&](const std::string& row) {
    return std::ranges::any_of(keys_of(row, true),
                               [&](const std::string& looked_up) {
                                 return missing.erase(looked_up) == 0;
                               });
  });
}

}  // namespace

std::vector<AbsentKeys> MakeAbsentKeys(const TableFile& file,
                                       const KeyFormat& format,
                                       const FilterReader& filter,
                                       uint64_t count, uint64_t seed) {
  Dice dice(seed);
  const Sample sample = Draw(file, format, &dice);
  if (sample.keys.empty()) return {};
  AbsentKeyMaker maker(format, sample, count, &dice);
  const bool has_rows = !sample.rows.empty();
  Keys rows = has_rows ? maker.Rows() : Keys();
  Keys keys = has_rows ? maker.Columns() : maker.WholeKeys();
  RemoveStored(file, format, filter, &rows, &keys);

  const sst::KeyOrder order = file.key_order() == sst::KeyOrder::kUnknown
                                  ? sst::KeyOrder::kBytewise
                                  : file.key_order();
  std::vector<AbsentKeys> absent;
  const auto add = [&](AbsentKind kind, std::vector<std::string> list) {
    std::sort(list.begin(), list.end(),
              [order](const std::string& a, const std::string& b) {
                return CompareUserKeys(order, 0, a, b) < 0;
              });
    absent.push_back({kind, std::move(list)});
  };
  if (!has_rows) {
    add(AbsentKind::kKey, {keys.begin(), keys.end()});
    return absent;
  }
  add(AbsentKind::kRow, {rows.begin(), rows.end()});
  std::vector<std::string> cells;
  for (const std::string& row : absent.front().keys) {
    cells.push_back(format.JoinKey(
        row, sample.qualifiers[dice.Below(sample.qualifiers.size())]));
  }
  add(AbsentKind::kCell, std::move(cells));
  add(AbsentKind::kColumn, {keys.begin(), keys.end()});
  return absent;
}

}  // namespace rowbloom::sst_inspect
