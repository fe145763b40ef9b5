// A connection to Redis that pipelines: commands are collected, sent together,
// and their replies read in order.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rocksdb/status.h"
#include "rowbloom/redis_bloom_filter.h"

struct redisContext;

namespace rowbloom::redis {

struct Reply {
  enum class Kind { kInteger, kString, kOther } kind = Kind::kOther;
  int64_t integer = 0;
  std::string text;
  std::vector<Reply> elements;  // of an array, which is kOther
};

class Connection {
 public:
  explicit Connection(RedisEndpoint endpoint)
      : endpoint_(std::move(endpoint)) {}
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Collects a command: its name and arguments, any bytes. Connects if there is
  // no connection, or if it is that of the process that forked this one.
  rocksdb::Status Append(std::initializer_list<std::string_view> words);

  // Sends the collected commands and reads a reply to each, of about
  // `max_bytes` at most. Each MiB has to arrive within the timeout. An IOError
  // that is no reply of the server ends the connection and drops the commands.
  rocksdb::Status Exchange(std::vector<Reply>* replies,
                           size_t max_bytes = kReplyBytes);

  // Append and Exchange of one command.
  rocksdb::Status Call(std::initializer_list<std::string_view> words,
                       Reply* reply, size_t max_bytes = kReplyBytes);

  // Ends the connection. REQUIRED after an exception, which may leave replies
  // that no call reads.
  void Drop();

  std::string Where() const;

 private:
  // A server's errors are the longest replies, except for whole strings.
  static constexpr size_t kReplyBytes = size_t{64} << 10;

  struct Free {
    void operator()(redisContext* context) const;
  };

  rocksdb::Status Connect();
  rocksdb::Status ReadReply(size_t max_bytes, void** reply);
  rocksdb::Status Failed(std::string_view doing, const std::string& why);
  rocksdb::Status Failed(std::string_view doing);

  const RedisEndpoint endpoint_;
  std::unique_ptr<redisContext, Free> context_;
  pid_t process_ = 0;  // the one that connected
  size_t pending_ = 0;
};

}  // namespace rowbloom::redis
