// HtmlPage: pictures of files as one page that needs nothing else: no network,
// no other file. It has what it draws as tables, too, and is ASCII: every byte
// that comes from a file is text in it, never markup.
//
//   HtmlPage page(out);
//   page.Add(picture);
//   page.Finish();
//
// page/page.css is how it looks, page/page.js draws.
#pragma once

#include <cstddef>
#include <iosfwd>
#include <string>
#include <string_view>

#include "tools/sst_inspect/file_picture.h"

namespace rowbloom::sst_inspect {

// `text` for use between tags and in quoted attributes. Bytes that are not
// printable ASCII become \xHH.
std::string EscapeHtml(std::string_view text);

// Legal calls: Add* Finish.
class HtmlPage {
 public:
  // Writes the head. The stream must outlive the page; its state says whether
  // all could be written.
  HtmlPage(std::string_view title, std::ostream& out);
  HtmlPage(const HtmlPage&) = delete;
  HtmlPage& operator=(const HtmlPage&) = delete;

  void Add(const FilePicture& picture);
  void Finish();

 private:
  std::ostream& out_;
  size_t files_ = 0;
};

}  // namespace rowbloom::sst_inspect
