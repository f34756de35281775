/* Elements of arrays, of structures in arrays and of arrays in structures, by indices of all widths and signs. */
#include <stdint.h>
#include <stdio.h>

struct point { int32_t x; double y; uint8_t tags[3]; };
struct packed { uint8_t head; uint32_t body; } __attribute__((packed));

static double table[4][5];
static struct point points[6];
static struct packed packed[5];

__attribute__((noinline)) double cell(double (*t)[5], int i, unsigned char j) { return t[i][j]; }
__attribute__((noinline)) double around(double (*t)[5], long i, long j) { return t[i][j - 1] + t[i - 1][j] * t[i][j + 1]; }
__attribute__((noinline)) int tag(struct point *p, short i, int8_t k) { return p[i].tags[k + 1]; }
__attribute__((noinline)) uint32_t body(struct packed *p, unsigned i) { return p[i].body ^ p[i].head; }
__attribute__((noinline)) long back(const long *end, int n) {
  long sum = 0;
  for (int i = -n; i < 0; i++) sum += end[i] * (i + 1);
  return sum;
}
__attribute__((noinline)) double dot(const double *a, const double *b, int n) {
  double sum = 0;
  for (int i = 0; i < n; i++) sum += a[i] * b[i];
  return sum;
}
__attribute__((noinline)) void swap(int *a, unsigned i, unsigned j) {
  int old = a[i];
  a[i] = a[j];
  a[j] = old;
}
__attribute__((noinline)) int stored(int *a, long i, int v) {
  a[i * 2] = v;
  a[i * 2 + 1] = v + 1;
  return a[i << 1] * 3;
}
__attribute__((noinline)) char *beyond(char *s, uint64_t n, int k) { return s + n * 4 + k; }

int main(void) {
  long numbers[9];
  double other[5] = {0.5, -1.25, 3, 1e10, -7};
  int ints[8] = {3, 1, 4, 1, 5, 9, 2, 6};
  char text[64] = "elements of arrays, of structures in arrays and of more";
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 5; j++) table[i][j] = i * 1.5 - j * 0.25;
  for (int i = 0; i < 6; i++) points[i] = (struct point){i, i * 2.0, {i, i + 1, 7 * i}};
  for (int i = 0; i < 5; i++) packed[i] = (struct packed){i, 1000u * i + 77};
  for (int i = 0; i < 9; i++) numbers[i] = i * i - 5;
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 5; j++) printf("%g ", cell(table, i, j));
  printf("\n%g %g\n", around(table, 1, 2), around(table + 1, 2, 3));
  for (int i = 0; i < 6; i++) printf("%d %d ", tag(points, i, 1), tag(points + i, -i, -1));
  for (int i = 0; i < 5; i++) printf("%u ", body(packed, i));
  printf("\n%ld %ld %g\n", back(numbers + 9, 9), back(numbers + 4, 3), dot(other, &table[2][0], 5));
  swap(ints, 1, 6);
  swap(ints, 4, 4);
  printf("%d %d %d\n", stored(ints, 1, 10), stored(ints, 3, -4), stored(ints + 6, -2, 8));
  for (int i = 0; i < 8; i++) printf("%d ", ints[i]);
  printf("\n%s %s\n", beyond(text, 3, 1), beyond(text + 40, 2, -30));
  return 0;
}
