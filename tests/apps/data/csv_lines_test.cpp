// Rows of csv whose fields in quotes have ends of lines, and quotes that no others end.
#include "apps/data/csv/csv_lines.h"

#include <boost/test/unit_test.hpp>

#include "apps/data/csv/table_survey.h"
#include "apps/data/format.h"
#include "tests/support/memory_disk.h"

namespace troupe::data::csv_lines_test {
namespace {

using Rows = std::vector<std::string>;

Result<Rows> rows_of(const std::string& text, char delimiter = ',', bool has_quotes = true) {
  CsvLines lines(InputFile::in_memory(text, "a.csv"), delimiter, has_quotes);
  Rows rows;
  for (;;) {
    TROUPE_ASSIGN(const auto row, lines.next());
    if (!row) return rows;
    rows.emplace_back(*row);
  }
}

void check_rows(const std::string& text, const Rows& expected, char delimiter = ',') {
  const Rows rows = value_or_throw(rows_of(text, delimiter));
  BOOST_TEST(rows == expected, boost::test_tools::per_element());
}

void check_refused(const std::string& text, const std::string& what) {
  const Status status = rows_of(text).status();
  BOOST_TEST((status.code() == Code::DataLoss), status.text());
  BOOST_TEST(status.text() ==
             "a.csv: " + what + "; data.quotes = false takes quotes as characters like others");
}

constexpr const char* never_closed = "a field begins with a quote that no other quote ends";
constexpr const char* closed_late = "a field begins with a quote, which is closed lines later within a text";

/// Text, a number, and a label; the second sample has two lines in its text, and so has the last one.
const std::string samples = "one,1,0\r\n\"two,\r\nlines\",2,1\nthree,3,0\n\"\"\"four\"\"\n\",4,1\n";

}  // namespace

BOOST_AUTO_TEST_SUITE(csv_lines)

BOOST_AUTO_TEST_CASE(quotes_may_have_ends_of_lines) {
  check_rows("a,b\nc,d", {"a,b", "c,d"});
  check_rows("\"a\nb\",c\nd\n", {"\"a\nb\",c", "d"});
  check_rows("x, \"a\n\n\nb\"\n\"c\"", {"x, \"a\n\n\nb\"", "\"c\""});
  check_rows("\"a \"\"b\"\"\nc\",\"\"\nd", {"\"a \"\"b\"\"\nc\",\"\"", "d"});
  check_rows("\"a\r\nb\"\r\nc\r\n", {"\"a\r\nb\"\r", "c\r"});
  check_rows("\xef\xbb\xbf\"a\nb\"\nc", {"\"a\nb\"", "c"});
  check_rows("x\t\"a\nb\"\ty\nz", {"x\t\"a\nb\"\ty", "z"}, '\t');
}

BOOST_AUTO_TEST_CASE(quotes_within_a_text_are_characters) {
  check_rows("5\" pipe,a\n6\" pipe,b\n", {"5\" pipe,a", "6\" pipe,b"});
  check_rows("a\"b,\"c\"\n\"d\" e,f\n", {"a\"b,\"c\"", "\"d\" e,f"});
}

BOOST_AUTO_TEST_CASE(quotes_that_nothing_ends_are_refused) {
  check_refused("a,b\n1,\"unterminated\n2,x\n", std::string("row 2: ") + never_closed);
  check_refused("a,\"", std::string("row 1: ") + never_closed);
  check_refused("\"\n\",a\n\"\n", std::string("row 3: ") + never_closed);
  check_refused("a,\"so it begins\nb,and \"ends\" here\n", std::string("row 1: ") + closed_late);
}

BOOST_AUTO_TEST_CASE(a_quote_that_nothing_ends_in_a_large_file_is_named) {
  test::MemoryDisk disk;
  disk.write("/a.csv", TextLines::max_line * 2, [](uint64_t at) {
    return at == 2 ? '"' : at % 2 == 0 ? 'x' : '\n';
  });
  CsvLines lines(value_or_throw(InputFile::open(disk, "/a.csv")), ',', true);
  BOOST_TEST(lines.next().ok());
  const Status status = lines.next().status();
  BOOST_TEST(status.text().starts_with(std::string("/a.csv: row 2: ") + never_closed), status.text());
  BOOST_TEST(lines.has_bad_quotes());
}

BOOST_AUTO_TEST_CASE(without_quotes_a_row_is_a_line) {
  BOOST_TEST(value_or_throw(rows_of("a,\"b\n\"c,d\n", ',', false)) == (Rows{"a,\"b", "\"c,d"}),
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(rows_that_are_longer_than_the_buffer_are_whole) {
  std::string text;
  Rows expected;
  for (int i = 0; i < 200; ++i) {
    std::string row = "\"" + std::to_string(i);
    for (int line = 0; line < 100; ++line) row += '\n' + std::string(static_cast<size_t>(i + line) % 97, 'x');
    expected.push_back(row + "\",y");
    text += expected.back() + '\n';
  }
  BOOST_TEST(value_or_throw(rows_of(text)) == expected, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_row_has_the_number_of_the_line_in_which_it_begins) {
  CsvLines lines(InputFile::in_memory("a\n\"b\nc\nd\"\ne\n", "a.csv"), ',', true);
  std::vector<uint64_t> rows, read;
  while (value_or_throw(lines.next())) {
    rows.push_back(lines.row());
    read.push_back(lines.lines());
  }
  BOOST_TEST(rows == (std::vector<uint64_t>{1, 2, 5}), boost::test_tools::per_element());
  BOOST_TEST(read == (std::vector<uint64_t>{1, 4, 5}), boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(samples_may_have_several_lines_wherever_reading_begins) {
  test::MemoryDisk disk;
  disk.write("/a.csv", samples);
  SourceFile file;
  file.path = "/a.csv";
  file.options = {{"text", int64_t{0}}};
  file.label_type = DType::Int32;
  const auto reader = value_or_throw(find_format("csv")->open(disk, file));
  const std::vector<std::string> texts = {"one", "two,\r\nlines", "three", "\"four\"\n"};
  std::vector<ReaderPosition> begins;
  for (const std::string& text : texts) {
    begins.push_back(value_or_throw(reader->position()));
    const Dataset sample = value_or_throw(reader->next(1));
    BOOST_TEST(sample.find("text")->as<std::string>()[0] == text);
  }
  BOOST_TEST(value_or_throw(reader->next(1)).samples() == 0);
  for (const size_t i : {3, 1, 2, 0}) {
    throw_if_failed(reader->restore(begins[i]));
    BOOST_TEST(value_or_throw(reader->next(1)).find("text")->as<std::string>()[0] == texts[i]);
    BOOST_TEST(value_or_throw(reader->position()).row == (i + 1 < texts.size() ? begins[i + 1].row : 6u));
  }
}

BOOST_AUTO_TEST_CASE(a_table_with_stray_quotes_is_surveyed_without_quotes) {
  test::MemoryDisk disk;
  disk.write("/stray.tsv", "\"so it begins\tpos\nand goes on\tneg\nand on\tpos\n");
  const TableSurvey stray = value_or_throw(survey_table(disk, "/stray.tsv"));
  BOOST_TEST(!stray.form.has_quotes);
  BOOST_TEST(stray.form.delimiter == '\t');
  BOOST_TEST(stray.rows == 3);
  disk.write("/late.csv", "a,b\n1,\"x\n2,y\n");
  const TableSurvey late = value_or_throw(survey_table(disk, "/late.csv"));
  BOOST_TEST(!late.form.has_quotes);
  BOOST_TEST(late.columns.size() == 2u);
  disk.write("/good.csv", "text,label\n\"a; b;\nc\",pos\n\"d,\n\",neg\ne,pos\n");
  const TableSurvey good = value_or_throw(survey_table(disk, "/good.csv"));
  BOOST_TEST(good.form.has_quotes);
  BOOST_TEST(good.form.delimiter == ',');
  BOOST_TEST(good.rows == 3);
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::data::csv_lines_test
