// Store::Verify checks each file by itself, the records, and each cell, by an
// iterator that continues after keys that it cannot read.
#include "rowbloom/verify.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <utility>

#include "rocksdb/file_checksum.h"
#include "rocksdb/merge_operator.h"
#include "rocksdb/metadata.h"
#include "rocksdb/sst_file_reader.h"
#include "rowbloom/printable.h"
#include "storage/format/no_exceptions.h"
#include "storage/format/status_text.h"
#include "storage/store/metadata.h"
#include "storage/store/record_files.h"
#include "storage/store/snapshot.h"
#include "storage/store/store_impl.h"
#include "storage/store/stored_cell.h"
#include "storage/upkeep/kept_files.h"

namespace rowbloom {
namespace {

using rocksdb::Slice;
using rocksdb::Status;

// Accepts operands that the store's operator refuses, to read their keys.
class AnyOperand final : public rocksdb::AssociativeMergeOperator {
 public:
  const char* Name() const override { return "rowbloom.AnyOperand"; }
  bool Merge(const Slice& /*key*/, const Slice* /*existing*/,
             const Slice& operand, std::string* joined,
             rocksdb::Logger* /*logger*/) const override {
    joined->assign(operand.data(), operand.size());
    return true;
  }
};

// Reads the keys in each file of a family by itself. The database does not name
// the key at which it fails.
class KeysOfFiles {
 public:
  // `files` and `options` outlive it.
  KeysOfFiles(const std::vector<rocksdb::LiveFileMetaData>& files,
              const std::string& family, const rocksdb::Options& options)
      : options_(options) {
    for (const rocksdb::LiveFileMetaData& file : files) {
      if (file.column_family_name == family) files_.emplace_back().of = &file;
    }
    std::ranges::sort(files_, [](const Keys& a, const Keys& b) {
      return a.of->smallestkey < b.of->smallestkey;
    });
  }

  // Returns the next key after `key`, as far as the files can be read. nullopt:
  // there is none. Calls with rising keys open each file once.
  std::optional<std::string> After(const std::string& key) {
    std::optional<std::string> next;
    for (Keys& file : files_) {
      // The others, of which there may be many, are not even opened.
      if (next && file.of->smallestkey >= *next) break;
      if (file.of->largestkey <= key) {
        file.keys.reset();
        file.reader.reset();  // later keys do not need it
        continue;
      }
      std::string found = NextOf(&file, key);
      if (!next || found < *next) next = std::move(found);
    }
    return next;
  }

 private:
  struct Keys {
    const rocksdb::LiveFileMetaData* of = nullptr;
    std::unique_ptr<rocksdb::SstFileReader> reader;  // once it is needed
    std::unique_ptr<rocksdb::Iterator> keys;  // nullptr: it cannot be opened
    std::string after_damage;                 // empty: not looked for yet
  };

  // The next key of a file, or the first one after its damage, or the largest.
  std::string NextOf(Keys* file, const std::string& key) const {
    if (file->reader == nullptr) {
      file->reader = std::make_unique<rocksdb::SstFileReader>(options_);
      if (file->reader->Open(file->of->db_path + file->of->name).ok()) {
        file->keys.reset(file->reader->NewIterator(rocksdb::ReadOptions()));
      }
    }
    if (file->keys == nullptr) return file->of->largestkey;
    if (file->after_damage > key) return file->after_damage;
    rocksdb::Iterator* const keys = file->keys.get();
    keys->Seek(key + '\0');
    if (keys->Valid()) return keys->key().ToString();
    file->after_damage = file->of->largestkey;
    for (keys->SeekToLast(); keys->Valid() && keys->key().compare(key) > 0;
         keys->Prev()) {
      file->after_damage = keys->key().ToString();
    }
    return file->after_damage;
  }

  const rocksdb::Options& options_;
  std::vector<Keys> files_;  // by the smallest key
};

class Verification {
 public:
  Verification(const OpenedStore& opened, const VerifyOptions& options,
               VerifyReport* report)
      : opened_(opened),
        db_(opened.database.get()),
        options_(options),
        report_(report),
        families_(opened.families->Get()),
        kept_files_(db_),
        snapshot_(opened) {
    db_->GetLiveFilesMetaData(&files_);
    file_options_.env = db_->GetEnv();
    file_options_.merge_operator = std::make_shared<AnyOperand>();
  }

  // TryAgain: the store is open for reading, and its writer removed a file.
  Status Run() {
    if (options_.files) CheckFiles();
    if (options_.records) CheckRecords();
    for (auto it = families_->begin(); it != families_->end(); ++it) {
      if (options_.cells) CheckCells(it);
    }
    return gone_;
  }

 private:
  void Add(VerifyProblem problem) {
    ++report_->problem_count;
    if (report_->problems.size() < options_.max_problems) {
      report_->problems.push_back(std::move(problem));
    }
  }

  // Tells whether a read failed as the writer of the store removed a file.
  bool NoteGone(const Status& failed) {
    const bool is_gone = failed.IsPathNotFound() && opened_.options.read_only;
    if (is_gone) {
      gone_ = TryAgain("the writer of the store removed a file: ",
                       failed.ToString());
    }
    return is_gone;
  }

  void CheckFiles() {
    for (const rocksdb::LiveFileMetaData& file : files_) {
      const std::string path = file.db_path + file.name;
      rocksdb::SstFileReader reader(file_options_);
      Status found = reader.Open(path);
      if (found.ok()) found = reader.VerifyChecksum();
      if (found.ok()) {
        found = CheckWholeFile(path, file.file_checksum,
                               file.file_checksum_func_name);
      }
      const bool is_family = families_->contains(file.column_family_name);
      AddFile(path, file.size, is_family ? file.column_family_name : "", found);
    }
    for (const auto& [name, family] : *families_) {
      rocksdb::ColumnFamilyMetaData listing;
      db_->GetColumnFamilyMetaData(family.handle(), &listing);
      for (const rocksdb::BlobMetaData& file : listing.blob_files) {
        const std::string path = file.blob_file_path + file.blob_file_name;
        AddFile(
            path, file.blob_file_size, name,
            CheckWholeFile(path, file.checksum_value, file.checksum_method));
      }
    }
  }

  void AddFile(const std::string& path, uint64_t bytes,
               const std::string& family, const Status& found) {
    const bool is_gone = found.IsPathNotFound() || found.IsNotFound();
    if (is_gone && opened_.options.read_only) {
      gone_ = TryAgain(path, " was removed by the writer of the store");
      return;
    }
    ++report_->files;
    report_->file_bytes += bytes;
    if (found.ok()) return;
    Add({.file = path, .family = family, .problem = found.ToString()});
  }

  // Compares all bytes with the checksum in the MANIFEST, which detects an
  // intact file in the place of another one. Files of older versions have no
  // checksum.
  Status CheckWholeFile(const std::string& path, const std::string& expected,
                        const std::string& function) const {
    const auto factory = rocksdb::GetFileChecksumGenCrc32cFactory();
    const auto checksum = factory->CreateFileChecksumGenerator({});
    if (function != checksum->Name()) return Status::OK();
    std::unique_ptr<rocksdb::SequentialFile> file;
    Status s =
        db_->GetEnv()->NewSequentialFile(path, &file, rocksdb::EnvOptions());
    std::string buffer(size_t{1} << 20, '\0');
    Slice bytes;
    while (s.ok()) {
      s = file->Read(buffer.size(), &bytes, buffer.data());
      if (!s.ok() || bytes.empty()) break;
      checksum->Update(bytes.data(), bytes.size());
    }
    if (!s.ok()) return s;
    checksum->Finalize();
    const std::string found = checksum->GetChecksum();
    if (found == expected) return s;
    return Corruption(path, ": expected the checksum ",
                      Slice(expected).ToString(true),
                      " of the MANIFEST, found ", Slice(found).ToString(true));
  }

  void CheckRecords() {
    Metadata metadata;
    const std::unique_ptr<rocksdb::Iterator> records(db_->NewIterator(At()));
    for (records->SeekToFirst(); records->Valid(); records->Next()) {
      ++report_->records;
      const std::string_view key = records->key().ToStringView();
      const Status s =
          ReadRecord(key, records->value().ToStringView(), &metadata);
      if (!s.ok()) {
        Add({.problem =
                 "record \"" + ToPrintable(key) + "\": " + s.ToString()});
      }
    }
    const Status found = records->status();
    if (found.ok() && !metadata.exists) {
      Add({.problem = "expected a record \"store\", found none"});
    } else if (!found.ok() && !NoteGone(found)) {
      Add({.problem = "records: " + found.ToString()});
    }
    // The opening for reading has just checked the MANIFEST.
    if (opened_.options.read_only) return;
    rocksdb::DBOptions options;
    options.env = db_->GetEnv();
    std::vector<std::string> names;
    std::string manifest;
    Status s =
        CheckManifest(options.env, opened_.path, /*is_copy=*/false, &manifest);
    const std::string read = s.IsCorruption() ? manifest : "CURRENT";
    if (s.ok()) {
      s = rocksdb::DB::ListColumnFamilies(options, opened_.path, &names);
    }
    if (!s.ok()) {
      Add({.file = opened_.path + "/" + read, .problem = s.ToString()});
      return;
    }
    for (const auto& [name, family] : *families_) {
      if (std::find(names.begin(), names.end(), name) == names.end()) {
        Add({.family = name,
             .problem = "expected a column family of that name in the "
                        "MANIFEST, found none"});
      }
    }
  }

  void CheckCells(FamilyMap::const_iterator family) {
    std::optional<KeysOfFiles> keys;
    std::string at;  // the first key that was not checked
    for (std::optional<std::string> next = at; next;) {
      at = *std::move(next);
      const Status failed = Walk(family, &at);
      if (failed.ok()) return;
      // RocksDB opens blob files late, and tables beyond max_open_files.
      if (NoteGone(failed)) return;
      if (!keys) keys.emplace(files_, family->first, file_options_);
      // Looks up the keys from here on, until one can be read.
      bool has_key = false;
      for (next = keys->After(at); next; next = keys->After(at)) {
        std::string ignored;
        const Status s =
            db_->Get(At(), family->second.handle(), *next, &ignored);
        if (s.ok() || s.IsNotFound()) break;
        at = *next;
        has_key = true;
        if (!NoteGone(s)) AddUnread(family, at, s);
      }
      if (!has_key) AddUnread(family, at, failed);
    }
  }

  // Checks cells from *at on, and sets *at to the last one that was read.
  Status Walk(FamilyMap::const_iterator family, std::string* at) {
    rocksdb::ReadOptions options = At();
    options.total_order_seek = true;
    options.fill_cache = false;
    const std::unique_ptr<rocksdb::Iterator> it(
        db_->NewIterator(options, family->second.handle()));
    for (it->Seek(*at); it->Valid(); it->Next()) {
      *at = it->key().ToString();
      CheckCell(family, *at, it->value().ToStringView());
    }
    return it->status();
  }

  // Adds a key that cannot be read. A damaged file fails the reads of many keys
  // in the same way, and is added once.
  void AddUnread(FamilyMap::const_iterator family, const std::string& key,
                 const Status& failed) {
    const std::string problem = failed.ToString();
    if (problem.find(".sst") != problem.npos && !unread_.insert(problem).second)
      return;
    VerifyProblem unread{.family = family->first, .problem = problem};
    SetCell(key, &unread);
    Add(std::move(unread));
  }

  void SetCell(std::string_view key, VerifyProblem* problem) const {
    std::string_view row_bytes;
    if (!opened_.FindRow(key, &row_bytes).ok() ||
        !opened_.DecodeRow(row_bytes, &problem->row).ok()) {
      return;
    }
    problem->qualifier = key.substr(row_bytes.size());
  }

  void CheckCell(FamilyMap::const_iterator family, std::string_view key,
                 std::string_view value) {
    ++report_->cells;
    std::string_view row_bytes;
    std::string row;
    Entries entries;
    Status s = opened_.FindRow(key, &row_bytes);
    if (s.ok()) s = opened_.DecodeRow(row_bytes, &row);
    if (s.ok()) s = CheckRow(row);
    // Without a row there is no qualifier.
    const std::string_view qualifier =
        s.ok() ? key.substr(row_bytes.size()) : std::string_view();
    if (s.ok()) s = CheckQualifier(qualifier);
    if (s.ok()) s = ReadEntries({row, family, qualifier, value}, &entries);
    for (const Entry& entry : entries) {
      if (!s.ok()) break;
      if (IsDeleteOfRow(entry.type)) ++report_->row_deletes;
      s = CheckEntry(entry);
    }
    if (s.ok()) return;
    Add({.family = family->first,
         .row = row,
         .qualifier = std::string(qualifier),
         .problem = s.ToString()});
  }

  Status CheckEntry(const Entry& entry) const {
    if ((RareKindsOf(entry) & ~opened_.shared->rare_kinds) == 0) {
      return Status::OK();
    }
    return Corruption(
        "expected no entry of type ", static_cast<int>(entry.type),
        entry.ttl_ms == kNoTtl ? "" : " with a TTL",
        " by the record \"store\", found one at ", entry.timestamp_ms);
  }

  rocksdb::ReadOptions At() const {
    rocksdb::ReadOptions options;
    options.snapshot = snapshot_.get();
    return options;
  }

  const OpenedStore& opened_;
  rocksdb::DB* const db_;
  const VerifyOptions options_;
  VerifyReport* const report_;
  const SharedFamilies families_;
  const KeptFiles kept_files_;
  const StoreSnapshot snapshot_;
  std::vector<rocksdb::LiveFileMetaData> files_;
  rocksdb::Options file_options_;
  std::set<std::string> unread_;
  Status gone_;  // a file that could not be checked is gone
};

}  // namespace

Status Store::Verify(const VerifyOptions& options, VerifyReport* report) {
  return CatchExceptions([&] {
    *report = {};
    const std::shared_lock unchanged(impl_->opened.families->change_mutex);
    return Verification(impl_->opened, options, report).Run();
  });
}

}  // namespace rowbloom
