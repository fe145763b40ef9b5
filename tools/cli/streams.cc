#include "tools/cli/streams.h"

#include <istream>
#include <ostream>
#include <string>

namespace rowbloom::cli {

bool Confirm(const Streams& streams, bool yes, std::string_view question) {
  if (yes || !streams.in_is_terminal) return true;
  streams.err.stream << question << " [y/N] " << std::flush;
  std::string answer;
  std::getline(streams.in, answer);
  return answer == "y" || answer == "yes";
}

}  // namespace rowbloom::cli
