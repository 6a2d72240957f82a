// Seconds per pass go to stderr, the IR to stdout.

// RUN: tile-opt %s -p canonicalize,cse --timing 2>&1 >/dev/null | filecheck %s
// RUN: tile-opt %s -p canonicalize,cse --timing 2>/dev/null | filecheck %s --check-prefix=OUT
// RUN: tile-opt %s -p canonicalize,cse --verify-each=false --timing 2>&1 >/dev/null | filecheck %s --check-prefix=LESS

builtin.module {}

// CHECK: seconds share pass
// CHECK: (parse)
// CHECK-NEXT: (verify)
// CHECK-NEXT: canonicalize
// CHECK-NEXT: (verify)
// CHECK-NEXT: cse
// CHECK-NEXT: (verify)
// CHECK-NEXT: (print)
// CHECK-NEXT: total

// LESS: canonicalize
// LESS-NEXT: cse

// OUT: builtin.module {
// OUT-NOT: seconds
