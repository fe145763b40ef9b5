// RedisBloomFilter: a Bloom filter that programs share through Redis, as the
// bits of one string. It uses SETBIT, GETBIT and transactions, so any Redis
// will do, without modules, and a JVM service that sets bits by the same rule
// shares the filter.
//
// The rule is Guava's MURMUR128_MITZ_32, which Java programs that keep Bloom
// filters in Redis commonly follow. A key has the 64 bits of
// Hashing.murmur3_128().hashObject(key, funnel).asLong(): hash1 is the lower
// and hash2 the upper 32 of them. For i in 1 .. hashes:
//
//   int n = hash1 + i * hash2;  if (n < 0) n = ~n;  SETBIT name (n % bits) 1
//
// Both sides must have the same bits and hashes. GuavaShape has those of
// Guava's own filters, whose bits are rounded up to 64; a JVM service that
// takes optimalNumOfBits as it is wants ClassicBloomFilter::OptimalBits.
//
// A lost filter is an error, never "absent". Redis may evict a string, or
// restart without it; SETBIT would then silently begin a new one, and another
// program may create a new filter. So the bit after the last one, which no key
// sets, is set when a filter is created, and a random id follows it. Each
// lookup compares them with those that Open read, in one transaction with the
// bits. Filters of earlier versions have no id: a filter that an earlier
// version created again looks like its predecessor.
//
// An older state of the filter has the same mark and id. So keys that were put
// last are absent, without an error, on a replica that has not got them yet or
// takes over, and after a restart of a server that had not saved them.
//
// Thread safety: none; a connection is for one thread. Any number of processes
// may share a filter; a child of fork gets a connection of its own.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rocksdb/status.h"
#include "rowbloom/classic_bloom_filter.h"

namespace rowbloom {

struct RedisEndpoint {
  std::string unix_socket;  // if not empty, used in place of host and port
  std::string host = "127.0.0.1";
  uint16_t port = 6379;
  // AUTH, if one of them is not empty. An empty user: that of the password
  // alone.
  std::string user;
  std::string password;
  // The timeout of connecting, and of each reply or MiB of one. REQUIRES > 0.
  int timeout_ms = 1000;
};

struct RedisFilterShape {
  uint64_t bits = 0;
  int hashes = 0;
};

struct RedisFilterOptions {
  RedisEndpoint endpoint;
  std::string name;  // the key of the string
  RedisFilterShape shape;
  // True if an empty filter is created when there is no such string.
  bool create_if_missing = false;
  // True if a string without rowbloom's mark is taken as it is: one of a JVM
  // service, or one that was lost and begun anew.
  bool adopt = false;
};

class RedisBloomFilter {
 public:
  // The offsets of the rule end at this number: 256 MiB.
  static constexpr uint64_t kMaxBits = uint64_t{1} << 31;

  // The shape of ClassicBloomFilter::Create with these arguments, which Load
  // and Read ask for. InvalidArgument: a rate outside (0, 1), no bits, or more
  // than kMaxBits or ClassicBloomFilter::kMaxHashes.
  static rocksdb::Status GuavaShape(uint64_t expected_insertions,
                                    double false_positive_rate,
                                    RedisFilterShape* shape);

  // Connects. InvalidArgument: an option out of its range. IOError: no
  // connection, a server that refuses, or one whose replies are not Redis'.
  // NotFound: no such filter, or a string of another size or without rowbloom's
  // mark.
  static rocksdb::Status Open(const RedisFilterOptions& options,
                              std::unique_ptr<RedisBloomFilter>* filter);

  ~RedisBloomFilter();
  RedisBloomFilter(const RedisBloomFilter&) = delete;
  RedisBloomFilter& operator=(const RedisBloomFilter&) = delete;

  // All of the following: IOError if the connection or the server fails, after
  // which the next call connects anew; NotFound if the filter is gone, also if
  // there is another one in its place; MemoryLimit. Results are then as they
  // were, but keys may have been put.

  // Adds a key. *changed, if not null, is true when a bit changed: the key was
  // surely new.
  rocksdb::Status Put(std::string_view key, bool* changed = nullptr);
  // *may_contain is false if the key was never put.
  rocksdb::Status MightContain(std::string_view key, bool* may_contain);

  // The same for many keys, with one round trip for some thousand bits.
  rocksdb::Status Put(std::span<const std::string_view> keys,
                      std::vector<bool>* changed = nullptr);
  rocksdb::Status MightContain(std::span<const std::string_view> keys,
                               std::vector<bool>* may_contain);
  // The overload for {"a", "b"}. Without it, C++20 would make one
  // std::string_view of the two pointers.
  rocksdb::Status Put(std::initializer_list<std::string_view> keys,
                      std::vector<bool>* changed = nullptr) {
    return Put(std::span(keys.begin(), keys.size()), changed);
  }

  // Replaces this filter by another one, atomically. The caller has to know
  // that it has all keys. Works if the filter is gone, too, and replaces one
  // that was created meanwhile. Other programs that have this filter open use
  // the new one. After an IOError the filter may have been replaced, or be
  // replaced as soon as a server that hangs goes on. InvalidArgument: another
  // shape or strategy than ours, or a secret.
  rocksdb::Status Load(const ClassicBloomFilter& filter);

  // Reads the whole filter. InvalidArgument: its bits are no multiple of 64, as
  // those of a ClassicBloomFilter are. Corruption: the string is longer than
  // the filter.
  rocksdb::Status Read(std::unique_ptr<ClassicBloomFilter>* filter);

  const RedisFilterShape& shape() const;

 private:
  class Impl;
  explicit RedisBloomFilter(std::unique_ptr<Impl> impl);

  std::unique_ptr<Impl> impl_;
};

}  // namespace rowbloom
