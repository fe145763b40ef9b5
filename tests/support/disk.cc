#include "tests/support/disk.h"

#include <fnmatch.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <set>
#include <system_error>

namespace rowbloom::test {

namespace fs = std::filesystem;

namespace {

uint64_t InodeOf(const std::string& path) {
  struct stat found;
  if (stat(path.c_str(), &found) != 0) {
    throw std::system_error(errno, std::generic_category(), path);
  }
  return found.st_ino;
}

}  // namespace

Disk::Disk(std::string directory)
    : path_(fs::path(std::move(directory)).lexically_normal().string()),
      contents_path_(path_ + ".disk") {
  Begin();
}

Disk::~Disk() {
  std::error_code ignored;
  fs::remove_all(contents_path_, ignored);
}

void Disk::Begin() {
  fs::remove_all(contents_path_);
  fs::create_directory(contents_path_);
  unsynced_.clear();
  root_ = std::make_shared<Node>();
  root_->is_directory = true;
  std::map<uint64_t, NodePtr> by_inode;
  Read(path_, root_, &by_inode);
}

void Disk::Read(const std::string& path, const NodePtr& directory,
                std::map<uint64_t, NodePtr>* by_inode) {
  for (const auto& entry : fs::directory_iterator(path)) {
    NodePtr& node = directory->now[entry.path().filename().string()];
    if (entry.is_directory()) {
      node = std::make_shared<Node>();
      node->is_directory = true;
      Read(entry.path().string(), node, by_inode);
      continue;
    }
    NodePtr& known = (*by_inode)[InodeOf(entry.path().string())];
    if (known == nullptr) {
      known = NewFile(entry.path().string());
      known->synced_bytes = entry.file_size();
    }
    node = known;
  }
  directory->synced = directory->now;
}

Disk::NodePtr Disk::NewFile(const std::string& path) {
  auto node = std::make_shared<Node>();
  node->contents = contents_path_ + "/" + std::to_string(++files_);
  fs::create_hard_link(path, node->contents);
  return node;
}

Disk::NodePtr Disk::Place::node() const {
  if (directory == nullptr) return nullptr;
  if (name.empty()) return directory;
  const auto found = directory->now.find(name);
  return found == directory->now.end() ? nullptr : found->second;
}

Disk::Place Disk::Find(const std::string& path) const {
  const fs::path inside =
      fs::path(path).lexically_normal().lexically_relative(path_);
  if (inside.empty() || *inside.begin() == "..") return {};
  Place place{root_, ""};
  for (const fs::path& part : inside) {
    if (part.empty() || part == ".") continue;
    place = {place.node(), part.string()};
    if (place.directory == nullptr) return {};
  }
  return place;
}

void Disk::Make(Change change) {
  for (const Effect& effect : change) {
    if (effect.node == nullptr) {
      effect.directory->now.erase(effect.name);
    } else {
      effect.directory->now[effect.name] = effect.node;
    }
  }
  unsynced_.push_back(std::move(change));
}

void Disk::Settle(const Effect& effect, Names* names) {
  if (effect.node == nullptr) {
    names->erase(effect.name);
  } else {
    (*names)[effect.name] = effect.node;
  }
}

void Disk::IgnoreSyncs(const std::string& pattern, uint64_t number) {
  const std::scoped_lock lock(mutex_);
  ignored_pattern_ = pattern;
  ignored_number_ = number;
  matching_syncs_ = 0;
  ignored_syncs_ = 0;
}

bool Disk::IsIgnored(const std::string& path) {
  if (fnmatch(ignored_pattern_.c_str(), path.c_str(), 0) != 0) return false;
  ++matching_syncs_;
  if (ignored_number_ != 0 && ignored_number_ != matching_syncs_) return false;
  ++ignored_syncs_;
  return true;
}

Disk::File Disk::OpenedNew(const std::string& path) {
  const std::scoped_lock lock(mutex_);
  const Place place = Find(path);
  if (place.directory == nullptr) return nullptr;
  NodePtr node = place.node();
  if (node != nullptr) {
    node->synced_bytes = 0;  // it was cut to nothing
    return node;
  }
  node = NewFile(path);
  Make({{place.directory, place.name, node}});
  return node;
}

Disk::File Disk::OpenedToAppend(const std::string& path) {
  {
    const std::scoped_lock lock(mutex_);
    if (NodePtr node = Find(path).node()) return node;
  }
  return OpenedNew(path);
}

void Disk::Synced(const File& file, const std::string& path, uint64_t bytes) {
  const std::scoped_lock lock(mutex_);
  if (file == nullptr || IsIgnored(path)) return;
  file->synced_bytes = std::max(file->synced_bytes, bytes);
}

void Disk::Truncated(const File& file, uint64_t bytes) {
  const std::scoped_lock lock(mutex_);
  if (file != nullptr) file->synced_bytes = std::min(file->synced_bytes, bytes);
}

void Disk::SyncedDirectory(const std::string& path) {
  const std::scoped_lock lock(mutex_);
  const NodePtr directory = Find(path).node();
  if (directory == nullptr || IsIgnored(path)) return;
  const auto is_here = [&](const Effect& effect) {
    return effect.directory == directory;
  };
  for (auto change = unsynced_.begin(); change != unsynced_.end(); ++change) {
    if (std::none_of(change->begin(), change->end(), is_here)) continue;
    for (const Effect& effect : *change) {
      Settle(effect, &effect.directory->synced);
      for (auto earlier = unsynced_.begin(); earlier != change; ++earlier) {
        std::erase_if(*earlier, [&effect](const Effect& other) {
          return other.directory == effect.directory &&
                 other.name == effect.name;
        });
      }
    }
    change->clear();
  }
  std::erase_if(unsynced_, [](const Change& change) { return change.empty(); });
}

void Disk::MadeDirectory(const std::string& path) {
  const std::scoped_lock lock(mutex_);
  const Place place = Find(path);
  if (place.directory == nullptr || place.node() != nullptr) return;
  auto node = std::make_shared<Node>();
  node->is_directory = true;
  Make({{place.directory, place.name, std::move(node)}});
}

void Disk::Deleted(const std::string& path) {
  const std::scoped_lock lock(mutex_);
  const Place place = Find(path);
  if (place.node() != nullptr) Make({{place.directory, place.name, nullptr}});
}

void Disk::Renamed(const std::string& from, const std::string& to) {
  const std::scoped_lock lock(mutex_);
  const Place source = Find(from);
  const Place target = Find(to);
  const NodePtr node = source.node();
  if (node == nullptr || target.directory == nullptr) return;
  Make({{source.directory, source.name, nullptr},
        {target.directory, target.name, node}});
}

void Disk::Linked(const std::string& from, const std::string& to) {
  const std::scoped_lock lock(mutex_);
  const Place target = Find(to);
  const NodePtr node = Find(from).node();
  if (node == nullptr || target.directory == nullptr) return;
  Make({{target.directory, target.name, node}});
}

void Disk::Write(const NodePtr& directory, const std::string& path,
                 Left* left) {
  fs::create_directory(path);
  const auto changed = left->names.find(directory);
  for (const auto& [name, node] :
       changed == left->names.end() ? directory->synced : changed->second) {
    const std::string its = path + "/" + name;
    if (node->is_directory) {
      Write(node, its, left);
      continue;
    }
    const auto [written, is_first] = left->files.try_emplace(node, its);
    if (!is_first) {
      fs::create_hard_link(written->second, its);
      continue;
    }
    const uint64_t bytes = fs::file_size(node->contents);
    const uint64_t unsynced = bytes - std::min(bytes, node->synced_bytes);
    const uint64_t lost = left->random.OneIn(3) ? 0
                          : left->random.OneIn(2)
                              ? unsynced
                              : left->random.Below(unsynced + 1);
    fs::copy_file(node->contents, its);
    if (lost > 0) fs::resize_file(its, bytes - lost);
  }
}

void Disk::Recover(uint64_t seed, const std::string& directory) const {
  Left left{.random = Random(seed), .names = {}, .files = {}};
  // Few or many changes survive, or all.
  const uint64_t one_ends_in = uint64_t{1} << left.random.Below(10);
  std::set<NodePtr> ended;  // directories whose later changes are lost
  for (const Change& change : unsynced_) {
    const bool is_lost =
        left.random.OneIn(one_ends_in) ||
        std::any_of(change.begin(), change.end(), [&](const Effect& effect) {
          return ended.contains(effect.directory);
        });
    for (const Effect& effect : change) {
      if (is_lost) {
        ended.insert(effect.directory);
        continue;
      }
      const auto names =
          left.names.try_emplace(effect.directory, effect.directory->synced);
      Settle(effect, &names.first->second);
    }
  }
  Write(root_, directory, &left);
}

void Disk::Restart(uint64_t seed) {
  fs::remove_all(path_);
  Recover(seed, path_);
  Begin();
}

}  // namespace rowbloom::test
