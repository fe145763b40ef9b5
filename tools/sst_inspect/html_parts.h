// The parts that pages are made of: text as markup, tables, drawings.
#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tools/sst_inspect/output.h"

namespace rowbloom::sst_inspect {

using Json = nlohmann::ordered_json;

// Names and values.
using Facts = std::vector<std::pair<std::string, std::string>>;

// `text` for use between tags and in quoted attributes. Bytes that are not
// printable ASCII become \xHH.
std::string EscapeHtml(std::string_view text);

// A table whose cells are markup. The stream must outlive it.
class HtmlTable {
 public:
  HtmlTable(std::string_view caption, const std::vector<Table::Column>& columns,
            std::ostream& out);
  ~HtmlTable();
  HtmlTable(const HtmlTable&) = delete;
  HtmlTable& operator=(const HtmlTable&) = delete;

  // The first cell is the heading of the row.
  void AddRow(const std::vector<std::string>& cells);

 private:
  const std::vector<Table::Column> columns_;
  std::ostream& out_;
};

void AddFacts(const Facts& facts, std::ostream& out);

// Adds a drawing and the line of figures below it. page.js finds both by class
// and draws by `kind` from the data.
void AddDrawing(std::string_view kind, const std::string& label,
                const Json& data, std::ostream& out);

}  // namespace rowbloom::sst_inspect
