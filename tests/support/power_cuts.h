// Cuts the power at each step of something, and looks at what is left.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "tests/support/fault_file_system.h"
#include "tests/support/random.h"
#include "tests/support/stride.h"
#include "tests/support/temp_dir.h"

namespace rowbloom::test {

// The work on a directory, which is there and may be filled, and the check of
// what must be left of it. All work with the files of `env`.
struct PowerScenario {
  // Done before; all of it is on the disk. May be empty.
  std::function<void(rocksdb::Env* env, const std::string& directory)> prepare;
  // Returns whether it was acknowledged. Power is cut after `begin` is called.
  std::function<bool(rocksdb::Env* env, const std::string& directory,
                     const std::function<void()>& begin)>
      act;
  // Returns what is wrong, or nothing.
  std::function<std::string(rocksdb::Env* env, const std::string& directory,
                            bool acknowledged)>
      check;
};

// Syncs that do nothing: see Disk::IgnoreSyncs.
struct IgnoredSync {
  std::string pattern;
  uint64_t number = 0;
};

// Lets the scenario end and cuts the power then, and again at each of its
// changes, below full scale at each fourth. Each cut is checked with several
// choices of what is lost. Returns what the first check found that found
// something, with the cut, or nothing. *ignored is the number of syncs that
// were ignored until then.
inline std::string CutEverywhere(const PowerScenario& scenario,
                                 const IgnoredSync& sync = {},
                                 uint64_t* ignored = nullptr) {
  // An error after an ignored sync is to be found at any scale.
  const bool is_full = !sync.pattern.empty();
  const uint64_t choices_at_the_end = is_full ? 12 : Scaled(12);
  const uint64_t choices = is_full ? 3 : Scaled(3);
  const uint64_t stride = is_full ? 1 : Stride(4);
  namespace fs = std::filesystem;
  const TempDir dir;
  const std::string prepared = dir.File("prepared");
  fs::create_directory(prepared);
  if (scenario.prepare) {
    FaultPlan no_faults;
    const auto env = NewFaultEnv(&no_faults);
    scenario.prepare(env.get(), prepared);
  }
  if (ignored != nullptr) *ignored = 0;
  // A `change` of 0 cuts the power at the end.
  const auto cut_at = [&](uint64_t change, bool* was_cut) -> std::string {
    const std::string path = dir.File("disk");
    fs::remove_all(path);
    fs::copy(prepared, path, fs::copy_options::recursive);
    Disk disk(path);
    bool acknowledged = false;
    {
      FaultPlan plan;
      const auto env = NewFaultEnv(&plan, &disk);
      acknowledged = scenario.act(env.get(), path, [&] {
        disk.IgnoreSyncs(sync.pattern, sync.number);
        if (change > 0) plan.CutPowerAt(change);
      });
      *was_cut = plan.faults() > 0;
    }
    if (ignored != nullptr) *ignored += disk.ignored_syncs();
    if (!acknowledged && change == 0) return "it fails";
    for (uint64_t i = 0; i < (change == 0 ? choices_at_the_end : choices);
         ++i) {
      const uint64_t seed = SeedFromEnv() + i;
      const std::string left = dir.File("left");
      fs::remove_all(left);
      disk.Recover(seed, left);
      Disk disk_after(left);
      FaultPlan no_faults;
      const auto env = NewFaultEnv(&no_faults, &disk_after);
      const std::string wrong = scenario.check(env.get(), left, acknowledged);
      if (wrong.empty()) continue;
      return wrong + ", after " +
             (acknowledged ? "it was acknowledged and " : "") +
             "the power was cut at change " + std::to_string(change) +
             " with seed " + std::to_string(seed);
    }
    return {};
  };
  bool was_cut = false;
  std::string wrong = cut_at(0, &was_cut);
  uint64_t cuts = 0;
  for (uint64_t change = 1; wrong.empty(); change += stride, ++cuts) {
    wrong = cut_at(change, &was_cut);
    if (!was_cut) break;
  }
  return wrong.empty() && cuts == 0 ? "it makes no change to cut" : wrong;
}

}  // namespace rowbloom::test
