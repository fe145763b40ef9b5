// Filter blocks as bytes, all in one archive. The text beside it:
//
//   block NAME LAYOUT COLUMN_FAMILY LEVEL SECTION...   of type/kind/entries
//   key LAYOUT BYTES                                   in all blocks of it
#include <map>
#include <vector>

#include "lib/block/filter_block_builder.h"
#include "rowbloom/filter_block.h"
#include "tests/golden/write_golden.h"
#include "tests/support/temp_dir.h"

namespace rowbloom::golden {
namespace {

class BlockWriter {
 public:
  explicit BlockWriter(const KeyLayout& layout) : layout_(layout) {
    for (const std::string& row : RowsFor(layout, 60)) {
      const std::string row_bytes = *layout.EncodeRow(row);
      keys_.push_back(row_bytes);
      for (const char* qualifier : {"\xff", "mail", "name", "tags"}) {
        keys_.push_back(row_bytes + qualifier);
      }
    }
    for (const std::string& key : keys_) {
      lines_.push_back("key " + layout.ToString() + " " + Hex(key));
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

  void Save(const std::filesystem::path& directory, Lines* lines) const {
    for (const auto& [name, bytes] : blocks_) {
      std::ofstream(directory / name, std::ios::binary) << bytes;
    }
    lines->insert(lines->end(), lines_.begin(), lines_.end());
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
    lines_.push_back(line);
    blocks_[id + "-" + name] = bytes;
  }

  const KeyLayout layout_;
  Lines keys_;
  Lines lines_;
  std::map<std::string, std::string> blocks_;
};

}  // namespace

void WriteFilterBlocks(const std::filesystem::path& folder) {
  const test::TempDir dir;
  Lines lines;
  for (const char* name :
       {"escaped", "fixed:8", "delimited::", "u16", "custom:golden"}) {
    BlockWriter writer(LayoutOf(name));
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
    writer.Save(dir.path(), &lines);
  }
  Pack(dir.path(), folder, "blocks");
  WriteLines(folder / "blocks.keys.txt", lines);
}

}  // namespace rowbloom::golden
