// The initial matrix of cholesky, lu and ludcmp, of size N: a lower triangle times its transpose, so that it is
// positive definite.

static double triangle[N][N];

static void make_definite(double A[N][N]) {
    for (int i = 0; i < N; i++) {
        for (int j = 0; j < i; j++) triangle[i][j] = (double)(-j % N) / N + 1;
        triangle[i][i] = 1;
    }
    for (int i = 0; i < N; i++)
        for (int j = 0; j <= i; j++) {
            A[i][j] = 0;
            for (int k = 0; k <= j; k++) A[i][j] += triangle[i][k] * triangle[j][k];
            A[j][i] = A[i][j];
        }
}
