// HtmlPage: pictures of databases and files as one page that needs nothing
// else: no network, no other file. It has what it draws as tables, too, and is
// ASCII: every byte that comes from a file is text in it, never markup.
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
#include "tools/sst_inspect/tree_picture.h"

namespace rowbloom::sst_inspect {

// Legal calls: Add* Finish.
class HtmlPage {
 public:
  // Writes the head. The stream must outlive the page; its state says whether
  // all could be written.
  HtmlPage(std::string_view title, std::ostream& out);
  HtmlPage(const HtmlPage&) = delete;
  HtmlPage& operator=(const HtmlPage&) = delete;

  // A database; its files may follow.
  void Add(const TreePicture& picture);
  void Add(const FilePicture& picture);
  void Finish();

 private:
  std::ostream& out_;
  size_t additions_ = 0;
};

}  // namespace rowbloom::sst_inspect
