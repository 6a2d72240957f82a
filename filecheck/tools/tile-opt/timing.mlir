// A tree of passes and stages with their time and memory goes to stderr, the IR to stdout.

// RUN: tile-opt %s -p canonicalize,cse --timing 2>&1 >/dev/null | filecheck %s
// RUN: tile-opt %s -p canonicalize,cse --timing 2>/dev/null | filecheck %s --check-prefix=OUT
// RUN: tile-opt %s -p canonicalize,cse --verify-each=false --timing 2>&1 >/dev/null | filecheck %s --check-prefix=LESS

// RUN: not tile-opt %s -p tile-compile --stop-after=tile-outline --timing 2>&1 >/dev/null | filecheck %s --check-prefix=STAGES

builtin.module {}

// CHECK: wall s cpu s share peak MiB step
// CHECK-NEXT: {{[0-9.]+}} {{[0-9.]+}} {{[0-9]+}}% {{[0-9.]+}} (parse)
// CHECK-NEXT: (verify)
// CHECK-NEXT: canonicalize
// CHECK-NEXT: (verify)
// CHECK-NEXT: cse
// CHECK-NEXT: (verify)
// CHECK-NEXT: (print)
// CHECK-NEXT: 100%{{.*}} total

// LESS: canonicalize
// LESS-NEXT: cse

// STAGES: tile-compile
// STAGES-NEXT: tile-inline-calls
// STAGES-NEXT: tile-outline

// OUT: builtin.module {
// OUT-NOT: wall
