// The random operations of one thread.
#pragma once

#include <cstdint>
#include <string>

#include "tests/stress/session.h"

namespace rowbloom::stress {

// The frequency of the rare operations: one in so many, or with 0 never.
struct Rarity {
  uint64_t flush = 150;
  uint64_t compaction = 800;
  uint64_t ingestion = 200;
};

// Writes to its own share, and now and then reads from others. Its writes
// depend on its seed and its share alone, not on other threads.
class Operator {
 public:
  // REQUIRES a session that is open until the operator goes.
  Operator(Session* session, uint32_t share, const Rarity& rarity,
           uint64_t seed)
      : session_(session), own_(share), rarity_(rarity), random_(seed) {}
  ~Operator() { ReleaseSnapshot(); }
  Operator(const Operator&) = delete;
  Operator& operator=(const Operator&) = delete;

  void Step();

 private:
  void StepWrite();
  void StepRead();
  // Any of the reads, at the state that the checker and the worlds are of.
  void Read(const Checker& checker, const Worlds& worlds, uint32_t share);
  void StepSnapshot();
  void ReleaseSnapshot();
  void Compact();
  void Ingest();

  Change RandomChange();
  std::string NewValue();

  Session* const session_;
  const uint32_t own_;
  const Rarity rarity_;
  Random random_;
  uint64_t values_ = 0;
  const rocksdb::Snapshot* snapshot_ = nullptr;
  Cells cells_then_;  // the share's at the snapshot
};

// Lets each share's operator do that many steps in a thread of its own. Ends
// early at a divergence.
void RunOperators(Session* session, const Rarity& rarity, uint64_t steps,
                  uint64_t seed);
// Lets the first share's operator do that many steps in this thread, also after
// errors.
void RunFirstOperator(Session* session, const Rarity& rarity, int steps,
                      uint64_t seed);

}  // namespace rowbloom::stress
