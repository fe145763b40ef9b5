#include "bench/filter_bench_keys.h"

#include <algorithm>

namespace rowbloom::bench {
namespace {

// Big-endian, so that keys sort as their numbers.
void PutBigEndian(uint64_t number, char* out) {
  for (int shift = 56; shift >= 0; shift -= 8) {
    *out++ = static_cast<char>(number >> shift);
  }
}

}  // namespace

std::string_view ToString(KeyShape shape) {
  return shape == KeyShape::kRow ? "row" : "row+column";
}

KeySpace::KeySpace(KeyShape shape, uint64_t keys, uint64_t seed)
    : shape_(shape), keys_(keys), seed_(Random::Mix(seed) & ~uint64_t{1}) {}

void KeySpace::Write(uint64_t row_bits, uint64_t column, char* key) const {
  PutBigEndian(row_bits, key);
  PutBigEndian(Random::Mix(row_bits + 1), key + 8);
  if (shape_ == KeyShape::kRow) {
    PutBigEndian(Random::Mix(row_bits + 2), key + 16);
    return;
  }
  key[16] = 'c';
  for (int digit = 23; digit > 16; --digit, column /= 10) {
    key[digit] = static_cast<char>('0' + column % 10);
  }
}

KeyArray KeySpace::Present() const {
  std::vector<uint64_t> row_bits(rows());
  for (uint64_t row = 0; row < rows(); ++row) row_bits[row] = RowBits(2 * row);
  std::sort(row_bits.begin(), row_bits.end());
  KeyArray present;
  present.Reserve(keys_);
  const size_t columns = shape_ == KeyShape::kRow ? 1 : kColumns;
  for (const uint64_t bits : row_bits) {
    for (size_t column = 0; column < columns; ++column) {
      Write(bits, column, present.Append());
    }
  }
  return present;
}

void KeySpace::AbsentRow(uint64_t index, char* key) const {
  Write(RowBits(2 * index + 1), index % kColumns, key);
}

void KeySpace::AbsentColumn(uint64_t index, char* key) const {
  Write(RowBits(2 * (index % rows())), kColumns + index / rows(), key);
}

}  // namespace rowbloom::bench
