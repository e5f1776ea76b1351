// Tables whose numbers and dates are not plain ones: which forms are found, what they mean, and what a first run file says of them.
#include <boost/test/unit_test.hpp>

#include "apps/data/csv/number_form.h"
#include "apps/data/csv/table_survey.h"
#include "apps/data/csv/timestamp.h"
#include "apps/data/numbers.h"
#include "apps/runs/first_run_file.h"
#include "apps/train/data/train_data.h"
#include "tests/apps/config/run_file.h"
#include "tests/support/memory_disk.h"
#include "tests/support/samples.h"
#include "tests/support/says.h"

namespace troupe::data::number_forms_test {
namespace {

using test::says;

/// Returns the form of a field as "IGNORED" or "IGNORED decimal", and "none" if there is none.
std::string form(std::string_view field, bool has_groups = true) {
  const auto found = form_of(field, has_groups);
  return !found ? "none" : found->ignored + (found->decimal_comma ? " decimal" : "");
}

struct Fixture {
  TableSurvey survey(const std::string& table) {
    disk.write("/t.csv", table);
    return value_or_throw(survey_table(disk, "/t.csv"));
  }
  std::string first_file(const std::string& table) {
    return value_or_throw(runs::first_run_file(survey(table), {"/t.csv", "t", "t.toml"}));
  }
  /// Returns the samples that the first run file of a table describes.
  Dataset samples(const std::string& table) {
    const std::string file = first_file(table);
    const auto config =
        value_or_throw(config::parse(file, {"data.valid={files=['/t.csv']}"}));  // none are held out
    return test::all_samples(*value_or_throw(load(disk, config.data, 1)).train);
  }

  test::MemoryDisk disk;
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(number_forms, Fixture)

BOOST_AUTO_TEST_CASE(the_form_of_a_number_is_found) {
  for (const char* const plain : {"1", "-1.5e3", "", "x", "1,2,3", "12,34.5", "1.2.3", "$", "1,23,456"})
    BOOST_TEST(form(plain) == "none", plain);
  BOOST_TEST(form("$5") == "$");
  BOOST_TEST(form("-45.5 %") == "%");
  BOOST_TEST(form("€ 3") == "€");
  for (const bool has_groups : {false, true}) {
    BOOST_TEST(form("1,234.50", has_groups) == ",");
    BOOST_TEST(form("-12,345,678", has_groups) == ",");
    BOOST_TEST(form("1,5", has_groups) == " decimal");
    BOOST_TEST(form("1.234,5", has_groups) == ". decimal");
    BOOST_TEST(form("1.234.567,89 €", has_groups) == "€. decimal");
  }
  BOOST_TEST(form("1,234", true) == ",");
  BOOST_TEST(form("1,234", false) == " decimal");
  BOOST_TEST(plain_number("$ 1,234.50", {"$,", false}) == "1234.50");
  BOOST_TEST(plain_number("1.234,5", {".", true}) == "1234.5");
  BOOST_TEST(advice_on_form("1,5", true) == "; data.decimal = \",\" reads it");
  BOOST_TEST(advice_on_form("$1,500", true) == "; data.ignore = \"$,\" reads it");
  BOOST_TEST(advice_on_form("1.234,5", true) == "; data.decimal = \",\" and data.ignore = \".\" read it");
  BOOST_TEST(advice_on_form("x", true) == "");
}

BOOST_AUTO_TEST_CASE(dates_have_the_order_that_is_given) {
  using enum DateOrder;
  const double day = *parse_timestamp("2023-04-03");
  BOOST_TEST(*parse_timestamp("3/4/2023", DayMonthYear) == day);
  BOOST_TEST(*parse_timestamp("03.04.23", DayMonthYear) == day);
  BOOST_TEST(*parse_timestamp("04-03-2023", MonthDayYear) == day);
  BOOST_TEST(*parse_timestamp("2023/4/3", YearMonthDay) == day);
  BOOST_TEST(*parse_timestamp("2023-04-03", DayMonthYear) == day);
  BOOST_TEST(*parse_timestamp("4/3/2023 5:30 PM", MonthDayYear) == day + 17.5 * 3600);
  BOOST_TEST(*parse_timestamp("4/3/2023, 12:00:30 am", MonthDayYear) == day + 30);
  BOOST_TEST(*parse_timestamp("03.04.2023 17:30:05.5", DayMonthYear) == day + 17.5 * 3600 + 5.5);
  BOOST_TEST(*parse_timestamp("1.1.70", DayMonthYear) == 0);
  for (const char* const wrong :
       {"13/4/2023", "4/3-2023", "4/3/2023 25:00", "4/3/2023 5", "4/3/2023 13:00 PM", "4/3", "4/3/123",
        "4/3/2023 0:30 AM", "x/3/2023", "2/30/2023"})
    BOOST_TEST(!parse_timestamp(wrong, MonthDayYear), wrong);
  BOOST_TEST(!parse_timestamp("4/3/2023"));
  BOOST_TEST(advice_on_dates("31/12/2023") == "; data.dates = \"dmy\" reads it");
  BOOST_TEST(advice_on_dates("1/12/2023") == "; data.dates = \"mdy\" or \"dmy\" reads it");
  BOOST_TEST(advice_on_dates("soon") == "");
}

BOOST_AUTO_TEST_CASE(a_first_run_file_reads_numbers_with_signs) {
  const std::string table =
      "share,price,label\n45%,\"$1,234.50\",0.5\n5%,\"$2,000\",1.5\n,$7,2.5\n10%,$8,3.5\n";
  const std::string file = first_file(table);
  BOOST_TEST(says(file, "ignore = \"%$,\""), file);
  BOOST_TEST(!says(file, "decimal"));
  const Dataset found = samples(table);
  BOOST_TEST(value_or_throw(numbers_of(*found.find("numbers")))[0] == 1234.5);
  BOOST_TEST(value_or_throw(numbers_of(*found.find("numbers")))[1] == 2000);
  BOOST_TEST(value_or_throw(numbers_of(*found.find("with_gaps")))[0] == 45);
}

BOOST_AUTO_TEST_CASE(a_first_run_file_reads_decimal_commas) {
  const std::string table = "a;b;y\n5,1;1;1.000,5\n4;2;2,5\n1.234,5;3;3\n7;5;4\n2;6;0,25\n1;7;8\n";
  const std::string file = first_file(table);
  BOOST_TEST(says(file, "decimal = \",\""), file);
  BOOST_TEST(says(file, "ignore = \".\""), file);
  const Dataset found = samples(table);
  BOOST_TEST(value_or_throw(numbers_of(*found.find("numbers")))[4] == 1234.5);  // a of the third row
  BOOST_TEST(found.find("label")->as<float>()[0] == 1000.5f);
}

BOOST_AUTO_TEST_CASE(forms_that_contradict_each_other_are_left_alone) {
  BOOST_TEST(survey("a;b\n1,5;\"1,234.5\"\n2,5;2\n").form.numbers.is_plain());
  BOOST_TEST(survey("a;b\n1.234,5;1.5\n2;2\n").form.numbers.is_plain());
}

BOOST_AUTO_TEST_CASE(a_first_run_file_has_the_order_of_dates) {
  const auto line = [&](const std::string& first, const std::string& second) {
    const std::string file = first_file("when,y\n" + first + ",1\n" + second + ",2\n" + first + ",3\n");
    const size_t at = file.find("dates = ");
    return at == std::string::npos ? "none" : file.substr(at, file.find('\n', at) - at);
  };
  BOOST_TEST(line("31/12/2023", "1/2/2023").starts_with("dates = \"dmy\""));
  BOOST_TEST(!says(line("31/12/2023", "1/2/2023"), "may as well"));
  BOOST_TEST(line("12/31/2023 5:00 PM", "1/2/2023 6:00 AM").starts_with("dates = \"mdy\""));
  BOOST_TEST(says(line("1/2/2023", "3/4/2023"), "it may as well be dmy"));
  BOOST_TEST(line("2023/12/31", "2023/1/2").starts_with("dates = \"ymd\""));
  BOOST_TEST(line("2023-12-31", "2023-01-02") == "none");
}

BOOST_AUTO_TEST_CASE(a_run_file_without_the_form_is_told_of_it) {
  const auto failure = [&](const std::string& table, const std::string& more) {
    disk.write("/t.csv", table);
    return train::load_data(
               disk, value_or_throw(config::parse("[data]\nformat = 'csv'\ntrain = ['/t.csv']\n" + more)))
        .status()
        .text();
  };
  const std::string model =
      "batch = 1\n[model.graph]\nloss = 'mean(nn.dense(image, units=1))'\n[train]\nloss = 'loss'\n"
      "optimizer = { type = 'sgd', lr = 0.1 }\nmax_epochs = 1\n";
  BOOST_TEST(says(failure("\"1,234.5\",0\n2,1\n", model),
                  "'1,234.5' is not a finite number; data.ignore = \",\" reads it"));
  BOOST_TEST(says(failure("5,1;0\n2;1\n", "delimiter = ';'\n" + model), "data.decimal = \",\" reads it"));
  BOOST_TEST(failure("5,1;0\n2;1\n", "delimiter = ';'\ndecimal = ','\n" + model) == "");
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace troupe::data::number_forms_test
