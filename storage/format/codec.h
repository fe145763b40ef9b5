// The codecs of blocks, without the frames that files put around them.
// CheckClaim limits the sizes that blocks of all files claim.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>

#include "rocksdb/status.h"

struct ZSTD_DDict_s;

namespace rowbloom {

enum class Codec : uint8_t {
  kNone,
  kDeflate,  // without zlib's header
  kGzip,     // a member, decompressed only; its checksum is ignored
  kLz4,
  kSnappy,
  kZstd,  // frames
};

// The largest block, compressed or not, of any file that is read or written:
// Java counts its bytes in a signed int, LZ4 does so in C.
inline constexpr size_t kMaxBlockBytes =
    std::numeric_limits<int32_t>::max() / 8 * 7;

// The most bytes that a codec can make of so many stored ones.
uint64_t MaxDecompressedBytes(Codec codec, uint64_t stored_bytes);

// Checks the claim of a block of `stored_bytes` that its contents have
// `claimed_bytes`. Corruption: the codec cannot make so many. MemoryLimit: they
// are more than `most_bytes`. Call it before allocating memory for the
// contents. Messages do not say where the block is.
rocksdb::Status CheckClaim(Codec codec, uint64_t stored_bytes,
                           uint64_t claimed_bytes, uint64_t most_bytes);

// A dictionary that blocks were compressed with; kSnappy and kGzip have none.
// Immutable and thread-safe.
class CodecDictionary {
 public:
  explicit CodecDictionary(std::string bytes);

 private:
  friend rocksdb::Status Decompress(Codec, std::string_view, char*, size_t,
                                    size_t*, const CodecDictionary*);

  const std::string bytes_;
  // The dictionary in ZSTD's form; null if ZSTD refuses it.
  const std::unique_ptr<ZSTD_DDict_s, size_t (*)(ZSTD_DDict_s*)> digest_;
};

// Decompresses `in` to `*out_bytes` bytes at `out`, at most `room`. The rest of
// a kGzip member with more than `room` is ignored. Thread-safe. Errors, whose
// messages do not say where the block is:
//   Corruption   malformed, or there is more than `room`
//   MemoryLimit  the codec has no memory for its state
rocksdb::Status Decompress(Codec codec, std::string_view in, char* out,
                           size_t room, size_t* out_bytes,
                           const CodecDictionary* dictionary = nullptr);

// Tells whether ZSTD frames say that they need a dictionary.
bool NeedZstdDictionary(std::string_view frames);

// Compresses any number of blocks. Not thread-safe.
class Compressor {
 public:
  // The level is one of kDeflate or kZstd; -1 is the codec's default. The other
  // codecs have none.
  Compressor(Codec codec, int level);
  ~Compressor();
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;

  // Appends the compressed bytes. MemoryLimit: the codec failed, which only a
  // lack of memory causes. REQUIRES at most kMaxBlockBytes.
  rocksdb::Status Append(std::string_view in, std::string* out);

 private:
  struct State;

  size_t MaxBytes(size_t byte_count) const;
  // Returns the number of bytes written to `out`, or 0 on failure.
  size_t Write(std::string_view in, char* out, size_t room);

  const Codec codec_;
  const int level_;
  const std::unique_ptr<State> state_;
};

}  // namespace rowbloom
