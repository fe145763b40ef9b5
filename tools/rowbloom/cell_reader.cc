#include "tools/rowbloom/cell_reader.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "rowbloom/printable.h"

namespace rowbloom::cli {
namespace {

constexpr std::string_view kTsvForm = "row<TAB>family:qualifier<TAB>value";
constexpr std::string_view kFieldForm = "Field: value";
constexpr std::string_view kRowField = "Package";
constexpr size_t kQuotedBytes = 60;

// The start of `text`, fit for a message.
std::string QuotedStart(std::string_view text) {
  const bool cut = text.size() > kQuotedBytes;
  return "\"" + ToPrintable(text.substr(0, kQuotedBytes)) +
         (cut ? "\"..." : "\"");
}

bool IsContinuation(std::string_view line) {
  return line.starts_with(' ') || line.starts_with('\t');
}

struct TsvColumns {
  std::string_view row;
  std::string_view column;
  std::string_view value;
};

std::optional<TsvColumns> SplitTsv(std::string_view line) {
  const size_t first = line.find('\t');
  if (first == std::string_view::npos) return std::nullopt;
  const size_t second = line.find('\t', first + 1);
  if (second == std::string_view::npos) return std::nullopt;
  return TsvColumns{line.substr(0, first),
                    line.substr(first + 1, second - first - 1),
                    line.substr(second + 1)};
}

struct FieldParts {
  std::string_view name;
  std::string_view value;
};

// A field's name is printable ASCII without spaces, as in Debian's policy.
std::optional<FieldParts> SplitField(std::string_view line) {
  const size_t colon = line.find(':');
  if (colon == 0 || colon == std::string_view::npos) return std::nullopt;
  const std::string_view name = line.substr(0, colon);
  const bool printable = std::all_of(
      name.begin(), name.end(), [](char c) { return c > ' ' && c <= '~'; });
  if (!printable) return std::nullopt;
  std::string_view value = line.substr(colon + 1);
  value.remove_prefix(std::min(value.find_first_not_of(" \t"), value.size()));
  return FieldParts{name, value};
}

}  // namespace

std::optional<InputFormat> FormatOfLine(std::string_view line) {
  const auto tsv = SplitTsv(line);
  if (tsv && tsv->column.find(':') != std::string_view::npos) {
    return InputFormat::kTsv;
  }
  if (SplitField(line)) return InputFormat::kPackageIndex;
  return std::nullopt;
}

// The fields of a stanza, whose row may come last.
class CellReader::Stanza {
 public:
  bool empty() const { return fields_.empty(); }
  size_t bytes() const { return text_.size(); }
  uint64_t first_line() const { return fields_.front().line_number; }

  bool Has(std::string_view name) const { return Find(name) != nullptr; }

  void AddField(const FieldParts& parts, uint64_t line_number) {
    fields_.push_back(
        {line_number, text_.size(), parts.name.size(), parts.value.size()});
    text_.append(parts.name).append(parts.value);
  }
  // REQUIRES !empty().
  void Continue(std::string_view line) {
    text_.append(1, '\n').append(line);
    fields_.back().value_bytes += 1 + line.size();
  }
  // REQUIRES !empty().
  void DropLastField() { fields_.pop_back(); }

  // Gives the cells to the sink and forgets them. On refusal *line_number is
  // that of the field.
  std::optional<Error> Emit(const CellSink& sink, uint64_t* line_number) {
    const Field* row = Find(kRowField);
    for (const Field& field : fields_) {
      auto error = sink({Value(*row), std::nullopt, Name(field), Value(field)});
      if (error) {
        *line_number = field.line_number;
        return error;
      }
    }
    fields_.clear();
    text_.clear();
    return std::nullopt;
  }

 private:
  // Name and value follow each other in text_.
  struct Field {
    uint64_t line_number;
    size_t offset;
    size_t name_bytes;
    size_t value_bytes;
  };

  std::string_view Name(const Field& field) const {
    return std::string_view(text_).substr(field.offset, field.name_bytes);
  }
  std::string_view Value(const Field& field) const {
    return std::string_view(text_).substr(field.offset + field.name_bytes,
                                          field.value_bytes);
  }
  const Field* Find(std::string_view name) const {
    const auto found =
        std::find_if(fields_.begin(), fields_.end(),
                     [&](const Field& field) { return Name(field) == name; });
    return found == fields_.end() ? nullptr : &*found;
  }

  std::string text_;
  std::vector<Field> fields_;
};

CellReader::CellReader(std::istream& in, std::string name, size_t max_bytes)
    : lines_(in, std::move(name), max_bytes), max_bytes_(max_bytes) {}

std::optional<Error> CellReader::NextLine(bool* at_end) {
  *at_end = false;
  if (std::exchange(line_is_pending_, false)) return std::nullopt;
  return lines_.Next(&line_, at_end);
}

Result<std::optional<InputFormat>> CellReader::Detect() {
  while (true) {
    bool at_end = false;
    if (auto error = NextLine(&at_end)) return *error;
    if (at_end) return format_;
    if (!line_.empty()) break;
    ++blank_lines_;
  }
  format_ = FormatOfLine(line_);
  if (!format_) {
    return lines_.At(lines_.line_number(), "expected " + std::string(kTsvForm) +
                                               " or " +
                                               std::string(kFieldForm) +
                                               ", found " + QuotedStart(line_));
  }
  line_is_pending_ = true;
  return format_;
}

std::optional<Error> CellReader::ReadAll(const CellSink& sink) {
  if (!format_) return std::nullopt;
  return *format_ == InputFormat::kTsv ? ReadTsv(sink) : ReadPackageIndex(sink);
}

std::optional<Error> CellReader::ReadTsv(const CellSink& sink) {
  if (blank_lines_ > 0) {
    return lines_.At(
        1, "expected " + std::string(kTsvForm) + ", found a blank line");
  }
  while (true) {
    bool at_end = false;
    if (auto error = NextLine(&at_end)) return error;
    if (at_end) return std::nullopt;
    const uint64_t line_number = lines_.line_number();
    const auto columns = SplitTsv(line_);
    if (!columns) {
      return lines_.At(line_number, "expected " + std::string(kTsvForm) +
                                        ", found " + QuotedStart(line_));
    }
    const size_t colon = columns->column.find(':');
    if (colon == std::string_view::npos) {
      return lines_.At(
          line_number,
          "expected family:qualifier in the second column, found " +
              QuotedStart(columns->column));
    }
    const auto error =
        sink({columns->row, columns->column.substr(0, colon),
              columns->column.substr(colon + 1), columns->value});
    if (error) return lines_.At(line_number, error->message);
  }
}

std::optional<Error> CellReader::ReadPackageIndex(const CellSink& sink) {
  Stanza stanza;
  // Passes on what the stanza has. Its fields are lines above `error`, so that
  // a refusal of one comes first.
  const auto emit = [&](const std::optional<Error>& error) {
    uint64_t line_number = 0;
    if (!stanza.empty() && stanza.Has(kRowField)) {
      const auto refusal = stanza.Emit(sink, &line_number);
      if (refusal)
        return std::optional(lines_.At(line_number, refusal->message));
    }
    return error;
  };
  while (true) {
    bool at_end = false;
    if (auto error = NextLine(&at_end)) {
      // Lines that continue the last field may be missing.
      if (!stanza.empty()) stanza.DropLastField();
      return emit(error);
    }
    const uint64_t line_number = lines_.line_number();
    if (at_end || line_.empty()) {
      if (!stanza.empty() && !stanza.Has(kRowField)) {
        return lines_.At(
            stanza.first_line(),
            "expected a field Package in the stanza that starts here, "
            "found none");
      }
      const auto error = emit(std::nullopt);
      if (error || at_end) return error;
      continue;
    }
    if (stanza.bytes() + line_.size() > max_bytes_) {
      if (!stanza.empty()) stanza.DropLastField();
      return emit(lines_.At(line_number, "expected a stanza of at most " +
                                             std::to_string(max_bytes_) +
                                             " bytes, found a longer one"));
    }
    if (IsContinuation(line_)) {
      if (stanza.empty()) {
        return lines_.At(line_number, "expected " + std::string(kFieldForm) +
                                          " to start a stanza, found " +
                                          QuotedStart(line_));
      }
      stanza.Continue(line_);
      continue;
    }
    const auto parts = SplitField(line_);
    if (!parts) {
      return emit(lines_.At(line_number, "expected " + std::string(kFieldForm) +
                                             ", found " + QuotedStart(line_)));
    }
    if (stanza.Has(parts->name)) {
      return emit(
          lines_.At(line_number, "expected a field once in a stanza, found " +
                                     QuotedStart(parts->name) + " again"));
    }
    stanza.AddField(*parts, line_number);
  }
}

}  // namespace rowbloom::cli
