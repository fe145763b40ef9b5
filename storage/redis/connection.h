// A connection to Redis that pipelines: commands are collected, sent together,
// and their replies read in order.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rocksdb/status.h"
#include "rowbloom/redis_bloom_filter.h"

struct redisContext;

namespace rowbloom::redis {

struct Reply {
  enum class Kind { kInteger, kString, kNil, kOther } kind = Kind::kOther;
  int64_t integer = 0;
  std::string text;
};

class Connection {
 public:
  explicit Connection(RedisEndpoint endpoint);
  ~Connection();
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  // Collects a command: its name and arguments, any bytes. Connects if there is
  // no connection.
  rocksdb::Status Append(std::initializer_list<std::string_view> words);

  // Sends what was collected and reads a reply to each, of some `max_bytes`
  // at most. Each MiB comes within the timeout. After an IOError, but for one
  // of the server's, the connection is gone, with all that was collected.
  rocksdb::Status Exchange(std::vector<Reply>* replies,
                           size_t max_bytes = kReplyBytes);

  // Append and Exchange of one command.
  rocksdb::Status Call(std::initializer_list<std::string_view> words,
                       Reply* reply, size_t max_bytes = kReplyBytes);

  // Ends the connection. REQUIRED after an exception: replies may be left that
  // no call waits for.
  void Drop();

  std::string Where() const;

 private:
  // Errors of servers are longer than any other reply but a whole string.
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
  size_t pending_ = 0;
};

}  // namespace rowbloom::redis
