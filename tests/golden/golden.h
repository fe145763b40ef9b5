// The golden data in tests/data/golden: its files, and the lines of its texts.
// A line is words with one space between them; bytes are in hex. For the tests
// that read the data and for write_golden, which wrote it.
#pragma once

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "rowbloom/key_layout.h"
#include "tests/support/hex.h"
#include "tests/support/random.h"

namespace rowbloom::golden {

using Lines = std::vector<std::string>;

// Bytes of the row that ROWPREFIX filters of the data index.
inline constexpr uint32_t kRowPrefixBytes = 4;

// "-" stands for no bytes.
inline std::string Hex(std::string_view bytes) {
  return bytes.empty() ? "-" : test::ToHex(bytes);
}

// Inverse of Hex. Throws on other text.
inline std::string Unhex(const std::string& text) {
  const std::string bytes = text == "-" ? "" : test::FromHex(text);
  if (Hex(bytes) != text) throw std::runtime_error("no hex digits: " + text);
  return bytes;
}

inline Lines Words(const std::string& line) {
  std::istringstream words(line);
  return {std::istream_iterator<std::string>(words), {}};
}

inline Lines ReadLines(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw std::runtime_error("cannot read " + path);
  Lines lines;
  for (std::string line; std::getline(file, line);) lines.push_back(line);
  return lines;
}

// The lines that start with this word.
inline Lines LinesOf(const Lines& lines, const std::string& word) {
  Lines found;
  std::copy_if(
      lines.begin(), lines.end(), std::back_inserter(found),
      [&](const std::string& line) { return line.starts_with(word + " "); });
  return found;
}

// One text, of which GoogleTest shows differences by line.
inline std::string Joined(const Lines& lines) {
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  return text;
}

inline void WriteLines(const std::filesystem::path& path, const Lines& lines) {
  std::ofstream file(path);
  file << Joined(lines) << std::flush;
  if (!file) throw std::runtime_error("cannot write " + path.string());
}

#ifdef ROWBLOOM_GOLDEN_DIR
// The archives of a kind, a folder in each of the numbered ones, without their
// ending ".tar.gz".
inline Lines Archives(const std::string& kind) {
  constexpr std::string_view kEnding = ".tar.gz";
  Lines archives;
  for (const auto& entry :
       std::filesystem::recursive_directory_iterator(ROWBLOOM_GOLDEN_DIR)) {
    const std::string path = entry.path().string();
    if (entry.path().parent_path().filename() == kind &&
        path.ends_with(kEnding)) {
      archives.push_back(path.substr(0, path.size() - kEnding.size()));
    }
  }
  std::sort(archives.begin(), archives.end());
  return archives;
}
#endif

// Unpacks an archive of that name into a directory that exists, and returns the
// path of what was packed.
inline std::string Unpack(const std::string& archive,
                          const std::filesystem::path& directory) {
  const std::string command =
      "tar -xzf '" + archive + ".tar.gz' -C '" + directory.string() + "'";
  if (std::system(command.c_str()) != 0) {
    throw std::runtime_error("failed: " + command);
  }
  return (directory / std::filesystem::path(archive).filename()).string();
}

// The layout of the name; the data has a custom one, "custom:golden".
inline KeyLayout LayoutOf(const std::string& name) {
  static const KeyLayout custom = *KeyLayout::RegisterCustom(
      "golden", [](std::string_view key) -> std::optional<size_t> {
        if (key.size() < 5) return std::nullopt;
        return 5;
      });
  return name == custom.ToString() ? custom : *KeyLayout::FromString(name);
}

// Rows of any bytes, and of zeros and ones among them, as far as the layout
// takes such.
inline Lines RowsFor(const KeyLayout& layout, size_t count) {
  using namespace std::string_literals;
  std::set<std::string> rows;
  const bool any_bytes = layout.kind() != KeyLayout::Kind::kDelimited;
  if (any_bytes) {
    rows = {"\0"s,
            "\xff"s,
            "\0\xff"s,
            "\0\1"s,
            "a"s,
            "a\0"s,
            "a\0b"s,
            "a\xff"s,
            "\1\0\0"s,
            "\xff\xff"s,
            std::string(40, '\0')};
  }
  for (size_t i = 0; rows.size() < count; ++i) {
    std::string row = test::DistinctKey(i) + std::string(i % 5, 'x');
    rows.insert(any_bytes ? row : Hex(row));
  }
  std::set<std::string> fitting;
  for (std::string row : rows) {
    const size_t bytes = layout.kind() == KeyLayout::Kind::kCustom
                             ? 5
                             : layout.FixedRowBytes().value_or(row.size());
    row.resize(bytes, row.back());
    fitting.insert(row);
  }
  return {fitting.begin(), fitting.end()};
}

// Rows among these in the order of their bytes, absent, and with other first
// bytes: a filter of any type can rule them out.
inline Lines AbsentRows(const std::set<std::string>& rows) {
  const auto prefix = [](const std::string& row) { return row.substr(0, 3); };
  std::set<std::string> taken;
  for (const std::string& row : rows) taken.insert(prefix(row));
  Lines absent;
  for (const std::string& row : rows) {
    for (size_t at = 1; at < std::min<size_t>(3, row.size()); ++at) {
      std::string other = row;
      other[at] = static_cast<char>(other[at] ^ 1);
      if (taken.insert(prefix(other)).second) absent.push_back(other);
    }
  }
  return absent;
}

}  // namespace rowbloom::golden
