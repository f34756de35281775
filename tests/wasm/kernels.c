// Kernels of linear algebra, stencils and dynamic programming, for `scripts/wasm.sh`: loops as programs have them.

#define N 120

typedef double Matrix[N][N];

void gemm(double alpha, double beta, Matrix c, Matrix a, Matrix b) {
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < N; j++) c[i][j] *= beta;
        for (int k = 0; k < N; k++)
            for (int j = 0; j < N; j++) c[i][j] += alpha * a[i][k] * b[k][j];
    }
}

void atax(int m, int n, Matrix a, double *x, double *y, double *tmp) {
    for (int i = 0; i < n; i++) y[i] = 0;
    for (int i = 0; i < m; i++) {
        tmp[i] = 0;
        for (int j = 0; j < n; j++) tmp[i] += a[i][j] * x[j];
        for (int j = 0; j < n; j++) y[j] += a[i][j] * tmp[i];
    }
}

void mvt(int n, double *x1, double *x2, double *y1, double *y2, Matrix a) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) x1[i] += a[i][j] * y1[j];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) x2[i] += a[j][i] * y2[j];
}

void syrk(int n, int m, double alpha, double beta, Matrix c, Matrix a) {
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) c[i][j] *= beta;
        for (int k = 0; k < m; k++)
            for (int j = 0; j <= i; j++) c[i][j] += alpha * a[i][k] * a[j][k];
    }
}

void trisolv(int n, Matrix l, double *x, double *b) {
    for (int i = 0; i < n; i++) {
        x[i] = b[i];
        for (int j = 0; j < i; j++) x[i] -= l[i][j] * x[j];
        x[i] = x[i] / l[i][i];
    }
}

void lu(int n, Matrix a) {
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) {
            for (int k = 0; k < j; k++) a[i][j] -= a[i][k] * a[k][j];
            a[i][j] /= a[j][j];
        }
        for (int j = i; j < n; j++)
            for (int k = 0; k < i; k++) a[i][j] -= a[i][k] * a[k][j];
    }
}

void jacobi_1d(int steps, int n, double *a, double *b) {
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < n - 1; i++) b[i] = 0.33333 * (a[i - 1] + a[i] + a[i + 1]);
        for (int i = 1; i < n - 1; i++) a[i] = 0.33333 * (b[i - 1] + b[i] + b[i + 1]);
    }
}

void jacobi_2d(int steps, int n, Matrix a, Matrix b) {
    for (int t = 0; t < steps; t++) {
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                b[i][j] = 0.2 * (a[i][j] + a[i][j - 1] + a[i][1 + j] + a[1 + i][j] + a[i - 1][j]);
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                a[i][j] = 0.2 * (b[i][j] + b[i][j - 1] + b[i][1 + j] + b[1 + i][j] + b[i - 1][j]);
    }
}

void seidel_2d(int steps, int n, Matrix a) {
    for (int t = 0; t < steps; t++)
        for (int i = 1; i < n - 1; i++)
            for (int j = 1; j < n - 1; j++)
                a[i][j] = (a[i - 1][j - 1] + a[i - 1][j] + a[i - 1][j + 1] + a[i][j - 1] + a[i][j] + a[i][j + 1] +
                           a[i + 1][j - 1] + a[i + 1][j] + a[i + 1][j + 1]) / 9.0;
}

void floyd_warshall(int n, int path[N][N]) {
    for (int k = 0; k < n; k++)
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                int through = path[i][k] + path[k][j];
                path[i][j] = path[i][j] < through ? path[i][j] : through;
            }
}

void nussinov(int n, const unsigned char *seq, int table[N][N]) {
    for (int i = n - 1; i >= 0; i--)
        for (int j = i + 1; j < n; j++) {
            int best = table[i][j];
            if (j - 1 >= 0 && table[i][j - 1] > best) best = table[i][j - 1];
            if (i + 1 < n && table[i + 1][j] > best) best = table[i + 1][j];
            if (j - 1 >= 0 && i + 1 < n) {
                int pair = table[i + 1][j - 1] + (i < j - 1 && seq[i] + seq[j] == 3);
                if (pair > best) best = pair;
            }
            for (int k = i + 1; k < j; k++)
                if (table[i][k] + table[k + 1][j] > best) best = table[i][k] + table[k + 1][j];
            table[i][j] = best;
        }
}
