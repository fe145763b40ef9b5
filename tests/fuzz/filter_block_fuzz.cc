// The reader of filter blocks. Each input is taken three ways: as a block, as a
// block whose head, tail and checksums are made right first (or else no change
// would ever get past them), and as keys that a block is built from and asked
// for, whole and damaged.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lib/block/filter_block_builder.h"
#include "lib/block/format.h"
#include "lib/block/hash.h"
#include "lib/kernels/kernel.h"
#include "rowbloom/bloom_math.h"
#include "rowbloom/filter_block.h"
#include "tests/fuzz/check.h"
#include "tests/support/scoped_kernel.h"

namespace rowbloom::fuzz {
namespace {

// The trailer and the tail follow the directory.
constexpr size_t kEndBytes = format::kTrailerBytes + format::kTail.size();

// The reference is the last of UsableKernels().
void CheckKernelsAgree(const BloomBlocks& blocks, uint64_t hash) {
  const std::span<const Kernel> kernels = UsableKernels();
  const bool expected = kernels.back().may_contain(blocks, hash);
  for (const Kernel& kernel : kernels) {
    Check(kernel.may_contain(blocks, hash) == expected &&
              kernel.may_contain_many(blocks, &hash, 1) == (expected ? 1 : 0),
          "all kernels give one answer");
  }
}

void CheckSection(const FilterBlock& block, const FilterSection& section,
                  std::string_view bytes) {
  const double fill = block.FillRatio(section);
  Check(fill >= 0 && fill <= 1, "a fill ratio is in [0, 1]");
  const double rate = FilterBlock::ExpectedFalsePositiveRate(section);
  Check(rate >= 0 && rate <= 1, "a false positive rate is in [0, 1]");
  Check(FilterBlock::BitsPerKey(section) >= 0, "bits per key are >= 0");
  if (!section.usable()) return;
  Check(section.offset_bytes <= bytes.size() &&
            section.size_bytes <= bytes.size() - section.offset_bytes,
        "a usable section lies within the block");
  if (section.kind != FilterKind::kBloom) return;
  Check(section.probes >= 1 && section.probes <= kMaxProbes,
        "a usable section has a number of probes that kernels take");
  Check(section.size_bytes % kBlockBytes == 0, "sections are whole blocks");
}

// One key, looked up in every way that there is.
void CheckKey(const FilterBlock& block, std::string_view bytes,
              std::string_view key, const MatchResult& result) {
  if (!block.usable()) {
    Check(result.may_match() && result.row() == Verdict::kUnusable,
          "an unusable block answers 'may match', and says why");
    Check(block.MayMatchRow(key), "an unusable block rules out no row");
    return;
  }
  const auto layout = KeyLayout::FromString(block.layout_id());
  Check(layout.has_value(), "a usable block has a layout that is known");
  const auto split = layout->Split(key);
  if (!split) {
    const bool has_prefixes =
        std::ranges::count(block.sections(), SectionType::kRowPrefix,
                           &FilterSection::type) > 0;
    Check(block.whole_keys() || has_prefixes || result.may_match(),
          "a key that has no entry may match");
    return;
  }
  Check(
      block.MayMatchRowCol(split->row, split->qualifier) == result.may_match(),
      "row and qualifier apart get the answer of the key");
  // The qualifier cannot make a row come back.
  Check(block.MayMatchRow(split->row) || !result.may_match(),
        "a row that is ruled out has no cell");
  for (const SectionType type :
       {SectionType::kRow, SectionType::kRowCol, SectionType::kRowPrefix}) {
    const Verdict alone =
        block.ProbeSection(type, split->row, split->qualifier);
    if (type == SectionType::kRowCol &&
        result.row_col() != Verdict::kNotProbed) {
      Check(alone == result.row_col(),
            "ROWCOL alone answers as it does for Get");
    }
  }
  for (const FilterSection& section : block.sections()) {
    if (!section.usable() || section.size_bytes == 0 ||
        section.kind != FilterKind::kBloom) {
      continue;
    }
    const BloomBlocks blocks = {
        reinterpret_cast<const std::byte*>(bytes.data()) + section.offset_bytes,
        section.size_bytes / kBlockBytes, section.probes};
    const uint64_t row_hash = HashRow(split->row);
    CheckKernelsAgree(blocks, row_hash);
    CheckKernelsAgree(blocks, HashRowCol(row_hash, split->qualifier));
  }
}

void AskEverything(std::string_view bytes,
                   std::span<const std::string_view> keys) {
  const FilterBlock block = FilterBlock::Open(bytes);
  Check(block.usable() == block.problem().empty(),
        "a block is unusable if and only if there is a problem");
  Check(block.size_bytes() == bytes.size(), "a view has the size of its bytes");
  Check(FilterBlock::IsFilterBlock(bytes) || !block.usable(),
        "what is no filter block is not usable");
  for (const FilterSection& section : block.sections()) {
    CheckSection(block, section, bytes);
  }
  std::vector<MatchResult> results(keys.size());
  block.MayMatch(keys, results);
  for (size_t i = 0; i < keys.size(); ++i) {
    const MatchResult alone = block.MayMatch(keys[i]);
    Check(alone == results[i], "a batch gets the answers of its keys");
    CheckKey(block, bytes, keys[i], alone);
    for (const Kernel& kernel : UsableKernels()) {
      const test::ScopedKernel used(kernel);
      Check(FilterBlock::Open(bytes).MayMatch(keys[i]) == alone,
            "a block answers alike with every kernel");
    }
  }
}

// Overwrites `value` into `bytes` at `offset`, little-endian.
void SetFixed(std::vector<char>* bytes, size_t offset, uint64_t value,
              size_t byte_count) {
  for (size_t i = 0; i < byte_count; ++i) {
    (*bytes)[offset + i] = static_cast<char>(value >> 8 * i);
  }
}

// Gives the bytes the head, tail, version and checksums that the rest calls
// for; leaves bytes that cannot be a block as they are.
void MakeChecksumsRight(std::vector<char>* bytes) {
  if (bytes->size() < format::kMinBlockBytes) return;
  const std::string_view view(bytes->data(), bytes->size());
  std::copy(format::kHead.begin(), format::kHead.end(), bytes->begin());
  std::copy(format::kTail.begin(), format::kTail.end(),
            bytes->end() - static_cast<ptrdiff_t>(format::kTail.size()));
  const size_t trailer_at = bytes->size() - kEndBytes;
  (*bytes)[trailer_at + format::kTrailerBytes - 1] =
      static_cast<char>(format::kVersion);
  const format::Trailer trailer = format::GetTrailer(view);
  const size_t directory_bytes = trailer.DirectoryBytes();
  if (directory_bytes > trailer_at - format::kHead.size()) return;
  const size_t directory_at = trailer_at - directory_bytes;
  for (size_t i = 0; i < trailer.section_count; ++i) {
    const size_t entry_at = directory_at + i * format::kEntryBytes;
    const uint64_t offset = GetFixed(view, entry_at + 8, 4);
    const uint64_t size = GetFixed(view, entry_at + 12, 4);
    if (offset > directory_at || size > directory_at - offset) continue;
    SetFixed(bytes, entry_at + 20, Checksum(view.substr(offset, size)), 4);
  }
  SetFixed(bytes, trailer_at,
           Checksum(view.substr(directory_at, directory_bytes),
                    Checksum(view.substr(trailer_at + 8))),
           8);
}

KeyLayout LayoutFrom(uint8_t choice) {
  switch (choice % 5) {
    case 0:
      return KeyLayout::Delimited(':');
    case 1:
      return KeyLayout::Escaped();
    case 2:
      return KeyLayout::LengthPrefixed();
    case 3:
      return KeyLayout::FixedRow(1 + choice / 5u);
    default:
      return KeyLayout::Delimited(static_cast<char>(choice));
  }
}

struct Written {
  FilterBlockOptions options;
  std::vector<std::string_view> keys;
  std::string bytes;
};

Written Build(Input* input) {
  constexpr std::array kTypes = {BloomType::kRowCol, BloomType::kRow,
                                 BloomType::kRowPrefixFixedLength};
  Written written;
  const uint8_t choice = input->Byte();
  written.options.bloom_type = kTypes[choice % kTypes.size()];
  written.options.kind =
      choice < 128 ? FilterKind::kBloom : FilterKind::kRibbon;
  written.options.key_layout = LayoutFrom(input->Byte());
  written.options.bits_per_key = 0.5 * input->Byte();
  if (written.options.bloom_type == BloomType::kRowPrefixFixedLength) {
    written.options.row_prefix_length = 1 + input->Byte() % 8u;
  }
  while (!input->empty()) written.keys.push_back(input->SizedBytes());
  FilterBlockBuilder builder(written.options);
  for (const std::string_view key : written.keys) builder.AddKey(key);
  written.bytes = builder.Finish();
  for (const std::string_view key : written.keys) builder.AddKey(key);
  Check(builder.Finish() == written.bytes,
        "a finished builder writes the same again");
  return written;
}

// Keys, and the rows and cells that they are.
void CheckNoFalseNegative(const Written& written, std::string_view bytes) {
  const FilterBlock block = FilterBlock::Open(bytes);
  for (const std::string_view key : written.keys) {
    Check(block.MayMatch(key).may_match(),
          "no key that was added is ruled out");
    const auto split = written.options.key_layout.Split(key);
    if (!split) continue;
    Check(block.MayMatchRow(split->row), "no row that was added is ruled out");
    Check(block.MayMatchRowCol(split->row, split->qualifier),
          "no cell that was added is ruled out");
  }
}

// Each kernel builds the same bytes.
void CheckKernelsBuildAlike(const Written& written) {
  if (written.keys.empty()) return;
  std::vector<uint64_t> hashes;
  for (const std::string_view key : written.keys) {
    hashes.push_back(HashRow(key));
  }
  const uint64_t count = 1 + hashes.size() / 16;
  const int probes = 1 + static_cast<int>(hashes.size()) % kMaxProbes;
  std::vector<std::byte> expected;
  const std::span<const Kernel> kernels = UsableKernels();
  for (auto kernel = kernels.rbegin(); kernel != kernels.rend(); ++kernel) {
    std::vector<std::byte> data(count * kBlockBytes);
    kernel->add({data.data(), count, probes}, data.data(), hashes.data(),
                hashes.size());
    if (expected.empty()) expected = data;
    Check(data == expected, "all kernels set the same bits");
  }
  for (const uint64_t hash : hashes) {
    CheckKernelsAgree({expected.data(), count, probes}, hash);
    CheckKernelsAgree({expected.data(), count, probes}, ~hash);
  }
}

void BuildAndDamage(std::string_view bytes) {
  Input input(bytes);
  const uint8_t damage = input.Byte();
  const size_t place = input.Number(2);
  const uint8_t change = input.Byte();
  const Written written = Build(&input);
  Check(FilterBlock::Open(written.bytes).usable(), "a new block is usable");
  CheckNoFalseNegative(written, written.bytes);
  CheckKernelsBuildAlike(written);

  std::vector<char> damaged(written.bytes.begin(), written.bytes.end());
  const size_t at = place % damaged.size();
  // A damaged block has one wrong byte, or lacks its start or its end.
  switch (damage % 3) {
    case 0:
      damaged[at] = static_cast<char>(damaged[at] ^ (change == 0 ? 1 : change));
      Check(FilterBlock::IsFilterBlock({damaged.data(), damaged.size()}),
            "one wrong byte does not make it a foreign filter");
      break;
    case 1:
      damaged.resize(at);
      break;
    default:
      damaged.erase(damaged.begin(),
                    damaged.begin() + static_cast<ptrdiff_t>(at));
      break;
  }
  damaged.shrink_to_fit();
  const std::string_view view(damaged.data(), damaged.size());
  CheckNoFalseNegative(written, view);
  AskEverything(view, written.keys);
}

}  // namespace
}  // namespace rowbloom::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using rowbloom::fuzz::AskEverything;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  // More keys than MayMatch takes at once, neighbours with one row among them.
  std::vector<std::string_view> keys = {"", "a:", "a:x", "a:y", "b:x", "zz"};
  for (size_t at = 0; at < size && keys.size() < 40; at += 1 + at / 4) {
    keys.push_back(bytes.substr(at, 1 + at % 9));
    keys.push_back(bytes.substr(at));
  }
  AskEverything(bytes, keys);
  std::vector<char> repaired(bytes.begin(), bytes.end());
  rowbloom::fuzz::MakeChecksumsRight(&repaired);
  AskEverything({repaired.data(), repaired.size()}, keys);
  rowbloom::fuzz::BuildAndDamage(bytes);
  return 0;
}
