// The process of upkeep_writer, which a test kills.
#pragma once

#include <signal.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <stdexcept>
#include <string>

namespace rowbloom::test {

class OtherProcess {
 public:
  OtherProcess(const std::string& path, uint64_t limit) {
    int ends[2];
    if (pipe(ends) != 0) throw std::runtime_error("pipe");
    const std::string number = std::to_string(limit);
    pid_ = fork();
    if (pid_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      dup2(ends[1], STDOUT_FILENO);
      close(ends[0]);
      close(ends[1]);
      execl(ROWBLOOM_UPKEEP_WRITER, ROWBLOOM_UPKEEP_WRITER, path.c_str(),
            number.c_str(), nullptr);
      _exit(127);
    }
    close(ends[1]);
    if (pid_ < 0) throw std::runtime_error("fork");
    output_ = fdopen(ends[0], "r");
  }
  ~OtherProcess() {
    Kill();
    std::fclose(output_);
  }
  OtherProcess(const OtherProcess&) = delete;
  OtherProcess& operator=(const OtherProcess&) = delete;

  // Waits for the next write to be acknowledged. 0: the process has ended.
  uint64_t NextNumber() {
    unsigned long long number = 0;
    return std::fscanf(output_, "%llu\n", &number) == 1 ? number : 0;
  }
  void Kill() {
    if (pid_ == 0) return;
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }

 private:
  pid_t pid_ = 0;
  FILE* output_ = nullptr;
};

}  // namespace rowbloom::test
