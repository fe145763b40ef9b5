// The share of one thread: some of what a database holds, and the model of it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <shared_mutex>
#include <string>
#include <vector>

#include "tests/stress/journal.h"

namespace rowbloom::stress {

// Written by one thread and read by all. `World` is the model; the namespace of
// `Changes` has what makes changes and reads them from a journal:
//
//   void Apply(const Changes& changes, World* world);
//   void Decode(std::string_view bytes, Changes* changes);
template <typename World, typename Changes>
struct ShareOf {
  std::shared_mutex mutex;  // guards the model; exclusive while writing
  World world;
  // The contents, too, if a write was interrupted: then nothing is written
  // until Resolve was told which.
  std::optional<World> otherwise;
  Changes interrupted;               // that write, while there is `otherwise`
  std::unique_ptr<Journal> journal;  // may be null

  // A read is right if it is right in one of them.
  std::vector<const World*> worlds() const {
    if (!otherwise) return {&world};
    return {&world, &*otherwise};
  }

  // Records that a write, which the journal was told of, was acknowledged or
  // interrupted. Returns `acknowledged`.
  bool Settle(const Changes& changes, bool acknowledged) {
    if (acknowledged) {
      if (journal != nullptr) journal->Acknowledge();
      Apply(changes, &world);
    } else {
      Interrupt(changes);
    }
    return acknowledged;
  }

  // Records whether the interrupted write, if there is one, took place.
  void Resolve(bool took_place) {
    if (otherwise && journal != nullptr) {
      took_place ? journal->Acknowledge() : journal->Lose();
    }
    if (took_place) world = *otherwise;
    otherwise.reset();
  }

  // Makes a new share what the journal in a file says, and goes on with it.
  void Replay(const std::string& path) {
    const Journal::Contents replayed = Journal::Replay(path);
    Changes changes;
    for (const std::string& bytes : replayed.acknowledged) {
      Decode(bytes, &changes);
      Apply(changes, &world);
    }
    if (replayed.pending) {
      Decode(*replayed.pending, &changes);
      Interrupt(changes);
    }
    journal = std::make_unique<Journal>(path);
  }

 private:
  void Interrupt(const Changes& changes) {
    interrupted = changes;
    otherwise = world;
    Apply(changes, &*otherwise);
  }
};

// The shares of a database survive its openings.
template <typename Share>
using SharesOf = std::vector<std::unique_ptr<Share>>;

template <typename Share>
SharesOf<Share> NewShares(uint32_t count) {
  SharesOf<Share> shares;
  for (uint32_t i = 0; i < count; ++i) {
    shares.push_back(std::make_unique<Share>());
  }
  return shares;
}

}  // namespace rowbloom::stress
