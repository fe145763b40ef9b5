#include "bench/store_bench_mixes.h"

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <string_view>
#include <utility>

#include "bench/engines.h"

namespace rowbloom::bench {
namespace {

using rocksdb::Status;

constexpr double kTheta = 0.99;  // YCSB's
constexpr size_t kColumns = 10;
constexpr size_t kValueBytes = 100;
constexpr size_t kQualifierBytes = 6;
constexpr uint64_t kRowBytes =
    kColumns * (kEngineRowBytes + kQualifierBytes + kValueBytes);
constexpr uint64_t kLongestScan = 100;  // rows
constexpr uint64_t kRowsOfALoad = 100;  // in one write
constexpr uint64_t kRowsChecked = 500;
constexpr uint64_t kAbsent = uint64_t{1} << 48;  // row numbers from here on
constexpr int kTenth = 10;

enum class MixKind : uint8_t {
  kRead,
  kReadCell,
  kUpdate,
  kInsert,
  kScan,
  kModify
};

struct MixOperation {
  MixKind kind{};
  uint64_t row = 0;     // its number
  uint64_t detail = 0;  // the number of the column, or of the rows of a scan
};

// The operations of a mix, in percent; the rest are of the kind `rest`.
struct Mix {
  const char* name;
  MixKind rest;
  MixKind other;
  uint64_t other_percent;
  uint64_t absent_percent = 0;  // operations that read absent rows
  bool latest = false;          // rows are drawn among those inserted last
};

// YCSB's mixes come first, in the order that its authors recommend.
constexpr std::array kMixes = {
    Mix{"mix A, half updates", MixKind::kRead, MixKind::kUpdate, 50},
    Mix{"mix B, 5 % updates", MixKind::kRead, MixKind::kUpdate, 5},
    Mix{"mix C, reads of rows", MixKind::kRead, MixKind::kRead, 0},
    Mix{"mix F, half read and modify", MixKind::kRead, MixKind::kModify, 50},
    Mix{"mix D, read latest, 5 % inserts", MixKind::kRead, MixKind::kInsert, 5,
        0, true},
    Mix{"mix E, scans, 5 % inserts", MixKind::kScan, MixKind::kInsert, 5},
    Mix{"mix of rows, half absent", MixKind::kRead, MixKind::kRead, 0, 50},
    Mix{"mix of cells, half of absent rows", MixKind::kReadCell, MixKind::kRead,
        0, 50},
};

std::string RowName(uint64_t number) {
  char name[kEngineRowBytes + 1];
  // A bijection: no two rows get the same name.
  std::snprintf(name, sizeof(name), "user%016" PRIx64, Random::Mix(number + 1));
  return name;
}

std::string Qualifier(uint64_t column) {
  return "field" + std::to_string(column);
}

// The value of a cell; versions, and cells, differ in the first eight bytes.
std::string Value(uint64_t row, uint64_t column, uint64_t version) {
  Random random((row * kColumns + column) ^ version << 40);
  std::string value;
  while (value.size() < kValueBytes) {
    const uint64_t word = random.Next();
    value.append(reinterpret_cast<const char*>(&word),
                 std::min(sizeof(word), kValueBytes - value.size()));
  }
  return value;
}

// Draws of `loaded` rows; *rows is the number of the next that is inserted.
std::vector<MixOperation> DrawMix(const Mix& mix, uint64_t count,
                                  uint64_t loaded, Random* random,
                                  uint64_t* rows) {
  std::vector<MixOperation> operations(count);
  const Zipfian zipfian(loaded);
  for (MixOperation& operation : operations) {
    const uint64_t place = random->Below(100);
    operation.kind = place < mix.other_percent ? mix.other : mix.rest;
    const uint64_t popular = zipfian.Next(random);
    // Popular rows are any, not neighbours.
    operation.row =
        mix.latest ? *rows - 1 - popular : Random::Mix(popular) % loaded;
    operation.detail = random->Below(kColumns);
    if (operation.kind == MixKind::kScan) {
      operation.detail = 1 + random->Below(kLongestScan);
    }
    if (operation.kind == MixKind::kInsert) operation.row = (*rows)++;
    if (random->Below(100) < mix.absent_percent) {
      operation.row = kAbsent + random->Next() % kAbsent;
    }
  }
  return operations;
}

// An engine, and the buffers of what is written.
class Client {
 public:
  Client(std::string name, std::string path)
      : name_(std::move(name)), path_(std::move(path)) {
    for (size_t column = 0; column < kColumns; ++column) {
      qualifiers_.push_back(Qualifier(column));
    }
  }

  const std::string& name() const { return name_; }

  Status Load(const EngineKind& kind, uint64_t cache_bytes, uint64_t rows) {
    Status s = kind.create(path_, cache_bytes, &engine_);
    for (uint64_t row = 0; s.ok() && row < rows; row += kRowsOfALoad) {
      names_.clear();
      values_.clear();
      const uint64_t end = std::min(row + kRowsOfALoad, rows);
      for (uint64_t i = row; i < end; ++i) AddRow(i, 0);
      s = Write(0);
    }
    return s.ok() ? engine_->Flush() : s;
  }

  uint64_t FileBytes() const {
    uint64_t bytes = 0;
    for (const auto& file :
         std::filesystem::recursive_directory_iterator(path_)) {
      if (file.is_regular_file()) bytes += file.file_size();
    }
    return bytes;
  }

  // Checks all bytes of some rows, cells and scans, and that what is absent is
  // not there. REQUIRES rows as they were loaded.
  Status Check(uint64_t rows, uint64_t seed) {
    Random random(seed);
    std::vector<std::pair<std::string, uint64_t>> sorted;
    for (uint64_t row = 0; row < rows; ++row) {
      sorted.emplace_back(RowName(row), row);
    }
    std::sort(sorted.begin(), sorted.end());
    for (uint64_t i = 0; i < kRowsChecked; ++i) {
      const uint64_t place = random.Below(rows);
      const uint64_t count = 1 + random.Below(kLongestScan);
      const uint64_t column = random.Below(kColumns);
      const std::string absent = RowName(kAbsent + i);
      Answers row = Empty(), cell = Empty(), scan = Empty(), none = Empty();
      Status s = engine_->GetRow(sorted[place].first, &row);
      if (s.ok()) {
        s = engine_->Get(sorted[place].first, qualifiers_[column], &cell);
      }
      if (s.ok()) s = engine_->Scan(sorted[place].first, count, &scan);
      if (s.ok()) s = engine_->GetRow(absent, &none);
      if (s.ok()) s = engine_->Get(absent, qualifiers_[column], &none);
      if (!s.ok()) return s;
      Answers expected_row = Empty(), expected_cell = Empty(),
              expected_scan = Empty();
      Expect(sorted[place], 0, kColumns, &expected_row);
      Expect(sorted[place], column, column + 1, &expected_cell);
      for (uint64_t j = place; j < std::min(place + count, rows); ++j) {
        Expect(sorted[j], 0, kColumns, &expected_scan);
      }
      if (!Same(row, expected_row) || !Same(cell, expected_cell) ||
          !Same(scan, expected_scan) || none.cells != 0) {
        return Status::Corruption(name_ + " gave a wrong answer",
                                  sorted[place].first);
      }
    }
    return Status::OK();
  }

  // Work is one for each operation.
  Contender Runs(const std::vector<MixOperation>& operations) {
    return {name_,
            [this, &operations](uint64_t begin, uint64_t end, uint64_t* work) {
              answers_ = {};
              Status s;
              for (uint64_t i = begin; s.ok() && i < end; ++i) {
                s = Run(operations[i], i + 1);
              }
              *work = end - begin;
              return s;
            },
            [this] { return answers_.digest + answers_.cells; }};
  }

 private:
  static Answers Empty() { return {.of_all_bytes = true}; }
  static bool Same(const Answers& a, const Answers& b) {
    return a.cells == b.cells && a.digest == b.digest;
  }
  void Expect(const std::pair<std::string, uint64_t>& row, size_t begin,
              size_t end, Answers* answers) const {
    for (size_t column = begin; column < end; ++column) {
      answers->Add(
          {row.first, qualifiers_[column], Value(row.second, column, 0)});
    }
  }

  void AddRow(uint64_t row, uint64_t version) {
    names_.push_back(RowName(row));
    for (size_t column = 0; column < kColumns; ++column) {
      values_.push_back(Value(row, column, version));
    }
  }

  // Writes the rows that were added; of a value alone, the cell of `column`.
  Status Write(size_t column) {
    cells_.clear();
    const size_t columns = values_.size() / names_.size();
    for (size_t i = 0; i < values_.size(); ++i) {
      cells_.push_back(
          {names_[i / columns], qualifiers_[column + i % columns], values_[i]});
    }
    return engine_->Write(cells_);
  }

  Status Run(const MixOperation& operation, uint64_t version) {
    names_.assign(1, RowName(operation.row));
    values_.clear();
    Status s;
    switch (operation.kind) {
      case MixKind::kRead:
        return engine_->GetRow(names_[0], &answers_);
      case MixKind::kReadCell:
        return engine_->Get(names_[0], qualifiers_[operation.detail],
                            &answers_);
      case MixKind::kScan:
        return engine_->Scan(names_[0], operation.detail, &answers_);
      case MixKind::kInsert:
        names_.clear();
        AddRow(operation.row, version);
        return Write(0);
      case MixKind::kModify:
        s = engine_->GetRow(names_[0], &answers_);
        break;
      case MixKind::kUpdate:
        break;
    }
    values_.push_back(Value(operation.row, operation.detail, version));
    return s.ok() ? Write(operation.detail) : s;
  }

  const std::string name_;
  const std::string path_;
  std::unique_ptr<Engine> engine_;
  std::vector<std::string> qualifiers_;
  std::vector<std::string> names_;
  std::vector<std::string> values_;
  std::vector<CellView> cells_;
  Answers answers_;
};

}  // namespace

Zipfian::Zipfian(uint64_t count) : count_(count), zeta_(0) {
  for (uint64_t i = 1; i <= count; ++i) {
    zeta_ += std::pow(static_cast<double>(i), -kTheta);
  }
  const double zeta_of_two = 1 + std::pow(2.0, -kTheta);
  eta_ = (1 - std::pow(2.0 / static_cast<double>(count), 1 - kTheta)) /
         (1 - zeta_of_two / zeta_);
}

uint64_t Zipfian::Next(Random* random) const {
  const double u = static_cast<double>(random->Next() >> 11) * 0x1p-53;
  const double scaled = u * zeta_;
  if (scaled < 1) return 0;
  if (scaled < 1 + std::pow(0.5, kTheta)) return 1;
  const double number = static_cast<double>(count_) *
                        std::pow(eta_ * u - eta_ + 1, 1 / (1 - kTheta));
  return std::min(static_cast<uint64_t>(number), count_ - 1);
}

Status MeasureMixes(const StoreBenchOptions& options, Bench* bench,
                    std::vector<EngineSize>* sizes) {
  if (std::none_of(kMixes.begin(), kMixes.end(), [bench](const Mix& mix) {
        return bench->Wants(mix.name);
      })) {
    return Status::OK();
  }
  if (options.mix_rows < 2) return Status::InvalidArgument("too few rows");
  const uint64_t cell_bytes = options.mix_rows * kRowBytes;
  for (const int share : {1, kTenth}) {
    const bool cached = share == 1;
    // Blocks take more than the bytes in them.
    const uint64_t cache_bytes = cached ? 4 * cell_bytes : cell_bytes / kTenth;
    const std::string where = cached ? "all cached" : "cache of a tenth";
    std::vector<std::unique_ptr<Client>> clients;
    const auto load = [&](const EngineKind& kind, const std::string& name) {
      bench->Step(where + ": loading " + name);
      clients.push_back(std::make_unique<Client>(
          name, options.Path("mix_" + std::to_string(share) + "_" +
                             std::to_string(clients.size()))));
      Status s = clients.back()->Load(kind, cache_bytes, options.mix_rows);
      return s.ok() ? clients.back()->Check(options.mix_rows, options.seed) : s;
    };
    Status s;
    for (const EngineKind& kind : EngineKinds()) {
      if (kind.create == nullptr) continue;
      if (s.ok()) s = load(kind, std::string(kind.name));
      if (s.ok() && cached) {
        sizes->push_back(
            {clients.back()->name(), cell_bytes, clients.back()->FileBytes()});
      }
    }
    if (s.ok()) s = load(EngineKinds()[0], kControl);
    Random random(options.seed);
    uint64_t rows = options.mix_rows;
    for (const Mix& mix : kMixes) {
      if (!s.ok()) return s;
      if (!bench->Wants(mix.name)) continue;
      const std::vector<MixOperation> operations = DrawMix(
          mix, options.mix_operations, options.mix_rows, &random, &rows);
      std::vector<Contender> contenders;
      for (const auto& client : clients) {
        contenders.push_back(client->Runs(operations));
      }
      s = bench->Compare({mix.name, where, "operation"}, contenders,
                         {.operations = operations.size(),
                          .turn = mix.rest == MixKind::kScan ? 16u : 128u,
                          .control = false});
    }
    if (!s.ok()) return s;
  }
  return Status::OK();
}

}  // namespace rowbloom::bench
