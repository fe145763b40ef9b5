#include "tests/stress/worker.h"

#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <filesystem>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

namespace rowbloom::stress {
namespace {

pid_t Spawn(const std::vector<std::string>& arguments) {
  const std::string program =
      std::filesystem::read_symlink("/proc/self/exe").string();
  std::vector<char*> argv = {const_cast<char*>(program.c_str())};
  for (const std::string& argument : arguments) {
    argv.push_back(const_cast<char*>(argument.c_str()));
  }
  argv.push_back(nullptr);
  pid_t pid = 0;
  const int failed = posix_spawn(&pid, program.c_str(), nullptr, nullptr,
                                 argv.data(), environ);
  if (failed != 0) {
    throw std::system_error(failed, std::generic_category(), program);
  }
  return pid;
}

int WaitFor(pid_t pid) {
  int status = 0;
  while (waitpid(pid, &status, 0) < 0) {
    if (errno != EINTR) {
      throw std::system_error(errno, std::generic_category(), "waitpid");
    }
  }
  return status;
}

}  // namespace

void KillWorkerAfter(uint64_t milliseconds, const Round& round, uint64_t life,
                     Report* report) {
  const pid_t pid = Spawn({"--seed", std::to_string(round.seed), "--kinds",
                           round.kind, "--round", std::to_string(round.number),
                           "--threads", std::to_string(round.threads), "--db",
                           round.dir, "--life", std::to_string(life)});
  std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
  kill(pid, SIGKILL);
  const int status = WaitFor(pid);
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
    ++report->counters.kills;
  } else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
    report->Divergence("the worker ended by itself, with wait status " +
                       std::to_string(status));
  }
}

void EndWithParent() { prctl(PR_SET_PDEATHSIG, SIGKILL); }

}  // namespace rowbloom::stress
