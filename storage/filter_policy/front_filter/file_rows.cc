#include "storage/filter_policy/front_filter/file_rows.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <utility>

#include "lib/block/parsed_block.h"
#include "lib/block/ribbon.h"
#include "rocksdb/filter_policy.h"
#include "rocksdb/sst_file_reader.h"
#include "rocksdb/table.h"
#include "rocksdb/table_properties.h"
#include "rowbloom/filter_policy.h"

namespace rowbloom::front_filter {
namespace {

constexpr size_t kLineBytes = 64;

// One ROW section: its payload and what it is.
struct Section {
  FilterKind kind{};
  int probes = 0;
  uint64_t bytes = 0;
  std::unique_ptr<std::byte[]> memory;
  const std::byte* payload = nullptr;  // on a cache line of `memory`
};

// A policy that keeps the ROW section of the block that RocksDB hands it, and
// filters nothing.
class SectionTaker final : public rocksdb::FilterPolicy {
 public:
  explicit SectionTaker(const KeyLayout& layout)
      : layout_id_(layout.ToString()),
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
      problem_ = Take({contents.data(), contents.size()});
    } catch (...) {
      section_.reset();
      failed_ = true;
    }
    return nullptr;
  }

  // Throws std::bad_alloc if taking the section did not have the memory.
  std::optional<Section> TakeSection() {
    if (failed_) throw std::bad_alloc();
    return std::move(section_);
  }
  const std::string& problem() const { return problem_; }
  // The size of the block that the section was taken from.
  uint64_t block_bytes() const { return block_bytes_; }

 private:
  // Returns why there is no section, or "".
  std::string Take(std::string_view contents) const {
    section_.reset();
    block_bytes_ = contents.size();
    if (!FilterBlock::IsFilterBlock(contents)) {
      return "the filter is not one of rowbloom's";
    }
    const ParsedBlock block = ParseFilterBlock(contents);
    if (!block.problem.empty()) return block.problem;
    if (block.layout_id != layout_id_) {
      return "the filter's layout is " + block.layout_id + ", expected " +
             layout_id_;
    }
    const auto found = std::ranges::find(block.sections, SectionType::kRow,
                                         &FilterSection::type);
    if (found == block.sections.end()) return "the filter has no ROW section";
    if (!found->usable()) return found->problem;
    Section section{.kind = found->kind,
                    .probes = found->probes,
                    .bytes = found->size_bytes};
    section.memory =
        std::make_unique_for_overwrite<std::byte[]>(section.bytes + kLineBytes);
    const auto at = reinterpret_cast<uintptr_t>(section.memory.get());
    std::byte* const payload = section.memory.get() + (-at) % kLineBytes;
    std::memcpy(payload, contents.data() + found->offset_bytes, section.bytes);
    section.payload = payload;
    section_ = std::move(section);
    return "";
  }

  const std::string layout_id_;
  const std::unique_ptr<const rocksdb::FilterPolicy> builtin_;
  mutable std::optional<Section> section_;
  mutable std::string problem_ = "the file has no filter in one block";
  mutable uint64_t block_bytes_ = 0;
  mutable bool failed_ = false;
};

// Tells whether the rows of all keys of the file are entries of this block. A
// block of a partitioned filter has those of some, and fewer bytes than the
// filter.
bool HasAllRows(const rocksdb::TableProperties& properties,
                const KeyLayout& layout, uint64_t block_bytes) {
  if (properties.filter_size != block_bytes) return false;
  using Names = rocksdb::BlockBasedTablePropertyNames;
  const auto is_set = [&properties](const std::string& name) {
    const auto found = properties.user_collected_properties.find(name);
    return found != properties.user_collected_properties.end() &&
           found->second == "1";
  };
  if (is_set(Names::kWholeKeyFiltering)) return true;
  const auto extractor = NewRowPrefixExtractor(layout);
  return is_set(Names::kPrefixFiltering) && extractor != nullptr &&
         properties.prefix_extractor_name == extractor->Name();
}

FileRows::Loaded Unknown(std::string message) {
  return {.rows = nullptr, .problem = {.message = std::move(message)}};
}

}  // namespace

bool Budget::Take(uint64_t bytes) {
  uint64_t used = used_bytes_.load();
  do {
    if (used > limit_bytes_ || bytes > limit_bytes_ - used) return false;
  } while (!used_bytes_.compare_exchange_weak(used, used + bytes));
  return true;
}

FileRows::~FileRows() {
  if (budget_ != nullptr) budget_->GiveBack(bytes_);
}

FileRows::Loaded FileRows::Load(const FamilyRules& rules, rocksdb::Env* env,
                                const std::string& path,
                                const std::shared_ptr<Budget>& budget) {
  const auto taker = std::make_shared<SectionTaker>(rules.layout);
  rocksdb::BlockBasedTableOptions table;
  table.filter_policy = taker;
  table.no_block_cache = true;
  rocksdb::Options options;
  options.env = env;
  options.comparator = rules.comparator;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(table));
  rocksdb::SstFileReader reader(options);
  const rocksdb::Status status = reader.Open(path);
  if (!status.ok()) return Unknown(status.ToString());
  auto section = taker->TakeSection();
  if (!section) return Unknown(path + ": " + taker->problem());
  const auto properties = reader.GetTableProperties();
  if (properties == nullptr ||
      !HasAllRows(*properties, rules.layout, taker->block_bytes())) {
    return Unknown(path +
                   ": the filter block does not have the rows of all keys");
  }
  std::shared_ptr<FileRows> rows(new FileRows);
  if (section->bytes == 0) {
    rows->probe_ = SectionProbe::Empty();
  } else if (section->kind == FilterKind::kBloom) {
    rows->probe_ =
        SectionProbe(BloomBlocks{.data = section->payload,
                                 .count = section->bytes / kBlockBytes,
                                 .probes = section->probes});
  } else {
    std::string problem;
    const auto ribbon = ParseRibbon(
        {reinterpret_cast<const char*>(section->payload), section->bytes},
        &problem);
    if (!ribbon) return Unknown(path + ": " + problem);
    rows->probe_ = SectionProbe(std::make_unique<const RibbonFilter>(*ribbon));
  }
  const uint64_t bytes = section->bytes + kLineBytes;
  if (!budget->Take(bytes)) {
    return {.rows = nullptr,
            .problem = {.message = path + ": no room for its section of " +
                                   std::to_string(bytes) + " bytes",
                        .bytes_beyond_budget = bytes}};
  }
  rows->budget_ = budget;
  rows->bytes_ = bytes;
  rows->memory_ = std::move(section->memory);
  return {.rows = std::move(rows), .problem = {}};
}

}  // namespace rowbloom::front_filter
