#include "tests/stress/store/world.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <utility>

#include "tests/storage/store/random_names.h"
#include "tests/stress/journal.h"

namespace rowbloom::store_stress {

using stress::AppendText;
using stress::TakeTextOrThrow;

namespace {

constexpr uint64_t kTenYearsMs = uint64_t{10} * 365 * 24 * 60 * 60 * 1000;
// Later than any clock: deletes without a timestamp leave such cells alone.
constexpr uint64_t kFirstClientMs = uint64_t{1} << 50;

// Rows are shorter where the layout leaves it open.
constexpr size_t kRowBytes = 4;

std::string NumberText(std::optional<uint64_t> number) {
  return number ? std::to_string(*number) : "";
}

std::string RandomRowEnd(const KeyLayout& layout, Random* random) {
  const uint64_t bytes =
      layout.FixedRowBytes() ? kRowBytes - 1 : 1 + random->Below(kRowBytes - 1);
  return test::RandomName(bytes, random);
}

}  // namespace

const std::vector<FamilyDescriptor>& Families() {
  static const std::vector<FamilyDescriptor> families = {
      {kLatest, {.ttl_ms = kTenYearsMs}},
      {kCounted, {.bloom_type = BloomType::kRow, .max_versions = 2}},
      {kClient,
       {.timestamps = Timestamps::kClient,
        .max_versions = 3,
        .bottom_compression = Compression::kZstd,
        .min_blob_bytes = 32}},
  };
  return families;
}

std::string OwnFamily(uint32_t share) { return "own" + std::to_string(share); }

FamilyOptions OwnFamilyOptions(uint64_t number) {
  FamilyOptions options;
  options.max_versions = number % 2 == 0 ? 1 : 2;
  number /= 2;
  options.bloom_type = static_cast<BloomType>(number % 3);
  number /= 3;
  options.filter_kind =
      number % 2 == 0 ? FilterKind::kBloom : FilterKind::kRibbon;
  number /= 2;
  options.compression =
      number % 2 == 0 ? Compression::kNone : Compression::kLz4;
  number /= 2;
  options.min_blob_bytes = number % 2 == 0 ? 0 : 16;
  return options;
}

std::string SharePrefix(uint32_t share) {
  return std::string(1, static_cast<char>(share));
}

std::string RandomRow(const KeyLayout& layout, uint32_t share, Random* random) {
  return SharePrefix(share) + RandomRowEnd(layout, random);
}

std::string AbsentRow(const KeyLayout& layout, uint32_t share, Random* random) {
  std::string row = RandomRow(layout, share, random);
  row.back() = 'z';
  return row;
}

std::string RandomQualifier(Random* random) {
  return test::RandomName(random->Below(2), random);
}

void AddTo(const Change& change, WriteBatch* batch) {
  batch->Add({change.type, change.row, change.family, change.qualifier,
              change.value, change.timestamp_ms, change.ttl_ms});
}

WriteBatch ToWriteBatch(const Changes& changes) {
  WriteBatch batch;
  for (const Change& change : changes) AddTo(change, &batch);
  return batch;
}

std::string Encode(const Changes& changes) {
  std::string bytes;
  for (const Change& change : changes) {
    bytes += static_cast<char>(change.type);
    bytes += static_cast<char>(change.family_change);
    for (const std::string& text :
         {change.row, change.family, change.qualifier, change.value,
          NumberText(change.timestamp_ms), NumberText(change.ttl_ms),
          std::to_string(change.family_options)}) {
      AppendText(text, &bytes);
    }
  }
  return bytes;
}

void Decode(std::string_view bytes, Changes* changes) {
  changes->clear();
  while (!bytes.empty()) {
    Change change;
    change.type = static_cast<ChangeType>(bytes.front());
    change.family_change = static_cast<FamilyChange>(bytes.at(1));
    bytes.remove_prefix(2);
    for (std::string* text :
         {&change.row, &change.family, &change.qualifier, &change.value}) {
      *text = TakeTextOrThrow(&bytes);
    }
    for (std::optional<uint64_t>* number :
         {&change.timestamp_ms, &change.ttl_ms}) {
      const std::string text = TakeTextOrThrow(&bytes);
      if (!text.empty()) *number = std::stoull(text);
    }
    change.family_options = std::stoull(TakeTextOrThrow(&bytes));
    changes->push_back(std::move(change));
  }
}

std::map<std::string, FamilyOptions> World::FamilyOptionsByName() {
  std::map<std::string, FamilyOptions> families;
  for (const auto& [name, options] : Families()) families[name] = options;
  return families;
}

Changes World::WithoutRowDeletes(const Changes& changes) const {
  const auto is_of_row = [](const Change& change) {
    return change.type == ChangeType::kDeleteRow;
  };
  if (std::none_of(changes.begin(), changes.end(), is_of_row)) return changes;
  Changes result;
  World world = *this;
  for (const Change& change : changes) {
    const Changes same = is_of_row(change) ? world.DeletesOfFamilies(change.row)
                                           : Changes{change};
    world.Apply(same);
    result.insert(result.end(), same.begin(), same.end());
  }
  return result;
}

Changes World::DeletesOfFamilies(const std::string& row) const {
  std::vector<std::string> families = {kLatest, kCounted};
  if (own_family_) {
    families.push_back(OwnFamily(static_cast<unsigned char>(row.front())));
  }
  Changes deletes;
  for (const std::string& family : families) {
    deletes.push_back({ChangeType::kDeleteFamily, row, family, "", ""});
  }
  const std::vector<Cell> cells =
      model_.GetRow(row, {.columns = {{kClient}}}, /*now_ms=*/0);
  if (cells.empty()) return deletes;
  const auto newest = std::max_element(cells.begin(), cells.end(),
                                       [](const Cell& a, const Cell& b) {
                                         return a.timestamp_ms < b.timestamp_ms;
                                       });
  deletes.push_back(
      {ChangeType::kDeleteFamily, row, kClient, "", "", newest->timestamp_ms});
  return deletes;
}

void World::Apply(const Changes& changes) {
  for (const Change& change : WithoutRowDeletes(changes)) {
    if (change.family_change != FamilyChange::kNone) {
      ChangeFamily(change);
      continue;
    }
    const uint64_t timestamp_ms = change.timestamp_ms.value_or(++changes_);
    switch (change.type) {
      case ChangeType::kPut:
        model_.Put(change.row, change.family, change.qualifier, timestamp_ms,
                   change.value, change.ttl_ms);
        break;
      case ChangeType::kDelete:
        model_.Delete(change.row, change.family, change.qualifier,
                      timestamp_ms);
        break;
      case ChangeType::kDeleteVersion:
        model_.DeleteVersion(change.row, change.family, change.qualifier,
                             timestamp_ms);
        break;
      case ChangeType::kDeleteFamily:
        model_.DeleteFamily(change.row, change.family, timestamp_ms);
        break;
      case ChangeType::kDeleteFamilyVersion:
        model_.DeleteFamilyVersion(change.row, change.family, timestamp_ms);
        break;
      case ChangeType::kRemove:
      case ChangeType::kRemoveFamily:
        std::abort();  // no round has these
      case ChangeType::kDeleteRow:
      case ChangeType::kIncrement:
      case ChangeType::kAppend:
        break;  // known by other changes that they come to
    }
  }
}

void World::ChangeFamily(const Change& change) {
  if (change.family_change == FamilyChange::kDrop) {
    model_.DropFamily(change.family);
    own_family_.reset();
    return;
  }
  own_family_ = OwnFamilyOptions(change.family_options);
  if (change.family_change == FamilyChange::kCreate) {
    model_.CreateFamily(change.family, *own_family_);
  }
}

uint64_t World::RandomTimestamp(Random* random) const {
  return kFirstClientMs + changes_ / 4 + random->Below(40);
}

std::optional<std::string> World::Value(const OwnedAddress& at) const {
  const std::vector<Cell> cells = GetVersions(at, 1);
  if (cells.empty()) return std::nullopt;
  return cells.front().value;
}

std::vector<Row> World::Scan(const ScanOptions& options) const {
  std::vector<Row> rows = model_.Scan(options, kNow);
  for (Row& row : rows) row.cells = WithoutStoreTimes(std::move(row.cells));
  return rows;
}

std::vector<Cell> World::WithoutStoreTimes(std::vector<Cell> cells) {
  for (Cell& cell : cells) {
    if (cell.family != kClient) cell.timestamp_ms = 0;
  }
  return cells;
}

std::string EncodeCounter(uint64_t counter) {
  std::string bytes;
  for (int shift = 56; shift >= 0; shift -= 8) {
    bytes += static_cast<char>(counter >> shift);
  }
  return bytes;
}

uint64_t DecodeCounter(std::string_view bytes) {
  uint64_t counter = 0;
  for (const char byte : bytes) {
    counter = counter << 8 | static_cast<unsigned char>(byte);
  }
  return counter;
}

}  // namespace rowbloom::store_stress
