#include <stdio.h>

struct buffer { long length; int bytes[4096]; };
struct buffer *append_code_point(struct buffer *b, int c);
struct buffer *append_byte(struct buffer *b, int c);
long push(struct buffer *b, int c);
long push_zero(struct buffer *b);
int slow_calls(void);

/* No value is used; what is between sees the buffer as it was. */
long unused(struct buffer *b) {
  append_code_point(b, 'a');
  long before = b->length;
  push(b, 0);
  return before * 100 + b->length;
}

/* Values are used, and what one gives goes on to the next. */
long chained(struct buffer *b) {
  return push(append_code_point(append_code_point(b, 'x'), 'y'), 0) + push(b, 5);
}

/* Two equal calls are two calls. */
long twice(struct buffer *b) { return push(b, 0) * 1000 + push(b, 0); }

/* In a loop, and on one path only. */
long looped(struct buffer *b, int n) {
  long sum = 0;
  for (int i = 0; i < n; i++) {
    if (i & 1) sum += push(b, 0);
    append_code_point(b, i & 2 ? 'b' : 'c');
    sum ^= b->bytes[b->length - 1];
  }
  return sum;
}

/* Not ASCII. */
long kept(struct buffer *b) { return append_code_point(b, 0x20ac)->length; }

int main(void) {
  static struct buffer b;
  long first = unused(&b), second = chained(&b), third = twice(&b), fourth = looped(&b, 7), fifth = kept(&b);
  printf("%ld %ld %ld %ld %ld", first, second, third, fourth, fifth);
  for (long i = 0; i < b.length; i++) printf(" %d", b.bytes[i]);
  printf("\n%d\n", slow_calls());
  return 0;
}
