#include "tests/golden/filter_blocks.h"

#include <vector>

#include "lib/block/filter_block_builder.h"
#include "rowbloom/filter_block.h"

namespace rowbloom::golden {
namespace {

class BlockWriter {
 public:
  BlockWriter(const KeyLayout& layout, FilterBlocks* out)
      : layout_(layout), out_(out) {
    for (const std::string& row : RowsFor(layout, 60)) {
      const std::string row_bytes = *layout.EncodeRow(row);
      keys_.push_back(row_bytes);
      for (const char* qualifier : {"\xff", "mail", "name", "tags"}) {
        keys_.push_back(row_bytes + qualifier);
      }
    }
    for (const std::string& key : keys_) {
      out_->lines.push_back("key " + layout.ToString() + " " + Hex(key));
    }
  }

  void Write(const std::string& name, FilterBlockOptions options,
             bool with_prefixes = false) {
    options.key_layout = layout_;
    if (options.bloom_type == BloomType::kRowPrefixFixedLength) {
      options.row_prefix_length = kRowPrefixBytes;
    }
    FilterBlockBuilder builder(options);
    for (const std::string& key : keys_) {
      builder.AddKey(key);
      if (with_prefixes) builder.AddPrefix(layout_.Split(key)->row);
    }
    Keep(name, options, builder.Finish());
  }

  // A builder that was given no key writes a block, too.
  void WriteEmpty(const std::string& name) {
    const FilterBlockOptions options{.key_layout = layout_};
    Keep(name, options, FilterBlockBuilder(options).Finish());
  }

 private:
  void Keep(const std::string& name, const FilterBlockOptions& options,
            const std::string& bytes) {
    std::string id = layout_.ToString();
    std::replace(id.begin(), id.end(), ':', '_');
    std::string line = "block " + id + "-" + name + " " + layout_.ToString() +
                       " " + Hex(options.origin.column_family) + " " +
                       std::to_string(options.origin.level);
    const FilterBlock block = FilterBlock::Open(bytes);
    for (const FilterSection& section : block.sections()) {
      line += " " + std::string(ToString(section.type)) + "/" +
              std::string(ToString(section.kind)) + "/" +
              std::to_string(section.keys);
    }
    out_->lines.push_back(line);
    out_->bytes[id + "-" + name] = bytes;
  }

  const KeyLayout layout_;
  FilterBlocks* const out_;
  Lines keys_;
};

}  // namespace

FilterBlocks BuildFilterBlocks() {
  FilterBlocks blocks;
  for (const char* name :
       {"escaped", "fixed:8", "delimited::", "u16", "custom:golden"}) {
    BlockWriter writer(LayoutOf(name), &blocks);
    for (const BloomType type : {BloomType::kRow, BloomType::kRowCol,
                                 BloomType::kRowPrefixFixedLength}) {
      for (const FilterKind kind : {FilterKind::kBloom, FilterKind::kRibbon}) {
        writer.Write(
            std::string(ToString(type)) + "-" + std::string(ToString(kind)),
            {.bloom_type = type, .kind = kind});
      }
    }
    if (std::string(name) == "escaped") {
      for (const FilterKind kind : {FilterKind::kBloom, FilterKind::kRibbon}) {
        const std::string ending = "-" + std::string(ToString(kind));
        writer.Write("4_bits" + ending, {.kind = kind, .bits_per_key = 4});
        writer.Write("20_bits" + ending, {.kind = kind, .bits_per_key = 20});
        writer.Write("adaptive" + ending, {.kind = kind, .row_spread = 0.25});
        writer.Write("origin" + ending, {.kind = kind, .origin = {"users", 3}});
        writer.Write("prefixes" + ending, {.kind = kind}, true);
      }
      for (const double slots : {0.9, 1.5}) {
        writer.Write(
            slots < 1 ? "few_slots" : "many_slots",
            {.kind = FilterKind::kRibbon, .ribbon_slots_per_key = slots});
      }
    }
    writer.WriteEmpty("empty");
  }
  return blocks;
}

}  // namespace rowbloom::golden
