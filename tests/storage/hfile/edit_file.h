// Changes inside HFiles, with right checksums around them: what a hostile
// writer could do. For files without compression, where payloads are what is
// stored.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "rowbloom/hfile.h"
#include "storage/hfile/block.h"
#include "storage/hfile/file_info.h"

namespace rowbloom::test {

// Returns the offset of the `nth` block of this type; throws when there is
// none.
size_t FindBlock(const std::string& file, hfile::BlockType type,
                 size_t nth = 0);

// Computes the checksums of the block at `offset` again, where they are said to
// be. False when its header makes no sense.
bool ResealBlock(std::string* file, size_t offset);

// Does this for all blocks, as far as the headers make sense.
void ResealBlocks(std::string* file);

// Changes the payload of a block. Another size is possible in the load-on-open
// section only: offsets elsewhere would be wrong.
void EditPayload(std::string* file, hfile::BlockType type,
                 const std::function<void(std::string* payload)>& change,
                 size_t nth = 0);

// Changes four bytes of a header, and the checksums.
void EditHeader(std::string* file, hfile::BlockType type, size_t at,
                uint32_t value);

// Changes the file info.
void EditFileInfo(std::string* file,
                  const std::function<void(hfile::FileInfo* info)>& change);

void EditTrailer(std::string* file,
                 const std::function<void(HFileTrailer* trailer)>& change);

// Big-endian, over what is there.
void Overwrite32(std::string* bytes, size_t at, uint32_t value);
void Overwrite64(std::string* bytes, size_t at, uint64_t value);

}  // namespace rowbloom::test
