/* Functions for `scripts/passes.py`: each gives LLVM's passes something to do, and validation something to prove. */
#include <stddef.h>
#include <stdint.h>

extern int outside(int);
extern void tell(int);
extern int pure(int) __attribute__((const));
extern int reads(const int *) __attribute__((pure));
struct pair { int first, second; };

/* Straight lines. */
int cancels(int x, int y, int z) { return x - y + z + y - z; }
int doubles(int x) { return x * 4 + x * 4; }
unsigned remainder_again(unsigned x, unsigned y) { return y ? x / y * y + x % y : 1; }
int absolute(int x) { return x < 0 ? -x : x; }
unsigned turned(unsigned x) { return x << 7 | x >> 25; }
unsigned high_part(unsigned x, unsigned y) { return (uint64_t)x * y >> 32; }
int masks(int x, int y) { return (x & y) | (x & ~y); }
int both_ways(int x, int y) { return (x && y) || (x && !y); }
int limited(int x) { if (x < -5) x = -5; if (x > 99) x = 99; return x; }
short narrow(short x, short y) { return (short)(x + y) - y; }
int signs(int x) { return (x >> 31) ^ (x < 0); }

/* Branches. */
int smaller(int x, int y) { if (x < y) return x; else return y; }
int table(int x) { switch (x) { case 1: return 4; case 2: return 8; case 3: return 12; case 17: return 0; default: return x; } }
int decided(int x, int y, int z) { if (x) { if (y) return 1; return z ? 2 : 3; } return y ? z : 0; }
int partly(int x, int y, int c) { int p = x * y, q; if (c) q = x * y + 1; else q = x * y - 1; return p + q; }
int jumps(int x) { int r = 0; if (x > 3) r = 1; if (r) return x; return -x; }

/* Memory. */
int forwarded(int *p, int x) { *p = x; return *p + *p; }
int aliased(int *p, int *q) { *p = 3; *q = 4; return *p; }
int overwritten(int *p) { *p = 1; *p = 2; return 0; }
int fields(struct pair *p) { p->first += 1; p->second = p->first * 2; return p->first + p->second; }
int on_the_stack(int x) { int t[3]; t[0] = x; t[1] = x + 1; t[2] = t[0] * t[1]; return t[2] - t[1]; }

/* Calls. */
int in_order(int x) { int p = outside(x), q = outside(x); return p + q; }
int once(int x) { int p = pure(x), q = pure(x); return p + q; }
int reads_twice(const int *p) { return reads(p) + reads(p); }
int conditional(int x) { if (x > 0) tell(x); else tell(-x); return x; }
int recursive(int n) { return n <= 1 ? 1 : n * recursive(n - 1); }
static int helper(int x) { return x + 1; }
int uses_helper(int x) { return helper(x) + helper(x); }

/* Floats. */
float scaled(float x, float y) { return x * y + x; }
double compared(double x, double y) { return x < y ? x : y; }

/* Loops. */
int up_to(int n) { int s = 0; for (int i = 0; i < n; i++) s += i; return s; }
int total(const int *p, int n) { int s = 0; for (int i = 0; i < n; i++) s += p[i]; return s; }
void filled(int *p, int n, int x) { for (int i = 0; i < n; i++) p[i] = x; }
void copied(char *d, const char *s, size_t n) { for (size_t i = 0; i < n; i++) d[i] = s[i]; }
void invariant(int *p, int n, int x, int y) { for (int i = 0; i < n; i++) p[i] = x * y + i; }
int nested(int n, int m) { int s = 0; for (int i = 0; i < n; i++) for (int j = 0; j < m; j++) s += i * m + j; return s; }
int divisor(int x, int y) { while (y) { int t = x % y; x = y; y = t; } return x; }
int length(const char *s) { int n = 0; while (*s++) n++; return n; }
int position(const int *p, int n, int x) { for (int i = 0; i < n; i++) if (p[i] == x) return i; return -1; }
int switched(const int *p, int n, int f) { int s = 0; for (int i = 0; i < n; i++) { if (f) s += p[i]; else s -= p[i]; } return s; }
void told(int n) { for (int i = 0; i < n; i++) tell(i * 4); }
double sums(const double *p, int n) { double s = 0; for (int i = 0; i < n; i++) s += p[i]; return s; }
int twice(int n) { int i = 0; do { i += 3; } while (i < n); return i; }
unsigned checksum(unsigned c, const uint8_t *p, int n) {
    while (n--) { c ^= *p++; for (int k = 0; k < 8; k++) c = c & 1 ? (c >> 1) ^ 0x82f63b78u : c >> 1; }
    return c;
}
void sorted(int *p, int n) {
    for (int i = 0; i < n; i++) for (int j = 0; j + 1 < n - i; j++)
        if (p[j] > p[j + 1]) { int t = p[j]; p[j] = p[j + 1]; p[j + 1] = t; }
}
