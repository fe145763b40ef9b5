// TreePicture: the files of a database by family and level, as a drawing shows
// them. Its size has a bound for each level: neighbours in a level of many
// files are drawn as one.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tools/sst_inspect/database_tree.h"
#include "tools/sst_inspect/html_parts.h"
#include "tools/sst_inspect/key_format.h"
#include "tools/sst_inspect/merging_list.h"
#include "tools/sst_inspect/tree_sums.h"

namespace rowbloom::sst_inspect {

// Neighbouring files of a level that are drawn as one.
struct FileRun {
  TreeSums sums;
  std::string path;      // of the first, printable
  std::string smallest;  // key of the first, as text
  std::string largest;   // key of the last, as text

  // MergingList calls these.
  uint64_t size_bytes() const { return sums.bytes; }
  bool BelongsWith(const FileRun& next) const {
    return (sums.unread_files > 0) == (next.sums.unread_files > 0);
  }
  void Join(const FileRun& next) {
    sums += next.sums;
    largest = next.largest;
  }
};

struct LevelPicture {
  int level = 0;
  TreeSums sums;
  std::vector<FileRun> runs;  // all files, in order
};

struct FamilyPicture {
  std::string name;
  Facts facts;
  TreeSums sums;
  std::vector<LevelPicture> levels;
};

struct TreePicture {
  std::string path;
  std::vector<FamilyPicture> families;
};

// Makes a picture. Legal calls: (AddFile* AddLevel* AddFamily)* Finish. Levels
// are those of the files.
class TreeDrawer {
 public:
  TreeDrawer(const DatabaseTree& tree, KeyFormat keys)
      : keys_(std::move(keys)), picture_{tree.path, {}} {}

  void AddFile(const TreeFamily& family, const TreeFile& file,
               const TreeSums& sums);
  void AddLevel(const TreeFamily& family, int level, const TreeSums& sums);
  void AddFamily(const TreeFamily& family, const TreeSums& sums);
  void Finish(const TreeSums& /*sums*/) {}

  const TreePicture& picture() const { return picture_; }
  // The files that could be read; they are those of the tree.
  const std::vector<const TreeFile*>& read_files() const { return read_files_; }

 private:
  const KeyFormat keys_;
  TreePicture picture_;
  std::vector<const TreeFile*> read_files_;
  std::map<int, MergingList<FileRun>> runs_;  // of the family, by level
  std::vector<LevelPicture> levels_;          // of the family
};

}  // namespace rowbloom::sst_inspect
