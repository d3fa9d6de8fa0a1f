// The ring's transfers between sockets of one process: data that arrives in any pieces.
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <string>
#include <thread>
#include <vector>

#include "mlx/distributed/combine.h"
#include "mlx/distributed/ring/link.h"
#include "mlx/distributed/ring/transfer.h"

namespace mlx::core::distributed::ring::test {
namespace {

// Both ends of connections, with small buffers.
struct Ends {
  explicit Ends(int connections = 1) {
    for (int i = 0; i < connections; ++i) {
      std::array<int, 2> pair;
      EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, pair.data()), 0);
      const int size = 4096;
      setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
      here.emplace_back(pair[0]);
      there.emplace_back(pair[1]);
    }
  }
  std::vector<Socket> here, there;
};

void wait_a_little(bool, bool) { std::this_thread::sleep_for(std::chrono::microseconds(50)); }

std::string bytes_of(const void* from, size_t size) {
  return {static_cast<const char*>(from), size};
}

// Sends everything, in pieces of so many bytes.
void feed(Link& link, const std::string& bytes, size_t piece) {
  for (size_t done = 0; done < bytes.size();) {
    const iovec part{const_cast<char*>(bytes.data()) + done, std::min(piece, bytes.size() - done)};
    const size_t sent = link.send(&part, 1);
    done += sent;
    if (sent == 0) wait_a_little(true, false);
  }
}

std::string read(Link& link, size_t size, size_t piece) {
  std::string bytes(size, 0);
  for (size_t done = 0; done < size;) {
    const size_t got = link.receive(bytes.data() + done, std::min(piece, size - done));
    done += got;
    if (got == 0) wait_a_little(false, true);
  }
  return bytes;
}

std::string numbered(size_t size) {
  std::string bytes(size, 0);
  for (size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 31 % 251);
  return bytes;
}

TEST(RingLink, ConnectionsTakeTurns) {
  const std::string bytes = numbered(1'000'001);
  for (int connections : {1, 2, 3}) {
    Ends ends(connections);
    Link out(1, std::move(ends.here)), in(0, std::move(ends.there));
    std::thread sender([&] { feed(out, bytes, 70'000); });
    std::string got = read(in, 300'000, 1000);
    for (int i = 0; i < 20; ++i) {
      in.keep_arrived();
      wait_a_little(false, true);
    }
    got += read(in, bytes.size() - got.size(), 77'777);
    sender.join();
    EXPECT_TRUE(got == bytes);
  }
}

TEST(RingLink, AnEndIsAnErrorOnceAllIsRead) {
  Ends ends;
  Link out(1, std::move(ends.here)), in(0, std::move(ends.there));
  feed(out, "abc", 3);
  out.close();
  in.keep_arrived();
  EXPECT_FALSE(in.can_arrive());
  EXPECT_EQ(read(in, 3, 2), "abc");
  char byte = 0;
  EXPECT_THROW(in.receive(&byte, 1), std::runtime_error);
  const iovec part{&byte, 1};
  in.send(&part, 1);
  EXPECT_FALSE(in.can_send());
}

TEST(RingTransfer, CombinesElementsThatArriveInPieces) {
  constexpr size_t kCount = 40'000;  // more than the scratch memory holds
  std::vector<double> own(kCount), other(kCount), sum(kCount);
  std::iota(own.begin(), own.end(), 0);
  std::iota(other.begin(), other.end(), 0.5);
  const Header header{Operation::all_sum, Dtype::Val::float64, kCount};
  for (size_t piece : {3, 4095, 100'000}) {
    Ends ends;
    Link out(1, std::move(ends.here)), in(0, std::move(ends.there));
    std::thread sender([&] {
      feed(out, bytes_of(&header, sizeof header) + bytes_of(other.data(), kCount * 8), piece);
    });
    Transfer transfer(header);
    transfer.combine(Reduction::sum, reinterpret_cast<const char*>(own.data()),
                     reinterpret_cast<char*>(sum.data()), kCount * 8);
    transfer.run(nullptr, &in, &wait_a_little);
    sender.join();
    for (size_t i = 0; i < kCount; ++i) ASSERT_EQ(sum[i], 2.0 * i + 0.5);
  }
}

TEST(RingTransfer, PassesOnOnlyWhatHasArrived) {
  const std::string own = numbered(10'000), other = numbered(50'000);
  std::string got(other.size(), 0);
  const Header header{Operation::all_gather, Dtype::Val::uint8, 10'000};
  Ends before, behind;
  Link feeder(1, std::move(before.here)), from(0, std::move(before.there));
  Link to(2, std::move(behind.here)), reader(1, std::move(behind.there));
  std::thread passing([&] {
    Transfer transfer(header);
    transfer.pass_on_after(own.size());
    transfer.send(own.data(), own.size());
    transfer.receive(got.data(), 20'000);
    transfer.receive(got.data() + 20'000, 0);
    transfer.receive(got.data() + 20'000, 30'000);
    transfer.send(got.data(), 50'000);
    transfer.run(&to, &from, &wait_a_little);
  });
  const std::string head = bytes_of(&header, sizeof header);
  EXPECT_TRUE(read(reader, head.size() + own.size(), 999) == head + own);
  feed(feeder, head + other.substr(0, 123), 50);
  EXPECT_TRUE(read(reader, 123, 123) == other.substr(0, 123));
  char byte = 0;
  EXPECT_EQ(reader.receive(&byte, 1), 0);
  std::thread rest([&] { feed(feeder, other.substr(123), 5000); });
  EXPECT_TRUE(read(reader, other.size() - 123, 4321) == other.substr(123));
  passing.join();
  rest.join();
  EXPECT_TRUE(got == other);
}

TEST(RingTransfer, AnotherOperationIsAnErrorThatNamesBoth) {
  const Header mine{Operation::all_max, Dtype::Val::float32, 3};
  for (const Header& other : {Header{Operation::all_min, Dtype::Val::float32, 3},
                              Header{Operation::all_max, Dtype::Val::int32, 3},
                              Header{Operation::all_max, Dtype::Val::float32, 4},
                              Header{Operation(77), Dtype::Val(99), 3}}) {
    Ends ends;
    Link out(1, std::move(ends.here)), in(0, std::move(ends.there));
    feed(out, bytes_of(&other, sizeof other), 100);
    try {
      Transfer(mine).run(nullptr, &in, &wait_a_little);
      ADD_FAILURE();
    } catch (const std::runtime_error& error) {
      const std::string found = error.what();
      EXPECT_NE(found.find("all_max of 3 elements of float32"), std::string::npos) << found;
      EXPECT_NE(found.find(text(other)), std::string::npos) << found;
    }
  }
}

template <typename T>
std::vector<T> combined(Reduction reduction, Dtype dtype, std::vector<T> a, std::vector<T> b) {
  combine(reduction, dtype, reinterpret_cast<const char*>(a.data()),
          reinterpret_cast<const char*>(b.data()), reinterpret_cast<char*>(a.data()), a.size());
  return a;
}

TEST(RingCombine, IntegersWrapAround) {
  using Bytes = std::vector<int8_t>;
  EXPECT_EQ(combined(Reduction::sum, int8, Bytes{127, -128}, Bytes{1, -1}), (Bytes{-128, 127}));
  using Longs = std::vector<int64_t>;
  constexpr auto kMost = std::numeric_limits<int64_t>::max();
  EXPECT_EQ(combined(Reduction::sum, int64, Longs{kMost}, Longs{1}), (Longs{-kMost - 1}));
  EXPECT_EQ(combined(Reduction::max, int64, Longs{-1, 5}, Longs{-2, 7}), (Longs{-1, 7}));
  EXPECT_EQ(combined(Reduction::min, int64, Longs{-1, 5}, Longs{-2, 7}), (Longs{-2, 5}));
}

TEST(RingCombine, NotANumberWinsOnEitherSide) {
  const float nan = std::nanf("");
  for (auto reduction : {Reduction::sum, Reduction::max, Reduction::min}) {
    for (float value : combined(reduction, float32, std::vector{nan, 1.0f}, std::vector{1.0f, nan}))
      EXPECT_TRUE(std::isnan(value));
    using Halves = std::vector<float16_t>;
    for (auto value : combined(reduction, float16, Halves{nan, 1.0f}, Halves{1.0f, nan}))
      EXPECT_TRUE(std::isnan(static_cast<float>(value)));
  }
}

}  // namespace
}  // namespace mlx::core::distributed::ring::test
