// Each function writes the golden data of one kind into `folder`, which must
// exist and be empty.
#pragma once

#include <filesystem>
#include <string>

#include "tests/golden/golden.h"

namespace rowbloom::golden {

// RocksDB keeps a machine's name in each SST.
inline constexpr char kHostName[] = "golden";

void WriteStores(const std::filesystem::path& folder);
void WriteBackups(const std::filesystem::path& folder);
void WriteDatabases(const std::filesystem::path& folder);
void WriteFilterBlocks(const std::filesystem::path& folder);
void WriteSerializedFilters(const std::filesystem::path& folder);

// Packs `directory` as folder/NAME.tar.gz, where it is named NAME.
void Pack(const std::filesystem::path& directory,
          const std::filesystem::path& folder, const std::string& name);

}  // namespace rowbloom::golden
