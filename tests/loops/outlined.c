// Loops that are calls of the functions of outlined.rw, and some that are not quite: row 27 of figure 11.1 of Tate's
// dissertation.
#include <stdint.h>
#include <stdio.h>

#define KEEP __attribute__((noinline))
KEEP void fill(int64_t *a, int64_t n, int64_t v) {
  for (int64_t i = 0; i < n; i++) a[i] = v;
}
KEEP void fill_from(int64_t *a, int64_t k, int64_t n, int64_t v) {
  for (int64_t i = k; i < n; i++) a[i] = v + 1;
}
KEEP void fill_last(int64_t *a, int64_t n, int64_t v) {
  int64_t i = 0;
  do {
    a[i] = v;
    i++;
  } while (i < n);
}
KEEP void copy(int64_t *a, const int64_t *b, int64_t n) {
  for (int64_t i = 0; i < n; i++) a[i] = b[i];
}
KEEP void matrix(int64_t *a, int64_t n, int64_t m, int64_t v) {
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < m; j++) a[i * m + j] = v;
}
KEEP int64_t counted(int64_t *a, int64_t n, int64_t v) {
  int64_t s = 0;
  for (int64_t i = 0; i < n; i++) {
    a[i] = v;
    s += i;
  }
  return s + a[0];
}
KEEP int64_t unchanged(int64_t *a, int64_t n) {
  int64_t s = 0;
  for (int64_t i = 0; i < n; i++) {
    a[i] = a[i];
    s += 2;
  }
  return s;
}
// Those that stay.
KEEP void varies(int64_t *a, int64_t n) {
  for (int64_t i = 0; i < n; i++) a[i] = i;
}
KEEP void two(int64_t *a, int64_t *b, int64_t n, int64_t v) {
  for (int64_t i = 0; i < n; i++) {
    a[i] = v;
    b[i] = 0;
  }
}
KEEP void apart(int64_t *a, int64_t n, int64_t v) {
  for (int64_t i = 0; i < n; i += 2) a[i] = v;
}
KEEP void gaps(int64_t *a, int64_t n, int64_t m, int64_t v) {
  for (int64_t i = 0; i < n; i++)
    for (int64_t j = 0; j < m; j++) a[i * (m + 1) + j] = v;
}
KEEP void conditional(int64_t *a, int64_t n, int64_t v) {
  for (int64_t i = 0; i < n; i++)
    if (a[i] > 0) a[i] = v;
}
KEEP int64_t finds(int64_t *a, int64_t n, int64_t v) {
  int64_t i;
  for (i = 0; i < n; i++) {
    if (a[i] == v) break;
    a[i] = v;
  }
  return i;
}
KEEP void of_itself(int64_t *a, int64_t n) {
  for (int64_t i = 0; i < n; i++) a[i] = a[3];
}

static int64_t words[64], others[64];

static void print(const char *name) {
  int64_t s = 0;
  for (int i = 0; i < 64; i++) s = s * 31 + words[i] * 7 + others[i];
  printf("%s %lld\n", name, (long long)s);
}

int main(void) {
  static const int64_t ends[] = {-3, 0, 1, 2, 6};
  for (int e = 0; e < 5; e++) {
    int64_t n = ends[e];
    for (int i = 0; i < 64; i++) {
      words[i] = i * i - 90;
      others[i] = 5 - i;
    }
    fill(words + 1, n, 11), print("fill");
    fill_from(words, 3, n, 40), print("fill_from");
    fill_last(words + 7, n, 12), print("fill_last");
    copy(words + 9, others, n), print("copy");
    copy(words + 10, words + 9, n), print("overlapping");
    for (int k = -1; k < 5; k++) matrix(words + 20, n, k, 13), print("matrix");
    printf("%lld %lld\n", (long long)counted(others, n, 3), (long long)unchanged(words, n));
    varies(others + 8, n), print("varies");
    two(words, others, n, 14), print("two");
    apart(words + 2, n, 15), print("apart");
    gaps(words + 30, n, 3, 16), print("gaps");
    conditional(words, n, 17), print("conditional");
    printf("%lld\n", (long long)finds(words, n, 17));
    of_itself(words, n), print("of_itself");
  }
  return 0;
}
