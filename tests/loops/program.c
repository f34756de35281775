// Loops for `std.loops`: counters of all kinds, closed forms, loops that go, and loops that must stay.
#include <stdint.h>
#include <stdio.h>

#define KEEP __attribute__((noinline))

// A test before the body, a wide sum of a narrow counter.
KEEP int64_t closed(int n) {
  int64_t s = 7;
  for (int i = 0; i < n; i++) s += 5;
  return s;
}
KEEP unsigned triangle(unsigned n) {
  unsigned s = 0;
  for (unsigned i = 0; i < n; i++) s += i;
  return s;
}
KEEP uint64_t pyramid(uint64_t n) {
  uint64_t s = 0, t = 0;
  for (uint64_t i = 0; i < n; i++) {
    t += 3;
    s += t;
  }
  return s;
}
KEEP unsigned do_loop(unsigned n) {
  unsigned s = 1, i = 0;
  do {
    s += 9;
    i++;
  } while (i < n);
  return s;
}
KEEP uint64_t unsigned_down(uint64_t n, uint64_t end) {
  uint64_t s = 0;
  for (uint64_t i = n; i > end; i--) s += 6;
  return s;
}
KEEP int signed_down(int n) {
  int s = 0;
  for (int i = n; i > -3; i--) s += 4;
  return s;
}
// Down to zero by the counter itself.
KEEP unsigned to_zero(unsigned n) {
  unsigned s = 0;
  while (n) {
    s += 11;
    n--;
  }
  return s;
}
KEEP int constant_trips(int x) {
  for (int i = 3; i <= 90; i += 4) x += 2;
  return x;
}
// The bound is computed in each iteration.
KEEP unsigned but_last(unsigned n, unsigned m, unsigned k) {
  unsigned s = 1;
  for (unsigned i = 0; i < n * m - 1; i++) s += k;
  return s;
}
KEEP int nested(int n, int m) {
  int s = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) s += 2;
  return s;
}
// Which value is assigned depends on whether the body runs.
KEEP int assigned(int n, int a, int b) {
  for (int i = 0; i < n; i++) a = b;
  return a;
}
// Its step is even and its bound is met exactly: it may never end, but C says that it does.
KEEP unsigned exact(unsigned n, unsigned x) {
  unsigned c = x, d = 0;
  for (unsigned i = 0; i != n; i += 2) {
    c += 3;
    d += 3;
  }
  return c - x - d;
}
KEEP int two_exits(const int *p, int n, int x) {
  int s = 0;
  for (int i = 0; i < n; i++) {
    if (p[i] == x) return s * 3;
    s += 5;
  }
  return -s;
}
KEEP int many_exits(const unsigned char *p, int n) {
  int i = 0, k = 0;
  for (;;) {
    if (i >= n) return k;
    if (p[i] == 9) break;
    if (p[i] == 3) k -= 4;
    if (k < -20) return 1000 + i;
    i++;
    k += 2;
  }
  return k * 7 + i;
}
KEEP int64_t addresses(const int64_t *p, int n, int m) {
  int64_t s = 0;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < m; j++) s += p[i * m + j] * (i - j);
  return s;
}
KEEP int64_t strided(const char *p, unsigned n) {
  int64_t s = 0;
  for (unsigned i = 0; i < n; i++) s = s * 3 + p[(uint64_t)i * 2];
  return s;
}
KEEP int64_t backwards(const int64_t *p, int n) {
  int64_t s = 0;
  for (int i = n - 1; i >= 0; i--) s = s * 5 + p[i];
  return s;
}
KEEP unsigned powers(unsigned n) {
  unsigned s = 0, f = 1;
  for (unsigned i = 0; i < n; i++) {
    s ^= f * 12;
    f *= 3;
  }
  return s;
}
KEEP int wraps(unsigned char n) {
  int s = 0;
  for (unsigned char i = 250; i != n; i++) s += 100;
  return s;
}
static volatile int port;
KEEP int stays(int n) {
  int s = 0;
  for (int i = 0; i < n; i++) {
    (void)port;
    s += 2;
  }
  return s;
}

KEEP int set(int v) {
  int x = 20;
  for (unsigned i = 0; i < 2; i++) x = v;
  return x;
}
KEEP unsigned set_down(unsigned v) {
  unsigned x = 7;
  for (int i = 5; i > 0; i--) x = v + v;
  return x + 1;
}

static int64_t words[64];
static int numbers[64];
static unsigned char bytes[64];

int main(void) {
  for (int i = 0; i < 64; i++) {
    words[i] = i * i - 700;
    numbers[i] = i * 37 % 61;
    bytes[i] = (unsigned char)(i % 11);
  }
  int ends[] = {-2147483647 - 1, -9, -3, -1, 0, 1, 2, 7, 30};
  for (unsigned e = 0; e < sizeof ends / sizeof *ends; e++) {
    int n = ends[e];
    unsigned u = n < 0 ? (unsigned)-(n / 1000000) : (unsigned)n;
    printf("%d: %lld %u %llu %u", n, (long long)closed(n), triangle(u), (unsigned long long)pyramid(u), do_loop(u));
    printf(" %llu %d %u %d", (unsigned long long)unsigned_down(u, 3), signed_down(n < -9 ? -9 : n), to_zero(u),
           constant_trips(n));
    printf(" %d %d %u %d", nested(n, 3), assigned(n, 5, 6), exact(2 * u, u + 1), two_exits(numbers, n, 24));
    printf(" %d %lld %lld", many_exits(bytes, n), (long long)addresses(words, n < 8 ? n : 8, n < 8 ? n : 8),
           (long long)strided((const char *)bytes, n < 0 ? 0 : n));
    printf(" %lld %u %d %d\n", (long long)backwards(words, n < 0 ? 0 : n), powers(u), wraps((unsigned char)n), stays(n));
    printf("%d %u %u\n", set(n), set_down(u), but_last(u % 100 + 1, 3, u));
  }
  printf("%u %u %llu %llu\n", triangle(100000u), triangle(92683u), (unsigned long long)pyramid(5000000u),
         (unsigned long long)unsigned_down(18446744073709551615u, 18446744073709551600u));
  return 0;
}
