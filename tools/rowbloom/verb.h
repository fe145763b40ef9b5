// A verb of the command line: its name, its arguments, and what it does.
#pragma once

#include <functional>

#include "tools/rowbloom/report.h"
#include "tools/rowbloom/streams.h"

namespace CLI {
class App;
}

namespace rowbloom::cli {

// Does what a verb does, with the arguments that were parsed.
using Action = std::function<ExitCode(const Streams& streams)>;

struct Verb {
  const char* name;
  const char* summary;
  // Adds the verb's arguments to its command. The action owns them, and is
  // called after they were parsed, if the verb was.
  Action (*add_to)(CLI::App* command);
};

}  // namespace rowbloom::cli
