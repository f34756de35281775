// Kernels as numerical programs have them, each with a version that was rewritten by hand (`REWRITTEN`): interchanged,
// tiled, fused, distributed, unrolled, as calls of the library. With `-DR=` arguments may overlap.
#ifndef R
#define R restrict
#endif
#define N 64
#define F 16

#define LOOP(i, from, to) for (int i = from; i < to; i++)

void scale(int n, double *R a, const double *R b, double x) {
#ifndef REWRITTEN
  LOOP(i, 0, n) a[i] = b[i] * x;
#else
  int i = 0;
  for (; i < n - 3; i += 4) {
    a[i] = b[i] * x;
    a[i + 1] = b[i + 1] * x;
    a[i + 2] = b[i + 2] * x;
    a[i + 3] = b[i + 3] * x;
  }
  for (; i < n; i++) a[i] = b[i] * x;
#endif
}

void transpose(int n, double (*R a)[N], double (*R b)[N]) {
#ifndef REWRITTEN
  LOOP(i, 0, n) LOOP(j, 0, n) a[i][j] = b[j][i];
#else
  LOOP(j, 0, n) LOOP(i, 0, n) a[i][j] = b[j][i];
#endif
}

void gemm(int n, int m, int l, double (*R c)[N], double (*R a)[N], double (*R b)[N]) {
#ifndef REWRITTEN
  LOOP(i, 0, n) LOOP(j, 0, m) LOOP(k, 0, l) c[i][j] += a[i][k] * b[k][j];
#else
  LOOP(i, 0, n) LOOP(k, 0, l) LOOP(j, 0, m) c[i][j] += a[i][k] * b[k][j];
#endif
}

void mvt(int n, double *R x, const double *R y, double (*R a)[N]) {
#ifndef REWRITTEN
  LOOP(i, 0, n) LOOP(j, 0, n) x[i] = x[i] + a[i][j] * y[j];
#else
  LOOP(j, 0, n) LOOP(i, 0, n) x[i] = x[i] + a[i][j] * y[j];
#endif
}

void atax(int n, int m, double *R y, double *R t, double (*R a)[N], const double *R x) {
#ifndef REWRITTEN
  LOOP(j, 0, m) y[j] = 0;
  LOOP(i, 0, n) {
    t[i] = 0;
    LOOP(j, 0, m) t[i] = t[i] + a[i][j] * x[j];
    LOOP(j, 0, m) y[j] = y[j] + a[i][j] * t[i];
  }
#else
  LOOP(j, 0, m) y[j] = 0;
  LOOP(i, 0, n) {
    t[i] = 0;
    LOOP(j, 0, m) t[i] = t[i] + a[i][j] * x[j];
  }
  LOOP(i, 0, n) LOOP(j, 0, m) y[j] = y[j] + a[i][j] * t[i];
#endif
}

void bicg(int n, int m, double *R s, double *R q, double (*R a)[N], const double *R p, const double *R r) {
#ifndef REWRITTEN
  LOOP(i, 0, n) LOOP(j, 0, m) {
    s[j] = s[j] + r[i] * a[i][j];
    q[i] = q[i] + a[i][j] * p[j];
  }
#else
  LOOP(i, 0, n) LOOP(j, 0, m) s[j] = s[j] + r[i] * a[i][j];
  LOOP(i, 0, n) LOOP(j, 0, m) q[i] = q[i] + a[i][j] * p[j];
#endif
}

void jacobi1(int n, int t, double *R a, double *R b) {
#ifndef REWRITTEN
  LOOP(s, 0, t) {
    LOOP(i, 1, n - 1) b[i] = 0.33333 * (a[i - 1] + a[i] + a[i + 1]);
    LOOP(i, 1, n - 1) a[i] = 0.33333 * (b[i - 1] + b[i] + b[i + 1]);
  }
#else
  LOOP(s, 0, t) {
    LOOP(i, 0, n - 2) b[i + 1] = 0.33333 * (a[i] + a[i + 1] + a[i + 2]);
    for (int i = n - 2; i >= 1; i--) a[i] = 0.33333 * (b[i - 1] + b[i] + b[i + 1]);
  }
#endif
}

void jacobi2(int n, double (*R a)[N], double (*R b)[N]) {
#ifndef REWRITTEN
  LOOP(i, 1, n - 1) LOOP(j, 1, n - 1) b[i][j] = 0.2 * (a[i][j] + a[i][j - 1] + a[i][j + 1] + a[i + 1][j] + a[i - 1][j]);
#else
  LOOP(j, 1, n - 1) LOOP(i, 1, n - 1) b[i][j] = 0.2 * (a[i][j] + a[i][j - 1] + a[i][j + 1] + a[i + 1][j] + a[i - 1][j]);
#endif
}

void seidel(int n, double (*R a)[N]) {
#ifndef REWRITTEN
  LOOP(i, 1, n - 1) LOOP(j, 1, n - 1) a[i][j] = 0.25 * (a[i - 1][j] + a[i][j - 1] + a[i][j + 1] + a[i + 1][j]);
#else
  LOOP(j, 1, n - 1) LOOP(i, 1, n - 1) a[i][j] = 0.25 * (a[i - 1][j] + a[i][j - 1] + a[i][j + 1] + a[i + 1][j]);
#endif
}

void syrk(int n, int m, double (*R c)[N], double (*R a)[N], double beta) {
#ifndef REWRITTEN
  LOOP(i, 0, n) {
    LOOP(j, 0, i + 1) c[i][j] *= beta;
    LOOP(k, 0, m) LOOP(j, 0, i + 1) c[i][j] += a[i][k] * a[j][k];
  }
#else
  LOOP(i, 0, n) LOOP(j, 0, i + 1) {
    c[i][j] *= beta;
    LOOP(k, 0, m) c[i][j] += a[i][k] * a[j][k];
  }
#endif
}

void fused(int n, double *R a, double *R b, const double *R c) {
#ifndef REWRITTEN
  LOOP(i, 0, n) a[i] = c[i] + 1;
  LOOP(i, 0, n) b[i] = a[i] * 2;
#else
  LOOP(i, 0, n) {
    a[i] = c[i] + 1;
    b[i] = a[i] * 2;
  }
#endif
}

void tiled(int n, float (*R a)[N], float (*R b)[N]) {
#ifndef REWRITTEN
  LOOP(i, 0, n) LOOP(j, 0, n) a[i][j] = b[i][j] + b[j][i];
#else
  for (int ii = 0; ii < n; ii += 8)
    for (int jj = 0; jj < n; jj += 8)
      for (int i = ii; i < (ii + 8 < n ? ii + 8 : n); i++)
        for (int j = jj; j < (jj + 8 < n ? jj + 8 : n); j++) a[i][j] = b[i][j] + b[j][i];
#endif
}

void fixed(float (*R a)[F], float (*R b)[F], float (*R c)[F]) {
#ifndef REWRITTEN
  LOOP(i, 0, F) LOOP(j, 0, F) {
    c[i][j] = 0;
    LOOP(k, 0, F) c[i][j] += a[i][k] * b[k][j];
  }
#else
  LOOP(i, 0, F) LOOP(j, 0, F) c[i][j] = 0;
  for (int ii = 0; ii < F; ii += 8)
    for (int kk = 0; kk < F; kk += 8)
      LOOP(i, ii, ii + 8) LOOP(k, kk, kk + 8) LOOP(j, 0, F) c[i][j] += a[i][k] * b[k][j];
#endif
}

long total(int n, const long *R a) {
  long s = 0;
#ifndef REWRITTEN
  LOOP(i, 0, n) s += a[i];
#else
  int i = 0;
  for (; i < n - 1; i += 2) {
    s += a[i];
    s += a[i + 1];
  }
  for (; i < n; i++) s += a[i];
#endif
  return s;
}

void prefix(long n, int *R a, const int *R b) {
#ifndef REWRITTEN
  for (long i = 0; i < n; i++) {
    a[i] = b[i] * 3;
    if (i > 0) a[i] += b[i - 1];
  }
#else
  for (long i = 0; i < n; i++) a[i] = b[i] * 3;
  for (long i = 1; i < n; i++) a[i] += b[i - 1];
#endif
}

void reversed(int n, int *R a, const int *R b) {
#ifndef REWRITTEN
  LOOP(i, 0, n) a[i] = b[i] ^ 5;
#else
  for (int i = n - 1; i >= 0; i--) a[i] = b[i] ^ 5;
#endif
}

void clear(int n, double (*R a)[N]) {
#ifndef REWRITTEN
  LOOP(i, 0, n) LOOP(j, 0, N) a[i][j] = 0;
#else
  if (n > 0) __builtin_memset(a, 0, n * sizeof *a);
#endif
}

void copy(int n, int *R a, const int *R b) {
#ifndef REWRITTEN
  LOOP(i, 0, n) a[i] = b[i];
#else
  if (n > 0) __builtin_memcpy(a, b, n * sizeof *a);
#endif
}

void shift(int *a) {
#ifndef REWRITTEN
  LOOP(i, 0, N) a[i] = a[i + 1];
#else
  __builtin_memmove(a, a + 1, N * sizeof *a);
#endif
}
