// Immutable vectors, a few thousand at a time: those made since `vectors_keep` are gone after `vectors_forget`.
typedef struct vector { double x, y, z; } vector;
const vector *vector_new(double x, double y, double z);
const vector *vector_add(const vector *a, const vector *b);
const vector *vector_sub(const vector *a, const vector *b);
const vector *vector_scale(double s, const vector *a);
const vector *vector_add_scaled(const vector *a, double s, const vector *b);
double vector_dot(const vector *a, const vector *b);
double vector_dot_sub(const vector *a, const vector *b, const vector *c);
double vector_distance2(const vector *a, const vector *b);
void vectors_keep(void);
void vectors_forget(void);
long vectors_made(void);
