// The contents that a share of the keys must have: a std::map, and the changes
// to it.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rocksdb/merge_operator.h"
#include "rocksdb/write_batch.h"

namespace rowbloom::stress {

using Cells = std::map<std::string, std::string>;

enum class ChangeType : char {
  kPut = 'p',
  kMerge = 'm',
  kDelete = 'd',
  kSingleDelete = 's',
  kDeleteRange = 'r',
};

struct Change {
  ChangeType type;
  std::string key;
  std::string value;  // kDeleteRange: the end, excluded
};

// Applied together or not at all.
using Changes = std::vector<Change>;

void Apply(const Changes& changes, Cells* cells);
rocksdb::WriteBatch ToWriteBatch(const Changes& changes);

// The bytes that a journal has of changes.
std::string Encode(const Changes& changes);
void Decode(std::string_view bytes, Changes* changes);

// A merge appends its operand to the value.
std::shared_ptr<rocksdb::MergeOperator> NewAppendOperator();

// The contents that a share may have. A read is right if it is right in one of
// them.
using Worlds = std::vector<const Cells*>;

}  // namespace rowbloom::stress
