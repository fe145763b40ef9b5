#include "tests/storage/redis/redis_server.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <filesystem>
#include <stdexcept>
#include <thread>
#include <vector>

namespace rowbloom::test {
namespace {

#ifdef ROWBLOOM_REDIS_SERVER
constexpr const char* kProgram = ROWBLOOM_REDIS_SERVER;
#else
constexpr const char* kProgram = "";
#endif

bool Connects(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) return false;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  const int fd = socket(AF_UNIX, SOCK_STREAM, 0);
  const bool ok = connect(fd, reinterpret_cast<const sockaddr*>(&address),
                          sizeof(address)) == 0;
  close(fd);
  return ok;
}

}  // namespace

bool RedisServer::Exists() { return *kProgram != '\0'; }

RedisServer::RedisServer(const std::string& password) : password_(password) {
  Start();
}

RedisServer::~RedisServer() { Stop(); }

void RedisServer::Start() {
  const std::string directory = dir_.path().string();
  const std::string path = socket();
  std::vector<const char*> args = {kProgram,
                                   "--port",
                                   "0",
                                   "--unixsocket",
                                   path.c_str(),
                                   "--save",
                                   "",
                                   "--appendonly",
                                   "no",
                                   "--dir",
                                   directory.c_str()};
  if (!password_.empty()) {
    args.insert(args.end(), {"--requirepass", password_.c_str()});
  }
  args.push_back(nullptr);
  pid_ = fork();
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);  // it does not outlive the test
    const int nowhere = open("/dev/null", O_RDWR);
    dup2(nowhere, STDIN_FILENO);
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    execv(kProgram, const_cast<char* const*>(args.data()));
    _exit(127);
  }
  if (pid_ < 0) throw std::runtime_error("cannot start redis-server");
  for (int tries = 0; tries < 3000; ++tries) {
    if (Connects(path)) return;
    if (waitpid(pid_, nullptr, WNOHANG) == pid_) {
      pid_ = 0;
      throw std::runtime_error("redis-server has ended");
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  Stop();
  throw std::runtime_error("redis-server does not answer");
}

void RedisServer::Stop() {
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  pid_ = 0;
  std::error_code ignored;
  std::filesystem::remove(socket(), ignored);
}

void RedisServer::Pause() { kill(pid_, SIGSTOP); }

void RedisServer::Continue() { kill(pid_, SIGCONT); }

}  // namespace rowbloom::test
