#include "bench/hfile_bench.h"

#include <lz4.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <limits>
#include <memory>
#include <unordered_set>
#include <utility>

#include "bench/random.h"
#include "rocksdb/env.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/options.h"
#include "rocksdb/sst_file_reader.h"
#include "rocksdb/sst_file_writer.h"
#include "rocksdb/table.h"
#include "rowbloom/filter_policy.h"
#include "rowbloom/hfile.h"
#include "rowbloom/hfile_transfer.h"
#include "rowbloom/store.h"
#include "storage/filter_policy/rocksdb_filter_interface.h"

namespace rowbloom::bench {
namespace {

using rocksdb::Slice;
using rocksdb::SliceParts;
using rocksdb::Status;

constexpr size_t kBlockBytes = size_t{64} << 10;
constexpr char kFamily[] = "f";
constexpr int64_t kTimestampMs = 1'700'000'000'000;
constexpr double kBloomBitsPerRow = 10;
constexpr float kBloomErrorRate = 0.01F;

// The limits of claims, of the first contender's time.
constexpr double kWrite = 1 / 0.8;
constexpr double kScan = 1;
constexpr double kEncodedScan = 1.6;
constexpr double kEncodedSeek = 2;
constexpr double kImport = 1 / 0.8;

// Contenders in their order: the first has plain blocks, the second FAST_DIFF,
// which most tables have.
constexpr std::array<HFileEncoding, 5> kEncodings = {
    HFileEncoding::kNone, HFileEncoding::kFastDiff, HFileEncoding::kDiff,
    HFileEncoding::kPrefix, HFileEncoding::kRowIndexV1};

// One thread's work, compressed and not, without any file around it.
class RawBlocks {
 public:
  Status Make(const Cells& cells) {
    std::string block;
    for (const Cell& cell : cells.all()) {
      block.append(cell.key).append(cell.value);
      if (block.size() >= kBlockBytes) Add(&block);
    }
    if (!block.empty()) Add(&block);
    buffer_.resize(LZ4_compressBound(static_cast<int>(longest_)));
    for (const std::string& plain : plain_) {
      std::string packed(buffer_.size(), '\0');
      const int size = LZ4_compress_default(plain.data(), packed.data(),
                                            static_cast<int>(plain.size()),
                                            static_cast<int>(packed.size()));
      if (size <= 0) return Status::Corruption("LZ4 does not compress");
      packed.resize(static_cast<size_t>(size));
      packed_.push_back(std::move(packed));
    }
    return Status::OK();
  }

  Status Copy() {
    for (const std::string& plain : plain_) {
      std::memcpy(buffer_.data(), plain.data(), plain.size());
      // This keeps the compiler from leaving out a copy.
      asm volatile("" : : "r"(buffer_.data()) : "memory");
    }
    return Status::OK();
  }
  Status Compress() {
    for (const std::string& plain : plain_) {
      if (LZ4_compress_default(plain.data(), buffer_.data(),
                               static_cast<int>(plain.size()),
                               static_cast<int>(buffer_.size())) <= 0) {
        return Status::Corruption("LZ4 does not compress");
      }
    }
    return Status::OK();
  }
  Status Decompress() {
    for (const std::string& packed : packed_) {
      if (LZ4_decompress_safe(packed.data(), buffer_.data(),
                              static_cast<int>(packed.size()),
                              static_cast<int>(buffer_.size())) <= 0) {
        return Status::Corruption("LZ4 does not decompress");
      }
    }
    return Status::OK();
  }

 private:
  void Add(std::string* block) {
    longest_ = std::max(longest_, block->size());
    plain_.push_back(std::exchange(*block, {}));
  }

  std::vector<std::string> plain_;
  std::vector<std::string> packed_;
  size_t longest_ = 0;
  std::string buffer_;
};

class HFileBench {
 public:
  HFileBench(const Cells& cells, const HFileBenchOptions& options, Bench* bench)
      : cells_(cells),
        options_(options),
        bench_(bench),
        where_(std::to_string(cells.rows()) + " rows, " +
               std::to_string(cells.all().size()) + " cells, " +
               rowbloom::ToString(options.codec)),
        hfile_path_(Join("cells.hfile")),
        sst_path_(Join("cells.sst")),
        hfile_cell_bytes_(cells.bytes()) {
    for (size_t row = 0; row < cells.rows(); ++row) {
      const Cell& first = cells.all()[cells.RowBegin(row)];
      rows_.push_back(cells.layout().DecodeRow(first.Row()).value_or(""));
      // Keys of cells are longer: they end the row, and escape in it.
      hfile_cell_bytes_ -= (first.row_bytes - rows_.back().size()) *
                           (cells.RowEnd(row) - cells.RowBegin(row));
    }
  }

  Status Run(HFileBenchSizes* sizes) {
    Status s = raw_.Make(cells_);
    // The files that are read.
    if (s.ok()) s = WriteSst();
    if (s.ok()) s = WriteHFile(hfile_path_, HFileEncoding::kNone);
    if (!s.ok()) return s;
    sizes->hfile_bytes = std::filesystem::file_size(hfile_path_);
    sizes->sst_bytes = std::filesystem::file_size(sst_path_);
    s = MeasureWrites();
    if (s.ok()) s = MeasureScans();
    if (s.ok()) s = MeasureEncodings();
    if (s.ok()) s = MeasureImports();
    if (s.ok()) s = MeasureBloom();
    return s;
  }

 private:
  std::string Join(const char* name) const {
    return (std::filesystem::path(options_.dir) / name).string();
  }

  bool IsLz4() const { return options_.codec == HFileCompression::kLz4; }

  Status Compare(const std::string& what, const std::string& unit,
                 std::vector<Claim> claims,
                 const std::vector<Contender>& contenders,
                 uint64_t operations = 1, uint64_t turn = 1) {
    return bench_->Compare({what, where_, unit, std::move(claims)}, contenders,
                           {.operations = operations, .turn = turn});
  }

  // A claim for files with LZ4 alone.
  std::vector<Claim> IfLz4(double at_most, Estimate Measurement::*of =
                                               &Measurement::cpu_ratio) const {
    return AtMost(IsLz4() ? std::optional(at_most) : std::nullopt, of);
  }

  // A turn handles all cells once.
  template <typename Do>
  Contender WholeFile(const std::string& name, Do once) const {
    return {name, [this, once](uint64_t, uint64_t, uint64_t* work) -> Status {
              *work = cells_.all().size();
              return once();
            }};
  }

  rocksdb::Options SstOptions() const {
    rocksdb::BlockBasedTableOptions table;
    table.block_size = kBlockBytes;
    table.format_version = 5;
    table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(kBloomBitsPerRow));
    table.whole_key_filtering = false;  // rows alone
    table.no_block_cache = true;
    rocksdb::Options options;
    options.compression =
        IsLz4() ? rocksdb::kLZ4Compression : rocksdb::kNoCompression;
    options.prefix_extractor = NewRowPrefixExtractor(cells_.layout());
    options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
    return options;
  }

  Status WriteSst() const {
    rocksdb::SstFileWriter writer(rocksdb::EnvOptions(), SstOptions());
    Status s = writer.Open(sst_path_);
    std::string value(sizeof(kTimestampMs), '\0');
    std::memcpy(value.data(), &kTimestampMs, sizeof(kTimestampMs));
    for (const Cell& cell : cells_.all()) {
      if (!s.ok()) return s;
      value.resize(sizeof(kTimestampMs));
      value += cell.value;
      s = writer.Put(cell.key, value);
    }
    return s.ok() ? writer.Finish() : s;
  }

  Status WriteHFile(const std::string& path, HFileEncoding encoding) const {
    HFileWriterOptions options;
    options.encoding = encoding;
    options.compression = options_.codec;
    options.block_bytes = kBlockBytes;
    options.bloom_type = BloomType::kRow;
    options.bloom_error_rate = kBloomErrorRate;
    options.create_time_ms = kTimestampMs;
    std::unique_ptr<HFileWriter> writer;
    Status s = HFileWriter::Open(options, path, &writer);
    for (size_t row = 0; s.ok() && row < cells_.rows(); ++row) {
      for (size_t i = cells_.RowBegin(row); s.ok() && i < cells_.RowEnd(row);
           ++i) {
        const Cell& cell = cells_.all()[i];
        s = writer->Append({.row = rows_[row],
                            .family = kFamily,
                            .qualifier = cell.Qualifier(),
                            .timestamp_ms = kTimestampMs,
                            .value = cell.value});
      }
    }
    return s.ok() ? writer->Finish() : s;
  }

  Status MeasureWrites() {
    const auto copy = WholeFile("memcpy", [this] { return raw_.Copy(); });
    std::vector<Contender> contenders = {
        WholeFile("SstFileWriter", [this] { return WriteSst(); }),
        WholeFile(
            "HFileWriter",
            [this] { return WriteHFile(hfile_path_, HFileEncoding::kNone); }),
        copy};
    if (IsLz4()) {
      contenders.push_back(
          WholeFile("LZ4 alone", [this] { return raw_.Compress(); }));
    }
    // Each waits for the disk.
    return Compare("write", "cell", IfLz4(kWrite, &Measurement::wall_ratio),
                   contenders);
  }

  Status WalkSst(rocksdb::SstFileReader* file) const {
    rocksdb::ReadOptions read;
    read.fill_cache = false;
    const std::unique_ptr<rocksdb::Iterator> it(file->NewIterator(read));
    size_t cells = 0;
    uint64_t bytes = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next(), ++cells) {
      bytes += it->key().size() + it->value().size();
    }
    if (!it->status().ok()) return it->status();
    const uint64_t expected =
        cells_.bytes() + sizeof(kTimestampMs) * cells_.all().size();
    return cells == cells_.all().size() && bytes == expected
               ? Status::OK()
               : Status::Corruption(sst_path_ + " gives other cells");
  }

  Status WalkHFile(const HFileReader& file) const {
    const std::unique_ptr<HFileIterator> it =
        file.NewIterator({.fill_cache = false});
    size_t cells = 0;
    uint64_t bytes = 0;
    for (it->SeekToFirst(); it->Valid(); it->Next(), ++cells) {
      const HFileCellView& cell = it->cell();
      bytes += cell.row.size() + cell.qualifier.size() + cell.value.size();
    }
    if (!it->status().ok()) return it->status();
    return cells == cells_.all().size() && bytes == hfile_cell_bytes_
               ? Status::OK()
               : Status::Corruption(file.path() + " gives other cells");
  }

  Status MeasureScans() {
    rocksdb::SstFileReader sst(SstOptions());
    Status s = sst.Open(sst_path_);
    std::unique_ptr<HFileReader> hfile;
    if (s.ok()) s = HFileReader::Open({}, hfile_path_, &hfile);
    if (!s.ok()) return s;
    std::vector<Contender> contenders = {
        WholeFile("SstFileReader", [&] { return WalkSst(&sst); }),
        WholeFile("HFileReader", [&] { return WalkHFile(*hfile); }),
        WholeFile("memcpy", [this] { return raw_.Copy(); })};
    if (IsLz4()) {
      contenders.push_back(
          WholeFile("LZ4 alone", [this] { return raw_.Decompress(); }));
    }
    return Compare("scan", "cell", IfLz4(kScan), contenders);
  }

  // Each seek is to a cell that is there, in a block of the cache.
  Contender Seeks(const std::string& name, const HFileReader& file,
                  const std::vector<HFileKey>& keys) const {
    std::shared_ptr<HFileIterator> at = file.NewIterator({});
    return Repeat(name, [&file, &keys, at](uint64_t i) -> Status {
      at->Seek(keys[i]);
      if (!at->status().ok()) return at->status();
      if (!at->Valid() || at->cell().row != keys[i].row ||
          at->cell().qualifier != keys[i].qualifier) {
        return Status::Corruption(file.path() + " lacks a cell");
      }
      return Status::OK();
    });
  }

  // Writes the same cells in every encoding of data blocks, and reads them.
  Status MeasureEncodings() {
    std::vector<std::unique_ptr<HFileReader>> files;
    HFileReaderOptions options;
    options.block_cache_bytes = size_t{1} << 32;  // all blocks
    std::vector<HFileKey> keys;
    Random random(options_.seed + 2);
    for (uint64_t i = 0; i < options_.questions; ++i) {
      const size_t row = random.Below(rows_.size());
      const size_t cell =
          cells_.RowBegin(row) +
          random.Below(cells_.RowEnd(row) - cells_.RowBegin(row));
      keys.push_back({.row = rows_[row],
                      .family = kFamily,
                      .qualifier = cells_.all()[cell].Qualifier()});
    }
    std::vector<Contender> scans;
    std::vector<Contender> seeks;
    for (const HFileEncoding encoding : kEncodings) {
      const std::string name(rowbloom::ToString(encoding));
      const std::string path = Join((name + ".hfile").c_str());
      Status s = WriteHFile(path, encoding);
      files.emplace_back();
      if (s.ok()) s = HFileReader::Open(options, path, &files.back());
      if (!s.ok()) return s;
      const HFileReader& file = *files.back();
      scans.push_back(
          WholeFile(name, [this, &file] { return WalkHFile(file); }));
      seeks.push_back(Seeks(name, file, keys));
    }
    Status s = Compare("scan by encoding", "cell", AtMost(kEncodedScan), scans);
    return s.ok() ? Compare("seek by encoding", "seek", AtMost(kEncodedSeek),
                            seeks, keys.size(), 512)
                  : s;
  }

  Status LoadFromMemory(Store* store) const {
    std::unique_ptr<BulkLoad> load;
    Status s = store->NewBulkLoad({}, &load);
    for (size_t row = 0; s.ok() && row < cells_.rows(); ++row) {
      for (size_t i = cells_.RowBegin(row); s.ok() && i < cells_.RowEnd(row);
           ++i) {
        const Cell& cell = cells_.all()[i];
        s = load->Add(rows_[row], kFamily, cell.Qualifier(), cell.value,
                      kTimestampMs);
      }
    }
    return s.ok() ? load->Finish() : s;
  }

  Status Import(const std::string& path, Store* store) const {
    HFileImportReport report;
    Status s = ImportHFiles({}, {path}, store, &report);
    return s.ok() && report.puts != cells_.all().size()
               ? Status::Corruption(path + " was not imported whole")
               : s;
  }

  // Each turn fills a family that is new, and dropped afterwards.
  template <typename Fill>
  Contender FillsAFamily(const std::string& name, Store* store,
                         Fill fill) const {
    return WholeFile(name, [this, store, fill]() -> Status {
      FamilyOptions family;
      family.timestamps = Timestamps::kClient;
      family.compression = IsLz4() ? Compression::kLz4 : Compression::kNone;
      Status s = store->CreateFamily(kFamily, family);
      if (s.ok()) s = fill();
      return s.ok() ? store->DropFamily(kFamily) : s;
    });
  }

  Status MeasureImports() {
    const std::string encoded_path = Join("encoded.hfile");
    Status s = WriteHFile(encoded_path, HFileEncoding::kFastDiff);
    std::unique_ptr<Store> store;
    if (s.ok()) {
      s = Store::Open({}, Join(IsLz4() ? "lz4.db" : "none.db"), {}, &store);
    }
    if (!s.ok()) return s;
    Store* const db = store.get();
    const std::vector<Contender> contenders = {
        FillsAFamily("BulkLoad", db, [=, this] { return LoadFromMemory(db); }),
        FillsAFamily("import", db,
                     [=, this] { return Import(hfile_path_, db); }),
        FillsAFamily("import of FAST_DIFF", db,
                     [=, this] { return Import(encoded_path, db); })};
    std::vector<Claim> claims = IfLz4(kImport, &Measurement::wall_ratio);
    if (IsLz4()) claims.push_back({kImport, &Measurement::wall_ratio, 2});
    return Compare("import", "cell", claims, contenders);
  }

  // RocksDB's filter of all rows.
  std::unique_ptr<rocksdb::FilterBitsReader> BuildFilter(
      const rocksdb::FilterPolicy& policy, std::string* filter) const {
    const rocksdb::BlockBasedTableOptions table;
    rocksdb::FilterBuildingContext context(table);
    const std::unique_ptr<rocksdb::FilterBitsBuilder> builder(
        policy.GetBuilderWithContext(context));
    for (const std::string& row : rows_) builder->AddKey(row);
    std::unique_ptr<const char[]> buffer;
    *filter = builder->Finish(&buffer).ToString();
    return std::unique_ptr<rocksdb::FilterBitsReader>(
        policy.GetFilterBitsReader(*filter));
  }

  Status MeasureBloom() {
    const std::unique_ptr<const rocksdb::FilterPolicy> policy(
        rocksdb::NewBloomFilterPolicy(kBloomBitsPerRow));
    std::string filter;
    const auto reader = BuildFilter(*policy, &filter);
    std::unique_ptr<HFileReader> hfile;
    Status s = HFileReader::Open({}, hfile_path_, &hfile);
    if (!s.ok()) return s;
    std::vector<std::string> present;
    std::vector<std::string> absent;
    Draw draw(cells_, options_.seed);
    Random random(options_.seed + 1);
    std::unordered_set<std::string> used;
    for (uint64_t i = 0; i < options_.questions; ++i) {
      present.push_back(rows_[random.Below(rows_.size())]);
      absent.push_back(
          cells_.layout().DecodeRow(draw.AbsentRow(&used)).value_or(""));
    }
    s = MeasureBloom("Bloom, present row", present, true, reader.get(), *hfile);
    return s.ok() ? MeasureBloom("Bloom, absent row", absent, false,
                                 reader.get(), *hfile)
                  : s;
  }

  Status MeasureBloom(const char* what, const std::vector<std::string>& rows,
                      bool present, rocksdb::FilterBitsReader* reader,
                      const HFileReader& hfile) {
    const auto ask = [&rows, present](const char* name, auto may_contain) {
      return Contender{
          name,
          [&rows, present, name, may_contain](uint64_t begin, uint64_t end,
                                              uint64_t* work) -> Status {
            uint64_t may = 0;
            for (uint64_t i = begin; i < end; ++i) {
              may += may_contain(rows[i]) ? 1 : 0;
            }
            *work = end - begin;
            // One in a hundred absent rows passes.
            if (present ? may == *work : 10 * may < *work) return Status::OK();
            return Status::Corruption(std::string(name) + ": " +
                                      std::to_string(may) + " of " +
                                      std::to_string(*work) + " rows pass");
          }};
    };
    return Compare(what, "question", {},
                   {ask("RocksDB's Bloom",
                        [reader](const std::string& row) {
                          return reader->MayMatch(row);
                        }),
                    ask("HFile's chunks",
                        [&hfile](const std::string& row) {
                          return hfile.MayContainRow(row);
                        })},
                   rows.size(), std::min<uint64_t>(rows.size(), 8192));
  }

  const Cells& cells_;
  const HFileBenchOptions& options_;
  Bench* const bench_;
  const std::string where_;
  const std::string hfile_path_;
  const std::string sst_path_;
  uint64_t hfile_cell_bytes_;      // of rows, qualifiers and values
  std::vector<std::string> rows_;  // names of all rows
  RawBlocks raw_;
};

}  // namespace

Status BenchHFile(const Cells& cells, const HFileBenchOptions& options,
                  Bench* bench, HFileBenchSizes* sizes) {
  if (cells.all().empty()) return Status::InvalidArgument("no cells");
  return HFileBench(cells, options, bench).Run(sizes);
}

}  // namespace rowbloom::bench
