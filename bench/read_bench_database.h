// One database of read_bench.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bench/read_bench.h"
#include "bench/read_bench_plan.h"
#include "rocksdb/db.h"
#include "rocksdb/filter_policy.h"

namespace rowbloom::bench {

class ReadDatabase {
 public:
  // `plan` must outlive this.
  ReadDatabase(const ReadPlan& plan, Filter filter)
      : plan_(plan), filter_(filter) {}

  // Writes the files of the plan, with filters that take at most `byte_limit`
  // and close to it; kStock takes what it takes.
  rocksdb::Status Write(const std::string& path, uint64_t byte_limit);
  rocksdb::Status Close();
  // Opens what was written, with a new cache. REQUIRES that it is closed.
  rocksdb::Status Open(Caching caching);
  // Reads everything once, so that what fits is in the cache.
  rocksdb::Status Warm();
  // Runs the operation of this number and checks its answers; *found grows by
  // the keys that were there. Corruption: a wrong answer.
  rocksdb::Status Run(Read read, uint64_t operation, uint64_t* found);

  Filter filter() const { return filter_; }
  bool HasFilter(Read read) const;
  double bits_per_key() const { return bits_per_key_; }
  uint64_t filter_bytes() const { return filter_bytes_; }
  uint64_t cache_bytes() const { return cache_bytes_; }
  // Filters as those in the files, for lookups without a database. Empty
  // without filters.
  std::vector<std::string> BuildFilters() const;
  // nullptr without filters.
  const rocksdb::FilterPolicy* policy() const { return policy_.get(); }

 private:
  bool HasPrefixes() const;
  rocksdb::Status MakePolicy(
      double bits_per_key,
      std::shared_ptr<const rocksdb::FilterPolicy>* policy) const;
  rocksdb::Status FitPolicy(uint64_t byte_limit);
  rocksdb::Options OptionsFor(Caching caching);
  rocksdb::Status WriteFile(const CellsOfFile& cells, int level);
  rocksdb::Status CheckFiles();
  rocksdb::Status Get(const Question& question, uint64_t* found);
  rocksdb::Status Scan(const Question& question);
  rocksdb::Status MultiGet(const Question* questions, size_t count,
                           uint64_t* found);
  rocksdb::Status Check(const Question& question, const rocksdb::Status& status,
                        const rocksdb::PinnableSlice& value,
                        uint64_t* found) const;

  const ReadPlan& plan_;
  const Filter filter_;
  std::string path_;
  double bits_per_key_ = 0;
  uint64_t filter_bytes_ = 0;
  uint64_t cache_bytes_ = 0;
  std::shared_ptr<const rocksdb::FilterPolicy> policy_;
  std::unique_ptr<rocksdb::DB> db_;
};

}  // namespace rowbloom::bench
