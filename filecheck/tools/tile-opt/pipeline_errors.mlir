// Faults in a pipeline's text are shown in that text.

// RUN: not tile-opt %s -p 'canonicalize,csse' 2>&1 | filecheck %s --check-prefix=NAME --match-full-lines
// RUN: not tile-opt %s --pass-pipeline='builtin.module(cse' 2>&1 | filecheck %s --check-prefix=OPEN --match-full-lines
// RUN: not tile-opt %s --pass-pipeline='builtin.module(scf.for(cse))' 2>&1 | filecheck %s --check-prefix=NESTED
// RUN: not tile-opt %s -p 'cse{fast}' 2>&1 | filecheck %s --check-prefix=OPTION --match-full-lines
// RUN: not tile-opt %s -p 'scf-parallel-loop-tiling{parallel-loop-tile-sizes=a}' 2>&1 | filecheck %s --check-prefix=TYPE --match-full-lines
// RUN: not tile-opt %s -p 'scf-parallel-loop-tiling{parallel_loop_tile_size=4}' 2>&1 | filecheck %s --check-prefix=NEAR
// RUN: not tile-opt %s -p 'scf-parallel-loop-tiling{parallel-loop-tile-sizes=4,b=8}' 2>&1 | filecheck %s --check-prefix=COMMA
// RUN: not tile-opt %s -p 'func.fun(cse)' 2>&1 | filecheck %s --check-prefix=ANCHOR
// RUN: not tile-opt %s -p 'cse(canonicalize)' 2>&1 | filecheck %s --check-prefix=PASS
// RUN: not tile-opt %s -p cse --pass-pipeline='builtin.module(cse)' 2>&1 | filecheck %s --check-prefix=BOTH

builtin.module {}

// NAME: <pass-pipeline>:1:14: error: unknown pass `csse`
// NAME-NEXT: canonicalize,csse
// NAME-NEXT:              ^~~~
// NAME-NEXT: hint: did you mean `cse`{{.*}}

// OPEN: <pass-pipeline>:1:19: error: expected `,` or `)`
// OPEN-NEXT: builtin.module(cse
// OPEN-NEXT:                   ^

// NESTED: <pass-pipeline>:1:16: error: no pass runs on `scf.for` alone: it uses values from around it
// NESTED: hint: anchors are isolated from above: func.func, builtin.module

// OPTION: <pass-pipeline>:1:5: error: pass `cse` has no option `fast`
// OPTION-NEXT: cse{fast}
// OPTION-NEXT:     ^~~~
// OPTION-NEXT: hint: its options: none

// TYPE: <pass-pipeline>:1:51: error: option `parallel-loop-tile-sizes` of pass `scf-parallel-loop-tiling` cannot be `a`
// TYPE: hint: expected a list of integer values

// NEAR: error: pass `scf-parallel-loop-tiling` has no option `parallel_loop_tile_size`
// NEAR: hint: did you mean `parallel_loop_tile_sizes`?

// COMMA: error: options are separated by blanks, not commas

// ANCHOR: error: unknown operation `func.fun` before a nested pipeline
// ANCHOR: hint: did you mean `func.func`?

// PASS: error: `cse` is a pass, not an operation
// PASS: hint: options of a pass stand in braces

// BOTH: tile-opt: error: both -p and --pass-pipeline are given
