// A directory whose disk remembers what was synced, so that a power cut can
// take the rest.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "tests/support/random.h"

namespace rowbloom::test {

// The state of a directory and of all below it: what programs see, which is in
// the directory itself, and what the disk has, which is kept here. FaultEnv
// tells it of each call. Paths outside of the directory are ignored.
// Thread-safe, but for the constructor, Recover and Restart.
//
// On the disk are:
//   - of a file, the bytes up to its last sync
//   - of a directory, the names as of its last sync
//   - of the creations, deletions, links and renamings since then some of the
//     first, for each directory by itself: file systems keep a journal of them,
//     and RocksDB relies on that where it names a new MANIFEST in CURRENT
//   - of bytes appended since the last sync, none, some of the first, or all
// Files that come into being past the file system's calls, as RocksDB's LOG and
// LOCK do, are gone after a power cut.
class Disk {
 private:
  struct Node;
  using NodePtr = std::shared_ptr<Node>;

 public:
  // A file, whatever name it has. nullptr: it is not on this disk.
  using File = NodePtr;

  // Takes all that is in `directory`, which exists, for synced. Keeps what it
  // needs in `directory`.disk until it goes.
  explicit Disk(std::string directory);
  ~Disk();
  Disk(const Disk&) = delete;
  Disk& operator=(const Disk&) = delete;

  // From now on, of the syncs of paths that match the pattern, as a shell's
  // with '*' for '/' too, the one of this number (the first is 1), or with 0
  // all, does nothing and returns as if it had. One such rule at a time.
  void IgnoreSyncs(const std::string& pattern, uint64_t number = 0);
  // The number of syncs that were ignored.
  uint64_t ignored_syncs() const { return ignored_syncs_; }

  // Writes what a cut of the power may leave, as the seed chooses, to
  // `directory`, which must not exist. The disk stays as it is, so that one cut
  // can leave different things. REQUIRES that no file is open.
  void Recover(uint64_t seed, const std::string& directory) const;

  // The power is cut and comes back: the directory has what the disk had, all
  // of it synced. REQUIRES that no file is open.
  void Restart(uint64_t seed);

  // The file system calls each of these when the call of this name was done.
  File OpenedNew(const std::string& path);
  File OpenedToAppend(const std::string& path);
  // The first `bytes` of the file are written. `path` is where it was opened.
  void Synced(const File& file, const std::string& path, uint64_t bytes);
  void Truncated(const File& file, uint64_t bytes);
  void SyncedDirectory(const std::string& path);
  void MadeDirectory(const std::string& path);
  void Deleted(const std::string& path);
  void Renamed(const std::string& from, const std::string& to);
  void Linked(const std::string& from, const std::string& to);

 private:
  using Names = std::map<std::string, NodePtr>;
  struct Node {
    bool is_directory = false;
    uint64_t synced_bytes = 0;  // a file's
    std::string contents;       // a file's: a path that it always has
    Names now;                  // a directory's
    Names synced;               // a directory's
  };
  // A name of a directory that came, changed or, with nullptr, went.
  struct Effect {
    NodePtr directory;
    std::string name;
    NodePtr node;
  };
  // The names that one call changed: two, where it was a renaming.
  using Change = std::vector<Effect>;
  // A name in a directory; none, where that is not on this disk.
  struct Place {
    NodePtr directory;
    std::string name;
    NodePtr node() const;
  };

  Place Find(const std::string& path) const;
  void Make(Change change);
  static void Settle(const Effect& effect, Names* names);
  bool IsIgnored(const std::string& path);
  NodePtr NewFile(const std::string& path);
  void Read(const std::string& path, const NodePtr& directory,
            std::map<uint64_t, NodePtr>* by_inode);
  // The files and directories that Recover writes.
  struct Left {
    Random random;
    std::map<NodePtr, Names> names;        // of directories that differ
    std::map<NodePtr, std::string> files;  // written already, and where
  };
  static void Write(const NodePtr& directory, const std::string& path,
                    Left* left);
  void Begin();

  const std::string path_;
  const std::string contents_path_;
  std::mutex mutex_;  // guards all that follows
  NodePtr root_;
  std::vector<Change> unsynced_;  // in order
  uint64_t files_ = 0;
  std::string ignored_pattern_;
  uint64_t ignored_number_ = 0;
  uint64_t matching_syncs_ = 0;
  uint64_t ignored_syncs_ = 0;
};

}  // namespace rowbloom::test
