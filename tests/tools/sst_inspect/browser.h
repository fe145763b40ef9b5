// Shows a page in headless Chromium, which is not needed to build or run
// anything else: where it is absent, tests are skipped.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <string>
#include <vector>

#include "tests/support/files.h"
#include "tests/support/temp_dir.h"
#include "tests/tools/sst/make_sst.h"

namespace rowbloom::test {

struct ShownPage {
  std::string dom;                   // after its scripts ran
  std::vector<std::string> console;  // messages, errors among them
};

// Opens `page`, and keeps a picture of it at `screenshot`. Fails the test if
// the browser does.
inline ShownPage ShowPage(const std::string& page,
                          const std::string& screenshot) {
  const TempDir dir;
  const std::string dom = dir.File("dom");
  const std::string log = dir.File("log");
  const pid_t child = fork();
  if (child == 0) {
    const int out = open(dom.c_str(), O_WRONLY | O_CREAT, 0600);
    const int err = open(log.c_str(), O_WRONLY | O_CREAT, 0600);
    if (out < 0 || err < 0) _exit(126);
    dup2(out, STDOUT_FILENO);
    dup2(err, STDERR_FILENO);
    // The sandbox wants what containers often have not, and the page is ours.
    execlp("chromium", "chromium", "--headless", "--no-sandbox",
           "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars",
           "--window-size=1280,1600", "--virtual-time-budget=5000",
           "--enable-logging=stderr", "--dump-dom",
           ("--user-data-dir=" + dir.File("profile")).c_str(),
           ("--screenshot=" + screenshot).c_str(), ("file://" + page).c_str(),
           nullptr);
    _exit(127);
  }
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  ShownPage shown{.dom = ReadFile(dom), .console = {}};
  const std::string text = ReadFile(log);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << text;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string line = text.substr(at, end - at);
    if (line.find("CONSOLE") != std::string::npos) {
      shown.console.push_back(line);
    }
    at = end + 1;
  }
  return shown;
}

}  // namespace rowbloom::test
