#include "attune/base/file.h"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <utility>

#include "attune/base/error.h"

namespace attune {
namespace {

/// A new directory for each test, removed after it.
class Files : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (std::filesystem::temp_directory_path() / "attune-test-XXXXXX").string();
    ASSERT_NE(::mkdtemp(name.data()), nullptr);
    directory_ = name;
  }
  void TearDown() override { std::filesystem::remove_all(directory_); }

  Path in(const std::string& name) const { return directory_ / name; }
  std::vector<std::string> names() const {
    std::vector<std::string> all;
    for (const auto& entry : std::filesystem::directory_iterator(directory_)) all.push_back(entry.path().filename());
    std::sort(all.begin(), all.end());
    return all;
  }
  using Lines = std::vector<std::pair<std::int64_t, std::string>>;
  Lines lines_of(const std::string& contents, std::size_t longest = 1000) const {
    write_file_atomically(in("lines"), contents);
    Lines lines;
    for_each_line(
        in("lines"), [&](std::int64_t number, std::string_view text) { lines.emplace_back(number, text); }, longest);
    return lines;
  }

  Path directory_;
};

template <class Work>
std::string error_of(Work&& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST_F(Files, ReadGivesExactlyWhatWasWritten) {
  std::string contents("a\0b\r\n\xff", 6);
  write_file_atomically(in("x"), contents);
  EXPECT_EQ(read_file(in("x")), contents);
  write_file_atomically(in("x"), "");
  EXPECT_EQ(read_file(in("x")), "");
  EXPECT_FALSE(read_file("/proc/self/status").empty()) << "a file whose size is said to be 0";
}

TEST_F(Files, ReadErrorsNameThePathAndTheReason) {
  std::string missing = error_of([&] { read_file(in("missing")); });
  EXPECT_TRUE(has(missing, in("missing").string())) << missing;
  EXPECT_TRUE(has(missing, "No such file")) << missing;
  EXPECT_TRUE(has(error_of([&] { read_file(directory_); }), "it is a directory"));
  EXPECT_TRUE(has(error_of([&] { MappedFile::open(in("missing")); }), "No such file"));
  EXPECT_TRUE(has(error_of([&] { MappedFile::open("/dev/null"); }), "not an ordinary file"));
}

TEST_F(Files, AMappingHoldsTheBytesAndOutlivesItsName) {
  std::string contents(20000, 'x');
  contents[9000] = 'y';
  write_file_atomically(in("m"), contents);
  MappedFile copy;
  {
    MappedFile file = MappedFile::open(in("m"));
    copy = file;
  }
  std::filesystem::remove(in("m"));
  ASSERT_EQ(copy.bytes().size(), contents.size());
  copy.drop_pages(copy.bytes());
  copy.drop_pages(copy.bytes().subspan(3, 10));
  EXPECT_EQ(static_cast<char>(copy.bytes()[9000]), 'y') << "dropped pages are read again";
  EXPECT_EQ(copy.path(), in("m"));
}

TEST_F(Files, AnEmptyFileMapsToNoBytes) {
  write_file_atomically(in("empty"), "");
  EXPECT_TRUE(MappedFile::open(in("empty")).bytes().empty());
}

TEST_F(Files, AnAtomicFileAppearsOnlyOnCommit) {
  write_file_atomically(in("x"), "old");
  {
    AtomicFile file(in("x"));
    file.write("new");
    EXPECT_EQ(read_file(in("x")), "old");
    file.commit();
    EXPECT_EQ(read_file(in("x")), "new");
    EXPECT_THROW(file.write("more"), Error);
    EXPECT_THROW(file.commit(), Error);
  }
  EXPECT_EQ(names(), std::vector<std::string>{"x"});
}

TEST_F(Files, WithoutCommitNothingIsLeft) {
  write_file_atomically(in("x"), "old");
  {
    AtomicFile file(in("x"));
    file.write(std::string(1 << 20, 'n'));
  }
  EXPECT_EQ(read_file(in("x")), "old");
  EXPECT_EQ(names(), std::vector<std::string>{"x"});
}

TEST_F(Files, WhatAKilledWriterLeftIsRemovedByTheNext) {
  const pid_t child = ::fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    AtomicFile file(in("x"));
    write_directory_atomically(in("x.d"), [&](const Path& to) {
      std::filesystem::create_directory(to / "deep");
      ::_exit(0);
    });
  }
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_EQ(names().size(), 2u) << "the child ended before its commit";
  AtomicFile other(in("x.d"));  // another name that begins the same
  write_file_atomically(in("x"), "new");
  EXPECT_EQ(names().size(), 2u) << "x and the file of `other`, which is still being written";
  other.commit();
  EXPECT_EQ(names(), (std::vector<std::string>{"x", "x.d"}));
}

TEST_F(Files, TwoWritersOfOneNameDoNotMix) {
  AtomicFile a(in("x")), b(in("x"));
  a.write("aaaa");
  b.write("bb");
  a.commit();
  b.commit();
  EXPECT_EQ(read_file(in("x")), "bb");
  EXPECT_EQ(names(), std::vector<std::string>{"x"});
}

TEST_F(Files, ALinkIsFollowedNotReplaced) {
  write_file_atomically(in("target"), "old");
  std::filesystem::create_symlink("target", in("link"));
  write_file_atomically(in("link"), "new");
  EXPECT_TRUE(std::filesystem::is_symlink(in("link")));
  EXPECT_EQ(read_file(in("target")), "new");
}

TEST_F(Files, WritingWhereNothingCanBeWrittenIsAnError) {
  EXPECT_TRUE(has(error_of([&] { AtomicFile file(in("missing/x")); }), "No such file"));
  EXPECT_TRUE(has(error_of([&] { AtomicFile file{directory_}; }), "Is a directory"));
  write_file_atomically(in("file"), "");
  EXPECT_TRUE(has(error_of([&] { AtomicFile file(in("file/x")); }), "Not a directory"));
  EXPECT_TRUE(has(error_of([&] { AtomicFile file("/proc/attune-test"); }), "writing /proc/attune-test"));
}

TEST_F(Files, AReadOnlyDirectoryIsAnErrorThatNamesTheFile) {
  // Root may write anywhere, so it becomes someone else for the moment.
  const uid_t user = ::geteuid();
  ::chmod(directory_.c_str(), 0555);
  EXPECT_TRUE(user != 0 || ::seteuid(65534) == 0);
  std::string error = error_of([&] { AtomicFile file(in("x")); });
  EXPECT_TRUE(user != 0 || ::seteuid(user) == 0);
  ::chmod(directory_.c_str(), 0700);
  EXPECT_TRUE(has(error, "Permission denied")) << error;
  EXPECT_TRUE(has(error, in("x").string())) << error;
}

TEST_F(Files, AFullDiskIsAnErrorAndADeviceStaysADevice) {
  std::string error = error_of([] { write_file_atomically("/dev/full", "text"); });
  EXPECT_TRUE(has(error, "writing /dev/full: No space left on device")) << error;
  write_file_atomically("/dev/null", "text");
  struct stat status {};
  ASSERT_EQ(::stat("/dev/null", &status), 0);
  EXPECT_TRUE(S_ISCHR(status.st_mode));
}

TEST_F(Files, AWriteThatFailsHalfWayLeavesTheOldFile) {
  // A limit on the size of files fails like a full disk: some bytes are written, then none.
  write_file_atomically(in("x"), "old");
  struct rlimit before {};
  ASSERT_EQ(::getrlimit(RLIMIT_FSIZE, &before), 0);
  auto handler = std::signal(SIGXFSZ, SIG_IGN);
  struct rlimit small {
    100000, before.rlim_max
  };
  ASSERT_EQ(::setrlimit(RLIMIT_FSIZE, &small), 0);
  std::string whole = error_of([&] { write_file_atomically(in("x"), std::string(1 << 20, 'n')); });
  std::string buffered = error_of([&] { write_file_atomically(in("x"), std::string(150000, 'n')); });
  std::string directory = error_of([&] {
    write_directory_atomically(in("d"),
                               [](const Path& to) { write_file_atomically(to / "x", std::string(150000, 'n')); });
  });
  ::setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, handler);
  EXPECT_TRUE(has(whole, "File too large")) << whole;
  EXPECT_TRUE(has(buffered, "File too large")) << buffered;
  EXPECT_TRUE(has(directory, "File too large")) << directory;
  EXPECT_EQ(read_file(in("x")), "old");
  EXPECT_EQ(names(), std::vector<std::string>{"x"});
}

TEST_F(Files, ADirectoryAppearsWholeAndReplacesTheOldOne) {
  for (const char* name : {"a", "b"})
    write_directory_atomically(in("d/"), [&](const Path& to) {
      write_file_atomically(to / name, name);
      make_directories(to / "deep/er");
    });
  EXPECT_FALSE(std::filesystem::exists(in("d/a"))) << "nothing of the old directory stays";
  EXPECT_EQ(read_file(in("d/b")), "b");
  EXPECT_TRUE(std::filesystem::is_directory(in("d/deep/er")));
  EXPECT_EQ(names(), std::vector<std::string>{"d"});
}

TEST_F(Files, AFailedFillLeavesTheOldDirectory) {
  write_directory_atomically(in("d"), [](const Path& to) { write_file_atomically(to / "old", ""); });
  EXPECT_THROW(write_directory_atomically(in("d"),
                                          [](const Path& to) {
                                            write_file_atomically(to / "new", "");
                                            fail("stopped");
                                          }),
               Error);
  EXPECT_TRUE(std::filesystem::exists(in("d/old")));
  EXPECT_EQ(names(), std::vector<std::string>{"d"});
}

TEST_F(Files, ADirectoryIsNotWrittenOverAFile) {
  write_file_atomically(in("x"), "mine");
  EXPECT_TRUE(has(error_of([&] { write_directory_atomically(in("x"), [](const Path&) {}); }), "Not a directory"));
  EXPECT_TRUE(has(error_of([&] { make_directories(in("x/y")); }), "making the directory"));
  EXPECT_EQ(read_file(in("x")), "mine");
}

TEST_F(Files, LinesComeNumberedAndWithoutTheirEnds) {
  EXPECT_EQ(lines_of(""), Lines{});
  EXPECT_EQ(lines_of("\n"), (Lines{{1, ""}}));
  EXPECT_EQ(lines_of("one"), (Lines{{1, "one"}}));
  EXPECT_EQ(lines_of("one\ntwo\r\n\nfour\n"), (Lines{{1, "one"}, {2, "two"}, {3, ""}, {4, "four"}}));
}

TEST_F(Files, LinesLongerThanThePiecesReadAreWhole) {
  std::string a(3'000'000, 'a'), b((1 << 20) - 1, 'b'), c(1 << 20, 'c');
  EXPECT_EQ(lines_of(a + "\n" + b + "\r\n" + c + "\nend", 4'000'000), (Lines{{1, a}, {2, b}, {3, c}, {4, "end"}}));
}

TEST_F(Files, TheLongestLineAllowedIsAllowedAndOneByteMoreIsNot) {
  EXPECT_EQ(lines_of("x\n12345\r\n12345", 5).size(), 3u);
  for (std::string end : {"", "\n", "\r\n", "\nmore"}) {
    std::string error = error_of([&] { lines_of("x\n123456" + end, 5); });
    EXPECT_TRUE(has(error, "line 2: the line is longer than 5 bytes")) << error;
  }
}

TEST_F(Files, AnEndlessLineIsRefusedWithoutReadingItAll) {
  std::string error = error_of([] {
    for_each_line(
        "/dev/zero", [](std::int64_t, std::string_view) {}, std::size_t{4} << 20);
  });
  EXPECT_TRUE(has(error, "reading /dev/zero, line 1: the line is longer than 4194304 bytes")) << error;
}

// FIPS 180-2, appendix B.
TEST_F(Files, Sha256GivesThePublishedDigests) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256(std::string(1'000'000, 'a')), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
  write_file_atomically(in("a"), std::string(1'000'000, 'a'));
  EXPECT_EQ(sha256_of_file(in("a")), sha256(std::string(1'000'000, 'a')));
  write_file_atomically(in("none"), "");
  EXPECT_EQ(sha256_of_file(in("none")), sha256(""));
}

}  // namespace
}  // namespace attune
