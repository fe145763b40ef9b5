// The virtual functions of FilterBitsBuilder and FilterBitsReader as the
// including file declares them: included after either declaration, it is read
// with both.
#pragma once

#include <compare>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace rowbloom {

struct Slot {
  std::string function;
  std::string type;     // as the compiler names it; of a count, empty
  size_t position = 0;  // in the table of virtual functions
  auto operator<=>(const Slot&) const = default;
};

namespace {

// A pointer to a virtual member function has, in the Itanium C++ ABI, the
// position of the function in the class's table, as an offset in bytes: in its
// first word, plus 1, on most CPUs; on AArch64 as it is, and in its second word
// a 1 that tells.
template <typename Function>
size_t PositionOf(Function function) {
  size_t words[2];
  static_assert(sizeof(function) == sizeof(words));
  std::memcpy(words, &function, sizeof(words));
#if defined(__aarch64__)
  return words[0] / sizeof(void*);
#else
  return (words[0] - 1) / sizeof(void*);
#endif
}

template <typename Function>
Slot SlotOf(const char* name, Function function) {
  return {name, __PRETTY_FUNCTION__, PositionOf(function)};
}

// A new virtual function comes after all that a class has.
struct AfterBuilder : rocksdb::FilterBitsBuilder {
  virtual void Next() = 0;
};
struct AfterReader : rocksdb::FilterBitsReader {
  virtual void Next() = 0;
};

// The functions that only some layouts have; `Builder` is a template parameter
// so that they need not be declared.
template <typename Builder>
void AddLaterSlots(std::vector<Slot>* slots) {
  if constexpr (requires { &Builder::AddKeyAndAlt; }) {
    slots->push_back(SlotOf("AddKeyAndAlt", &Builder::AddKeyAndAlt));
  }
  if constexpr (requires { &Builder::CalculateSpace; }) {
    slots->push_back(SlotOf("CalculateSpace", &Builder::CalculateSpace));
  }
  if constexpr (requires { &Builder::EstimatedFpRate; }) {
    slots->push_back(SlotOf("EstimatedFpRate", &Builder::EstimatedFpRate));
  }
}

std::vector<Slot> DeclaredSlots() {
  using rocksdb::Slice;
  using rocksdb::Status;
  using Builder = rocksdb::FilterBitsBuilder;
  using Reader = rocksdb::FilterBitsReader;
  using Buffer = std::unique_ptr<const char[]>*;
  std::vector<Slot> slots = {
      SlotOf("AddKey", &Builder::AddKey),
      SlotOf("EstimateEntriesAdded", &Builder::EstimateEntriesAdded),
      SlotOf<Slice (Builder::*)(Buffer)>("Finish", &Builder::Finish),
      SlotOf<Slice (Builder::*)(Buffer, Status*)>("Finish", &Builder::Finish),
      SlotOf("MaybePostVerify", &Builder::MaybePostVerify),
      SlotOf("ApproximateNumEntries", &Builder::ApproximateNumEntries),
      {"functions of the builder", "", PositionOf(&AfterBuilder::Next)},
      SlotOf<bool (Reader::*)(const Slice&)>("MayMatch", &Reader::MayMatch),
      SlotOf<void (Reader::*)(int, Slice**, bool*)>("MayMatch",
                                                    &Reader::MayMatch),
      {"functions of the reader", "", PositionOf(&AfterReader::Next)},
  };
  AddLaterSlots<Builder>(&slots);
  return slots;
}

}  // namespace

}  // namespace rowbloom
