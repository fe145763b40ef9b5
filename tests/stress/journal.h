// The journal of a share: what a process was about to write, and what the
// database has acknowledged, in a file that survives the process.
//
// A record is `I` and the changes, in whatever form the caller gives them,
// before they are written, then `A` when the write has returned OK, or `L` when
// it turned out to be lost. Whatever the process wrote with write(2) is in the
// file when SIGKILL ends it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rowbloom::stress {

class Journal {
 public:
  // Appends to the file, which is created if it is not there. Throws
  // std::system_error, as do all functions here.
  explicit Journal(const std::string& path);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  void Intend(std::string_view changes);
  void Acknowledge() { Append("A"); }
  void Lose() { Append("L"); }

  struct Contents {
    std::vector<std::string> acknowledged;  // in order
    std::optional<std::string> pending;     // neither acknowledged nor lost
  };
  // A record that was cut short is removed from the file: the write that it
  // announces had not begun.
  static Contents Replay(const std::string& path);

 private:
  void Append(std::string_view bytes);

  int file_;
};

// Texts of any bytes, one after the other, for the changes of a journal.
void AppendText(std::string_view text, std::string* out);
// Takes one from the front; nullopt when the bytes end inside it.
std::optional<std::string> TakeText(std::string_view* bytes);
// The same where it must be there.
std::string TakeTextOrThrow(std::string_view* bytes);

}  // namespace rowbloom::stress
