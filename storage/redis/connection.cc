#include "storage/redis/connection.h"

#include <fcntl.h>
#include <hiredis/hiredis.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <optional>
#include <utility>

#include "rowbloom/printable.h"

namespace rowbloom::redis {
namespace {

using Clock = std::chrono::steady_clock;
using rocksdb::Status;
using std::chrono::milliseconds;

struct FreeReply {
  void operator()(redisReply* reply) const { freeReplyObject(reply); }
};

// Blocks SIGPIPE in this thread, and consumes one that is raised meanwhile.
// hiredis writes to sockets that the server may have closed, and the signal
// would end the process.
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

timeval Timeout(int ms) { return {ms / 1000, ms % 1000 * 1000}; }

// Makes the reader refuse long or nested arrays, which take memory before their
// elements arrive. EXEC replies with an element for each command.
void RefuseArrays(redisReader* reader) {
  static const redisReplyObjectFunctions all = *reader->fn;
  static redisReplyObjectFunctions short_arrays = [] {
    redisReplyObjectFunctions functions = all;
    functions.createArray = [](const redisReadTask* task,
                               auto elements) -> void* {
      constexpr int kMostElements = 8192;
      const bool is_short =
          elements <= kMostElements && task->parent == nullptr;
      return is_short ? all.createArray(task, elements) : nullptr;
    };
    return functions;
  }();
  reader->fn = &short_arrays;
}

// Sets `*refusal` to the text of an error, if it has none yet.
Reply ToReply(const redisReply& raw, std::optional<std::string>* refusal) {
  constexpr size_t kMostShown = 200;
  Reply reply;
  switch (raw.type) {
    case REDIS_REPLY_INTEGER:
      reply.kind = Reply::Kind::kInteger;
      reply.integer = raw.integer;
      break;
    case REDIS_REPLY_STRING:
      reply.kind = Reply::Kind::kString;
      reply.text.assign(raw.str, raw.len);
      break;
    case REDIS_REPLY_ARRAY:
      for (size_t i = 0; i < raw.elements; ++i) {
        reply.elements.push_back(ToReply(*raw.element[i], refusal));
      }
      break;
    case REDIS_REPLY_ERROR:
      if (!*refusal) {
        *refusal = ToPrintable({raw.str, std::min(raw.len, kMostShown)});
      }
      break;
    default:
      break;
  }
  return reply;
}

}  // namespace

void Connection::Free::operator()(redisContext* context) const {
  redisFree(context);
}

std::string Connection::Where() const {
  if (!endpoint_.unix_socket.empty())
    return "Redis at " + endpoint_.unix_socket;
  return "Redis at " + endpoint_.host + ":" + std::to_string(endpoint_.port);
}

void Connection::Drop() {
  context_.reset();
  pending_ = 0;
}

Status Connection::Failed(std::string_view doing, const std::string& why) {
  Drop();
  return Status::IOError(Where() + ": " + std::string(doing), why);
}

Status Connection::Failed(std::string_view doing) {
  return Failed(doing,
                context_ == nullptr ? "out of memory" : context_->errstr);
}

Status Connection::Connect() {
  process_ = getpid();
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
  // Closing a TCP connection discards what is not sent yet. The kernel would go
  // on sending, and a late Load would undo puts that came after it.
  const linger at_once{.l_onoff = 1, .l_linger = 0};
  setsockopt(context_->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
  // A program that is started meanwhile would keep it open.
  fcntl(context_->fd, F_SETFD, FD_CLOEXEC);
  RefuseArrays(context_->reader);
  if (endpoint_.password.empty() && endpoint_.user.empty()) {
    return Status::OK();
  }
  Reply reply;
  const Status s =
      endpoint_.user.empty()
          ? Call({"AUTH", endpoint_.password}, &reply)
          : Call({"AUTH", endpoint_.user, endpoint_.password}, &reply);
  if (!s.ok()) Drop();
  return s;
}

Status Connection::Append(std::initializer_list<std::string_view> words) {
  // A child of fork shares its parent's socket: each would read replies to the
  // other.
  if (context_ != nullptr && process_ != getpid()) Drop();
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

// hiredis would restart the timeout at each byte and each signal. This function
// restarts it at each MiB, as a whole filter may have 256.
Status Connection::ReadReply(size_t max_bytes, void** reply) {
  constexpr size_t kMiB = size_t{1} << 20;
  const milliseconds timeout(endpoint_.timeout_ms);
  auto end = Clock::now() + timeout;
  size_t in_time = 0;  // whole MiB that arrived
  redisReader* const reader = context_->reader;
  size_t bytes = reader->len - reader->pos;  // of this reply so far
  while (true) {
    if (redisReaderGetReply(reader, reply) != REDIS_OK) {
      return Failed("no reply that is one of Redis", reader->errstr);
    }
    if (*reply != nullptr) return Status::OK();
    if (bytes > max_bytes) {
      return Failed("a reply", "expected at most " + std::to_string(max_bytes) +
                                   " bytes, found more");
    }
    if (bytes / kMiB > in_time) {
      in_time = bytes / kMiB;
      end = Clock::now() + timeout;
    }
    const auto left =
        std::chrono::ceil<milliseconds>(end - Clock::now()).count();
    if (left <= 0) {
      return Failed("no reply",
                    "within " + std::to_string(endpoint_.timeout_ms) + " ms");
    }
    pollfd socket{context_->fd, POLLIN, 0};
    const int ready = poll(&socket, 1, static_cast<int>(left));
    if (ready < 0 && errno != EINTR) {
      return Failed("no reply", std::strerror(errno));
    }
    const size_t read_before = reader->len;
    if (ready > 0 && redisBufferRead(context_.get()) != REDIS_OK) {
      return Failed("no reply");
    }
    bytes += reader->len - read_before;
  }
}

Status Connection::Exchange(std::vector<Reply>* replies, size_t max_bytes) {
  replies->clear();
  const NoSigpipe no_sigpipe;
  std::optional<std::string> refusal;
  const milliseconds timeout(endpoint_.timeout_ms);
  auto end = Clock::now() + timeout;
  for (int is_sent = 0; is_sent == 0;) {
    errno = 0;
    if (redisBufferWrite(context_.get(), &is_sent) != REDIS_OK) {
      return Failed("cannot send");
    }
    // hiredis would restart the timeout at each signal, not only after bytes.
    if (errno != EINTR) {
      end = Clock::now() + timeout;
    } else if (Clock::now() >= end) {
      return Failed("cannot send",
                    "for " + std::to_string(timeout.count()) + " ms");
    }
  }
  Status s;
  for (; pending_ > 0; --pending_) {
    void* raw = nullptr;
    s = ReadReply(max_bytes, &raw);
    if (!s.ok()) break;
    const std::unique_ptr<redisReply, FreeReply> reply(
        static_cast<redisReply*>(raw));
    // The others are read after an error, too, so that the connection stays
    // usable.
    replies->push_back(ToReply(*reply, &refusal));
  }
  // A server may say why it closes the connection, before it does.
  return refusal ? Status::IOError(Where() + " refuses", *refusal) : s;
}

Status Connection::Call(std::initializer_list<std::string_view> words,
                        Reply* reply, size_t max_bytes) {
  if (Status s = Append(words); !s.ok()) return s;
  std::vector<Reply> replies;
  if (Status s = Exchange(&replies, max_bytes); !s.ok()) return s;
  *reply = std::move(replies.back());
  return Status::OK();
}

}  // namespace rowbloom::redis
