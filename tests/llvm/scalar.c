// Integer arithmetic with chances for rules: strength, masks, divisions, shifts beyond constants, truth values.
#include <stdint.h>
#include <stdio.h>

#define KEEP __attribute__((noinline))

KEEP int32_t twice_and_more(int32_t x, int32_t y) { return (x + y) * 8 - x * 8 + (y ^ y); }
KEEP uint32_t rotate(uint32_t x, uint32_t n) { return (x << (n & 31)) | (x >> (-n & 31)); }
KEEP uint32_t quotient(uint32_t x, uint32_t y) { return y ? (x * 6u) / 2u + x / y : x % 16u; }
KEEP int32_t remainder_of(int32_t x, int32_t y) { return y > 0 ? x - (x / y) * y : 0; }
KEEP int64_t widths(int8_t a, uint16_t b, int32_t c) {
  return (int64_t)(int8_t)(a & 0x7f) + (int64_t)(uint16_t)(b | 0) * 4 + (int64_t)(int32_t)((uint32_t)c << 0) - (c - c);
}
KEEP int logic(_Bool p, _Bool q, int x) { return (p && !q) || (x > 3 && x > 2) ? x : !p; }
KEEP uint8_t truth(int x, int y) { return (x < y) + (y > x) + (_Bool)(x & 1); }
KEEP uint64_t masks(uint64_t x) { return ((x << 8) >> 8) + (x & ~x) + (~~x & 0xff) + ((x | 7) & 7); }
KEEP int32_t clamp(int32_t x) {
  int32_t low = x < 0 ? 0 : x;
  return low > 255 ? 255 : low;
}
KEEP int32_t select_chain(int32_t x) { return x == 1 ? 1 : x == 2 ? 2 : x == 3 ? x : (x * 5 - x * 4); }
KEEP uint32_t shift_by(uint32_t x, uint32_t n) { return n < 32 ? ((x << n) ^ (x << n) ^ (x << n)) : 0; }
KEEP int32_t sums(const int32_t *p, int32_t n) {
  int32_t s = 0, t = 0;
  for (int32_t i = 0; i < n; i++) {
    s += p[i] * 2 + 0;
    t += (i + i) - i;
  }
  return s - -t;
}

int main(void) {
  static const int32_t values[] = {0, 1, 2, 3, 5, 7, 31, 32, 33, 100, 255, 256, -1, -2, -128, 65535, 1 << 20, -(1 << 20)};
  const int n = sizeof values / sizeof *values;
  for (int i = 0; i < n; i++) {
    for (int j = 0; j < n; j++) {
      int32_t x = values[i], y = values[j];
      printf("%d %u %u %d %lld %d %u %llu %d %d %u\n", twice_and_more(x / 4096, y / 4096), rotate(x, y), quotient(x, y),
             remainder_of(x, y), (long long)widths(x, y, x ^ y), logic(x & 1, y & 2, x), truth(x, y),
             (unsigned long long)masks((uint64_t)x * y), clamp(x), select_chain(x), shift_by(x, y));
    }
  }
  printf("%d\n", sums(values, n));
  return 0;
}
