#include "tests/examples/layout_comparison.h"

#include <cstdint>
#include <cstdio>
#include <limits>
#include <memory>
#include <set>

#include "rocksdb/cache.h"
#include "rocksdb/db.h"
#include "rocksdb/perf_context.h"
#include "rocksdb/perf_level.h"
#include "rocksdb/table.h"
#include "rowbloom/open_db.h"

namespace {

using rocksdb::Status;

// The keys that reads of one kind find, the files that hold these, and the
// files that the reads consider.
struct Counts {
  uint64_t found = 0;
  uint64_t holding = 0;
  uint64_t considered = 0;
};

// A contender's bytes of filters, and wasted reads of each kind; nullopt where
// its filter is not probed.
struct Line {
  uint64_t filter_bytes = 0;
  std::vector<std::optional<uint64_t>> wasted;
};

Status Open(const Contender& contender, const std::string& path,
            std::unique_ptr<rocksdb::DB>* db) {
  rocksdb::BlockBasedTableOptions table;
  table.block_cache = rocksdb::NewLRUCache(64 << 20);
  table.optimize_filters_for_memory = false;  // the same bytes everywhere
  if (contender.filter == Contender::Filter::kStockBloom) {
    table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10));
  }
  rocksdb::Options options;
  options.create_if_missing = true;
  options.error_if_exists = true;
  options.disable_auto_compactions = true;  // the files stay as they are
  options.level0_slowdown_writes_trigger = std::numeric_limits<int>::max();
  options.level0_stop_writes_trigger = std::numeric_limits<int>::max();
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  if (contender.filter == Contender::Filter::kRowbloom) {
    const Status s = rowbloom::ConfigureRowFilters(contender.options, &options);
    if (!s.ok()) return s;
  } else if (contender.options.key_layout) {
    options.prefix_extractor =
        rowbloom::NewRowPrefixExtractor(*contender.options.key_layout);
  }
  return rocksdb::DB::Open(options, path, rowbloom::Into(db));
}

Status Write(const Files& files, rocksdb::DB* db) {
  Status s;
  for (const auto& keys : files) {
    for (const std::string& key : keys) {
      if (s.ok()) s = db->Put({}, key, "a value");
    }
    if (s.ok()) s = db->Flush({});
  }
  return s;
}

Status FilterBytes(rocksdb::DB* db, uint64_t* bytes) {
  rocksdb::TablePropertiesCollection files;
  const Status s = db->GetPropertiesOfAllTables(&files);
  for (const auto& [name, properties] : files)
    *bytes += properties->filter_size;
  return s;
}

bool IsRow(const Contender& contender, const std::string& text) {
  return contender.options.key_layout &&
         contender.options.key_layout->RowBytes(text) == text.size();
}

bool HasFilterFor(const Contender& contender, const Reads& reads) {
  return contender.filter != Contender::Filter::kNone &&
         (!reads.scan || IsRow(contender, reads.keys.front()));
}

// Reads one key, or what begins with it, and counts what it finds.
Status Read(rocksdb::DB* db, const Contender& contender, const Reads& reads,
            const std::string& key, uint64_t* found) {
  if (!reads.scan) {
    std::string value;
    const Status s = db->Get({}, key, &value);
    if (s.ok()) ++*found;
    return s.IsNotFound() ? Status::OK() : s;
  }
  rocksdb::ReadOptions options;
  options.prefix_same_as_start = IsRow(contender, key);
  options.total_order_seek = !options.prefix_same_as_start;
  const std::unique_ptr<rocksdb::Iterator> it(db->NewIterator(options));
  for (it->Seek(key); it->Valid() && it->key().starts_with(key); it->Next()) {
    ++*found;
  }
  return it->status();
}

// The keys that are found, and the number of files that hold them, from the
// files alone.
Counts Expected(const Files& files, const Reads& reads) {
  Counts counts;
  for (const auto& keys : files) {
    const std::set<std::string> sorted(keys.begin(), keys.end());
    for (const std::string& key : reads.keys) {
      const uint64_t before = counts.found;
      for (auto it = sorted.lower_bound(key);
           it != sorted.end() &&
           (reads.scan ? it->starts_with(key) : *it == key);
           ++it) {
        ++counts.found;
      }
      if (counts.found > before) ++counts.holding;
    }
  }
  return counts;
}

// Does the reads, and adds the wasted ones to `line`. The first contender with
// a filter for them sets the files that they consider.
Status Measure(rocksdb::DB* db, const Contender& contender, const Reads& reads,
               Counts* counts, Line* line) {
  rocksdb::SetPerfLevel(rocksdb::kEnableCount);
  rocksdb::PerfContext& counters = *rocksdb::get_perf_context();
  counters.Reset();
  uint64_t found = 0;
  Status s;
  for (const std::string& key : reads.keys) {
    if (s.ok()) s = Read(db, contender, reads, key, &found);
  }
  const uint64_t opened = counters.bloom_sst_hit_count;
  const uint64_t considered = opened + counters.bloom_sst_miss_count;
  rocksdb::SetPerfLevel(rocksdb::kDisable);
  if (!s.ok()) return s;
  const std::string what = contender.name + ", " + reads.name;
  if (found != counts->found) return Status::Corruption(what, "a wrong answer");
  line->wasted.emplace_back();
  if (!HasFilterFor(contender, reads)) return s;
  if (counts->considered == 0) counts->considered = considered;
  if (considered != counts->considered || opened < counts->holding) {
    return Status::Corruption(what, "a file's filter was not probed");
  }
  line->wasted.back() = opened - counts->holding;
  return s;
}

void PrintNumber(int width, uint64_t number) {
  std::printf("%*llu", width, static_cast<unsigned long long>(number));
}

void Print(const std::string& title, const std::vector<Contender>& contenders,
           const std::vector<Reads>& reads, const std::vector<Counts>& counts,
           const std::vector<Line>& lines) {
  constexpr int kWidth = 20;
  std::printf("%-28s%8s", title.c_str(), "bytes");
  for (const Reads& kind : reads) std::printf("%*s", kWidth, kind.name.c_str());
  std::printf("\n%-36s", "files considered");
  for (const Counts& of : counts) PrintNumber(kWidth, of.considered);
  std::printf("\n%-36s", "files that hold the answer");
  for (const Counts& of : counts) PrintNumber(kWidth, of.holding);
  for (size_t c = 0; c < contenders.size(); ++c) {
    std::printf("\n%-28s", contenders[c].name.c_str());
    PrintNumber(8, lines[c].filter_bytes);
    for (size_t i = 0; i < reads.size(); ++i) {
      const uint64_t all = counts[i].considered - counts[i].holding;
      PrintNumber(kWidth, lines[c].wasted[i].value_or(all));
    }
  }
  std::printf("\n");
}

}  // namespace

Status CompareLayouts(const std::string& title, const Files& files,
                      const std::vector<Contender>& contenders,
                      const std::vector<Reads>& reads) {
  std::vector<Counts> counts;
  for (const Reads& kind : reads) counts.push_back(Expected(files, kind));
  std::vector<Line> lines(contenders.size());
  for (size_t c = 0; c < contenders.size(); ++c) {
    std::unique_ptr<rocksdb::DB> db;
    Status s = Open(contenders[c], title + "_" + std::to_string(c), &db);
    if (s.ok()) s = Write(files, db.get());
    if (s.ok()) s = FilterBytes(db.get(), &lines[c].filter_bytes);
    for (size_t i = 0; s.ok() && i < reads.size(); ++i) {
      s = Measure(db.get(), contenders[c], reads[i], &counts[i], &lines[c]);
    }
    if (!s.ok()) return s;
  }
  Print(title, contenders, reads, counts, lines);
  return Status::OK();
}
