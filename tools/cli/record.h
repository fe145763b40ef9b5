// Record: one item of a verb's output, as names and values. A verb adds each
// value once, and its kind decides its form. --json prints the record as an
// object in a line ("JSON Lines"), so that output of any length takes no
// memory. As text a record has a line for each member, or is a row of a table
// (table.h). tools/rowbloom/README.md and doc/inspecting.md list the records.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace rowbloom::cli {

class Record {
 public:
  Record() = default;
  // Starts with "record": `kind` and "file": `path`, in JSON alone.
  Record(std::string_view kind, std::string_view path);

  // Each adds a member after the others. REQUIRES that no member has the name.
  // A value that is nullopt, or no finite number, is null: a table shows "-",
  // other text has no line for it.

  // Text is printable, or a path; bytes that are not UTF-8 are replaced.
  Record& Text(std::string_view name, std::string_view value);
  // The same, but text is cut to some 40 bytes to keep tables readable.
  Record& Long(std::string_view name, std::string_view value);
  // "1234567": offsets, sequence numbers.
  Record& Number(std::string_view name, std::optional<uint64_t> value);
  Record& Signed(std::string_view name, int64_t value);
  // "1,234,567".
  Record& Count(std::string_view name, std::optional<uint64_t> value);
  // "1.2 MiB (1258291 bytes)".
  Record& Bytes(std::string_view name, std::optional<uint64_t> value);
  // "2026-11-24 11:25:00 UTC" of seconds since 1970.
  Record& Time(std::string_view name, std::optional<uint64_t> value);
  // "1.956": four digits.
  Record& Real(std::string_view name, std::optional<double> value);
  // "1.96".
  Record& Seconds(std::string_view name, double value);
  // "0.953 %" of a share in [0, 1].
  Record& Share(std::string_view name, std::optional<double> value);
  // "yes" or "no".
  Record& Flag(std::string_view name, bool value);

  // Members of text alone or of JSON alone. Object and Array are JSON.
  Record& InText(std::string_view name, std::string_view value);
  Record& InJson(std::string_view name, std::string_view value);
  Record& Object(std::string_view name, const Record& value);
  Record& Array(std::string_view name, const std::vector<Record>& values);

  // Sets the text of the last member; its JSON is unchanged.
  Record& As(std::string_view text);

  // Prints the object, and a newline.
  void Print(std::ostream& out) const;

  // Returns name (with blanks) and text of each member that is not null or
  // empty.
  std::vector<std::pair<std::string, std::string>> Lines() const;

  // A member as a cell of a table; null if there is no such member.
  struct Cell {
    std::string text = "-";
    bool is_null = true;
    bool is_number = false;
  };
  Cell CellOf(std::string_view name) const;

 private:
  enum class Form : uint8_t { kText, kNumber, kInText, kInJson, kJson };
  // Values of kJson are JSON.
  using Value = std::variant<std::nullptr_t, std::string, uint64_t, int64_t,
                             double, bool>;
  struct Member {
    std::string name;
    Form form{};
    Value value;
    std::optional<std::string> text;  // nullopt: the value itself
  };

  Record& Add(std::string_view name, Form form, Value value,
              std::optional<std::string> text = std::nullopt);
  template <typename T>
  Record& AddNumber(std::string_view name, const std::optional<T>& value,
                    std::string (*text_of)(T));
  std::string Json() const;
  static Cell CellOf(const Member& member);

  std::vector<Member> members_;
};

}  // namespace rowbloom::cli
