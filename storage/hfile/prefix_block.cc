#include <string>

#include "lib/bytes/text.h"
#include "storage/format/coding.h"
#include "storage/hfile/delta_block.h"

namespace rowbloom::hfile {

bool PrefixCells::ReadKeyAndValue() {
  uint64_t rest_bytes = 0;
  uint64_t value_bytes = 0;
  uint64_t common = 0;
  if (!GetVarint(&rest_, &rest_bytes) || !GetVarint(&rest_, &value_bytes) ||
      !GetVarint(&rest_, &common)) {
    return FailCutOff();
  }
  if (common > key_bytes() || rest_bytes > rest_.size()) {
    return Fail(Concat("key of ", common, " common bytes and ", rest_bytes,
                       ", expected at most ", key_bytes(), " and ",
                       rest_.size()));
  }
  return CheckSizes(common + rest_bytes, value_bytes) &&
         ReadKey(common, common + rest_bytes) && ReadValue(value_bytes);
}

void PrefixBuilder::AddKeyAndValue(const HFileCellView* before,
                                   const HFileCellView& cell) {
  std::string key;
  AppendKey(cell.key(), &key);
  size_t common = 0;
  if (before != nullptr) {
    common = CommonColumnBytes(*before, cell);
    std::string key_before;
    AppendKey(before->key(), &key_before);
    // Timestamp and type count as common only if the columns are the same.
    if (common + kTimestampTypeBytes == key.size() &&
        key.size() == key_before.size()) {
      while (common < key.size() && key[common] == key_before[common]) {
        ++common;
      }
    }
  }
  PutVarint(&payload_, key.size() - common);
  PutVarint(&payload_, cell.value.size());
  PutVarint(&payload_, common);
  payload_.append(key, common);
  AppendValue(cell.value);
}

}  // namespace rowbloom::hfile
