// Immutable vectors, passed and returned as values.
typedef struct { double x, y, z; } vector;
vector vector_add(vector a, vector b);
vector vector_sub(vector a, vector b);
vector vector_scale(double s, vector a);
double vector_dot(vector a, vector b);
// a + s * b
vector vector_add_scaled(vector a, double s, vector b);
// (a - b) . c
double vector_dot_sub(vector a, vector b, vector c);
long vectors_made(void);
