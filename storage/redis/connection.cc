#include "storage/redis/connection.h"

#include <hiredis/hiredis.h>
#include <pthread.h>
#include <signal.h>
#include <sys/time.h>

#include <utility>

namespace rowbloom::redis {
namespace {

using rocksdb::Status;

struct FreeReply {
  void operator()(redisReply* reply) const { freeReplyObject(reply); }
};

// hiredis writes to sockets that the server may have closed; the signal for
// that would end the process. Keeps it from this thread, and takes what was
// meant for it.
class NoSigpipe {
 public:
  NoSigpipe() {
    sigset_t pending;
    sigpending(&pending);
    was_pending_ = sigismember(&pending, SIGPIPE) == 1;
    sigemptyset(&sigpipe_);
    sigaddset(&sigpipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &sigpipe_, &mask_before_);
  }
  ~NoSigpipe() {
    const timespec at_once = {};
    if (!was_pending_) sigtimedwait(&sigpipe_, nullptr, &at_once);
    pthread_sigmask(SIG_SETMASK, &mask_before_, nullptr);
  }
  NoSigpipe(const NoSigpipe&) = delete;
  NoSigpipe& operator=(const NoSigpipe&) = delete;

 private:
  bool was_pending_;
  sigset_t sigpipe_;
  sigset_t mask_before_;
};

timeval Timeout(int milliseconds) {
  return {milliseconds / 1000, milliseconds % 1000 * 1000};
}

}  // namespace

void Connection::Free::operator()(redisContext* context) const {
  redisFree(context);
}

Connection::Connection(RedisEndpoint endpoint)
    : endpoint_(std::move(endpoint)) {}

Connection::~Connection() = default;

std::string Connection::Where() const {
  if (!endpoint_.unix_socket.empty())
    return "Redis at " + endpoint_.unix_socket;
  return "Redis at " + endpoint_.host + ":" + std::to_string(endpoint_.port);
}

Status Connection::Failed(std::string_view doing) {
  std::string why = context_ == nullptr ? "out of memory" : context_->errstr;
  context_.reset();
  pending_ = 0;
  return Status::IOError(Where() + ": " + std::string(doing), why);
}

Status Connection::Connect() {
  const timeval timeout = Timeout(endpoint_.timeout_ms);
  context_.reset(endpoint_.unix_socket.empty()
                     ? redisConnectWithTimeout(endpoint_.host.c_str(),
                                               endpoint_.port, timeout)
                     : redisConnectUnixWithTimeout(
                           endpoint_.unix_socket.c_str(), timeout));
  if (context_ == nullptr || context_->err != 0 ||
      redisSetTimeout(context_.get(), timeout) != REDIS_OK) {
    return Failed("cannot connect");
  }
  if (endpoint_.password.empty()) return Status::OK();
  Reply reply;
  const Status s =
      endpoint_.user.empty()
          ? Call({"AUTH", endpoint_.password}, &reply)
          : Call({"AUTH", endpoint_.user, endpoint_.password}, &reply);
  if (!s.ok()) context_.reset();
  return s;
}

Status Connection::Append(std::initializer_list<std::string_view> words) {
  if (context_ == nullptr) {
    if (Status s = Connect(); !s.ok()) return s;
  }
  std::vector<const char*> data;
  std::vector<size_t> sizes;
  for (const std::string_view word : words) {
    data.push_back(word.data());
    sizes.push_back(word.size());
  }
  if (redisAppendCommandArgv(context_.get(), static_cast<int>(data.size()),
                             data.data(), sizes.data()) != REDIS_OK) {
    return Failed("cannot send");
  }
  ++pending_;
  return Status::OK();
}

Status Connection::Exchange(std::vector<Reply>* replies) {
  replies->clear();
  const NoSigpipe no_sigpipe;
  Status refused;
  for (; pending_ > 0; --pending_) {
    void* raw = nullptr;
    if (redisGetReply(context_.get(), &raw) != REDIS_OK || raw == nullptr) {
      return Failed("no reply");
    }
    const std::unique_ptr<redisReply, FreeReply> reply(
        static_cast<redisReply*>(raw));
    Reply& result = replies->emplace_back();
    switch (reply->type) {
      case REDIS_REPLY_INTEGER:
        result.kind = Reply::Kind::kInteger;
        result.integer = reply->integer;
        break;
      case REDIS_REPLY_STRING:
        result.kind = Reply::Kind::kString;
        result.text.assign(reply->str, reply->len);
        break;
      case REDIS_REPLY_NIL:
        result.kind = Reply::Kind::kNil;
        break;
      case REDIS_REPLY_ERROR:
        // The other replies are read, so that the connection can go on.
        if (refused.ok()) {
          refused = Status::IOError(Where() + " refuses",
                                    std::string(reply->str, reply->len));
        }
        break;
      default:
        break;
    }
  }
  return refused;
}

Status Connection::Call(std::initializer_list<std::string_view> words,
                        Reply* reply) {
  if (Status s = Append(words); !s.ok()) return s;
  std::vector<Reply> replies;
  if (Status s = Exchange(&replies); !s.ok()) return s;
  *reply = std::move(replies.back());
  return Status::OK();
}

}  // namespace rowbloom::redis
