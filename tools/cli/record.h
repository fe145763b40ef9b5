// Record: one line of --json output, a JSON object. A verb prints one for each
// thing it has to say, as it goes, so that output of any length takes no
// memory: "JSON Lines". The README.md of each program lists its records.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rowbloom::cli {

class Record {
 public:
  Record() = default;
  // Starts with "record": kind, "file": path.
  Record(std::string_view kind, std::string_view path);

  // Adds a member, in this order. REQUIRES that there is none of the name. Text
  // must be printable; what is not UTF-8 is replaced.
  Record& Text(std::string_view name, std::string_view value);
  Record& Number(std::string_view name, uint64_t value);
  Record& Signed(std::string_view name, int64_t value);
  // null when it is no finite number.
  Record& Real(std::string_view name, double value);
  Record& Flag(std::string_view name, bool value);
  // null when there is none.
  Record& Number(std::string_view name, const std::optional<uint64_t>& value);
  Record& Real(std::string_view name, const std::optional<double>& value);

  Record& Object(std::string_view name, const Record& value);
  Record& Array(std::string_view name, const std::vector<Record>& values);

  void Print(std::ostream& out) const;

 private:
  Record& Add(std::string_view name, std::string_view json);
  std::string Json() const { return "{" + members_ + "}"; }

  std::string members_;
};

}  // namespace rowbloom::cli
