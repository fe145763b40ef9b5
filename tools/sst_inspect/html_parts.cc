#include "tools/sst_inspect/html_parts.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <ostream>

namespace rowbloom::sst_inspect {
namespace {

using Column = Table::Column;

// Within a script element "<" could start its end.
std::string InScript(const Json& json) {
  std::string text = json.dump(-1, ' ', true, Json::error_handler_t::replace);
  for (size_t at = 0; (at = text.find('<', at)) != std::string::npos;) {
    text.replace(at, 1, "\\u003c");
  }
  return text;
}

const char* ClassOf(const Column& column) {
  return column.align == Table::Align::kRight ? " class=number" : "";
}

}  // namespace

std::string EscapeHtml(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '&') {
      escaped += "&amp;";
    } else if (c == '<') {
      escaped += "&lt;";
    } else if (c == '>') {
      escaped += "&gt;";
    } else if (c == '"') {
      escaped += "&quot;";
    } else if (c == '\'') {
      escaped += "&#39;";
    } else if (byte < 0x20 || byte >= 0x7f) {
      escaped += fmt::format("\\x{:02X}", byte);
    } else {
      escaped += c;
    }
  }
  return escaped;
}

HtmlTable::HtmlTable(std::string_view caption,
                     const std::vector<Column>& columns, std::ostream& out)
    : columns_(columns), out_(out) {
  out_ << "<div class=wide><table><caption>" << caption
       << "</caption>\n<thead><tr>";
  for (const Column& column : columns_) {
    out_ << "<th scope=col" << ClassOf(column) << ">"
         << EscapeHtml(column.title);
  }
  out_ << "</thead>\n<tbody>\n";
}

HtmlTable::~HtmlTable() { out_ << "</tbody></table></div>\n"; }

void HtmlTable::AddRow(const std::vector<std::string>& cells) {
  out_ << "<tr>";
  for (size_t i = 0; i < cells.size(); ++i) {
    out_ << (i == 0 ? "<th scope=row" : "<td") << ClassOf(columns_[i]) << ">"
         << cells[i];
  }
  out_ << "\n";
}

void AddFacts(const Facts& facts, std::ostream& out) {
  out << "<dl>\n";
  for (const auto& [name, value] : facts) {
    out << "<dt>" << EscapeHtml(name) << "<dd>" << EscapeHtml(value) << "\n";
  }
  out << "</dl>\n";
}

void AddDrawing(std::string_view kind, const std::string& label,
                const Json& data, std::ostream& out) {
  out << fmt::format(
      "<div class=\"drawing {}\">\n"
      "<canvas role=slider tabindex=0 aria-label=\"{}\" aria-valuemin=1 "
      "aria-valuenow=1></canvas>\n"
      "<p class=figures>Point at a piece, or reach it with the arrow keys, for "
      "its figures.</p>\n"
      "<script type=\"application/json\">{}</script>\n"
      "</div>\n",
      kind, EscapeHtml(label), InScript(data));
}

}  // namespace rowbloom::sst_inspect
