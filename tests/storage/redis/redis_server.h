// A Redis server of a test's own: no port, a socket in a directory of its own,
// nothing on disk.
#pragma once

#include <sys/types.h>

#include <string>

#include "tests/support/temp_dir.h"

namespace rowbloom::test {

class RedisServer {
 public:
  // Starts it and waits until it answers. `password`: what it asks for.
  explicit RedisServer(const std::string& password = "");
  ~RedisServer();
  RedisServer(const RedisServer&) = delete;
  RedisServer& operator=(const RedisServer&) = delete;

  // Returns true when this machine has a Redis server.
  static bool Exists();

  std::string socket() const { return dir_.File("redis.sock"); }

  void Start();
  // All that it held is lost.
  void Stop();
  // Stops answering, and goes on.
  void Pause();
  void Continue();

 private:
  TempDir dir_;
  std::string password_;
  pid_t pid_ = 0;
};

}  // namespace rowbloom::test
