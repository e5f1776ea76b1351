// Certificate files: every problem with a file is reported in a sentence that names the file.
#include "actors/net/transport/certificate_files.h"

#include <boost/test/unit_test.hpp>

#include <filesystem>

#include "actors/net/transport/tls.h"
#include "tests/support/net/certificates.h"

namespace troupe::certificate_files_test {
namespace {

using namespace std::chrono_literals;

struct Fixture {
  test::Certificates certificates;
  test::TemporaryFolder folder;
  TlsFiles files = certificates.of("/job:ps/replica:0/task:0");

  static void refused(const Status& status, const std::string& text) {
    BOOST_TEST((status.code() == Code::InvalidArgument), status.message());
    BOOST_TEST(status.text() == text);
  }
  TlsFiles with(std::string TlsFiles::*which, const std::string& path) const {
    TlsFiles changed = files;
    changed.*which = path;
    return changed;
  }
};

BOOST_FIXTURE_TEST_SUITE(certificate_files, Fixture)

BOOST_AUTO_TEST_CASE(good_ones_are_taken) {
  BOOST_TEST(check_usable(files).ok());
  BOOST_TEST(check_valid(files).ok());
  BOOST_TEST(make_tls(files).ok());
}

BOOST_AUTO_TEST_CASE(each_file_is_named_with_what_is_wrong) {
  const std::string none = folder.path() + "/none", empty = folder.write("empty", ""),
                    noise = folder.write("noise", "no PEM");
  using Which = std::pair<std::string TlsFiles::*, std::string>;
  for (const auto& [which, what] :
       {Which{&TlsFiles::certificate, "certificate "}, Which{&TlsFiles::key, "key "},
        Which{&TlsFiles::authority, "authority "}}) {
    const std::string holds =
        which == &TlsFiles::key ? " holds no private key in PEM form" : " holds no certificate in PEM form";
    refused(check_usable(with(which, none)), what + none + " cannot be read: No such file or directory");
    refused(check_usable(with(which, empty)), what + empty + " cannot be read: it is empty");
    refused(check_usable(with(which, folder.path())),
            what + folder.path() + " cannot be read: Is a directory");
    refused(check_usable(with(which, noise)), what + noise + holds);
    refused(make_tls(with(which, noise)).status(), what + noise + holds);
    refused(check_valid(with(which, none)), what + none + " cannot be read: No such file or directory");
  }
  const std::string locked = folder.write("locked", "-----BEGIN ENCRYPTED PRIVATE KEY-----\n");
  refused(check_usable(with(&TlsFiles::key, locked)),
          "key " + locked + " is encrypted; only a key without a password can be used");
}

BOOST_AUTO_TEST_CASE(a_key_belongs_to_its_certificate) {
  const TlsFiles another = certificates.of("/job:ps/replica:0/task:0");
  refused(check_usable(with(&TlsFiles::key, another.key)),
          "key " + another.key + " does not belong to certificate " + files.certificate);
}

BOOST_AUTO_TEST_CASE(a_certificate_that_others_will_refuse_is_named_before) {
  const TlsFiles old = certificates.of("/job:ps/replica:0/task:0", 1h, -2h),
                 early = certificates.of("/job:ps/replica:0/task:0", 1h, 1h),
                 foreign = certificates.of_another_authority("/job:ps/replica:0/task:0");
  BOOST_TEST(check_valid(old).text().starts_with("certificate " + old.certificate +
                                                 " has expired: it was valid until "));
  BOOST_TEST(check_valid(early).text().starts_with("certificate " + early.certificate +
                                                   " is not valid yet: it will be valid from "));
  refused(check_valid(foreign), "certificate " + foreign.certificate +
                                    " is not signed by the authority of the cluster, " + foreign.authority);
  for (const TlsFiles& usable : {old, early, foreign}) BOOST_TEST(make_tls(usable).ok());
}

BOOST_AUTO_TEST_SUITE_END()

}  // namespace
}  // namespace troupe::certificate_files_test
