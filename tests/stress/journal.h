// The journal of a share: what a process was about to write, and what the
// database has acknowledged, in a file that survives the process.
//
// A record is `I` and changes before they are written, then `A` when the write
// has returned OK, or `L` when it turned out to be lost. Whatever the process
// wrote with write(2) is in the file when SIGKILL ends it.
#pragma once

#include <string>

#include "tests/stress/model.h"

namespace rowbloom::stress {

class Journal {
 public:
  // Appends to the file, which is created if it is not there. Throws
  // std::system_error, as do all functions here.
  explicit Journal(const std::string& path);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  void Intend(const Changes& changes);
  void Acknowledge() { Append("A"); }
  void Lose() { Append("L"); }

  // What the share must hold by this file. A record that was cut short is
  // removed from it: the write that it announces had not begun.
  static UncertainCells Replay(const std::string& path);

 private:
  void Append(const std::string& bytes);

  int file_;
};

}  // namespace rowbloom::stress
