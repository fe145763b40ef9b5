// `filter` for HFiles: the compound Bloom filters, chunk by chunk.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <ostream>

#include "lib/bytes/text.h"
#include "rowbloom/printable.h"
#include "storage/hfile/bloom_chunk.h"
#include "tools/sst_inspect/hfile_key.h"
#include "tools/sst_inspect/hfile_table.h"
#include "tools/sst_inspect/key_format.h"
#include "tools/sst_inspect/output.h"

namespace rowbloom::sst_inspect {
namespace {

using hfile::BloomFilter;
using rocksdb::Status;

uint64_t CountBits(std::string_view bytes) {
  uint64_t bits = 0;
  for (const char byte : bytes) {
    bits += static_cast<uint64_t>(std::popcount(static_cast<uint8_t>(byte)));
  }
  return bits;
}

// The number of keys that set this share of the bits.
uint64_t KeysFromFill(double fill, uint64_t bits, uint32_t hash_count) {
  const double share = std::min(fill, 1 - 1 / static_cast<double>(bits));
  return static_cast<uint64_t>(std::llround(-static_cast<double>(bits) /
                                            hash_count * std::log1p(-share)));
}

// Reads the chunks of one filter.
class ChunkReader {
 public:
  // `full_bytes` is what a single chunk had before it was folded, if known.
  ChunkReader(const hfile::Reader& reader, const BloomFilter& filter,
              std::string section, std::optional<uint64_t> full_bytes)
      : reader_(reader),
        filter_(filter),
        section_(std::move(section)),
        full_bytes_(full_bytes) {}

  // The size of a chunk that is not folded; nullopt for a single chunk.
  std::optional<uint64_t> FullBytes() const {
    if (filter_.chunks.size() < 2) return std::nullopt;
    return BytesOf(0);
  }

  Status ForEach(const std::function<void(const FilterChunk&)>& use) {
    const size_t count = filter_.chunks.size();
    if (count == 0) return Status::OK();
    plan_ = hfile::PlanChunks(
        filter_.info,
        FullBytes().value_or(full_bytes_.value_or(hfile::kDefaultChunkBytes)),
        BytesOf(count - 1));
    // Chunks follow each other in the file: an index cannot name one of them
    // any number of times.
    uint64_t next_offset = 0;
    for (size_t i = 0; i < count; ++i) {
      const hfile::BlockLocation location = filter_.chunks.location(i);
      if (location.offset < next_offset) {
        return reader_.file().Located(
            "Bloom chunk", location.offset,
            Status::Corruption(
                Concat("expected at offset ", next_offset, " or behind")));
      }
      next_offset = location.offset + location.block_bytes;
      use(Read(i, location));
    }
    return Status::OK();
  }

 private:
  // 0 when it cannot be read.
  uint64_t BytesOf(size_t entry) const {
    hfile::BlockHeader header;
    const Status status =
        reader_.blocks().ReadHeader(filter_.chunks.location(entry).offset,
                                    reader_.bounds().end_offset, &header);
    return status.ok() ? header.payload_bytes : 0;
  }

  FilterChunk Read(size_t entry, const hfile::BlockLocation& location) {
    FilterChunk chunk{.number = entry + 1,
                      .offset_bytes = location.offset,
                      .first_key = filter_.chunks.key(entry)};
    SectionFacts& facts = chunk.facts;
    facts.section = section_;
    facts.kind = "bloom";
    facts.probes = static_cast<int>(filter_.info.hash_count);
    if (plan_) {
      const bool last = entry + 1 == filter_.chunks.size();
      facts.keys = last ? plan_->last_keys : plan_->full_keys;
      chunk.capacity_keys = last ? plan_->last_max_keys : plan_->full_keys;
      chunk.folds = last ? plan_->last_folds : 0;
      chunk.folds_assumed =
          chunk.folds && filter_.chunks.size() == 1 && !full_bytes_.has_value();
    }
    chunk.status = reader_.blocks().Read(
        location, hfile::BlockType::kBloomChunk, &block_, &scratch_);
    if (chunk.status.ok() && (block_.payload.empty() ||
                              block_.payload.size() > hfile::kMaxChunkBytes)) {
      chunk.status = reader_.file().Located(
          "Bloom chunk", location.offset,
          Status::Corruption(Concat(block_.payload.size(),
                                    " bytes, expected 1 to ",
                                    hfile::kMaxChunkBytes)));
    }
    if (!chunk.status.ok()) {
      facts.problem = Describe(chunk.status);
      return chunk;
    }
    facts.bits = block_.payload;
    facts.size_bytes = block_.payload.size();
    const uint64_t bits = 8 * facts.size_bytes;
    facts.fill = static_cast<double>(CountBits(block_.payload)) /
                 static_cast<double>(bits);
    facts.rate = std::pow(*facts.fill, filter_.info.hash_count);
    if (!facts.keys) {
      facts.keys = KeysFromFill(*facts.fill, bits, filter_.info.hash_count);
      facts.keys_estimated = true;
    }
    return chunk;
  }

  const hfile::Reader& reader_;
  const BloomFilter& filter_;
  const std::string section_;
  const std::optional<uint64_t> full_bytes_;
  std::optional<hfile::ChunkPlan> plan_;
  hfile::Block block_;
  Buffer scratch_;
};

// All chunks of one filter.
struct Totals {
  int probes = 0;
  uint64_t chunks = 0;
  uint64_t keys = 0;  // as the filter says
  uint64_t size_bytes = 0;
  double fill_low = 1;
  double fill_high = 0;
  // A lookup probes one chunk: the rate is the mean, weighted by keys.
  double rate_times_keys = 0;
  double weight = 0;

  void Add(const SectionFacts& facts) {
    ++chunks;
    if (!facts.fill) return;
    size_bytes += facts.size_bytes;
    fill_low = std::min(fill_low, *facts.fill);
    fill_high = std::max(fill_high, *facts.fill);
    const auto keys_here = static_cast<double>(facts.keys.value_or(0));
    rate_times_keys += facts.rate.value_or(1) * keys_here;
    weight += keys_here;
  }

  // These are of what could be read.
  bool readable() const { return weight > 0; }
  double BitsPerKey() const {
    return 8 * static_cast<double>(size_bytes) / weight;
  }
  double Rate() const { return rate_times_keys / weight; }
};

std::optional<double> BitsPerKey(const SectionFacts& facts) {
  if (!facts.fill || facts.keys.value_or(0) == 0) return std::nullopt;
  return 8 * static_cast<double>(facts.size_bytes) /
         static_cast<double>(*facts.keys);
}

class FilterPrinter {
 public:
  FilterPrinter(const HFileTable& file, const Output& output)
      : file_(file), reader_(file.reader()), output_(output) {}

  ExitCode Run() {
    if (reader_.GeneralBloom() != nullptr) {
      Start(SectionName(reader_.bloom_description().type),
            *reader_.GeneralBloom());
    }
    if (reader_.DeleteFamilyBloom() != nullptr) {
      Start(kDeleteFamily, *reader_.DeleteFamilyBloom());
    }
    PrintHead();
    if (!reader_.BloomStatus().ok()) Damage(reader_.BloomStatus());
    if (!totals_.empty()) {
      if (!output_.json) PrintLine(kTitles);
      const Status status = file_.ForEachFilterChunk(
          [this](const FilterChunk& chunk) { Add(chunk); });
      // Else it is what was told already.
      if (reader_.BloomStatus().ok() && !status.ok()) Damage(status);
      PrintTotals();
    }
    return worst_;
  }

  static constexpr const char* kDeleteFamily = "delete family";

 private:
  using Section = std::pair<std::string, Totals>;
  using Line = std::array<std::string, 10>;
  inline static const Line kTitles = {
      "filter",   "chunk", "keys",         "of",     "bytes",
      "bits/key", "fill",  "expected FPR", "folded", "from key"};

  void Start(const std::string& section, const HFileBloomInfo& info) {
    totals_.emplace_back(section,
                         Totals{.probes = static_cast<int>(info.hash_count),
                                .keys = info.key_count});
  }

  void Damage(const Status& status) {
    if (!status.IsCorruption()) {
      worst_ = std::max(worst_, Judge(output_.err, status));
      return;
    }
    worst_ = std::max(worst_, ExitCode::kFinding);
    if (output_.json) {
      Record("problem", ToPrintable(file_.path()))
          .Text("problem", Describe(status))
          .Print(output_.out);
    } else {
      output_.out << "  problem: " << Describe(status) << "\n";
    }
  }

  void PrintHead() const {
    const TableFacts facts = file_.Facts();
    const HFileBloomInfo* any = reader_.GeneralBloom() != nullptr
                                    ? reader_.GeneralBloom()
                                    : reader_.DeleteFamilyBloom();
    uint64_t chunks = 0;
    for (const HFileBloomInfo* info :
         {reader_.GeneralBloom(), reader_.DeleteFamilyBloom()}) {
      if (info != nullptr) chunks += info->chunk_count;
    }
    const std::string last_key = LastKeyText();
    if (output_.json) {
      Record head("filter", ToPrintable(file_.path()));
      head.Text("form", facts.filter_form);
      if (any != nullptr) {
        head.Text("policy", facts.filter_policy)
            .Number("partitions", chunks)
            .Number("bytes", *facts.filter_bytes)
            .Text("hash", rowbloom::ToString(any->hash));
      }
      if (reader_.bloom_description().prefix_bytes != 0) {
        head.Number("row_prefix_bytes",
                    reader_.bloom_description().prefix_bytes);
      }
      if (!last_key.empty()) head.Text("last_key", last_key);
      head.Print(output_.out);
      return;
    }
    std::ostream& out = output_.out;
    out << WithoutControls(file_.path()) << "\n";
    if (any == nullptr) {
      out << "  filter  " << facts.filter_form << ", " << facts.format << "\n";
      return;
    }
    out << fmt::format("  policy  {}, {}, {} hashes a key\n",
                       facts.filter_policy, rowbloom::ToString(any->hash),
                       any->hash_count)
        << fmt::format("  filter  compound, {} chunk{}, {}, {}\n",
                       Grouped(chunks), chunks == 1 ? "" : "s",
                       HumanAndExactBytes(*facts.filter_bytes), facts.format);
    if (!last_key.empty()) out << "  last    " << last_key << "\n";
    out << "\n";
  }

  std::string LastKeyText() const {
    const hfile::BloomDescription& description = reader_.bloom_description();
    if (reader_.GeneralBloom() == nullptr || !description.has_last_key) {
      return "";
    }
    return KeyText(SectionName(description.type), description.last_key);
  }

  // Last keys of ROWCOL filters are keys without a family.
  static std::string KeyText(std::string_view section, std::string_view key) {
    const auto column =
        section == "ROWCOL" && key.size() >= kHFileKeySuffixBytes
            ? ParseHFileColumn(key.substr(0, key.size() - kHFileKeySuffixBytes))
            : std::nullopt;
    if (!column) return ToPrintable(key);
    return ToPrintable(column->row) + "/" + ToPrintable(column->qualifier);
  }

  void Add(const FilterChunk& chunk) {
    const SectionFacts& facts = chunk.facts;
    for (auto& [section, totals] : totals_) {
      if (section == facts.section) totals.Add(facts);
    }
    if (output_.json) {
      AddJson(chunk);
    } else {
      const auto bits_per_key = BitsPerKey(facts);
      PrintLine(
          {facts.section, fmt::format("{}", chunk.number),
           facts.keys ? fmt::format("{}{}", facts.keys_estimated ? "~" : "",
                                    *facts.keys)
                      : "-",
           chunk.capacity_keys ? fmt::format("{}", *chunk.capacity_keys) : "-",
           facts.fill ? fmt::format("{}", facts.size_bytes) : "-",
           bits_per_key ? fmt::format("{:.2f}", *bits_per_key) : "-",
           facts.fill ? PercentRange(*facts.fill, *facts.fill) : "-",
           facts.rate ? Percent(*facts.rate) : "-", FoldsText(chunk),
           ShortText(KeyText(facts.section, chunk.first_key))});
    }
    if (!chunk.status.ok()) Damage(chunk.status);
  }

  static std::string FoldsText(const FilterChunk& chunk) {
    if (!chunk.folds) return "-";
    return (*chunk.folds == 0 ? "no" : fmt::format("{}x", *chunk.folds)) +
           (chunk.folds_assumed ? "?" : "");
  }

  static std::string ShortText(const std::string& text) {
    constexpr size_t kMost = 40;
    return text.size() <= kMost ? text : text.substr(0, kMost) + "...";
  }

  // Columns of fixed width: they are printed as the chunks are read.
  void PrintLine(const Line& line) const {
    std::string text = fmt::format(
        "  {:<13}  {:>5}  {:>9}  {:>9}  {:>8}  {:>8}  {:>6}  {:>12}  {:>6}  {}",
        line[0], line[1], line[2], line[3], line[4], line[5], line[6], line[7],
        line[8], line[9]);
    text.erase(text.find_last_not_of(' ') + 1);
    output_.out << text << "\n";
  }

  void AddJson(const FilterChunk& chunk) const {
    const SectionFacts& facts = chunk.facts;
    Record record("chunk", ToPrintable(file_.path()));
    record.Text("section", facts.section)
        .Number("chunk", chunk.number)
        .Number("offset", chunk.offset_bytes)
        .Number("keys", facts.keys)
        .Flag("keys_estimated", facts.keys_estimated)
        .Number("capacity", chunk.capacity_keys)
        .Number("bytes",
                facts.fill ? std::optional(facts.size_bytes) : std::nullopt)
        .Real("bits_per_key", BitsPerKey(facts))
        .Real("fill", facts.fill)
        .Real("expected_rate", facts.rate)
        .Number("folds", chunk.folds ? std::optional<uint64_t>(*chunk.folds)
                                     : std::nullopt)
        .Flag("folds_assumed", chunk.folds_assumed)
        .Text("from_key", KeyText(facts.section, chunk.first_key))
        .Print(output_.out);
  }

  void PrintTotals() const {
    Table table({{"section"},
                 {"kind"},
                 {"probes", Table::Align::kRight},
                 {"chunks", Table::Align::kRight},
                 {"keys", Table::Align::kRight},
                 {"bytes", Table::Align::kRight},
                 {"bits/key", Table::Align::kRight},
                 {"fill", Table::Align::kRight},
                 {"expected FPR", Table::Align::kRight}});
    for (const auto& [section, totals] : totals_) {
      const bool known = totals.readable();
      if (output_.json) {
        Record record("section", ToPrintable(file_.path()));
        record.Text("section", section)
            .Text("kind", "bloom")
            .Number("probes", static_cast<uint64_t>(totals.probes))
            .Number("keys", totals.keys)
            .Flag("keys_estimated", false)
            .Number("bytes", totals.size_bytes)
            .Real("bits_per_key",
                  known ? std::optional(totals.BitsPerKey()) : std::nullopt);
        if (known) {
          record.Real("fill_low", totals.fill_low)
              .Real("fill_high", totals.fill_high);
        }
        record
            .Real("expected_rate",
                  known ? std::optional(totals.Rate()) : std::nullopt)
            .Print(output_.out);
        continue;
      }
      table.AddRow(
          {section, "bloom", fmt::format("{}", totals.probes),
           fmt::format("{}", totals.chunks), fmt::format("{}", totals.keys),
           fmt::format("{}", totals.size_bytes),
           known ? fmt::format("{:.2f}", totals.BitsPerKey()) : "-",
           known ? PercentRange(totals.fill_low, totals.fill_high) : "-",
           known ? Percent(totals.Rate()) : "-"});
    }
    if (output_.json) return;
    output_.out << "\n";
    table.Print(output_.out);
  }

  const HFileTable& file_;
  const hfile::Reader& reader_;
  const Output& output_;
  std::vector<Section> totals_;
  ExitCode worst_ = ExitCode::kOk;
};

}  // namespace

Status HFileTable::ForEachFilterChunk(
    const std::function<void(const FilterChunk&)>& use) const {
  Status status = reader_->BloomStatus();
  // A writer plans the chunks of both filters alike.
  std::optional<uint64_t> full_bytes;
  if (reader_->general_bloom()) {
    ChunkReader chunks(*reader_, *reader_->general_bloom(),
                       SectionName(reader_->bloom_description().type),
                       std::nullopt);
    full_bytes = chunks.FullBytes();
    const Status general = chunks.ForEach(use);
    if (status.ok()) status = general;
  }
  if (reader_->delete_family_bloom()) {
    ChunkReader chunks(*reader_, *reader_->delete_family_bloom(),
                       FilterPrinter::kDeleteFamily, full_bytes);
    const Status delete_family = chunks.ForEach(use);
    if (status.ok()) status = delete_family;
  }
  return status;
}

ExitCode HFileTable::PrintFilter(const Output& output) const {
  return FilterPrinter(*this, output).Run();
}

}  // namespace rowbloom::sst_inspect
