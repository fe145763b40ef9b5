// The random operations of one thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "tests/stress/store/common_rows.h"
#include "tests/stress/store/session.h"

namespace rowbloom::store_stress {

// The frequency of the rare operations: one in so many, or with 0 never.
struct Rarity {
  uint64_t flush = 150;
  uint64_t compaction = 400;
  uint64_t load = 100;
  uint64_t common = 8;
  uint64_t family = 40;
};

// Writes to its own share, and now and then reads from others. Its writes there
// depend on its seed and its share alone, not on other threads.
class Operator {
 public:
  // REQUIRES a session that is open until the operator goes.
  Operator(Session* session, CommonRows* common, uint32_t share,
           const Rarity& rarity, uint64_t seed)
      : session_(session),
        common_(common),
        own_(share),
        rarity_(rarity),
        random_(seed) {}

  void Step();

 private:
  void StepWrite();
  // Each writes something, whether it is acknowledged or not.
  void WriteBatchOf(const Changes& changes, Share* share);
  void Increment(Share* share);
  void Append(Share* share);
  // Increments and appends between other changes, in a batch.
  void UpdateBatch(Share* share);
  // Changes to several rows, after reads, in a transaction.
  void Transact(Share* share);
  void CheckAndWrite(Share* share);
  void Load(Share* share);
  // Creates, alters or drops the share's own family.
  void ChangeFamily(Share* share);

  void StepRead();
  // Any of the reads, at the state that the worlds are of.
  void Read(const Worlds& worlds, uint32_t share, const Snapshot* snapshot);
  void StepSnapshot();
  void Compact();

  Change RandomPut();
  Change RandomChange();
  Changes RandomChanges(uint64_t most);
  // An increment or an append of a cell of the world, which is added to the
  // batch, and the put that it comes to.
  Change RandomUpdate(const World& world, WriteBatch* batch);
  // Random changes with updates among them, which are added to the batch.
  // `read` is called before each, with the world after those before it.
  Changes AddRandomUpdates(const World& before, WriteBatch* batch,
                           const std::function<void(const World&)>& read);
  OwnedAddress RandomAddress(uint32_t share);
  std::string RandomFamily(uint32_t share);
  RowOptions RandomRowOptions(uint32_t share);
  std::string NewValue();
  WriteOptions RandomOptions();

  Session* const session_;
  CommonRows* const common_;  // may be null
  const uint32_t own_;
  const Rarity rarity_;
  Random random_;
  uint64_t values_ = 0;
  std::unique_ptr<const Snapshot> snapshot_;
  std::optional<World> world_then_;  // the share's at the snapshot
};

// Lets each share's operator do that many steps in a thread of its own, and
// then checks the common rows. Ends early at a divergence.
void RunOperators(Session* session, const Rarity& rarity, uint64_t steps,
                  uint64_t seed);
// Lets the first share's operator do that many steps in this thread, also after
// errors, and without common rows.
void RunFirstOperator(Session* session, const Rarity& rarity, int steps,
                      uint64_t seed);

}  // namespace rowbloom::store_stress
