// Cuts the power at each step of something, and looks at what is left.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "tests/support/fault_file_system.h"
#include "tests/support/random.h"
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
// changes, each time with several choices of what is lost. Returns what the
// first check found that found something, with the cut, or nothing. *ignored is
// the number of syncs that were ignored until then.
inline std::string CutEverywhere(const PowerScenario& scenario,
                                 const IgnoredSync& sync = {},
                                 uint64_t* ignored = nullptr) {
  // An error after an ignored sync is to be found at any scale.
  const auto scaled = [&sync](uint64_t count) {
    return sync.pattern.empty() ? Scaled(count) : count;
  };
  const uint64_t seeds_at_the_end = scaled(12);
  const uint64_t seeds = scaled(3);
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
  // With 0 the power is cut at the end.
  const auto cut_at = [&](uint64_t change, uint64_t seed, bool* was_cut) {
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
    disk.IgnoreSyncs("");
    disk.Restart(seed);
    FaultPlan no_faults;
    const auto env = NewFaultEnv(&no_faults, &disk);
    const std::string wrong =
        !acknowledged && change == 0
            ? "it fails"
            : scenario.check(env.get(), path, acknowledged);
    if (wrong.empty()) return wrong;
    return wrong + ", after " +
           (acknowledged ? "it was acknowledged and " : "") +
           "the power was cut at change " + std::to_string(change) +
           " with seed " + std::to_string(seed);
  };
  const uint64_t first_seed = SeedFromEnv();
  bool was_cut = true;
  for (uint64_t seed = 0; seed < seeds_at_the_end; ++seed) {
    const std::string wrong = cut_at(0, first_seed + seed, &was_cut);
    if (!wrong.empty()) return wrong;
  }
  was_cut = true;
  for (uint64_t change = 1; was_cut; ++change) {
    for (uint64_t seed = 0; seed < seeds && was_cut; ++seed) {
      const std::string wrong = cut_at(change, first_seed + seed, &was_cut);
      if (!wrong.empty()) return wrong;
    }
  }
  return {};
}

}  // namespace rowbloom::test
