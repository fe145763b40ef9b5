#include "tools/cli/text.h"

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ctime>
#include <iterator>
#include <ostream>

namespace rowbloom::cli {
std::string HumanBytes(uint64_t bytes) {
  constexpr std::array kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  // A value that would be rounded to 1024.0 belongs to the next unit.
  while (value >= 1023.95 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.1f} {}", value, kUnits[unit]);
}

std::string HumanAndExactBytes(uint64_t bytes) {
  if (bytes < 1024) return fmt::format("{} bytes", bytes);
  return fmt::format("{} ({} bytes)", HumanBytes(bytes), bytes);
}

std::string Percent(double share) {
  return fmt::format("{:.3g} %", 100 * share);
}

std::string PercentRange(double low, double high) {
  const std::string from = fmt::format("{:.1f}", 100 * low);
  const std::string to = fmt::format("{:.1f}", 100 * high);
  return from == to ? from + " %" : fmt::format("{}-{} %", from, to);
}

std::string Ratio(uint64_t contents_bytes, uint64_t stored_bytes) {
  if (stored_bytes == 0) return "-";
  return fmt::format("{:.2f}", static_cast<double>(contents_bytes) /
                                   static_cast<double>(stored_bytes));
}

std::string WithoutControls(std::string_view text) {
  std::string clean;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7f) {
      clean += fmt::format("\\x{:02X}", byte);
    } else {
      clean += c;
    }
  }
  return clean;
}

std::string ToHex(std::string_view bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(2 * bytes.size());
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::string UtcText(uint64_t seconds) {
  constexpr uint64_t kYear10000 = 253'402'300'800;
  if (seconds >= kYear10000) return fmt::format("{}", seconds);
  return fmt::format("{:%Y-%m-%d %H:%M:%S} UTC",
                     fmt::gmtime(static_cast<std::time_t>(seconds)));
}

std::string Grouped(uint64_t number) {
  std::string text = fmt::format("{}", number);
  for (size_t at = text.size(); at > 3;) {
    at -= 3;
    text.insert(at, ",");
  }
  return text;
}

Table::Table(const std::vector<std::string>& titles) {
  for (const std::string& title : titles) {
    const bool is_right = title.starts_with('>');
    columns_.push_back({title.substr(is_right ? 1 : 0), is_right});
  }
}

void Table::Print(std::ostream& out, size_t indent) const {
  std::vector<size_t> widths;
  for (const Column& column : columns_) widths.push_back(column.title.size());
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], row[i].size());
    }
  }
  const auto print_line = [&](const auto& cell_of) {
    std::string line(indent, ' ');
    for (size_t i = 0; i < columns_.size(); ++i) {
      const std::string& cell = cell_of(i);
      if (i > 0) line += "  ";
      line += columns_[i].is_right ? fmt::format("{:>{}}", cell, widths[i])
                                   : fmt::format("{:<{}}", cell, widths[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out << line << "\n";
  };
  print_line([&](size_t i) -> const std::string& { return columns_[i].title; });
  for (const auto& row : rows_) {
    print_line([&](size_t i) -> const std::string& { return row[i]; });
  }
}

}  // namespace rowbloom::cli
