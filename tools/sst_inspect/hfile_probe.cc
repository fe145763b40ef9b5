// `probe` for HFiles: what HBase would be told, and whether it is true.
#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "rowbloom/printable.h"
#include "storage/hfile/bloom_chunk.h"
#include "storage/hfile/iterator.h"
#include "tools/sst_inspect/hfile_table.h"
#include "tools/sst_inspect/key_format.h"
#include "tools/sst_inspect/output.h"

namespace rowbloom::sst_inspect {
namespace {

using rocksdb::Status;

std::string_view MayText(bool may) {
  return may ? "may be there" : "not there";
}

class HFileProber {
 public:
  HFileProber(const HFileTable& file, const ProbeArgs& args,
              const Output& output)
      : file_(file),
        reader_(file.reader()),
        args_(args),
        output_(output),
        record_("probe", ToPrintable(file.path())) {}

  ExitCode Run(ProbeCounts* counts) {
    if (!ReadQuestion()) return worst_;
    if (!output_.json) {
      output_.out << WithoutControls(file_.path()) << "\n";
    }
    AskFilter();
    const bool in_range = reader_.KeyRangeMayContain(row_, row_);
    Line("range", in_range ? "within first to last row"
                           : "outside of first to last row");
    if (reader_.DeleteFamilyBloom() != nullptr) {
      Line("family deletes", MayText(reader_.MayContainDeleteFamily(row_)));
    }
    may_be_there_ =
        in_range && (qualifier_ ? reader_.MayContainRowCol(row_, *qualifier_)
                                : reader_.MayContainRow(row_));
    Line("verdict", MayText(may_be_there_));
    ++counts->answered;
    if (may_be_there_) ++counts->may_be_there;
    LookUp(counts);
    if (output_.json) record_.Print(output_.out);
    PrintProblems();
    return worst_;
  }

 private:
  // False after a usage error.
  bool ReadQuestion() {
    KeyFormat format;
    const Status status = FormatOf(file_, args_.key_layout, false, &format);
    if (!status.ok()) {
      worst_ = Judge(output_.err, status);
      return false;
    }
    row_ = args_.row;
    qualifier_ = args_.qualifier;
    if (args_.key) {
      const auto parts = format.Split(*args_.key);
      if (!parts) {
        worst_ = Fail(output_.err, WithoutControls(file_.path()) +
                                       ": --key: not a key of an HFile's");
        return false;
      }
      row_ = parts->row;
      qualifier_ = parts->qualifier;
    }
    const auto row = format.EncodeRow(row_);
    if (row) return true;
    worst_ =
        Fail(output_.err, WithoutControls(file_.path()) + ": " + row.error());
    return false;
  }

  void Line(std::string_view name, std::string_view text) {
    if (!output_.json) {
      output_.out << fmt::format("  {:<14}  {}\n", name, text);
      return;
    }
    std::string member(name);
    std::replace(member.begin(), member.end(), ' ', '_');
    record_.Text(member, text);
  }

  void Problem(const std::string& problem) {
    problems_.push_back(problem);
    worst_ = std::max(worst_, ExitCode::kFinding);
  }
  void Failure(const Status& status) {
    if (status.IsCorruption()) {
      Problem(Describe(status));
    } else {
      worst_ = std::max(worst_, Judge(output_.err, status));
    }
  }

  void AskFilter() {
    if (reader_.GeneralBloom() == nullptr) {
      if (!reader_.BloomStatus().ok()) Failure(reader_.BloomStatus());
      Line("filter", reader_.BloomStatus().ok() ? "none" : "unusable");
      return;
    }
    const hfile::BloomDescription& description = reader_.bloom_description();
    const std::string section = SectionName(description.type);
    Line("filter", FilterPolicyText(reader_));
    switch (description.type) {
      case BloomType::kRowCol:
        if (!qualifier_) {
          Line(section, "not asked: it holds no rows");
          return;
        }
        AskChunk(section, hfile::RowColBloomKey(row_, *qualifier_));
        // Markers of the family have the empty qualifier.
        if (!qualifier_->empty()) {
          AskChunk(section + " markers", hfile::RowColBloomKey(row_, {}));
        }
        return;
      case BloomType::kRowPrefixFixedLength:
        AskChunk(section, hfile::RowPrefix(row_, description.prefix_bytes));
        return;
      default:
        AskChunk(section, row_);
    }
  }

  bool IsPastLastKey(std::string_view key) const {
    const hfile::BloomDescription& description = reader_.bloom_description();
    if (!description.has_last_key) return false;
    return hfile::CompareIndexKeys(description.type == BloomType::kRowCol
                                       ? hfile::KeyForm::kCellKey
                                       : hfile::KeyForm::kBytes,
                                   key, description.last_key) > 0;
  }

  void AskChunk(const std::string& section, std::string_view key) {
    if (IsPastLastKey(key)) {
      Line(section, "not there: after LAST_BLOOM_KEY");
      return;
    }
    const hfile::BloomFilter& filter = *reader_.general_bloom();
    const size_t entry = filter.chunks.Find(key);
    if (entry == filter.chunks.size()) {
      Line(section, "not there: before the first chunk");
      return;
    }
    const std::string where =
        fmt::format("chunk {} of {}", entry + 1, filter.chunks.size());
    std::shared_ptr<const hfile::Block> chunk;
    const Status status = reader_.CachedBlock(
        filter.chunks.location(entry), hfile::BlockType::kBloomChunk, &chunk);
    if (!status.ok() || chunk->payload.empty() ||
        chunk->payload.size() > hfile::kMaxChunkBytes) {
      Line(section, "section unusable, " + where);
      if (status.ok()) {
        Problem(fmt::format("{}: {} has {} bytes, expected 1 to {}",
                            file_.path(), where, chunk->payload.size(),
                            hfile::kMaxChunkBytes));
      } else {
        Failure(status);
      }
      return;
    }
    const bool may = hfile::ChunkMayContain(chunk->payload, filter.info.hash,
                                            filter.info.hash_count, key);
    Line(section, fmt::format("{}, {}", MayText(may), where));
  }

  // Tells whether the file really has the row or cell, as a marker or not.
  void LookUp(ProbeCounts* counts) {
    hfile::Iterator at(reader_, {.fill_cache = false});
    at.Seek({.row = row_});
    const auto in_row = [&] { return at.Valid() && at.cell().row == row_; };
    if (qualifier_ && in_row()) {
      // A file holds one family.
      const std::string family(at.cell().family);
      if (at.cell().qualifier != *qualifier_) {
        at.Seek({.row = row_, .family = family, .qualifier = *qualifier_});
      }
    }
    const bool found =
        in_row() && (!qualifier_ || at.cell().qualifier == *qualifier_);
    if (!at.status().ok()) {
      Line("in file", "not known");
      Failure(at.status());
      return;
    }
    if (!found) {
      Line("in file", "no");
      return;
    }
    ++counts->really_there;
    const HFileCellView& cell = at.cell();
    Line("in file", fmt::format("yes, {} at {}",
                                file_.TypeName(static_cast<uint8_t>(cell.type)),
                                cell.timestamp_ms));
    if (!may_be_there_) Problem("false negative: it is in the file");
  }

  void PrintProblems() const {
    for (const std::string& problem : problems_) {
      if (output_.json) {
        Record("problem", ToPrintable(file_.path()))
            .Text("problem", WithoutControls(problem))
            .Print(output_.out);
      } else {
        output_.out << "  problem: " << WithoutControls(problem) << "\n";
      }
    }
  }

  const HFileTable& file_;
  const hfile::Reader& reader_;
  const ProbeArgs& args_;
  const Output& output_;
  Record record_;
  std::string row_;
  std::optional<std::string> qualifier_;
  bool may_be_there_ = true;
  std::vector<std::string> problems_;
  ExitCode worst_ = ExitCode::kOk;
};

}  // namespace

ExitCode HFileTable::PrintProbe(const ProbeArgs& args, const Output& output,
                                ProbeCounts* counts) const {
  return HFileProber(*this, args, output).Run(counts);
}

}  // namespace rowbloom::sst_inspect
