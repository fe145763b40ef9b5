#include "tools/sst_inspect/file_picture.h"

#include <fmt/format.h>

#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "lib/bytes/integers.h"
#include "tools/sst_inspect/verbs.h"

namespace rowbloom::sst_inspect {
namespace {

using rocksdb::Status;

std::string NoteOf(std::string_view kind) {
  if (kind == "ribbon") {
    return "The bits of a ribbon are the solution of equations, not marks of "
           "keys: about half of them are set, however many keys it has. A "
           "lighter or darker stretch is space that no key uses, or damage.";
  }
  if (kind == "empty") return "A filter of no keys: it rules everything out.";
  return "The probes of one key are close together, so that pieces differ by "
         "chance. At half of its bits set a Bloom filter is used best; above, "
         "more absent keys pass.";
}

// Draws one file.
class Painter {
 public:
  Painter(const TableFile& file, const PictureBudget& budget,
          FilePicture* picture)
      : file_(file), budget_(budget), picture_(*picture), runs_(budget.runs) {}

  Status Draw() {
    picture_ = {};
    picture_.path = file_.path();
    picture_.size_bytes = file_.size_bytes();
    picture_.facts = SummaryOf(file_).Lines();
    Fail(file_.ForEachBlock(
        TableFile::Blocks::kAll,
        [this](const BlockInfo& block) { AddBlock(block); }));
    picture_.runs = runs_.items();
    DrawFilter();
    AddSections();
    return failure_;
  }

 private:
  void AddBlock(const BlockInfo& block) {
    ++picture_.blocks;
    picture_.totals[block.type].Add(block);
    BlockRun run;
    run.Add(block);
    run.type = block.type;
    run.offset_bytes = block.offset_bytes;
    run.compression = block.compression;
    runs_.Add(std::move(run));
    if (block.status.ok()) return;
    Problem(Describe(block.status));
    if (!block.status.IsCorruption()) Fail(block.status);
  }

  void Fail(const Status& status) {
    if (status.ok()) return;
    if (!status.IsCorruption()) {
      if (failure_.ok()) failure_ = status;
    } else {
      Problem(Describe(status));
    }
  }

  void Problem(const std::string& problem) {
    if (picture_.problems.size() == budget_.problems) {
      ++picture_.damaged;
    } else if (told_.insert(problem).second) {
      ++picture_.damaged;
      picture_.problems.push_back(problem);
    }
  }

  void DrawFilter() {
    picture_.filter_part = file_.filter_part();
    bool is_stock = true;  // all parts were read, and are RocksDB's own
    const Status status = file_.ForEachFilterPart([&](const FilterPart& part) {
      ++picture_.filter_parts;
      is_stock = is_stock && part.status.ok() && part.writer == "RocksDB";
      // ForEachBlock reported a block that cannot be read.
      if (part.status.ok()) AddPart(part);
    });
    if (status.IsNotSupported()) {
      picture_.notes.push_back(Describe(status));
    } else {
      Fail(status);
    }
    if (is_stock) UseEntriesOfProperties(file_.Facts(), &totals_);
  }

  void AddSections() {
    for (const auto& [what, totals] : totals_) {
      const auto fill = fills_.find(what);
      picture_.sections.push_back({what, totals,
                                   fill == fills_.end()
                                       ? std::vector<FillBucket>()
                                       : fill->second.items(),
                                   NoteOf(what.second)});
    }
    picture_.notes.insert(picture_.notes.end(), notes_.begin(), notes_.end());
  }

  void AddPart(const FilterPart& part) {
    if (!part.problem.empty()) {
      Problem(fmt::format("filter {} {}: {}", picture_.filter_part, part.number,
                          part.problem));
    }
    if (!part.note.empty()) {
      notes_.insert(part.note);
    } else if (!part.foreign.empty() && part.sections.empty()) {
      notes_.insert(part.foreign);
    }
    for (const SectionFacts& section : part.sections) {
      AddSection(part.number, section);
    }
  }

  void AddSection(size_t part, const SectionFacts& section) {
    const SectionId what(section.section, section.kind);
    totals_[what].Add(section);
    if (!section.problem.empty()) {
      Problem(fmt::format("filter {} {}: {} {}", picture_.filter_part, part,
                          section.section, section.problem));
    }
    AddBits(part, section.bits,
            &fills_.try_emplace(what, budget_.buckets).first->second);
  }

  void AddBits(size_t part, std::string_view bits,
               MergingList<FillBucket>* fill) const {
    // The size of the line that has all probes of a key. For other kinds of
    // filters any size will do.
    constexpr uint64_t kLine = 64;
    const uint64_t piece = std::max(
        kLine, (bits.size() / budget_.buckets + kLine - 1) / kLine * kLine);
    for (uint64_t at = 0; at < bits.size(); at += piece) {
      const std::string_view some = bits.substr(at, piece);
      fill->Add({part, part, at, some.size(), BitsSet(some)});
    }
  }

  const TableFile& file_;
  const PictureBudget& budget_;
  FilePicture& picture_;
  MergingList<BlockRun> runs_;
  TotalsBySection totals_;
  std::map<SectionId, MergingList<FillBucket>> fills_;
  std::set<std::string> notes_;
  std::set<std::string> told_;
  Status failure_;
};

}  // namespace

void BlockRun::Join(const BlockRun& next) {
  mixed = mixed || next.mixed || type != next.type;
  if (next.stored_bytes > stored_bytes) type = next.type;
  if (compression != next.compression) compression = "several";
  *this += next;
}

void FillBucket::Join(const FillBucket& next) {
  last_part = next.last_part;
  bytes += next.bytes;
  bits_set += next.bits_set;
}

PictureBudget PictureBudget::Among(size_t files) {
  const PictureBudget alone;
  const auto share = [files](size_t all, size_t least) {
    return std::clamp(4 * all / std::max<size_t>(files, 1), least, all);
  };
  return {.runs = share(alone.runs, 64),
          .buckets = share(alone.buckets, 32),
          .problems = share(alone.problems, 16)};
}

Status DrawFile(const TableFile& file, const PictureBudget& budget,
                FilePicture* picture) {
  return Painter(file, budget, picture).Draw();
}

}  // namespace rowbloom::sst_inspect
