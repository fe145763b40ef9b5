#include "tools/rowbloom/cell_reader.h"

#include <algorithm>
#include <set>

#include "rowbloom/printable.h"

namespace rowbloom::cli {
namespace {

constexpr std::string_view kTsvForm = "row<TAB>family:qualifier<TAB>value";
constexpr std::string_view kFieldForm = "Field: value";
constexpr std::string_view kRowField = "Package";
constexpr size_t kQuotedBytes = 60;

// Returns the start of `text` as printable text in quotes.
std::string QuotedStart(std::string_view text) {
  const bool cut = text.size() > kQuotedBytes;
  return "\"" + ToPrintable(text.substr(0, kQuotedBytes)) +
         (cut ? "\"..." : "\"");
}

bool IsContinuation(std::string_view line) {
  return line.starts_with(' ') || line.starts_with('\t');
}

// Tells whether a line is an object that `scan --json` printed. JSON cannot be
// loaded.
bool IsJson(std::string_view line) { return line.starts_with("{\""); }

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
  if (!IsJson(line) && SplitField(line)) return InputFormat::kPackageIndex;
  return std::nullopt;
}

CellReader::CellReader(std::istream& in, std::string name, size_t max_bytes)
    : lines_(in, std::move(name), max_bytes), max_bytes_(max_bytes) {}

std::optional<Error> CellReader::NextLine(bool* at_end) {
  *at_end = false;
  if (std::exchange(line_is_pending_, false)) return std::nullopt;
  return lines_.Next(&line_, at_end);
}

Error CellReader::Expected(std::string_view what,
                           const std::string& found) const {
  return lines_.At(lines_.line_number(),
                   "expected " + std::string(what) + ", found " + found);
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
    return Expected(std::string(kTsvForm) + " or " + std::string(kFieldForm),
                    IsJson(line_) ? "JSON" : QuotedStart(line_));
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
    const auto columns = SplitTsv(line_);
    if (!columns) return Expected(kTsvForm, QuotedStart(line_));
    const size_t colon = columns->column.find(':');
    if (colon == std::string_view::npos) {
      return Expected("family:qualifier in the second column",
                      QuotedStart(columns->column));
    }
    const InputCell cell = {columns->row, columns->column.substr(0, colon),
                            columns->column.substr(colon + 1), columns->value};
    auto error = sink.check(cell);
    if (!error) error = sink.take(cell);
    if (error) return lines_.At(lines_.line_number(), error->message);
  }
}

// Gives the cells of a stanza to `sink`. The field of the row may be the last.
std::optional<Error> CellReader::EmitStanza(const std::vector<Field>& stanza,
                                            const CellSink& sink) const {
  if (stanza.empty()) return std::nullopt;
  const auto row = std::ranges::find(stanza, kRowField, &Field::name);
  if (row == stanza.end()) {
    return lines_.At(stanza.front().line_number,
                     "expected a field Package in the stanza that starts here, "
                     "found none");
  }
  for (const auto* function : {&sink.check, &sink.take}) {
    for (const Field& field : stanza) {
      const auto error =
          (*function)({row->value, std::nullopt, field.name, field.value,
                       /*is_last=*/&field == &stanza.back()});
      if (error) return lines_.At(field.line_number, error->message);
    }
  }
  return std::nullopt;
}

std::optional<Error> CellReader::ReadPackageIndex(const CellSink& sink) {
  std::vector<Field> stanza;
  std::set<std::string> names;  // the stanza's
  size_t stanza_bytes = 0;
  while (true) {
    bool at_end = false;
    if (auto error = NextLine(&at_end)) return error;
    if (at_end || line_.empty()) {
      const auto error = EmitStanza(stanza, sink);
      if (error || at_end) return error;
      stanza.clear();
      names.clear();
      stanza_bytes = 0;
      stanza_line_ = 0;
      continue;
    }
    stanza_bytes += line_.size();
    if (stanza_bytes > max_bytes_) {
      return Expected(
          "a stanza of at most " + std::to_string(max_bytes_) + " bytes",
          "a longer one");
    }
    if (IsContinuation(line_)) {
      if (stanza.empty()) {
        return Expected(std::string(kFieldForm) + " to start a stanza",
                        QuotedStart(line_));
      }
      stanza.back().value.append(1, '\n').append(line_);
      continue;
    }
    const auto parts = SplitField(line_);
    if (!parts) return Expected(kFieldForm, QuotedStart(line_));
    if (!names.emplace(parts->name).second) {
      return Expected("a field once in a stanza",
                      QuotedStart(parts->name) + " again");
    }
    if (stanza.empty()) stanza_line_ = lines_.line_number();
    stanza.push_back({lines_.line_number(), std::string(parts->name),
                      std::string(parts->value)});
  }
}

}  // namespace rowbloom::cli
