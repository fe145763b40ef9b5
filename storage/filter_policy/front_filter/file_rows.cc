#include "storage/filter_policy/front_filter/file_rows.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "lib/block/parsed_block.h"
#include "lib/bytes/text.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/sst_file_reader.h"
#include "rocksdb/table.h"
#include "rocksdb/table_properties.h"
#include "rocksdb/version.h"
#include "rowbloom/filter_policy.h"
#include "rowbloom/front_filter.h"
#include "rowbloom/result.h"

namespace rowbloom::front_filter {
namespace {

// A usable section, with a copy of its payload.
struct Section {
  FilterSection form;
  SectionMemory memory;
};

// Copies the section of this type. Throws std::bad_alloc.
Result<Section> CopySection(const ParsedBlock& block, SectionType type,
                            std::string_view contents) {
  const auto found =
      std::ranges::find(block.sections, type, &FilterSection::type);
  if (found == block.sections.end()) {
    return Error{Concat("the filter has no ", ToString(type), " section")};
  }
  if (!found->usable()) return Error{found->problem};
  Section section{*found, NewSectionMemory(found->size_bytes)};
  std::memcpy(section.memory.get(), contents.data() + found->offset_bytes,
              found->size_bytes);
  section.form.offset_bytes = 0;
  return section;
}

// Returns the reason why the keys of a block are not known; empty: they are.
std::string ProblemOf(const ParsedBlock& block, std::string_view layout_id) {
  if (!block.problem.empty() || block.layout_id == layout_id) {
    return block.problem;
  }
  return Concat("the filter's layout is ", block.layout_id, ", expected ",
                layout_id);
}

// The section of the file's bare rows. Throws std::bad_alloc.
Result<Section> BareRowsOf(const rocksdb::TableProperties& properties,
                           const KeyLayout& layout) {
  const auto& collected = properties.user_collected_properties;
  const auto found = collected.find(kBareRowsProperty);
  if (found == collected.end()) return Error{"the file does not tell them"};
  const ParsedBlock block = ParseFilterBlock(found->second);
  std::string problem = ProblemOf(block, layout.ToString());
  if (!problem.empty()) return Error{std::move(problem)};
  return CopySection(block, SectionType::kRow, found->second);
}

// A policy that copies sections of the filter block that RocksDB passes to it,
// and filters nothing.
class SectionTaker final : public rocksdb::FilterPolicy {
 public:
  SectionTaker(const KeyLayout& layout, bool with_cells)
      : layout_id_(layout.ToString()),
        with_cells_(with_cells),
        builtin_(rocksdb::NewBloomFilterPolicy(10)) {}

  const char* Name() const override { return "rowbloom.SectionTaker"; }
  const char* CompatibilityName() const override {
    return builtin_->CompatibilityName();
  }
  rocksdb::FilterBitsBuilder* GetBuilderWithContext(
      const rocksdb::FilterBuildingContext& /*context*/) const override {
    return nullptr;
  }
  rocksdb::FilterBitsReader* GetFilterBitsReader(
      const rocksdb::Slice& contents) const override {
    try {
      Take({contents.data(), contents.size()});
    } catch (...) {
      failed_ = true;
    }
    return nullptr;
  }

  // Returns the ROW section, or the reason why there is none. Throws
  // std::bad_alloc if there was no memory to copy it.
  Result<Section> TakeRows() {
    if (failed_) throw std::bad_alloc();
    return std::move(rows_);
  }
  // Returns the ROWCOL section, if it was wanted and exists.
  Result<Section> TakeCells() { return std::move(cells_); }
  // The size of the block that the sections were taken from, and where it is
  // found while RocksDB holds it.
  uint64_t block_bytes() const { return block_bytes_; }
  std::shared_ptr<const LoadedBlock> TakeLoaded() { return std::move(loaded_); }

 private:
  void Take(std::string_view contents) const {
    block_bytes_ = contents.size();
    if (!FilterBlock::IsFilterBlock(contents)) {
      rows_ = Error{"the filter is not one of rowbloom's"};
      return;
    }
    const ParsedBlock block = ParseFilterBlock(contents);
    if (std::string problem = ProblemOf(block, layout_id_); !problem.empty()) {
      rows_ = Error{std::move(problem)};
    } else {
      loaded_ = LoadedBlock::OfBytes(contents);
      rows_ = CopySection(block, SectionType::kRow, contents);
      if (with_cells_) {
        cells_ = CopySection(block, SectionType::kRowCol, contents);
      }
    }
  }

  const std::string layout_id_;
  const bool with_cells_;
  const std::unique_ptr<const rocksdb::FilterPolicy> builtin_;
  mutable Result<Section> rows_ = Error{"the file has no filter in one block"};
  mutable Result<Section> cells_ = Error{"it was not wanted"};
  mutable uint64_t block_bytes_ = 0;
  mutable std::shared_ptr<const LoadedBlock> loaded_;
  mutable bool failed_ = false;
};

// The keys of a file whose entries are in a block of its filter.
enum class Entries : uint8_t { kUnknown, kRowsOfAllKeys, kAllKeys };

// Tells which of the file's keys are entries of this block. A block of a
// partitioned filter has only some of them, and fewer bytes than the filter.
Entries EntriesOf(const rocksdb::TableProperties& properties,
                  const KeyLayout& layout, uint64_t block_bytes) {
  if (properties.filter_size != block_bytes) return Entries::kUnknown;
  using Names = rocksdb::BlockBasedTablePropertyNames;
  const auto is_set = [&properties](const std::string& name) {
    const auto found = properties.user_collected_properties.find(name);
    return found != properties.user_collected_properties.end() &&
           found->second == "1";
  };
  if (is_set(Names::kWholeKeyFiltering)) return Entries::kAllKeys;
  const auto extractor = NewRowPrefixExtractor(layout);
  return is_set(Names::kPrefixFiltering) && extractor != nullptr &&
                 properties.prefix_extractor_name == extractor->Name()
             ? Entries::kRowsOfAllKeys
             : Entries::kUnknown;
}

FileRows::Loaded Unknown(std::string message) {
  return {.rows = nullptr, .problem = {.message = std::move(message)}};
}

}  // namespace

FileRows::Loaded FileRows::Load(const FamilyRules& rules, rocksdb::Env* env,
                                const std::string& path,
                                const std::shared_ptr<Memory>& memory,
                                const rocksdb::TableProperties* expected) {
  const auto taker = std::make_shared<SectionTaker>(
      rules.layout, memory->HasRoomFor(Memory::kCells, 1));
  rocksdb::BlockBasedTableOptions table;
  table.filter_policy = taker;
  table.no_block_cache = true;
  rocksdb::Options options;
  options.env = env;
  options.comparator = rules.comparator;
#if ROCKSDB_MAJOR * 100 + ROCKSDB_MINOR >= 1004
  options.compression_manager = rules.compression_manager;
#endif
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  rocksdb::SstFileReader reader(options);
  const rocksdb::Status status = reader.Open(path);
  if (!status.ok()) {
    return {.rows = nullptr,
            .problem = {.message = status.ToString(),
                        .read_failed = status.IsIOError()}};
  }
  const auto properties = reader.GetTableProperties();
  if (expected != nullptr &&
      (properties == nullptr ||
       properties->db_session_id != expected->db_session_id ||
       properties->orig_file_number != expected->orig_file_number)) {
    return Unknown(path + ": another file is in its place");
  }
  std::shared_ptr<FileRows> rows(new FileRows);
  // The number of entries does not tell: RocksDB 5.15 to 5.18 did not count
  // range deletes.
  if (properties != nullptr && properties->num_range_deletions > 0 &&
      properties->data_size == 0) {
    rows->rows_.probe = SectionProbe::Empty();
    return {.rows = std::move(rows), .problem = {}};
  }
  auto section = taker->TakeRows();
  if (!section) return Unknown(path + ": " + section.error());
  const Entries entries =
      properties == nullptr
          ? Entries::kUnknown
          : EntriesOf(*properties, rules.layout, taker->block_bytes());
  if (entries == Entries::kUnknown) {
    return Unknown(path +
                   ": the filter block does not have the rows of all keys");
  }
  // Returns false, with *held as it was, if there is no room for the section.
  const auto hold = [&memory](Section* held_section, Memory::Purpose purpose,
                              Held* held) {
    FilterSection& form = held_section->form;
    if (!memory->Take(purpose, form.size_bytes)) return false;
    TakenMemory taken(memory, purpose, form.size_bytes);
    const auto* const payload =
        reinterpret_cast<const char*>(held_section->memory.get());
    *held = {.probe = ProbeOf({payload, form.size_bytes}, &form),
             .memory = std::move(held_section->memory),
             .taken = std::move(taken)};
    return true;
  };
  if (!hold(&*section, Memory::kRows, &rows->rows_)) {
    const uint64_t bytes = section->form.size_bytes;
    return {.rows = nullptr,
            .problem = {.message = path + ": no room for its section of " +
                                   std::to_string(bytes) + " bytes",
                        .bytes_beyond_limit = bytes}};
  }
  auto bare_rows = BareRowsOf(*properties, rules.layout);
  if (bare_rows) hold(&*bare_rows, Memory::kRows, &rows->bare_rows_);
  if (entries == Entries::kAllKeys) {
    auto cells = taker->TakeCells();
    if (cells) hold(&*cells, Memory::kCells, &rows->cells_);
    if (!rows->has_cells()) rows->loaded_ = taker->TakeLoaded();
  }
  return {.rows = std::move(rows), .problem = {}};
}

}  // namespace rowbloom::front_filter
