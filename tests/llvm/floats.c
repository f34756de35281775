// Floats bit by bit: signs, NaNs, conversions in range, comparisons and their negations.
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define KEEP __attribute__((noinline))

static uint64_t bits(double x) {
  uint64_t b;
  memcpy(&b, &x, sizeof b);
  return x != x ? 0x7ff8000000000000u : b;
}
KEEP double signs(double x, double y) { return -(-x) + fabs(fabs(y)) - fabs(-x); }
KEEP double zeros(double x) { return x - 0.0 + x * 1.0; }
KEEP float narrow(float x) { return (float)((double)x * 2.0) / 2.0f; }
KEEP int order(double x, double y) { return !(x < y) + 2 * (x >= y) + 4 * (x != y) + 8 * !(x == x); }
KEEP int64_t to_integer(double x) { return x > -1e9 && x < 1e9 ? (int64_t)x + (int32_t)x : 0; }
KEEP double from(int32_t i, uint8_t u, _Bool b) { return (double)i + (float)u + (double)b; }
KEEP double pick(double x, double y) { return x < y ? x : y; }
KEEP double rounded(double x) { return floor(x) + ceil(x) + trunc(x); }
KEEP double polynomial(double x) { return ((x * 2.0 + 0.0) * x + 1.0) * x / 4.0; }

int main(void) {
  static const double values[] = {0.0, -0.0, 1.0, -1.5, 2.5, 1e300, -1e-300, 5e-324, INFINITY, -INFINITY, NAN, 123456.789};
  const int n = sizeof values / sizeof *values;
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) {
      double x = values[i], y = values[j];
      printf("%llx %llx %llx %d %lld %llx %llx %llx %llx\n", (unsigned long long)bits(signs(x, y)),
             (unsigned long long)bits(zeros(x)), (unsigned long long)bits(narrow((float)x)), order(x, y),
             (long long)to_integer(x), (unsigned long long)bits(from(i * 1000 - j, (uint8_t)(i * 40), j & 1)),
             (unsigned long long)bits(pick(x, y)), (unsigned long long)bits(rounded(x)),
             (unsigned long long)bits(polynomial(y)));
    }
  return 0;
}
